import numpy as np
import pytest

from numerate.probe.protocols import PAPER
from numerate.probe.regression import measure_errors, predict_by_ridge, predict_by_trees, target

NUMBERS = np.random.default_rng(0).permutation(np.arange(100, 1000))


def test_errors_are_those_of_hand_arithmetic():
    truth, predicted = np.array([1.0, 3.0]), np.array([2.0, 3.0])
    errors = measure_errors(predicted, truth)
    assert errors.rmse_ln == pytest.approx(np.sqrt(0.5))
    assert errors.log_rmse == pytest.approx(np.sqrt((np.log(3) - np.log(2)) ** 2 / 2))
    assert errors.r2 == pytest.approx(1 - 0.5 / 1.0)


def test_a_prediction_below_zero_counts_as_zero_in_log_rmse():
    errors = measure_errors(np.array([-3.0, 3.0]), np.array([1.0, 3.0]))
    assert errors.log_rmse == pytest.approx(np.log(2) / 2**0.5)
    assert errors.rmse_ln == pytest.approx((16 / 2) ** 0.5)


def test_r2_is_what_scikit_learn_computes():
    from sklearn.metrics import r2_score

    rng = np.random.default_rng(0)
    truth = target(rng.integers(1, 10**10, 500))
    predicted = truth + rng.normal(size=500)
    assert measure_errors(predicted, truth).r2 == pytest.approx(r2_score(truth, predicted))


def test_always_answering_the_mean_has_no_r2():
    y = target(NUMBERS)
    assert measure_errors(np.full(len(y), y.mean()), y).r2 == pytest.approx(0)


def test_ridge_reads_a_direction_that_trees_cannot():
    """The target is spread over all coordinates of a random rotation, with noise around it."""
    rng = np.random.default_rng(0)
    y = target(NUMBERS)
    rotation = np.linalg.qr(rng.normal(size=(32, 32)))[0]
    x = np.hstack([y[:, None], rng.normal(size=(len(y), 31))]) @ rotation
    ridge = measure_errors(predict_by_ridge(x[:700], y[:700], x[700:]), y[700:])
    trees = predict_by_trees(x[:700], y[:700], x[700:], PAPER, seed=0, device="cpu", threads=1)
    assert ridge.r2 > 0.99
    assert measure_errors(trees, y[700:]).r2 < 0.9


def test_trees_decode_the_logarithm_itself():
    y = target(NUMBERS)
    predicted = predict_by_trees(
        y[:720, None], y[:720], y[720:, None], PAPER, seed=0, device="cpu", threads=1
    )
    assert measure_errors(predicted, y[720:]).log_rmse < 0.002


def test_the_same_seed_gives_the_same_trees():
    x, y = np.random.default_rng(0).normal(size=(100, 3)), target(NUMBERS[:100])
    first, again = (
        predict_by_trees(x, y, x, PAPER, seed=1, device="cpu", threads=1) for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)
