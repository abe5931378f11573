import numpy as np
import pytest

from numerate.probe.controls import CONTROLS
from numerate.probe.tasks.few_shot import draw_few, measure_order, score_few

BOUNDS = (1, 10_000)


@pytest.mark.parametrize(
    ("n_numerals", "n_train", "n_test"),
    [(99, 64, 35), (275, 64, 211), (276, 256, 20), (5000, 256, 1000)],
)
def test_the_largest_size_that_leaves_enough_to_test_is_drawn(n_numerals, n_train, n_test):
    numerals = np.arange(1, 1 + n_numerals)
    sample = draw_few(numerals, BOUNDS, np.random.default_rng(0))
    assert (sample.train.shape, sample.test.shape) == ((n_train, 1), (n_test, 1))
    drawn = np.concatenate((sample.train, sample.test)).ravel()
    assert len(np.unique(drawn)) == len(drawn)
    assert np.isin(drawn, numerals).all()


def test_a_few_numerals_suffice_for_a_vector_that_holds_the_logarithm():
    sample = draw_few(np.arange(1, 1000), BOUNDS, np.random.default_rng(0))
    scores = score_few(sample, lambda n: CONTROLS["control:oracle"](n.tolist()))
    for size in (16, 64, 256):
        assert scores[f"{size} accuracy"] == 1
        assert scores[f"{size} r2"] == pytest.approx(1, abs=1e-4)
        assert scores[f"{size} log-rmse"] < 0.01


def test_vectors_that_are_all_alike_say_nothing():
    sample = draw_few(np.arange(1, 100), BOUNDS, np.random.default_rng(0))
    scores = score_few(sample, lambda numerals: np.ones((len(numerals), 2)))
    assert set(scores) == {
        f"{n} {m}" for n in (16, 64) for m in ("log-rmse", "rmse-ln", "r2", "accuracy")
    }
    for size in (16, 64):
        assert scores[f"{size} accuracy"] == 0.5
        assert scores[f"{size} r2"] <= 0


def test_a_size_is_trained_on_as_many_numerals_and_no_more():
    sample = draw_few(np.arange(1, 1000), BOUNDS, np.random.default_rng(0))
    first = set(sample.train[:16].ravel().tolist())

    def look_up(numerals):  # only the first 16 have a vector that says anything
        known = np.array([n in first for n in numerals.tolist()])
        return np.where(known, np.log(numerals), 3.0)[:, None]

    scores = score_few(sample, look_up)
    assert scores["16 accuracy"] == 0.5


@pytest.mark.parametrize(
    ("predicted", "share"),
    [([1, 2, 3], 1), ([3, 2, 1], 0), ([1, 3, 2], 2 / 3), ([2, 2, 2], 0.5), ([1, 1, 2], 5 / 6)],
)
def test_pairs_in_the_right_order_are_counted(predicted, share):
    found = measure_order(np.array(predicted, float), np.array([1.0, 2.0, 3.0]))
    assert found == pytest.approx(share)
