import numpy as np

from numerate.extract.counts import Counts
from numerate.extract.ranges import list_outside, spread_numerals


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
