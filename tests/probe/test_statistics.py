import math

import numpy as np
import pytest

from numerate.errors import InputError
from numerate.probe.scores import Score
from numerate.probe.statistics import (
    correlate_with_nearness,
    group_by_seed,
    subtract_system,
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


def test_a_perfect_diagonal_has_a_correlation_of_one():
    logs = np.log(np.arange(1, 11))
    nearness = -np.abs(logs[:, None] - logs)
    np.testing.assert_allclose(correlate_with_nearness(nearness), 1, atol=0.01)
    np.testing.assert_allclose(correlate_with_nearness(-nearness), -1, atol=0.01)
    assert correlate_with_nearness(np.ones((10, 10))).tolist() == [0] * 10


def test_rows_have_length_one_unless_they_are_zero():
    assert unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0, 0]]
