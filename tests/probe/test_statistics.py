import math

import numpy as np
import pytest

from numerate.errors import InputError
from numerate.probe.scores import Score
from numerate.probe.statistics import (
    Summary,
    adjust_p_values,
    combine_seeds,
    correlate_with_nearness,
    count_values_needed,
    find_p_value,
    group_by_seed,
    is_equivalent,
    subtract_system,
    summarize_errors,
    summarize_seeds,
    summarize_values,
    unit_rows,
)


def make_scores(system, values, metric="log-rmse"):
    place = {"task": "decoding", "domain": "in", "range": "[1,100]", "protocol": "laptop"}
    return [
        Score(system=system, metric=metric, seed=seed, value=value, **place)
        for seed, value in enumerate(values)
    ]


def test_the_interval_is_students():
    """Half the width for 1, 2, 3: t(0.975, 2) = 4.3027 times 1 / sqrt(3)."""
    summary = summarize_values([1, 2, 3])
    assert summary.mean == 2
    assert summary.half == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert math.isnan(summarize_values([1.0]).half)


def test_the_interval_of_errors_is_in_logarithms_and_stays_positive():
    """Of 1, e, e² the logarithms are 0, 1, 2: e, times and over exp(4.3027 / sqrt(3))."""
    summary = summarize_errors({(0, seed): math.exp(seed) for seed in range(3)})
    factor = math.exp(4.302653 / math.sqrt(3))
    assert summary.mean == pytest.approx(math.e)
    assert (summary.low, summary.high) == pytest.approx((math.e / factor, math.e * factor))
    one = summarize_errors({(0, 0): 0.2})
    assert (one.mean, one.low) == (pytest.approx(0.2), pytest.approx(math.nan, nan_ok=True))


def test_errors_of_several_trainings_count_once_each():
    """The logarithms of the trainings are 1 (of 0 and 2) and 3."""
    values = {(0, 0): 1.0, (0, 1): math.exp(2), (1, 0): math.exp(3), (1, 1): math.exp(3)}
    summary = summarize_errors(values)
    assert summary.mean == pytest.approx(math.exp(2))
    assert summary.half == pytest.approx(12.706205, rel=1e-6)  # t of one degree, sd √2 / √2
    assert (summary.n_seeds, summary.n_trainings) == (2, 2)


def test_an_error_of_zero_has_no_logarithm_and_no_interval():
    summary = summarize_errors({(0, 0): 0.0, (0, 1): 0.2})
    assert summary.mean == 0.1
    assert math.isnan(summary.half)


@pytest.mark.parametrize(
    ("mean", "half", "sign"),
    [(2, 1, 1), (-2, 1, -1), (1, 2, 0), (-1, 2, 0), (0, 0, 0), (1, math.nan, 0)],
)
def test_the_sign_of_an_interval_that_has_both_or_is_missing_is_zero(mean, half, sign):
    assert Summary(mean, half, 3).sign == sign


def test_values_that_are_not_finite_are_left_out_of_the_seeds():
    scores = make_scores("a", [0.5, math.nan, math.inf]) + make_scores("b", [math.nan])
    key = "decoding", "in", "[1,100]", "log-rmse"
    assert group_by_seed(scores) == {("a", *key): {(0, 0): 0.5}}


def test_differences_are_taken_seed_by_seed():
    """The pairs differ by 0.1 each, though the seeds differ by far more."""
    scores = make_scores("a", [0.2, 0.6, 0.4]) + make_scores("b", [0.1, 0.5, 0.3])
    scores += make_scores("b", [0.7], metric="r2")  # has no counterpart
    differences = subtract_system(scores, "b")
    assert [score.value for score in differences] == pytest.approx([0.1, 0.1, 0.1])
    assert {score.system for score in differences} == {"a"}


def test_a_system_without_scores_cannot_be_compared_with():
    with pytest.raises(InputError, match="no scores of 'c' to compare with; there are a"):
        subtract_system(make_scores("a", [1]), "c")


def test_a_system_with_one_training_stands_beside_every_training_of_the_others():
    """Each training counts once; the third is not shared, and neither is the second seed."""
    trained = {(0, 0): 3.0, (0, 1): 9.0, (1, 0): 5.0, (2, 0): 7.0}
    other, untrained = {(0, 0): 1.0, (1, 0): 2.0}, {(0, 0): 10.0}
    found = combine_seeds([(1, trained), (-2, other), (0.5, untrained)])
    assert found == {(0, 0): 6.0, (1, 0): 6.0}
    assert summarize_seeds(found) == Summary(6.0, 0.0, 1, n_trainings=2)


def test_p_values_are_students():
    """The interval ends at zero exactly if p is 5 %, and for 2 values t is Cauchy's: atan."""
    assert find_p_value(Summary(1.0, 1.0, 4)) == pytest.approx(0.05)
    two = summarize_values([1, 3])  # a mean of 2 with an error of 1
    assert find_p_value(two) == pytest.approx(1 - 2 * math.atan(2) / math.pi)
    assert find_p_value(two, null=1) == pytest.approx(0.5)
    assert find_p_value(Summary(1.0, math.nan, 1)) == find_p_value(Summary(0.0, 0.0, 3)) == 1
    assert find_p_value(Summary(1.0, 0.0, 3)) == 0


def test_holm_multiplies_the_smallest_p_value_by_the_number_of_all():
    assert adjust_p_values([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert adjust_p_values([0.6, 0.7]) == [1, 1]
    assert adjust_p_values([]) == []


def test_an_interval_within_the_bounds_is_equivalent_to_zero():
    assert is_equivalent(Summary(-0.001, 0.0015, 5), 0.003)
    assert not is_equivalent(Summary(-0.002, 0.0015, 5), 0.003)
    assert not is_equivalent(Summary(0.0, math.nan, 1), 0.003)


@pytest.mark.parametrize(("effect", "needed"), [(0.2, 199), (0.5, 34), (0.8, 15), (100, 2)])
def test_the_number_of_values_needed_is_that_of_textbooks(effect, needed):
    """Cohen's small, medium and large effects in a paired t-test, 80 % power at 5 %."""
    assert count_values_needed(0.01, 0.01 * effect) == needed
    assert count_values_needed(0, effect) == 2


def test_a_perfect_diagonal_has_a_correlation_of_one():
    logs = np.log(np.arange(1, 11))
    nearness = -np.abs(logs[:, None] - logs)
    np.testing.assert_allclose(correlate_with_nearness(nearness), 1, atol=0.01)
    np.testing.assert_allclose(correlate_with_nearness(-nearness), -1, atol=0.01)
    assert correlate_with_nearness(np.ones((10, 10))).tolist() == [0] * 10


def test_rows_have_length_one_unless_they_are_zero():
    assert unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0, 0]]
