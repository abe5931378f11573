"""Sequences: from primed text to sequences of tokens that know their anchors.

A document becomes one or more sequences of token ids, in which the pieces of every anchor are
marked, as the span of the anchor in the text says.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.prime.text import PrimedNumeral, find_primed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_DOCUMENTS_AT_A_TIME = 1000
Ids = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sequences:
    """Token sequences end to end: sequence i is `ids[bounds[i]:bounds[i + 1]]`.

    `is_anchor` marks the pieces of anchors; two anchors never touch, so that a run is one anchor.
    """

    ids: Ids
    is_anchor: Flags
    bounds: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, index: int) -> tuple[Ids, Flags]:
        part = slice(int(self.bounds[index]), int(self.bounds[index + 1]))
        return self.ids[part], self.is_anchor[part]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each sequence has."""
        return np.diff(self.bounds)

    def select(self, indices: npt.NDArray[np.int64]) -> "Sequences":
        """Return some of the sequences, copied."""
        return join_sequences([self[int(index)] for index in indices])

    def save(self, folder: Path) -> None:
        """Write the arrays, each whole or not at all, `bounds` last."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("ids", "is_anchor", "bounds"):
            try:
                np.save(folder / f".{name}.npy", getattr(self, name), allow_pickle=False)
            except OSError as error:
                raise InputError(f"{folder}: could not be written ({error}); make room") from None
            (folder / f".{name}.npy").replace(folder / f"{name}.npy")

    @classmethod
    def load(cls, folder: Path) -> "Sequences":
        """Open arrays that `save` wrote; they stay on disk and are read where needed."""
        return cls(
            *(
                np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
                for name in ("ids", "is_anchor", "bounds")
            )
        )


def join_sequences(rows: Iterable[tuple[Ids, Flags]]) -> Sequences:
    """Return sequences, given as ids and anchor flags, end to end."""
    pairs = list(rows)
    lengths = [len(ids) for ids, _ in pairs]
    ids = np.concatenate([np.asarray(ids, np.int32) for ids, _ in pairs] or [np.zeros(0, np.int32)])
    flags = np.concatenate([np.asarray(flag, bool) for _, flag in pairs] or [np.zeros(0, bool)])
    return Sequences(ids, flags, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))


def tokenize_documents(
    documents: Iterable[str],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    max_length: int = 512,
    keep: str = "anchored",
) -> Iterator[tuple[Ids, Flags]]:
    """Yield the sequences of primed documents, with their special tokens, as ids and anchor flags.

    A document that is too long goes on in another sequence, cut so that a numeral stays with its
    marker and its anchor.

    Args:
        documents: Primed texts.
        tokenizer: A fast tokenizer that knows the markers.
        max_length: Tokens of a sequence at most, special ones included.
        keep: `anchored` sequences alone (nothing else has a label), or `all`.
    """
    before, after = special_tokens(tokenizer)
    room = max_length - len(before) - len(after)
    flags_before, flags_after = np.zeros(len(before), bool), np.zeros(len(after), bool)
    for texts in _in_batches(documents, _DOCUMENTS_AT_A_TIME):
        encoded = tokenizer(
            texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        for text, ids, offsets in zip(
            texts, encoded["input_ids"], encoded["offset_mapping"], strict=True
        ):
            groups = _find_groups(find_primed(text), offsets)
            is_anchor = np.zeros(len(ids), bool)
            for _, first, last in groups:
                is_anchor[first:last] = True
            for start, end in cut_tokens(len(ids), room, groups):
                flags = is_anchor[start:end]
                if keep == "all" or flags.any():
                    yield (
                        np.concatenate((before, np.array(ids[start:end], np.int32), after)),
                        np.concatenate((flags_before, flags, flags_after)),
                    )


def cut_tokens(
    n_tokens: int, room: int, groups: list[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield where to cut a document of tokens into sequences that fit a room.

    Args:
        n_tokens: Tokens of the document.
        room: Tokens that a sequence can hold.
        groups: Of each numeral: its first token, its anchor's first token, and where that ends.
    """
    start = 0
    while n_tokens - start > room:
        end = start + room
        for numeral, anchor, last in groups:
            if numeral < end < last:  # move whole to the next sequence, if it fits there
                places = (place for place in (numeral, anchor) if start < place <= end)
                end = next((place for place in places if last - place <= room), end)
                break
        yield start, end
        start = end
    if start < n_tokens:
        yield start, n_tokens


def _find_groups(
    spans: list[PrimedNumeral], offsets: list[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Of each primed numeral: its first token, its anchor's first token, and where that ends."""
    if not spans:
        return []
    places = np.array(offsets, dtype=np.int64)
    starts, ends = places[:, 0], places[:, 1]
    groups = []
    for span in spans:
        first = int(np.searchsorted(ends, span.numeral[0], side="right"))
        anchor = int(np.searchsorted(ends, span.anchor[0], side="right"))
        last = int(np.searchsorted(starts, span.anchor[1], side="left"))
        groups.append((first, anchor, last))
    return groups


def special_tokens(tokenizer: "PreTrainedTokenizerBase") -> tuple[Ids, Ids]:
    """Return what a tokenizer puts before and after a sequence."""
    bare = tokenizer("1", add_special_tokens=False)["input_ids"]
    full = tokenizer("1")["input_ids"]
    start = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)
    ids = np.array(full, np.int32)
    return ids[:start], ids[start + len(bare) :]


def _in_batches(items: Iterable[str], size: int) -> Iterator[list[str]]:
    batch: list[str] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
