"""Extrapolation: decoding of numbers from parts of the number line that training never saw.

The probes are those of decoding; only the split differs. *Beyond*: they are trained on the lower
half of a range, in its logarithm, and asked about the upper half. *Gaps*: they are trained outside
the gaps of the number line and asked about the numerals inside them.
"""

import numpy as np
import numpy.typing as npt

from numerate.extract.ranges import Values, is_in_gap
from numerate.probe.samples import Sample, TooFewError, take_some
from numerate.probe.tasks.geometry import Bounds

_SHARE = 0.8  # a seed takes a part of the numerals of each side, since the sides are fixed
_MOST_TRAINED, _FEWEST_TRAINED = 2000, 16
_MOST_TESTED, _FEWEST_TESTED = 1000, 5


def draw_beyond(numerals: Values, bounds: Bounds, rng: np.random.Generator) -> Sample:
    """Return the numerals of the lower half of a range to train on, of the upper half to test.

    Over all ranges, the halves meet at 10^5.
    """
    return _split(numerals, numerals >= np.sqrt(bounds[0] * bounds[1]), rng)


def draw_gaps(numerals: Values, _bounds: Bounds, rng: np.random.Generator) -> Sample:
    """Return the numerals outside the gaps to train on, and those inside to test."""
    return _split(numerals, is_in_gap(numerals), rng)


def _split(numerals: Values, tested: npt.NDArray[np.bool_], rng: np.random.Generator) -> Sample:
    train = _take_share(numerals[~tested], _MOST_TRAINED, rng)[:, None]
    test = _take_share(numerals[tested], _MOST_TESTED, rng)[:, None]
    if len(train) < _FEWEST_TRAINED or len(test) < _FEWEST_TESTED:
        raise TooFewError(
            f"{len(train)} numerals to train on and {len(test)} to ask, but a probe needs at least "
            f"{_FEWEST_TRAINED} and {_FEWEST_TESTED}"
        )
    return Sample(train, train[:0], test)


def _take_share(numerals: Values, most: int, rng: np.random.Generator) -> Values:
    return take_some(numerals, min(most, round(_SHARE * len(numerals))), rng)
