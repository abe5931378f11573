import math
import re
from collections import Counter

import numpy as np
import pytest
import torch
from accelerate.data_loader import BatchSamplerShard
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import BatchSampler, SequentialSampler

from numerate.fit.anchors import AnchorSet
from numerate.models.base_model import add_markers, load_base
from numerate.pretrain.anchors import take_tokens
from numerate.pretrain.batches import PlannedRows, make_rows
from numerate.pretrain.masking import IGNORED, Masking
from numerate.pretrain.rehearsal import Rehearsal, RehearsalSource
from numerate.pretrain.sequences import (
    ChosenSequences,
    TokenSequence,
    join_sequences,
    tokenize_documents,
)
from tests.conftest import make_model

ONE, NONE = np.float32(1), np.float32(np.nan)  # magnitudes
MASKING = Masking(mask_id=99, pad_id=0, special_ids=(0, 1), vocabulary_size=50)


def some_sequences(lengths):
    """Return sequences of the given lengths whose last token is an anchor, that of 1."""
    return join_sequences(
        TokenSequence(np.full(n, i + 2, np.int32), np.where(np.arange(n) == n - 1, ONE, NONE))
        for i, n in enumerate(lengths)
    )


@given(st.lists(st.integers(1, 32), min_size=1, max_size=200), st.integers(1, 5), st.integers(0, 9))
def test_rows_hold_every_sequence_and_fit_the_greatest_length(lengths, rows_per_step, seed):
    lengths = np.array(lengths)
    rows = make_rows(lengths, 32, rows_per_step, np.random.default_rng(seed))
    assert len(rows) % rows_per_step == 0
    assert all(len(row) * lengths[row].max() <= 32 for row in rows)
    seen = Counter(int(i) for row in rows for i in row)
    assert set(seen) == set(range(len(lengths)))
    repeated = sum(len(row) for row in rows) - len(lengths)
    assert repeated <= rows_per_step * 32


def test_rows_leave_little_padding():
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(4, 0.8, 5000), 8, 512).astype(int)
    rows = make_rows(lengths, 512, 8, rng)
    steps = [np.concatenate(rows[i : i + 8]) for i in range(0, len(rows), 8)]
    padded = sum(len(step) * lengths[step].max() for step in steps)
    assert lengths.sum() / padded > 0.9


def test_a_plan_is_the_same_for_a_seed_and_goes_on_from_any_row():
    sequences = some_sequences([3, 5, 9, 4] * 20)

    def plan(seed):
        return PlannedRows(sequences, max_length=16, rows_per_step=2, seed=seed)

    first, again, other = plan(1), plan(1), plan(2)
    epoch = first.rows_per_epoch
    indices = range(3 * epoch)
    rows = [[ids.tolist() for ids, _ in first[i][1]] for i in indices]
    for index in reversed(indices):
        assert [ids.tolist() for ids, _ in again[index][1]] == rows[index]
        assert again[index][0] == first[index][0]
    assert rows != [[ids.tolist() for ids, _ in other[i][1]] for i in indices]
    assert rows[:epoch] != rows[epoch : 2 * epoch]
    assert len({first[i][0] for i in indices}) == len(indices)


@pytest.mark.parametrize("window", [10**6, 50, 7])
def test_two_ranks_see_every_sequence_once_an_epoch(window):
    """By the sampler of accelerate, which is what a training with torchrun uses."""
    rng = np.random.default_rng(0)
    sequences = some_sequences(rng.integers(2, 17, 203))
    planned = PlannedRows(sequences, max_length=16, rows_per_step=4, seed=1, window=window)
    rows = BatchSampler(SequentialSampler(range(planned.rows_per_epoch)), 2, drop_last=True)
    seen = []
    for rank in range(2):
        share = [index for batch in BatchSamplerShard(rows, 2, rank) for index in batch]
        seen.append([int(ids[0]) for index in share for ids, _ in planned[index][1]])
    both = Counter(seen[0] + seen[1])
    assert set(both) == set(range(2, 205))
    filled = 3 * math.ceil(203 / window)  # rows that may come twice, to fill the steps of windows
    repeated = {name: n for name, n in both.items() if n > 1}
    assert sum(repeated.values()) - len(repeated) <= 8 * filled
    alike = some_sequences([16] * 40)  # a row each: nothing is left to fill
    planned = PlannedRows(alike, max_length=16, rows_per_step=4, seed=1, window=20)
    assert planned.rows_per_epoch == 40
    for epoch in range(3):
        rows = [planned[40 * epoch + index][1] for index in range(40)]
        assert sorted(int(row[0].ids[0]) for row in rows) == list(range(2, 42))


def test_a_window_is_shuffled_by_itself_and_one_window_as_ever():
    sequences = some_sequences([16] * 40)
    options = {"max_length": 16, "rows_per_step": 4, "seed": 1}
    windows = PlannedRows(sequences, **options, window=20)
    names = [int(windows[index][1][0].ids[0]) for index in range(40)]
    assert {frozenset(names[:20]), frozenset(names[20:])} == {
        frozenset(range(2, 22)),
        frozenset(range(22, 42)),
    }
    assert names != sorted(names)
    whole = PlannedRows(sequences, **options, window=40)
    rows = make_rows(sequences.lengths, 16, 4, np.random.default_rng([1, 0]))
    assert [int(whole[i][1][0].ids[0]) - 2 for i in range(40)] == [int(row[0]) for row in rows]


def test_a_batch_is_padded_to_its_longest_sequence():
    rows = [(1, [some_sequences([3])[0]]), (2, [some_sequences([0, 5])[1]])]
    batch = MASKING.collate(rows)
    assert batch["input_ids"].tolist() == [[2, 2, 99, 0, 0], [3, 3, 3, 3, 99]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert batch["labels"].tolist() == [[IGNORED] * 2 + [2] + [IGNORED] * 2, [IGNORED] * 4 + [3]]


def test_rehearsal_has_its_share_of_the_tokens_and_new_numerals_every_epoch():
    model, tokenizer = make_model("bert")
    add_markers(model, tokenizer, ("<ANC>",))
    rehearsal = Rehearsal(AnchorSet("ln", tuple(range(10, 241))), "anc")
    source = RehearsalSource(rehearsal, tokenizer, 0.4, 64)
    sequences = some_sequences([40] * 100)
    planned = PlannedRows(sequences, max_length=64, rows_per_step=2, seed=0, rehearsal=source)
    assert 0.39 < 1 - 4000 / planned.tokens_per_epoch < 0.42

    def rehearsed(epoch):
        rows = range(epoch * planned.rows_per_epoch, (epoch + 1) * planned.rows_per_epoch)
        texts = [tokenizer.decode(ids) for i in rows for ids, _ in planned[i][1]]
        return {text for text in texts if text.startswith("[CLS]")}

    first, second = rehearsed(0), rehearsed(1)
    assert len(first) > 20
    assert len(first & second) < 0.1 * len(first)  # short ones may come again


def test_labels_are_the_anchors_and_nothing_else(tiny_models, primed_corpora):
    primed = primed_corpora("ln", "lr")
    base = load_base(str(tiny_models("bert")), ("<LA>", "<RA>"))
    sequences = join_sequences(
        tokenize_documents(primed.documents(), base.tokenizer, max_length=48)
    )
    planned = PlannedRows(sequences, max_length=48, rows_per_step=4, seed=0)
    masking = Masking.of(base.tokenizer, 50)
    texts = set()
    for index in range(planned.rows_per_epoch):
        batch = masking.collate([planned[index]])
        whole = torch.where(batch["labels"] == IGNORED, batch["input_ids"], batch["labels"])
        assert ((batch["labels"] != IGNORED) == (batch["input_ids"] == masking.mask_id)).all()
        for row, labels in zip(whole, batch["labels"], strict=True):
            text = base.tokenizer.decode(row, skip_special_tokens=False)
            hidden = base.tokenizer.decode(row[labels != IGNORED]).replace(" ", "")
            anchors = "".join(re.findall(r"<[LR]A> (\d+)", text))
            assert hidden == anchors
            texts.add(text)
    assert len(texts) > 100


def test_no_more_sequences_are_planned_than_a_budget_of_tokens_needs():
    sequences = ChosenSequences(some_sequences([5, 6, 7, 8] * 50), np.arange(200))
    few = take_tokens(sequences, 100, seed=0)
    assert 100 <= few.lengths.sum() < 108
    assert few.lengths.tolist() == [len(few[i].ids) for i in range(len(few))]
    assert few.indices.tolist() == sorted(few.indices.tolist())  # in the order in which they were
    assert few.indices.tolist() != take_tokens(sequences, 100, seed=1).indices.tolist()
    assert len(take_tokens(sequences, 10**6, seed=0)) == 200
