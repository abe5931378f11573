"""Embed: from numerals or sentences to vectors (the paper's section 4 and appendix).

The paper's recipe for a numeral is the default: shown alone in its primed form, the sum of the last
four layers, the mean over all tokens but the special ones. What the model is shown of the anchor,
which tokens are read and which layers are choices, since they decide what an evaluation means.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt
import torch

from numerate.embed.tokens import Inputs, check_list, tokenize_inputs, write_numerals
from numerate.errors import InputError
from numerate.extract.numerals import LARGEST, find_numerals
from numerate.files import open_whole
from numerate.models.base_model import has_fast_bf16
from numerate.options import Anchor, Domain, Precision, Readout
from numerate.prime.scheme import Priming
from numerate.prime.text import PrimedNumeral, PrimedText
from numerate.progress import show_progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Vectors = npt.NDArray[np.float32]
BATCH_TOKENS = 2048
_LONG = 2000  # from so many inputs on a bar is shown


@dataclass(frozen=True)
class Encoder:
    """A model that turns numerals and sentences into vectors; `load` makes one.

    `priming` is None for a plain model, which knows no anchors.
    """

    name: str
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    priming: Priming | None = None
    precision: Precision = "fp32"

    @property
    def domain(self) -> Domain:
        """Which numerals it takes."""
        return self.priming.anchors.domain if self.priming else "integers"

    @property
    def n_layers(self) -> int:
        """Its layers, without the embeddings below them."""
        return int(self.model.config.num_hidden_layers)

    @property
    def max_length(self) -> int:
        """Tokens that it can see at once."""
        room = getattr(self.model.config, "max_position_embeddings", None) or LARGEST
        table = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        first = getattr(table, "padding_idx", None)  # RoBERTa and its kin count from behind it
        return int(
            min(self.tokenizer.model_max_length, room if first is None else room - first - 1)
        )

    def embed_numerals(
        self,
        numerals: Sequence[object] | npt.NDArray[Any],
        *,
        anchor: Anchor | None = None,
        read: Readout = "all",
        layers: Sequence[int] | None = None,
        batch_tokens: int = BATCH_TOKENS,
        show_bar: bool | None = None,
    ) -> Vectors:
        """Return one row per numeral, shape (numerals, width), by default as the paper does.

        Args:
            numerals: Whole numbers from 1 to 10^10 (or what the model's domain allows), as numbers
                or as written (`"12,345"`).
            anchor: What the model is shown: `visible` (the default of a model with anchors),
                `masked`, or `absent` (the default and only choice of a plain model).
            read: Which tokens make the vector, by their mean: `all` but the special ones, or those
                of the `numeral`, its `marker` or its `anchor`.
            layers: Which layers are summed, -1 the last, 0 the embeddings below the first; unless
                said the last four, or all if there are fewer.
            batch_tokens: Tokens to compute at once; memory grows with it, the result does not
                depend on it.
            show_bar: Whether to show progress; unless said for long lists on a terminal.
        """
        written = write_numerals(numerals, self.domain)
        return self._embed(
            written, anchor, read, layers, batch_tokens, show_bar, keep_special=False
        )

    def embed_texts(
        self,
        texts: Sequence[str],
        *,
        anchor: Anchor | None = None,
        read: Readout = "all",
        layers: Sequence[int] | None = None,
        batch_tokens: int = BATCH_TOKENS,
        show_bar: bool | None = None,
    ) -> Vectors:
        """Return one row per text, shape (texts, width), primed here if the model has anchors.

        The same vectors, but for their length, as `SentenceTransformer` makes of the folder: the
        mean over all tokens, the special ones included, as is usual for sentences. What a model
        cannot see at once of a long text is left out.

        Args:
            texts: Any texts without markers.
            anchor: As for numerals.
            read: As for numerals; of several numerals in a text the tokens of all.
            layers: As for numerals.
            batch_tokens: As for numerals.
            show_bar: As for numerals.
        """
        check_list(texts, "texts", "sentences")
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputError(f"texts[{index}] must be a string, got {text!r}")
        return self._embed(texts, anchor, read, layers, batch_tokens, show_bar, keep_special=True)

    def show(self, texts: Sequence[str], anchor: Anchor | None = None) -> list[PrimedText]:
        """Return texts as the model is shown them.

        Args:
            texts: Numerals as written, or sentences; without markers.
            anchor: `visible`, `masked` or `absent`; the model's default unless said.
        """
        anchor = self._check_anchor(anchor)
        if self.priming:
            return self.priming.show(texts, anchor, self.tokenizer)
        return [PrimedText(text, _bare_spans(text, self.domain)) for text in texts]

    def _embed(
        self,
        texts: Sequence[str],
        anchor: Anchor | None,
        read: Readout,
        layers: Sequence[int] | None,
        batch_tokens: int,
        show_bar: bool | None,
        *,
        keep_special: bool,
    ) -> Vectors:
        anchor = self._check_anchor(anchor)
        if read not in get_args(Readout):
            raise InputError(f"read must be among {', '.join(get_args(Readout))}, got {read!r}")
        if anchor == "absent" and read in ("marker", "anchor"):
            raise InputError(f"read={read!r} needs an anchor that is visible or masked, got absent")
        index = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        if self.priming is None and read == "all":  # nobody asks where the numerals are
            shown = [PrimedText(text, ()) for text in index]
        else:
            shown = self.show(list(index), anchor)
        inputs = tokenize_inputs(
            shown,
            self.tokenizer,
            read=read,
            max_length=self.max_length,
            keep_special=keep_special,
        )
        quiet = not (len(index) >= _LONG if show_bar is None else show_bar)
        with show_progress("embed", len(index), quiet=quiet, unit="items") as progress:
            vectors = self._run(inputs, self._check_layers(layers), batch_tokens, progress)
        return vectors[[index[text] for text in texts]]

    def _run(
        self,
        inputs: Inputs,
        layers: list[int],
        batch_tokens: int,
        progress: Callable[[int], object],
    ) -> Vectors:
        """One row per input, computed in batches of inputs of like length."""
        vectors = np.empty((len(inputs), int(self.model.config.hidden_size)), np.float32)
        done = 0
        with torch.inference_mode():
            for rows in cut_batches(inputs.lengths, batch_tokens):
                vectors[rows] = self._run_batch(
                    *inputs.pad(rows, self.tokenizer.pad_token_id or 0), layers
                )
                done += len(rows)
                progress(done)
        return vectors

    def _run_batch(
        self,
        ids: npt.NDArray[np.int64],
        there: npt.NDArray[np.bool_],
        is_read: npt.NDArray[np.bool_],
        layers: list[int],
    ) -> Vectors:
        device = self.model.device
        with self._autocast():
            output = self.model(
                input_ids=torch.from_numpy(ids).to(device),
                attention_mask=torch.from_numpy(there.astype(np.int64)).to(device),
                output_hidden_states=layers != [self.n_layers],
            )
        if layers == [self.n_layers]:
            states = output.last_hidden_state
        else:
            states = sum(output.hidden_states[layer] for layer in layers)
        weights = torch.from_numpy(is_read / is_read.sum(axis=1, keepdims=True))
        pooled = torch.bmm(weights.to(device, torch.float32).unsqueeze(1), states.float())
        return np.asarray(pooled.squeeze(1).cpu().numpy(), np.float32)

    def _autocast(self) -> torch.autocast:
        wanted = self.precision == "bf16" or (self.precision == "auto" and has_fast_bf16())
        return torch.autocast(self.model.device.type, torch.bfloat16, enabled=wanted)

    def _check_anchor(self, anchor: Anchor | None) -> Anchor:
        if anchor not in (None, *get_args(Anchor)):
            raise InputError(f"anchor must be visible, masked or absent, got {anchor!r}")
        if self.priming is None:
            if anchor in ("visible", "masked"):
                raise InputError(
                    f"{self.name}: has no anchors, so none can be {anchor}; ask for "
                    "anchor='absent', or load it with priming=Priming(anchors)"
                )
            return "absent"
        if anchor == "masked" and self.tokenizer.mask_token is None:
            raise InputError(f"{self.name}: its tokenizer has no mask token to hide an anchor with")
        return anchor or "visible"

    def _check_layers(self, layers: Sequence[int] | None) -> list[int]:
        """Layers counted from 0, the embeddings, to the last."""
        n_states = self.n_layers + 1
        if layers is None:
            return list(range(max(1, n_states - 4), n_states))
        chosen = [layer + n_states if layer < 0 else layer for layer in layers]
        if not chosen or any(not 0 <= layer < n_states for layer in chosen):
            raise InputError(
                f"layers must be from {-n_states} to {n_states - 1} for {self.name}, "
                f"got {list(layers)}"
            )
        return chosen


def cut_batches(
    lengths: npt.NDArray[np.int64], batch_tokens: int
) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the rows of batches of like length, the longest first, padding included in the tokens.

    >>> [rows.tolist() for rows in cut_batches(np.array([2, 5, 3, 4]), 8)]
    [[1], [3, 2], [0]]
    """
    if batch_tokens < 1:
        raise InputError(f"batch_tokens must be at least 1, got {batch_tokens}")
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, batch_tokens // int(lengths[order[start]]))
        yield order[start : start + size]
        start += size


def _bare_spans(text: str, domain: Domain) -> tuple[PrimedNumeral, ...]:
    rows = find_numerals(text, domain)
    return tuple(PrimedNumeral((r.start, r.end), (r.end, r.end), (r.end, r.end)) for r in rows)


def save_vectors(
    path: Path, inputs: Sequence[str], vectors: Vectors, settings: Mapping[str, object]
) -> None:
    """Write an .npz file with the arrays `inputs`, `vectors` and `settings`, a JSON text."""
    with open_whole(path) as file:
        np.savez(
            file, inputs=np.array(inputs), vectors=vectors, settings=np.array(json.dumps(settings))
        )
