"""Batches: sequences of similar length share a row, rows of similar length share a step.

A *row* holds sequences that, padded to the longest of them, have at most `max_length` tokens; an
optimizer step takes a fixed number of rows. So there is little padding, and no sequence spans two
documents. Each epoch is shuffled by the seed and its index alone: a training can resume at any
step, on any machine. A corpus of more than a million sequences is shuffled in windows of a million,
which come in random order, so that the memory of a plan does not grow with the corpus.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numerate.pretrain.rehearsal import RehearsalSource
from numerate.pretrain.sequences import (
    ChosenSequences,
    Sequences,
    TokenSequence,
    join_sequences,
)

_STEPS_PER_CHUNK = 50  # sequences are sorted by length within the tokens of this many steps
_WINDOW = 1_000_000  # sequences that are shuffled together
Row = npt.NDArray[np.int64]
RowExample = tuple[int, list[TokenSequence]]  # the seed of its masks, and its sequences


def make_rows(
    lengths: Row,
    max_length: int,
    rows_per_step: int,
    rng: np.random.Generator,
    *,
    mixed: npt.NDArray[np.bool_] | None = None,
) -> list[Row]:
    """Return rows of sequence indices in the order of training, for a whole number of steps.

    Every sequence is in a row; a few may be in two rows, to fill the last step. Sequences with
    `mixed` come in random order, whatever their length.
    """
    keys = lengths if mixed is None else np.where(mixed, 0, lengths)
    order = rng.permutation(len(lengths))
    tokens = np.cumsum(lengths[order])
    chunk_of = tokens // (_STEPS_PER_CHUNK * rows_per_step * max_length)
    steps: list[list[Row]] = []
    rest: list[Row] = []
    for members in np.split(order, np.flatnonzero(np.diff(chunk_of)) + 1):
        members = members[np.argsort(keys[members], kind="stable")]
        rows = list(_fill_rows(members, lengths, max_length))
        whole = len(rows) - len(rows) % rows_per_step
        steps += [rows[i : i + rows_per_step] for i in range(0, whole, rows_per_step)]
        rest += rows[whole:]
    rest.sort(key=lambda row: int(keys[row[-1]]))
    while len(rest) % rows_per_step:
        rest += rest[: rows_per_step - len(rest) % rows_per_step]
    steps += [rest[i : i + rows_per_step] for i in range(0, len(rest), rows_per_step)]
    return [row for step in rng.permutation(len(steps)) for row in steps[step]]


def _fill_rows(members: Row, lengths: Row, max_length: int) -> Iterator[Row]:
    """Yield rows that, padded to their longest sequence, have at most `max_length` tokens."""
    first = longest = 0
    for place, length in enumerate(lengths[members].tolist()):
        longest = max(longest, length)
        if place > first and (place + 1 - first) * longest > max_length:
            yield members[first:place]
            first, longest = place, length
    if len(members):
        yield members[first:]


class _Plan(NamedTuple):
    """The rows of a window of the corpus, which begins at `first`, and of its rehearsal."""

    first: int
    n_sequences: int
    rehearsed: Sequences
    rows: list[Row]


class PlannedRows:
    """The rows of a training in order, epoch after epoch without end, made when they are needed.

    Every sequence is in one row of an epoch, but for rows that come twice to fill the last step of
    a window. With `mixed`, rehearsed sequences of all lengths share a batch: a number with more
    digits is a larger one, and objectives that compare the numbers of a batch need small and large
    ones. `rows_per_epoch` and `tokens_per_epoch` are those of the first epoch.
    """

    def __init__(
        self,
        corpus: Sequences | ChosenSequences,
        *,
        max_length: int,
        rows_per_step: int,
        seed: int,
        rehearsal: RehearsalSource | None = None,
        mixed: bool = False,
        window: int = _WINDOW,
    ) -> None:
        self.corpus, self._rehearsal, self._mixed = corpus, rehearsal, mixed
        self._max_length, self._rows_per_step, self._seed = max_length, rows_per_step, seed
        self._window, self._n_windows = window, math.ceil(len(corpus) / window)
        self._lengths = corpus.lengths
        self._plan = lru_cache(maxsize=2)(self._make_plan)
        self._starts = [0]  # the first row of each window, epoch after epoch
        self.tokens_per_epoch = int(self._lengths.sum())
        for number in range(self._n_windows):
            self.tokens_per_epoch += int(self._add_window(number).rehearsed.lengths.sum())
        self.rows_per_epoch = self._starts[-1]

    def __getitem__(self, index: int) -> RowExample:
        while index >= self._starts[-1]:
            self._add_window(len(self._starts) - 1)
        number = bisect_right(self._starts, index) - 1
        plan = self._plan(number)
        members = plan.rows[index - self._starts[number]].tolist()
        return hash_seed(self._seed, index), [self._find(plan, i) for i in members]

    def _find(self, plan: _Plan, member: int) -> TokenSequence:
        """Return a sequence of a plan: of the corpus, or a rehearsed one."""
        if member < plan.n_sequences:
            return self.corpus[plan.first + member]
        return plan.rehearsed[member - plan.n_sequences]

    def _add_window(self, number: int) -> _Plan:
        """Plan the next window, and note where its rows end."""
        plan = self._plan(number)
        self._starts.append(self._starts[-1] + len(plan.rows))
        return plan

    def _make_plan(self, number: int) -> _Plan:
        epoch, place = divmod(number, self._n_windows)
        rng = np.random.default_rng([self._seed, epoch])
        if self._n_windows > 1:
            place = int(rng.permutation(self._n_windows)[place])
            rng = np.random.default_rng([self._seed, epoch, place])
        first = place * self._window
        lengths = self._lengths[first : first + self._window]
        rehearsed = join_sequences([])
        if self._rehearsal:
            rehearsed = self._rehearsal.draw(int(lengths.sum()), rng)
        n_sequences = len(lengths)
        lengths = np.concatenate((lengths, rehearsed.lengths))
        mixed = (np.arange(len(lengths)) >= n_sequences) & self._mixed
        rows = make_rows(lengths, self._max_length, self._rows_per_step, rng, mixed=mixed)
        return _Plan(first, n_sequences, rehearsed, rows)


def hash_seed(seed: int, index: int) -> int:
    """Return the seed of one example of a training."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0])
