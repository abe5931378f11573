import numpy as np
import pytest

from numerate.extract.ranges import PROBE_RANGES
from numerate.probe.controls import CONTROLS
from numerate.probe.samples import TooFewError
from numerate.probe.tasks.comparison import (
    RATIOS,
    draw_comparison,
    find_noticeable,
    score_comparison,
)

BOUNDS = PROBE_RANGES["[1k,10k]"]
SAMPLE = draw_comparison(np.arange(1000, 10_000), BOUNDS, np.random.default_rng(0))


def test_pairs_are_about_a_ratio_apart_and_never_trained_on():
    ratios = SAMPLE.test[:, 1] / SAMPLE.test[:, 0]
    off = np.log(ratios)[:, None] / np.log(RATIOS)
    assert (((off > 0.799) & (off < 1.201)).sum(axis=1) == 1).all()
    assert len(SAMPLE.test) == len(RATIOS) * 500
    assert SAMPLE.train.shape == (256, 1)
    assert not np.isin(SAMPLE.train, SAMPLE.test).any()
    assert ((SAMPLE.train >= 1000) & (SAMPLE.train < 10_000)).all()


def test_a_ratio_without_enough_pairs_is_not_asked():
    sample = draw_comparison(np.arange(1, 100), PROBE_RANGES["[1,100]"], np.random.default_rng(0))
    assert not np.isin(sample.train, sample.test).any()
    scores = score_comparison(sample, lambda n: CONTROLS["control:oracle"](n.tolist()))
    assert "accuracy 1.005" not in scores  # 100 / 99 is more than that
    assert scores["accuracy 2"] == 1
    with pytest.raises(TooFewError, match="no two numerals are about a given ratio apart"):
        draw_comparison(10 ** np.arange(1, 10), PROBE_RANGES["all"], np.random.default_rng(0))


def test_the_oracle_tells_the_smallest_ratio_and_equal_vectors_not_even_the_largest():
    oracle = score_comparison(SAMPLE, lambda n: CONTROLS["control:oracle"](n.tolist()))
    assert oracle == {**{f"accuracy {r:g}": 1.0 for r in RATIOS}, "just noticeable ratio": 1.005}
    alike = score_comparison(SAMPLE, lambda n: np.ones((len(n), 2)))
    assert alike == {**{f"accuracy {r:g}": 0.5 for r in RATIOS}, "just noticeable ratio": 5.0}


def test_a_vector_with_coarse_steps_tells_numbers_a_step_apart():
    """Two numbers differ in steps of 0.2 with probability ln(ratio) / 0.2; equal ones are guessed.

    So three in four are right at ln(ratio) = 0.1, which is a ratio of 1.105.
    """
    scores = score_comparison(SAMPLE, lambda n: np.floor(np.log(n) / 0.2)[:, None])
    for ratio in (1.005, 1.02, 1.05, 1.1):
        expected = (1 + np.log(ratio) / 0.2) / 2
        assert scores[f"accuracy {ratio:g}"] == pytest.approx(expected, abs=0.05)
    assert scores["accuracy 1.5"] == 1
    assert scores["just noticeable ratio"] == pytest.approx(1.105, abs=0.02)


def test_larger_is_not_smaller():
    scores = score_comparison(
        SAMPLE, lambda n: np.where(np.isin(n, SAMPLE.train), 1, -1)[:, None] * np.log(n)[:, None]
    )
    assert scores["accuracy 5"] == 0
    assert scores["just noticeable ratio"] == 5


@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ([0.5, 0.75, 1.0], 1.1),
        ([0.5, 1.0, 1.0], 1 + 10**-1.5),  # half way from 0.01 to 0.1 by their logarithms
        ([0.8, 0.9, 1.0], 1.01),
        ([0.5, 0.6, 0.7], 2.0),
        ([0.9, 0.5, 0.7], 2.0),  # made non-decreasing: 0.7, 0.7, 0.7
        ([0.8, 0.4, 0.9], 1 + 10**-0.5),  # 0.6, 0.6, 0.9
    ],
)
def test_the_noticeable_ratio_is_where_accuracy_reaches_three_quarters(accuracies, expected):
    found = find_noticeable(
        np.array([1.01, 1.1, 2.0]), np.array(accuracies), np.array([10, 10, 10])
    )
    assert found == pytest.approx(expected)


def test_ratios_with_more_pairs_weigh_more():
    accuracies, sizes = np.array([0.9, 0.5]), np.array([30, 10])
    assert find_noticeable(np.array([1.01, 1.1]), accuracies, sizes) == 1.01  # both are 0.8
    assert find_noticeable(np.array([1.01, 1.1]), accuracies, sizes[::-1]) == 1.1  # both are 0.6
