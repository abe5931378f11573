import numpy as np

from numerate.extract.counts import Counts
from numerate.extract.ranges import (
    OUT_RANGES,
    PROBE_RANGES,
    find_gap_numerals,
    is_in_gap,
    list_line,
    list_outside,
    pick_numerals,
    spread_numerals,
)


def test_spread_numerals_cover_the_number_line_evenly_in_their_logarithm():
    spread = spread_numerals()
    assert len(spread) == len(set(spread.tolist())) == 1000
    assert (np.diff(spread) > 0).all()
    assert spread[0] >= 1
    assert spread[-1] <= 10**10
    decades = np.histogram(np.log10(spread), bins=10, range=(0, 10))[0]
    assert decades[0] <= 10  # there are no more
    assert decades[2:].min() > 80
    assert decades[2:].max() < 160


def test_what_neighbours_are_asked_of_is_held_out_of_rehearsal_unless_the_corpus_has_it():
    spread = spread_numerals()
    known = spread[::2].tolist()
    outside = list_outside(Counts(dict.fromkeys(known, 1), documents=1, words=1))
    assert set(spread[1::2].tolist()) <= set(outside.tolist())
    assert not set(known) & set(outside.tolist())


def test_whatever_is_asked_out_of_domain_is_listed():
    known = [*range(1_000, 10_000, 7), *range(10_000, 10**6, 4_001)]
    counts = Counts(dict.fromkeys(known, 1), documents=1, words=1)
    outside = set(list_outside(counts).tolist())
    for seed in range(20):
        for name in OUT_RANGES:
            asked = pick_numerals(counts, name, "out", np.random.default_rng(seed)).tolist()
            assert len(asked) > 200
            assert set(asked) <= outside


def test_gaps_are_a_tenth_of_every_decade():
    for n_digits in range(2, 11):
        low = 10 ** (n_digits - 1)
        values = np.linspace(low, 10 * low - 1, 901).astype(np.int64)
        expected = [str(value).startswith("3") for value in values.tolist()]
        assert is_in_gap(values).tolist() == expected
    assert not is_in_gap(range(10)).any()


def test_numerals_in_gaps_are_found_however_they_are_written():
    text = "39 , 3,999 and 3 @,@ 100 ; -35.5 and 3 @.@ 5 of 1935 or 29.9 in 40"
    places = [0, text.index("3,999"), text.index("3 @,@"), text.index("-35.5")]
    assert find_gap_numerals(text) == places


def test_the_line_has_all_small_integers_and_is_uniform_in_the_logarithm_above():
    assert list_line("[1,100]").tolist() == list(range(1, 101))
    assert list_line("[100,1k]").tolist() == list(range(101, 1000))
    for name in OUT_RANGES:
        numerals, (low, high) = list_line(name), PROBE_RANGES[name]
        assert len(set(numerals.tolist())) == len(numerals) == 2000
        assert numerals.tolist() == sorted(numerals.tolist())
        assert low <= numerals[0] <= numerals[-1] < high
        edges = np.geomspace(low, high, 6)
        parts = np.histogram(numerals, edges)[0]
        assert parts.min() > 300  # of 400
    ranges = [list_line(name) for name in PROBE_RANGES if name != "all"]
    assert list_line("all").tolist() == np.concatenate(ranges).tolist()


def test_the_line_is_asked_whatever_the_corpus_has():
    counts = Counts({1: 1, 5: 1}, documents=1, words=2)
    for given in (counts, None):
        picked = pick_numerals(given, "[1k,10k]", "line", np.random.default_rng(5))
        assert picked.tolist() == list_line("[1k,10k]").tolist()
