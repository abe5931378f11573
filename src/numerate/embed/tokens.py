"""Tokens: from numerals and texts to token ids, and the tokens whose mean is the vector."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.utils.rnn import pad_sequence

from numerate.errors import InputError
from numerate.extract.numerals import LARGEST, LARGEST_OF, find_numerals
from numerate.options import Domain, Readout
from numerate.prime.text import PrimedText

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Inputs:
    """Token ids in flat arrays, with flags for the tokens to read.

    Input i is `ids[bounds[i]:bounds[i + 1]]`.
    """

    ids: npt.NDArray[np.int64]
    is_read: Flags
    bounds: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each input."""
        return np.diff(self.bounds)

    def pad(
        self, rows: npt.NDArray[np.intp], pad_id: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return inputs as a batch: ids, attention mask and flags, of shape (rows, tokens)."""
        parts = [slice(self.bounds[row], self.bounds[row + 1]) for row in rows.tolist()]
        ids = [torch.from_numpy(self.ids[part]) for part in parts]
        is_read = [torch.from_numpy(self.is_read[part]) for part in parts]
        return (
            pad_sequence(ids, batch_first=True, padding_value=pad_id),
            pad_sequence([torch.ones_like(row) for row in ids], batch_first=True),
            pad_sequence(is_read, batch_first=True),
        )


def write_numerals(
    numerals: Sequence[object] | npt.NDArray[Any], domain: Domain = "integers"
) -> list[str]:
    """Return numerals as text: numbers in digits, strings unchanged.

    >>> write_numerals([1999, 5.0, "12,345"])
    ['1999', '5', '12,345']
    """
    check_list(numerals, "numerals", "numbers")
    plain = numerals.tolist() if isinstance(numerals, np.ndarray) else numerals
    return [_write_numeral(index, numeral, domain) for index, numeral in enumerate(plain)]


def _write_numeral(index: int, given: object, domain: Domain) -> str:
    numeral = given.item() if isinstance(given, np.generic) else given
    if isinstance(numeral, float) and numeral.is_integer():
        numeral = int(numeral)
    if isinstance(numeral, int) and not isinstance(numeral, bool) and 1 <= numeral <= LARGEST:
        return str(numeral)
    if isinstance(numeral, str | int | float) and not isinstance(numeral, bool):
        text = str(numeral)
        if [(row.start, row.end) for row in find_numerals(text, domain)] == [(0, len(text))]:
            return text
    what = "a whole number from 1 to" if domain == "integers" else "a number within ±"
    bound = f"10^{len(str(LARGEST_OF[domain])) - 1}"
    raise InputError(f"numerals[{index}] must be {what} {bound}, got {given!r}")


def check_list(items: object, name: str, what: str) -> None:
    """Refuse a value that is not a list, and an empty list."""
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
    """Return the tokens of texts, truncated to `max_length` tokens including the special ones.

    `keep_special` says whether `read="all"` reads [CLS], [SEP] and similar tokens too.
    """
    whole = read in ("all", "last")  # whatever the spans of numerals are
    encoded = tokenizer(
        [text for text, _ in shown],
        truncation=True,
        max_length=max_length,
        return_offsets_mapping=not whole,
        return_special_tokens_mask=whole,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    lengths = np.array([len(ids) for ids in encoded["input_ids"]], np.int64)
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    ids = np.fromiter(chain.from_iterable(encoded["input_ids"]), np.int64, bounds[-1])
    if whole:
        special = np.fromiter(chain.from_iterable(encoded["special_tokens_mask"]), bool, len(ids))
        is_read = ~special | keep_special if read == "all" else _find_last(~special, bounds)
    else:
        pairs = list(chain.from_iterable(encoded["offset_mapping"]))
        is_read = _in_spans(shown, np.array(pairs, np.int64).reshape(-1, 2), lengths, read)
    _check_read(shown, is_read, bounds, read, max_length)
    return Inputs(ids, is_read, bounds)


def _find_last(is_ordinary: Flags, bounds: npt.NDArray[np.int64]) -> Flags:
    """Return flags for the last ordinary token of each input."""
    places = np.flatnonzero(is_ordinary)
    behind = np.searchsorted(places, bounds)  # how many ordinary tokens stand before each bound
    found = np.zeros(len(is_ordinary), bool)
    found[places[behind[1:][np.diff(behind) > 0] - 1]] = True
    return found


def _in_spans(
    shown: Sequence[PrimedText],
    offsets: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    read: Readout,
) -> Flags:
    """Return flags for the tokens that overlap the span of any numeral, marker or anchor."""
    # One search for all texts: each starts where the text before it ends.
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
    # The first span that ends behind the start of a token is the only one that may overlap it.
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
    """Refuse an input without a token to read."""
    count = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_read)))
    empty = np.flatnonzero(np.diff(count[bounds]) == 0)
    if len(empty):
        text = shown[int(empty[0])].text
        what = (
            "token" if read in ("all", "last") else f"{read} within the model's {max_length} tokens"
        )
        short = text if len(text) <= 40 else f"{text[:40]}…"
        raise InputError(f"{short!r} has no {what} to read; read all tokens, or leave it out")
