from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerate.extract.counts import Counts
from numerate.extract.ranges import OUT_RANGES, PROBE_RANGES, pick_numerals
from numerate.probe.protocols import PROTOCOLS
from numerate.probe.samples import TASKS, TooFewError, draw_sample, find_close


def make_counts(values):
    return Counts({int(value): 1 for value in values}, documents=1, words=1)


NUMERALS = np.unique(
    np.concatenate([np.arange(1, 1000), np.arange(1000, 10_000, 3), 7919 * np.arange(2, 3000)])
)
COUNTS = make_counts(NUMERALS)


def as_sets(rows):
    return {tuple(sorted(row)) for row in rows.tolist()}


@pytest.mark.parametrize("name", PROBE_RANGES)
def test_in_domain_numerals_are_those_of_the_corpus_and_the_range(name):
    low, high = PROBE_RANGES[name]
    picked = pick_numerals(COUNTS, name, "in", np.random.default_rng(0))
    assert picked.tolist() == [n for n in NUMERALS.tolist() if low <= n < high]


def test_a_hundred_is_asked_with_the_small_numerals_alone():
    ends = {
        name: pick_numerals(COUNTS, name, "in", np.random.default_rng(0))[[0, -1]].tolist()
        for name in ("[1,100]", "[100,1k]")
    }
    assert ends == {"[1,100]": [1, 100], "[100,1k]": [101, 999]}


def test_the_ranges_share_no_numeral_and_leave_none_out():
    parts = [pick_numerals(COUNTS, name, "in", np.random.default_rng(0)) for name in PROBE_RANGES]
    assert sorted(chain(*(part.tolist() for part in parts[:-1]))) == parts[-1].tolist()


@pytest.mark.parametrize("name", OUT_RANGES)
def test_out_of_domain_numerals_are_not_in_the_corpus(name):
    low, high = PROBE_RANGES[name]
    picked = pick_numerals(COUNTS, name, "out", np.random.default_rng(0))
    assert len(picked) > 1000
    assert len(picked) <= len(pick_numerals(COUNTS, name, "in", np.random.default_rng(0)))
    assert not np.isin(picked, NUMERALS).any()
    assert ((picked >= low) & (picked < high)).all()
    if name == "[1k,10k]":  # there are 3,000 in the corpus, and twice as many are not
        assert len(picked) == len(set(picked.tolist())) == 3000
        assert (np.diff(picked) > 0).all()
    else:
        inside = NUMERALS[NUMERALS >= 10_000]
        distance = np.abs(picked[:, None] - inside).min(axis=1)
        assert distance.min() >= 1
        assert distance.max() <= 100


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
@pytest.mark.parametrize("name", PROBE_RANGES)
def test_the_parts_are_apart_as_the_protocol_promises(task, protocol, name):
    numerals = pick_numerals(COUNTS, name, "in", np.random.default_rng(0))
    sample = draw_sample(task, numerals, protocol, np.random.default_rng(1))
    parts = [sample.train, sample.validation, sample.test]
    assert all(np.isin(part, numerals).all() for part in parts)
    for place, part in enumerate(parts):
        assert len(as_sets(part)) == len(part)
        for other in parts[place + 1 :]:
            if protocol.split == "numbers" or task == "decoding":
                assert not np.isin(part, other).any()
            assert not as_sets(part) & as_sets(other)
    if task == "decoding":
        assert sum(map(len, parts)) == len(numerals)
        assert len(sample.test) == round(0.2 * len(numerals))
    else:
        n_lists = {"demo": 100, "paper": 200, "leaky": 200}.get(protocol.name, 2000)
        n_test = {"demo": 100}.get(protocol.name, 200) if task == "addition" else n_lists
        if (name, task, n_test, protocol.split) == ("[1,100]", "addition", 200, "numbers"):
            n_test = 190  # pairs of the 20 numerals of the test
        assert len(sample.test) == n_test
        assert len(sample.train) == (360 if protocol.name == "demo" else 720)
        size = 2 if task == "addition" else 5
        assert all(len(set(row)) == size for part in parts for row in part.tolist())


@pytest.mark.parametrize("task", TASKS)
def test_the_leaky_protocol_asks_what_the_paper_does(task):
    paper, leaky = (
        draw_sample(task, np.arange(1, 101), PROTOCOLS[name], np.random.default_rng(0))
        for name in ("paper", "leaky")
    )
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(getattr(paper, part), getattr(leaky, part))


def test_half_of_the_lists_are_close_together():
    numerals = np.arange(1000, 10_000)
    sample = draw_sample("list-maximum", numerals, PROTOCOLS["strict"], np.random.default_rng(0))
    train = np.sort(np.unique(sample.train))
    spread = np.ptp(sample.train, axis=1)
    close = spread < 40  # ten neighbours among some six thousand numbers of ten thousand
    assert 0.4 < close.mean() < 0.6
    assert (find_close(sample.train) == close).mean() > 0.99
    assert len(train) > 1000
    wide = draw_sample("list-maximum", numerals, PROTOCOLS["paper"], np.random.default_rng(0))
    assert (np.ptp(wide.train, axis=1) < 40).mean() < 0.01


def test_places_in_a_list_are_equally_likely():
    sample = draw_sample(
        "list-maximum", np.arange(1000, 10_000), PROTOCOLS["strict"], np.random.default_rng(0)
    )
    places = np.bincount(sample.train.argmax(axis=1), minlength=5)
    assert places.min() > 0.7 * places.max()


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_the_same_seed_draws_the_same(seed):
    first, again = (
        draw_sample("addition", np.arange(1, 100), PROTOCOLS["laptop"], np.random.default_rng(seed))
        for _ in range(2)
    )
    for part, other in zip(vars(first).values(), vars(again).values(), strict=True):
        np.testing.assert_array_equal(part, other)


def test_too_few_numerals_are_not_sampled():
    with pytest.raises(TooFewError, match="80 numerals, but a probe needs at least 90"):
        draw_sample("decoding", np.arange(80), PROTOCOLS["laptop"], np.random.default_rng(0))
