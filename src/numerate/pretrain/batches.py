"""Batches: sequences of like length in rows, rows in steps, the same for a seed on any machine.

A *row* holds sequences that together fill at most one sequence of the greatest length, and a step
of the optimiser takes a number of rows whose sequences are of like length: next to no padding, and
no two documents in one sequence. Every epoch is drawn anew, from the seed and its number alone, so
that a run can go on from any step.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch

from numerate.pretrain.rehearsal import RehearsalSource
from numerate.pretrain.sequences import Sequences, join_sequences

_STEPS_PER_CHUNK = 50  # sequences are sorted by length among those of this many steps
Row = npt.NDArray[np.int64]


def make_rows(
    lengths: Row, max_length: int, rows_per_step: int, rng: np.random.Generator
) -> list[Row]:
    """Return rows of sequence numbers in the order of training, a whole number of steps.

    Every sequence is in a row; a few may be in two, to fill the last step.
    """
    order = rng.permutation(len(lengths))
    tokens = np.cumsum(lengths[order])
    chunk_of = tokens // (_STEPS_PER_CHUNK * rows_per_step * max_length)
    steps: list[list[Row]] = []
    rest: list[Row] = []
    for chunk in range(int(chunk_of[-1]) + 1):
        members = order[chunk_of == chunk]
        members = members[np.argsort(lengths[members], kind="stable")]
        rows = list(_fill_rows(members, lengths, max_length))
        whole = len(rows) - len(rows) % rows_per_step
        steps += [rows[i : i + rows_per_step] for i in range(0, whole, rows_per_step)]
        rest += rows[whole:]
    rest.sort(key=lambda row: int(lengths[row[-1]]))
    while len(rest) % rows_per_step:
        rest += rest[: rows_per_step - len(rest) % rows_per_step]
    steps += [rest[i : i + rows_per_step] for i in range(0, len(rest), rows_per_step)]
    return [row for step in rng.permutation(len(steps)) for row in steps[step]]


def _fill_rows(members: Row, lengths: Row, max_length: int) -> Iterator[Row]:
    """Rows of sequences, given in order of length, that fill no more than the greatest length."""
    first = 0
    for place in range(1, len(members) + 1):
        is_full = (
            place < len(members) and (place + 1 - first) * lengths[members[place]] > max_length
        )
        if place == len(members) or is_full:
            yield members[first:place]
            first = place


class PlannedRows(torch.utils.data.Dataset[tuple[int, list[tuple[np.ndarray, np.ndarray]]]]):
    """All rows of a training run in their order, epoch after epoch, made when they are needed."""

    def __init__(
        self,
        corpus: Sequences,
        *,
        max_length: int,
        rows_per_step: int,
        seed: int,
        rehearsal: RehearsalSource | None = None,
    ) -> None:
        self.corpus, self._rehearsal = corpus, rehearsal
        self._max_length, self._rows_per_step, self._seed = max_length, rows_per_step, seed
        self._epoch = lru_cache(maxsize=2)(self._make_epoch)
        extra, rows = self._epoch(0)
        self.rows_per_epoch = len(rows)
        self.tokens_per_epoch = int(corpus.lengths.sum()) + int(extra.lengths.sum())
        self.steps_per_epoch = self.rows_per_epoch // rows_per_step
        self.n_steps = self.steps_per_epoch

    def __len__(self) -> int:
        return self.n_steps * self._rows_per_step

    def __getitem__(self, index: int) -> tuple[int, list[tuple[np.ndarray, np.ndarray]]]:
        epoch, place = divmod(index, self.rows_per_epoch)
        extra, rows = self._epoch(epoch)
        n_corpus = len(self.corpus)
        members = rows[place % len(rows)].tolist()
        sequences = [self.corpus[i] if i < n_corpus else extra[i - n_corpus] for i in members]
        return hash_seed(self._seed, index), sequences

    def _make_epoch(self, epoch: int) -> tuple[Sequences, list[Row]]:
        rng = np.random.default_rng([self._seed, epoch])
        extra = join_sequences([])
        if self._rehearsal:
            extra = self._rehearsal.draw(int(self.corpus.lengths.sum()), rng)
        lengths = np.concatenate((self.corpus.lengths, extra.lengths))
        return extra, make_rows(lengths, self._max_length, self._rows_per_step, rng)


def hash_seed(seed: int, index: int) -> int:
    """Return a seed of its own for each row of a run."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0])
