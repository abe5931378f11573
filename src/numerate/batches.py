"""Batches: sequences of like length in rows, rows in steps, the same for a seed on any machine.

A *row* holds sequences that together fill at most one sequence of the greatest length, and a step
of the optimiser takes a number of rows whose sequences are of like length: next to no padding, and
no two documents in one sequence. Every epoch is drawn anew, from the seed and its number alone, so
that a run can go on from any step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from numerate.masking import IGNORED, Sequences, join_sequences, mask_sequence, tokenize_documents
from numerate.rehearse import Rehearsal

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_STEPS_PER_CHUNK = 50  # sequences are sorted by length among those of this many steps
Row = npt.NDArray[np.int64]
Batch = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Masking:
    """How sequences are masked; the defaults are the paper's way."""

    mask_id: int
    pad_id: int
    special_ids: tuple[int, ...]
    vocabulary_size: int
    anchor_visible: float = 0.0
    mlm_probability: float = 0.0

    @classmethod
    def of(
        cls,
        tokenizer: "PreTrainedTokenizerBase",
        vocabulary_size: int,
        *,
        anchor_visible: float = 0.0,
        mlm_probability: float = 0.0,
    ) -> "Masking":
        """Return how the sequences of a tokenizer are masked."""
        ids: Any = tokenizer
        return cls(
            ids.mask_token_id,
            ids.pad_token_id,
            tuple(ids.all_special_ids),
            vocabulary_size,
            anchor_visible=anchor_visible,
            mlm_probability=mlm_probability,
        )

    def collate(self, rows: Sequence[tuple[int, list[tuple[np.ndarray, np.ndarray]]]]) -> Batch:
        """Return a batch of rows, each given with the number that seeds its masking."""
        inputs, labels = [], []
        for number, sequences in rows:
            rng = np.random.default_rng(number)
            for ids, is_anchor in sequences:
                seen, target = self.mask(ids, is_anchor, rng)
                inputs.append(seen)
                labels.append(target)
        lengths = np.array([len(ids) for ids in inputs])
        is_token = np.arange(lengths.max()) < lengths[:, None]
        return {
            "input_ids": _pad(inputs, is_token, self.pad_id),
            "attention_mask": torch.from_numpy(is_token.astype(np.int64)),
            "labels": _pad(labels, is_token, IGNORED),
        }

    def mask(
        self, ids: np.ndarray, is_anchor: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what the model sees of a sequence, and its labels."""
        return mask_sequence(
            ids,
            is_anchor,
            rng,
            mask_id=self.mask_id,
            special_ids=np.array(self.special_ids, np.int32),
            vocabulary_size=self.vocabulary_size,
            anchor_visible=self.anchor_visible,
            mlm_probability=self.mlm_probability,
        )


def _pad(rows: list[np.ndarray], is_token: np.ndarray, filler: int) -> torch.Tensor:
    padded = np.full(is_token.shape, filler, np.int64)
    padded[is_token] = np.concatenate(rows)
    return torch.from_numpy(padded)


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
        rehearsal: "RehearsalSource | None" = None,
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


@dataclass(frozen=True)
class RehearsalSource:
    """Draws rehearsed sequences, as many that they are a given share of all tokens."""

    rehearsal: Rehearsal
    tokenizer: "PreTrainedTokenizerBase"
    share: float
    max_length: int

    def draw(self, corpus_tokens: int, rng: np.random.Generator) -> Sequences:
        """Return rehearsed sequences to go with a number of tokens of the corpus."""
        wanted = int(corpus_tokens * self.share / (1 - self.share))
        texts = self.rehearsal.draw_texts(rng)
        rows: list[tuple[np.ndarray, np.ndarray]] = []
        while wanted > 0:
            batch = islice(texts, 1000)
            for ids, is_anchor in tokenize_documents(
                batch, self.tokenizer, max_length=self.max_length
            ):
                if wanted > 0:
                    rows.append((ids, is_anchor))
                    wanted -= len(ids)
        return join_sequences(rows)
