"""Inputs: from numerals and texts to token ids, and which of the tokens make the vector."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.numerals import LARGEST, find_numerals
from numerate.options import Domain, Readout
from numerate.pretrain.sequences import special_tokens
from numerate.prime.text import PrimedText

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Inputs:
    """Token ids end to end, and which of them are read: input i is `bounds[i]` to `bounds[i+1]`."""

    ids: npt.NDArray[np.int64]
    is_read: Flags
    bounds: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each input has."""
        return np.diff(self.bounds)

    def pad(
        self, rows: npt.NDArray[np.intp], pad_id: int
    ) -> tuple[npt.NDArray[np.int64], Flags, Flags]:
        """Return some inputs as a batch: ids, which are there at all, and which are read."""
        lengths = self.lengths[rows]
        there = np.arange(lengths.max()) < lengths[:, None]
        place = (self.bounds[rows][:, None] + np.arange(lengths.max()))[there]
        ids, is_read = np.full(there.shape, pad_id, np.int64), np.zeros(there.shape, bool)
        ids[there], is_read[there] = self.ids[place], self.is_read[place]
        return ids, there, is_read


def write_numerals(
    numerals: Sequence[object] | npt.NDArray[Any], domain: Domain = "integers"
) -> list[str]:
    """Return numerals as they are written: numbers in digits, strings as they are.

    >>> write_numerals([1999, 5.0, "12,345"])
    ['1999', '5', '12,345']
    """
    check_list(numerals, "numerals", "numbers")
    plain = numerals.tolist() if isinstance(numerals, np.ndarray) else numerals
    written = [_write_numeral(numeral, domain) for numeral in plain]
    for index, text in enumerate(written):
        if text is None:
            what = "a whole number from 1 to" if domain == "integers" else "a number within ±"
            raise InputError(f"numerals[{index}] must be {what} 10^10, got {plain[index]!r}")
    return [text for text in written if text is not None]


def _write_numeral(numeral: object, domain: Domain) -> str | None:
    if isinstance(numeral, np.generic):
        numeral = numeral.item()
    if isinstance(numeral, float) and numeral.is_integer():
        numeral = int(numeral)
    if isinstance(numeral, int) and not isinstance(numeral, bool) and 1 <= numeral <= LARGEST:
        return str(numeral)
    if isinstance(numeral, bool) or not isinstance(numeral, str | int | float):
        return None
    text = str(numeral)
    found = find_numerals(text, domain)
    return text if [(row.start, row.end) for row in found] == [(0, len(text))] else None


def check_list(items: object, name: str, what: str) -> None:
    """Refuse what is no list, or has nothing in it."""
    if isinstance(items, str) or not hasattr(items, "__len__"):
        raise InputError(f"{name} must be a list of {what}, got {items!r}")
    if not len(items):
        raise InputError(f"{name} must not be empty; give at least one")


def tokenize_inputs(
    shown: Sequence[PrimedText],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    read: Readout,
    max_length: int,
    keep_special: bool,
) -> Inputs:
    """Return the tokens of texts, cut off at a length.

    Args:
        shown: Texts as the model is to see them, with the spans of their numerals.
        tokenizer: A fast tokenizer.
        read: Whose tokens make the vector.
        max_length: Tokens of an input at most, special ones included.
        keep_special: With `read="all"`, whether [CLS], [SEP] and their like are read too.
    """
    encoded = tokenizer(
        [text for text, _ in shown],
        truncation=True,
        max_length=max_length,
        return_offsets_mapping=read != "all",
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    lengths = np.array([len(ids) for ids in encoded["input_ids"]], np.int64)
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    ids = np.fromiter(chain.from_iterable(encoded["input_ids"]), np.int64, bounds[-1])
    if read == "all":
        is_read = np.ones(len(ids), bool) if keep_special else _not_special(bounds, tokenizer)
    else:
        pairs = list(chain.from_iterable(encoded["offset_mapping"]))
        is_read = _in_spans(shown, np.array(pairs, np.int64).reshape(-1, 2), lengths, read)
    _check_read(shown, is_read, bounds, read, max_length)
    return Inputs(ids, is_read, bounds)


def _not_special(
    bounds: npt.NDArray[np.int64], tokenizer: "PreTrainedTokenizerBase"
) -> npt.NDArray[np.bool_]:
    before, after = map(len, special_tokens(tokenizer))
    is_read = np.ones(bounds[-1], bool)
    for place in range(before):
        is_read[bounds[:-1] + place] = False
    for place in range(after):
        is_read[bounds[1:] - 1 - place] = False
    return is_read


def _in_spans(
    shown: Sequence[PrimedText],
    offsets: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    read: Readout,
) -> Flags:
    """Which tokens overlap the spans of all numerals, markers or anchors."""
    sizes = np.array([len(text) + 1 for text, _ in shown], np.int64)
    base = np.cumsum(sizes) - sizes
    spans = np.array(
        [
            (getattr(span, read)[0] + start, getattr(span, read)[1] + start)
            for (_, rows), start in zip(shown, base.tolist(), strict=True)
            for span in rows
        ],
        np.int64,
    ).reshape(-1, 2)
    places = offsets + np.repeat(base, lengths)[:, None]
    if not len(spans):
        return np.zeros(len(places), bool)
    candidate = np.searchsorted(spans[:, 1], places[:, 0], side="right")
    begins = spans[np.minimum(candidate, len(spans) - 1), 0]
    overlaps: Flags = (candidate < len(spans)) & (begins < places[:, 1])
    return overlaps


def _check_read(
    shown: Sequence[PrimedText],
    is_read: Flags,
    bounds: npt.NDArray[np.int64],
    read: Readout,
    max_length: int,
) -> None:
    """Refuse an input of which no token is read."""
    count = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_read)))
    empty = np.flatnonzero(np.diff(count[bounds]) == 0)
    if len(empty):
        text = shown[int(empty[0])].text
        what = "token" if read == "all" else f"{read} within the model's {max_length} tokens"
        short = text if len(text) <= 40 else f"{text[:40]}…"
        raise InputError(f"{short!r} has no {what} to read; read all tokens, or leave it out")
