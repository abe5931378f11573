"""Batches: sequences of similar length share a row, rows of similar length share a step.

A *row* holds sequences that, padded to the longest of them, have at most `max_length` tokens; an
optimizer step takes a fixed number of rows. So there is little padding, and no sequence spans two
documents. Each epoch is shuffled by the seed and its index alone: a training can resume at any
step, on any machine.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from numerate.pretrain.rehearsal import RehearsalSource
from numerate.pretrain.sequences import Sequences, TokenSequence, join_sequences

_STEPS_PER_CHUNK = 50  # sequences are sorted by length within the tokens of this many steps
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
    for chunk in range(int(chunk_of[-1]) + 1):
        members = order[chunk_of == chunk]
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


class PlannedRows:
    """The rows of a training in order, epoch after epoch without end, made when they are needed.

    With `mixed`, rehearsed sequences of all lengths share a batch: a number with more digits is a
    larger one, and objectives that compare the numbers of a batch need small and large ones.
    """

    def __init__(
        self,
        corpus: Sequences,
        *,
        max_length: int,
        rows_per_step: int,
        seed: int,
        rehearsal: RehearsalSource | None = None,
        mixed: bool = False,
    ) -> None:
        self.corpus, self._rehearsal, self._mixed = corpus, rehearsal, mixed
        self._max_length, self._rows_per_step, self._seed = max_length, rows_per_step, seed
        self._epoch = lru_cache(maxsize=2)(self._make_epoch)
        extra, rows = self._epoch(0)
        self.rows_per_epoch = len(rows)
        self.tokens_per_epoch = int(corpus.lengths.sum()) + int(extra.lengths.sum())

    def __getitem__(self, index: int) -> RowExample:
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
        mixed = (np.arange(len(lengths)) >= len(self.corpus)) & self._mixed
        rows = make_rows(lengths, self._max_length, self._rows_per_step, rng, mixed=mixed)
        return extra, rows


def hash_seed(seed: int, index: int) -> int:
    """Return the seed of one example of a training."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0])
