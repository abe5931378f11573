"""Comparison: which of two numbers is larger, and how far apart must they be to tell?

A ridge regression of ln n, trained on a few hundred other numerals of the range, gives the answer.
The just noticeable ratio is that at which it is right three times out of four, as in psychophysics.
"""

import numpy as np
import numpy.typing as npt

from numerate.extract.ranges import Values, draw_spread
from numerate.probe.regression import Floats, predict_by_ridge, target
from numerate.probe.samples import Sample, TooFewError, take_some
from numerate.probe.tasks.geometry import Bounds, LookUp

RATIOS = (1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 5.0)
_TOLERANCE = 0.2  # how far ln(b / a) may be off, relative to the logarithm of the ratio
_NOTICEABLE = 0.75
_MOST_TRAINED, _MOST_ASKED, _FEWEST_PAIRS, _MOST_PAIRS = 256, 1000, 10, 500


def draw_comparison(numerals: Values, bounds: Bounds, rng: np.random.Generator) -> Sample:
    """Return pairs (smaller, larger) of at most half of the numerals, about a ratio apart.

    The training numerals are spread over the range and occur in no pair. A ratio with fewer than
    ten pairs is left out, such as 1.005 below 100.
    """
    asked = take_some(numerals, min(_MOST_ASKED, len(numerals) // 2), rng)
    pairs = np.concatenate([_draw_pairs(asked, ratio, rng) for ratio in RATIOS])
    if not len(pairs):
        raise TooFewError("no two numerals are about a given ratio apart")
    spread = draw_spread(bounds, rng)
    train = spread[~np.isin(spread, asked)][:_MOST_TRAINED, None]
    return Sample(train, train[:0], pairs)


def _draw_pairs(asked: Values, ratio: float, rng: np.random.Generator) -> Values:
    """Return pairs of the numerals, which are in increasing order, about a ratio apart."""
    logs, step = np.log(asked), np.log(ratio)
    start = np.searchsorted(logs, logs + (1 - _TOLERANCE) * step)
    end = np.searchsorted(logs, logs + (1 + _TOLERANCE) * step, side="right")
    first = np.repeat(np.arange(len(asked)), end - start)
    second = np.concatenate([np.arange(*bounds) for bounds in zip(start, end, strict=True)])
    pairs = asked[np.stack((first, second), axis=1)]
    chosen: Values = rng.permutation(pairs)[:_MOST_PAIRS]
    return chosen if len(chosen) >= _FEWEST_PAIRS else chosen[:0]


def score_comparison(sample: Sample, look_up: LookUp) -> dict[str, float]:
    """Return the accuracy at each ratio that is asked, and the just noticeable ratio."""
    train, pairs = sample.train.ravel(), sample.test
    vectors = look_up(pairs.ravel())
    predicted = predict_by_ridge(look_up(train), target(train), vectors).reshape(pairs.shape)
    right = (np.sign(predicted[:, 1] - predicted[:, 0]) + 1) / 2  # equal values count half
    nearest = _find_ratios(pairs)
    asked = np.unique(nearest)
    accuracies = np.array([right[nearest == ratio].mean() for ratio in asked])
    sizes = np.array([(nearest == ratio).sum() for ratio in asked])
    named = {f"accuracy {r:g}": float(a) for r, a in zip(asked, accuracies, strict=True)}
    return {**named, "just noticeable ratio": find_noticeable(asked, accuracies, sizes)}


def _find_ratios(pairs: Values) -> Floats:
    """Return for each pair the ratio for which it was drawn."""
    steps = np.log(np.log(RATIOS))
    apart = np.log(np.log(pairs[:, 1] / pairs[:, 0]))
    found: Floats = np.array(RATIOS)[np.abs(apart[:, None] - steps).argmin(axis=1)]
    return found


def find_noticeable(ratios: Floats, accuracies: Floats, sizes: npt.NDArray[np.intp]) -> float:
    """Return the ratio at which accuracy reaches 75 %.

    Accuracies are first made non-decreasing (isotonic regression, weighted by the number of pairs),
    and then interpolated linearly in ln(ratio - 1). If all of them are above, it is the smallest
    ratio, and if none is, the largest.

    >>> ratios, sizes = np.array([1.01, 1.1, 2.0]), np.array([9, 9, 9])
    >>> round(find_noticeable(ratios, np.array([0.5, 0.75, 1.0]), sizes), 6)
    1.1
    """
    from sklearn.isotonic import isotonic_regression

    fitted = isotonic_regression(accuracies, sample_weight=sizes)
    reached = np.flatnonzero(fitted >= _NOTICEABLE)
    if not len(reached):
        return float(ratios[-1])
    place = int(reached[0])
    if place == 0:
        return float(ratios[0])
    share = (_NOTICEABLE - fitted[place - 1]) / (fitted[place] - fitted[place - 1])
    low, high = np.log(ratios[place - 1 : place + 1] - 1)
    return float(1 + np.exp(low + share * (high - low)))
