"""Embed: from numerals or sentences to vectors (the paper's section 4 and appendix).

The default for a numeral is the paper's recipe: the input is the primed numeral alone, the vector
is the sum of the last four layers, averaged over all tokens but the special ones. Whether the
anchor is visible, which tokens are read and which layers are summed decide what an evaluation
means; they can be chosen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from numerate.embed.tokens import Inputs, check_list, tokenize_inputs, write_numerals
from numerate.errors import InputError
from numerate.extract.numerals import find_numerals
from numerate.models.base_model import has_fast_bf16, max_tokens
from numerate.models.head import NO_CACHE
from numerate.models.pretrained import find_kind
from numerate.options import (
    SHOWN,
    Anchor,
    Domain,
    LmKind,
    Precision,
    Readout,
    check_option,
    check_shown,
    default_readout,
)
from numerate.parallel import Progress
from numerate.prime.scheme import Priming
from numerate.prime.text import PrimedNumeral, PrimedText

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Vectors = npt.NDArray[np.float32]
BATCH_TOKENS = 2048


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """A model that turns numerals and sentences into vectors; `load` makes one.

    `priming` says how its text is primed; None for a model without anchors.
    """

    name: str
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    priming: Priming | None = None
    precision: Precision = "fp32"

    def __post_init__(self) -> None:
        check_option("precision", self.precision, Precision)

    @property
    def domain(self) -> Domain:
        """The numerals that it accepts."""
        return self.priming.anchors.domain if self.priming else "integers"

    @property
    def kind(self) -> LmKind:
        """The kind of language model; encoders that are neither count as masked."""
        return find_kind(self.model.config) or "masked"

    @property
    def n_layers(self) -> int:
        """The number of layers, without the embeddings."""
        return int(self.model.config.num_hidden_layers)

    @property
    def max_length(self) -> int:
        """The maximum number of tokens of an input."""
        return max_tokens(self.model, self.tokenizer)

    def embed_numerals(
        self,
        numerals: Sequence[object] | npt.NDArray[Any],
        *,
        anchor: Anchor | None = None,
        read: Readout | None = None,
        layers: Sequence[int] | None = None,
        batch_tokens: int = BATCH_TOKENS,
        progress: Progress | None = None,
    ) -> Vectors:
        """Return one row per numeral, shape (numerals, width), by default as the paper does.

        Args:
            numerals: Whole numbers from 1 to 10^10 (or the numerals of the model's domain), as
                numbers or as text (`"12,345"`).
            anchor: The form of the input: `visible` shows the anchor (the default of a model with
                anchors), `masked` masks it, `absent` leaves it out (the default, and the only
                choice, of a model without anchors). A causal model has `unsaid` in place of
                `masked`: the input ends at the marker, behind which it would say the anchor.
            read: The tokens whose mean is the vector: `all` but the special ones, those of the
                `numeral`, its `marker` or its `anchor`, or the `last` one. The default is `all`,
                or the last, which is the marker, if the anchor is unsaid.
            layers: The layers to sum: -1 is the last, 0 the embeddings. The default is the last
                four, or all if there are fewer.
            batch_tokens: Maximum number of tokens per batch. More need more memory; the result is
                the same.
            progress: Called after every batch with the number of different inputs that are done.
        """
        written, groups = write_numerals(numerals, self.domain), [self._check_layers(layers)]
        return self._embed(written, anchor, read, groups, batch_tokens, progress)[0]

    def embed_layers(
        self,
        numerals: Sequence[object] | npt.NDArray[Any],
        *,
        anchor: Anchor | None = None,
        read: Readout | None = None,
    ) -> Vectors:
        """Return the vectors of each layer in one pass, shape (layers + 1, numerals, width).

        The first are the embeddings, below all layers. The arguments are those of `embed_numerals`.
        """
        written, groups = (
            write_numerals(numerals, self.domain),
            [[n] for n in range(self.n_layers + 1)],
        )
        return np.stack(self._embed(written, anchor, read, groups))

    def embed_texts(
        self,
        texts: Sequence[str],
        *,
        anchor: Anchor | None = None,
        read: Readout | None = None,
        layers: Sequence[int] | None = None,
        batch_tokens: int = BATCH_TOKENS,
        progress: Progress | None = None,
    ) -> Vectors:
        """Return one row per text, shape (texts, width); a model with anchors primes the texts.

        As usual for sentences, the mean is over all tokens, including the special ones. The vectors
        are those of `SentenceTransformer` for the same folder, but not normalized. Texts that are
        too long are truncated. The other arguments are those of `embed_numerals`; `read` reads the
        tokens of all numerals of a text. With an unsaid anchor the text ends at its last marker.
        """
        check_list(texts, "texts", "sentences")
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputError(f"texts[{index}] must be a string, got {text!r}")
        groups = [self._check_layers(layers)]
        return self._embed(texts, anchor, read, groups, batch_tokens, progress, keep_special=True)[
            0
        ]

    def show(self, texts: Sequence[str], anchor: Anchor | None = None) -> list[PrimedText]:
        """Return texts without markers as the model sees them, with the spans of their numerals."""
        anchor = self._check_anchor(anchor)
        if self.priming:
            return self.priming.show(texts, anchor, self.tokenizer)
        return [PrimedText(text, _bare_spans(text, self.domain)) for text in texts]

    def _embed(
        self,
        texts: Sequence[str],
        anchor: Anchor | None,
        read: Readout | None,
        groups: list[list[int]],
        batch_tokens: int = BATCH_TOKENS,
        progress: Progress | None = None,
        *,
        keep_special: bool = False,
    ) -> list[Vectors]:
        """Return the vectors for each group of layers to sum, of shape (texts, width)."""
        anchor = self._check_anchor(anchor)
        read = read or default_readout(anchor)
        check_option("read", read, Readout)
        if anchor == "absent" and read in ("marker", "anchor"):
            ways = " or ".join(SHOWN[self.kind][:2])
            raise InputError(f"read={read!r} needs an anchor that is {ways}, got absent")
        index = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        if self.priming is None and read in ("all", "last"):  # no need to find the numerals
            shown = [PrimedText(text, ()) for text in index]
        else:
            shown = self.show(list(index), anchor)
        inputs = tokenize_inputs(
            shown, self.tokenizer, read=read, max_length=self.max_length, keep_special=keep_special
        )
        vectors = self._run(inputs, groups, batch_tokens, progress)
        return list(vectors[:, [index[text] for text in texts]])

    def _run(
        self, inputs: Inputs, groups: list[list[int]], batch_tokens: int, progress: Progress | None
    ) -> Vectors:
        """Return one row per input for each group of layers, in batches of similar length."""
        width = int(self.model.config.hidden_size)
        vectors = np.empty((len(groups), len(inputs), width), np.float32)
        done = 0
        with torch.inference_mode():
            for rows in cut_batches(inputs.lengths, batch_tokens):
                vectors[:, rows] = self._run_batch(
                    *inputs.pad(rows, self.tokenizer.pad_token_id or 0), groups
                )
                done += len(rows)
                if progress:
                    progress(done)
        return vectors

    def _run_batch(
        self,
        ids: torch.Tensor,
        attention_mask: torch.Tensor,
        is_read: torch.Tensor,
        groups: list[list[int]],
    ) -> Vectors:
        device, last = self.model.device, [self.n_layers]
        with self._autocast():
            output = self.model(
                input_ids=ids.to(device),
                attention_mask=attention_mask.to(device),
                **NO_CACHE[self.kind],
                output_hidden_states=groups != [last],
            )
        weights = is_read.double() / is_read.sum(dim=1, keepdim=True)
        weights = weights.to(device, torch.float32).unsqueeze(1)
        pooled = []
        for layers in groups:
            if layers == last:
                states = output.last_hidden_state
            else:
                states = sum(output.hidden_states[layer] for layer in layers)
            pooled.append(torch.bmm(weights, states.float()).squeeze(1))
        return np.asarray(torch.stack(pooled).cpu().numpy(), np.float32)

    def _autocast(self) -> torch.autocast:
        wanted = self.precision == "bf16" or (self.precision == "auto" and has_fast_bf16())
        return torch.autocast(self.model.device.type, torch.bfloat16, enabled=wanted)

    def _check_anchor(self, anchor: Anchor | None) -> Anchor:
        if anchor is not None:
            check_option("anchor", anchor, Anchor)
        if self.priming is None:
            if anchor not in (None, "absent"):
                raise InputError(
                    f"{self.name}: has no anchors, so none can be {anchor}; ask for "
                    "anchor='absent', or load it with priming=Priming(anchors)"
                )
            return "absent"
        check_shown(self.name, anchor or "visible", self.kind)
        if anchor == "masked" and self.tokenizer.mask_token is None:
            raise InputError(f"{self.name}: its tokenizer has no mask token to hide an anchor with")
        return anchor or "visible"

    def _check_layers(self, layers: Sequence[int] | None) -> list[int]:
        """Return the indices of layers; 0 are the embeddings."""
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
    """Yield the rows of batches of similar length, longest first; padding counts as tokens.

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
