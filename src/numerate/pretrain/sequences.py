"""Sequences: from primed text to token ids, with the magnitudes of the numbers that have anchors.

A document becomes one or more sequences. The span of an anchor in the text decides which tokens
belong to it; these have the magnitude of its numeral, all others NaN. For a causal model, which
says all that follows a marker, a token for the space before the anchor belongs to it too.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.ranges import find_gap_numerals, is_in_gap
from numerate.fit.anchors import rescale
from numerate.options import Domain, LmKind, check_option
from numerate.pretrain.token_files import save_sequences
from numerate.prime.text import PrimedNumeral, find_primed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_DOCUMENTS_AT_A_TIME = 1000
_SEQUENCES_AT_A_TIME = 10_000
Ids = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Magnitudes = npt.NDArray[np.float32]
Keep = Literal["anchored", "all"]


class TokenSequence(NamedTuple):
    """The token ids of a sequence, and for the tokens of an anchor the magnitude of its numeral.

    The magnitude of n is ln n + 1 (`rescale` on the ln scale); tokens of no anchor have NaN. Two
    anchors are never adjacent, so consecutive magnitudes belong to one anchor.
    """

    ids: Ids
    magnitudes: Magnitudes

    @classmethod
    def without_anchors(cls, ids: Ids) -> "TokenSequence":
        """Return a sequence that has no anchors."""
        return cls(ids, np.full(len(ids), np.nan, np.float32))

    @property
    def is_anchor(self) -> Flags:
        """A mask of the tokens of anchors."""
        return ~np.isnan(self.magnitudes)


@dataclass(frozen=True)
class Sequences:
    """Token sequences in flat arrays: sequence i is `ids[bounds[i]:bounds[i + 1]]`."""

    ids: Ids
    magnitudes: Magnitudes
    bounds: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, index: int) -> TokenSequence:
        part = slice(int(self.bounds[index]), int(self.bounds[index + 1]))
        return TokenSequence(self.ids[part], self.magnitudes[part])

    @property
    def is_anchor(self) -> Flags:
        """A mask of the tokens of anchors."""
        return ~np.isnan(self.magnitudes)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each sequence."""
        return np.diff(self.bounds)

    def select(self, indices: npt.NDArray[np.int64]) -> "Sequences":
        """Return a copy of the sequences at the indices."""
        return join_sequences([self[int(index)] for index in indices])

    def count_anchors(self) -> npt.NDArray[np.int64]:
        """Return the number of tokens of anchors of each sequence; it reads a part at a time."""
        counts = np.zeros(len(self), np.int64)
        for first in range(0, len(self), _SEQUENCES_AT_A_TIME):
            bounds = self.bounds[first : first + _SEQUENCES_AT_A_TIME + 1]
            part = ~np.isnan(self.magnitudes[bounds[0] : bounds[-1]])
            counts[first : first + len(bounds) - 1] = np.add.reduceat(
                part, bounds[:-1] - bounds[0], dtype=np.int64
            )
        return counts

    @classmethod
    def load(cls, folder: Path) -> "Sequences":
        """Map the arrays that `save_sequences` wrote into memory."""
        paths = [folder / f"{name}.npy" for name in ("ids", "magnitudes", "bounds")]
        return cls(*(np.load(path, mmap_mode="r", allow_pickle=False) for path in paths))


@dataclass(frozen=True)
class ChosenSequences:
    """Some of the sequences of others, by index; their tokens are not copied."""

    source: Sequences
    indices: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> TokenSequence:
        return self.source[int(self.indices[index])]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each sequence."""
        bounds = self.source.bounds
        lengths: npt.NDArray[np.int64] = bounds[self.indices + 1] - bounds[self.indices]
        return lengths


def join_sequences(rows: Iterable[TokenSequence]) -> Sequences:
    """Return sequences in flat arrays."""
    parts = [TokenSequence(np.zeros(0, np.int32), np.zeros(0, np.float32)), *rows]
    lengths = [len(part.ids) for part in parts]
    return Sequences(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.magnitudes for part in parts]),
        np.cumsum(lengths, dtype=np.int64),
    )


def read_sequences(
    folder: Path,
    open_documents: Callable[[], Iterable[str]],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    max_length: int,
    keep: Keep,
    kind: LmKind = "masked",
    hold_out_gaps: bool = False,
    domain: Domain = "integers",
) -> Sequences:
    """Return the sequences of documents; the first call writes them to a folder, others read it."""
    if not (folder / "bounds.npy").exists():
        found = tokenize_documents(
            open_documents(),
            tokenizer,
            max_length=max_length,
            keep=keep,
            kind=kind,
            hold_out_gaps=hold_out_gaps,
            domain=domain,
        )
        save_sequences(found, folder)
    return Sequences.load(folder)


def tokenize_documents(
    documents: Iterable[str],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    max_length: int = 512,
    keep: Keep = "anchored",
    kind: LmKind = "masked",
    hold_out_gaps: bool = False,
    domain: Domain = "integers",
) -> Iterator[TokenSequence]:
    """Yield the sequences of primed documents, with special tokens.

    A document that is too long is cut into several sequences of at most `max_length` tokens; a
    numeral stays with its marker and its anchor. With `keep="anchored"`, sequences without an
    anchor are left out; with `hold_out_gaps`, those with a numeral in a gap. `domain` is that of
    the anchors.
    """
    check_option("keep", keep, Keep)
    before, after = special_tokens(tokenizer)
    room = max_length - len(before) - len(after)
    if room < 1:
        raise InputError(
            f"max_length must be above {max_length - room}, the special tokens of a sequence, got "
            f"{max_length}"
        )
    nothing = [TokenSequence.without_anchors(part).magnitudes for part in (before, after)]
    for texts in _batch(documents):
        encoded = tokenizer(
            texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        for text, ids, offsets in zip(
            texts, encoded["input_ids"], encoded["offset_mapping"], strict=True
        ):
            spans, values = find_primed(text, domain)
            groups = _find_groups(spans, offsets, kind)
            gaps = _find_gaps(text, spans, values) if hold_out_gaps else []
            magnitudes = np.full(len(ids), np.nan, np.float32)
            sizes = rescale(values, "ln", 1.0)
            for (_, first, last), size in zip(groups, sizes, strict=True):
                magnitudes[first:last] = size
            for start, end in cut_tokens(len(ids), room, groups):
                part = magnitudes[start:end]
                from_, to = offsets[start][0], offsets[end - 1][1]
                if any(from_ <= place < to for place in gaps):
                    continue
                if keep == "all" or not np.isnan(part).all():
                    yield TokenSequence(
                        np.concatenate((before, np.array(ids[start:end], np.int32), after)),
                        np.concatenate((nothing[0], part, nothing[1])),
                    )


def cut_tokens(
    n_tokens: int, room: int, groups: list[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sequence, of at most `room` tokens, of a document.

    `groups` has for each primed numeral the index of its first token, of the first token of its
    anchor, and of the token after the anchor.
    """
    start = 0
    while n_tokens - start > room:
        end = start + room
        for numeral, anchor, last in groups:
            if numeral < end < last:
                # The cut would fall into a numeral with its anchor: cut before the numeral, or
                # before the anchor, if what moves to the next sequence fits there.
                places = (place for place in (numeral, anchor) if start < place <= end)
                end = next((place for place in places if last - place <= room), end)
                break
        yield start, end
        start = end
    if start < n_tokens:
        yield start, n_tokens


def _find_groups(
    spans: list[PrimedNumeral], offsets: list[tuple[int, int]], kind: LmKind
) -> list[tuple[int, int, int]]:
    """Return the groups that `cut_tokens` takes, from the spans of numerals and of tokens."""
    if not spans:
        return []
    places = np.array(offsets, dtype=np.int64)
    starts, ends = places[:, 0], places[:, 1]
    groups = []
    for span in spans:
        first = int(np.searchsorted(ends, span.numeral[0], side="right"))
        if kind == "causal":  # all that is said behind the marker
            anchor = int(np.searchsorted(ends, span.marker[0], side="right")) + 1
        else:
            anchor = int(np.searchsorted(ends, span.anchor[0], side="right"))
        last = int(np.searchsorted(starts, span.anchor[1], side="left"))
        groups.append((first, anchor, last))
    return groups


def _find_gaps(text: str, spans: list[PrimedNumeral], values: list[float]) -> list[int]:
    """Return where the numerals in gaps start, primed or not; anchors are not numerals."""
    anchors = {span.anchor[0] for span in spans}
    others = [place for place in find_gap_numerals(text) if place not in anchors]
    return others + [
        span.numeral[0] for span, gap in zip(spans, is_in_gap(values), strict=True) if gap
    ]


def special_tokens(tokenizer: "PreTrainedTokenizerBase") -> tuple[Ids, Ids]:
    """Return the special tokens that a tokenizer puts before and after a sequence."""
    bare = tokenizer("1", add_special_tokens=False)["input_ids"]
    full = tokenizer("1")["input_ids"]
    start = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)
    ids = np.array(full, np.int32)
    return ids[:start], ids[start + len(bare) :]


def _batch(documents: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(documents)
    while batch := list(islice(remaining, _DOCUMENTS_AT_A_TIME)):
        yield batch
