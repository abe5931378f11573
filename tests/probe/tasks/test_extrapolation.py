import numpy as np
import pytest

from numerate.extract.ranges import PROBE_RANGES
from numerate.probe.samples import TooFewError
from numerate.probe.tasks.extrapolation import draw_beyond, draw_gaps

NUMERALS = np.unique(np.geomspace(1, 10**10, 20_000).astype(np.int64))


@pytest.mark.parametrize(
    ("name", "bound"),
    [("[100,1k]", 317.8), ("[1k,10k]", 3162.3), ("[10k,10^10]", 10**7), ("all", 10**5)],
)
def test_training_stays_below_the_middle_and_questions_above(name, bound):
    low, high = PROBE_RANGES[name]
    numerals = NUMERALS[np.searchsorted(NUMERALS, low) : np.searchsorted(NUMERALS, high)]
    sample = draw_beyond(numerals, (low, high), np.random.default_rng(0))
    assert sample.train.max() <= bound < sample.test.min()
    n_below = int((numerals <= bound).sum())
    assert len(sample.train) == min(2000, round(0.8 * n_below))
    assert len(sample.test) == min(1000, round(0.8 * (len(numerals) - n_below)))


def test_gaps_are_asked_and_never_trained_on():
    sample = draw_gaps(np.arange(1, 1000), PROBE_RANGES["all"], np.random.default_rng(0))
    asked = {*range(30, 40), *range(300, 400)}
    train, test = set(sample.train.ravel().tolist()), set(sample.test.ravel().tolist())
    assert test < asked
    assert not train & asked
    assert (len(train), len(test)) == (round(0.8 * 889), 88)


def test_seeds_draw_different_numerals():
    first, other = (
        draw_gaps(np.arange(1, 1000), PROBE_RANGES["all"], np.random.default_rng(seed))
        for seed in (0, 1)
    )
    assert first.test.tolist() != other.test.tolist()


def test_a_range_with_too_few_numerals_on_one_side_is_left_out():
    with pytest.raises(TooFewError, match="8 numerals to train on and 71 to ask"):
        draw_beyond(np.arange(1, 100), PROBE_RANGES["[1,100]"], np.random.default_rng(0))
    with pytest.raises(TooFewError, match="to train on and 0 to ask"):
        draw_gaps(np.arange(400, 1000), PROBE_RANGES["[100,1k]"], np.random.default_rng(0))
