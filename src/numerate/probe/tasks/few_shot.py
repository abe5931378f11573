"""Few examples: what a linear probe decodes after 16, 64 or 256 numerals.

With thousands of examples a probe can learn the digits of numbers and compute their size itself.
With a few it can only find a size that the vectors already hold.
"""

import numpy as np

from numerate.extract.ranges import Values
from numerate.probe.regression import Floats, measure_errors, predict_by_ridge, target
from numerate.probe.samples import Sample
from numerate.probe.tasks.geometry import Bounds, LookUp

SIZES = (16, 64, 256)
_FEWEST_TESTED, _MOST_TESTED = 20, 1000


def draw_few(numerals: Values, _bounds: Bounds, rng: np.random.Generator) -> Sample:
    """Return as many training numerals as the largest size that leaves enough to test.

    The smaller sizes are its first rows, so that all sizes are tested on the same numerals.
    """
    shuffled = rng.permutation(numerals)[:, None]
    size = max(size for size in SIZES if size + _FEWEST_TESTED <= len(shuffled))
    return Sample(shuffled[:size], shuffled[:0], shuffled[size : size + _MOST_TESTED])


def score_few(sample: Sample, look_up: LookUp) -> dict[str, float]:
    """Return the errors of ridge regression for each size, and how often it orders two numerals."""
    train, test = sample.train.ravel(), sample.test.ravel()
    truth, x_test = target(test), look_up(test)
    scores: dict[str, float] = {}
    for size in (size for size in SIZES if size <= len(train)):
        some = train[:size]
        predicted = predict_by_ridge(look_up(some), target(some), x_test)
        scores |= measure_errors(predicted, truth).named(f"{size} ")
        scores[f"{size} accuracy"] = measure_order(predicted, truth)
    return scores


def measure_order(predicted: Floats, truth: Floats) -> float:
    """Return in which share of all pairs the larger number has the larger prediction.

    Equal predictions count half.

    >>> round(measure_order(np.array([1.0, 3.0, 2.0]), np.array([1.0, 2.0, 3.0])), 3)
    0.667
    """
    first, second = np.triu_indices(len(truth), 1)
    agree = np.sign(predicted[first] - predicted[second]) * np.sign(truth[first] - truth[second])
    return float(agree.mean() + 1) / 2
