"""Ranges of numerals as the paper's tables name them, and what is in and out of the domain.

In-domain numerals are those of the corpus. Out-of-domain ones are made as the paper makes them:
integers of [1k,10k] that the corpus lacks, and above 10k each in-domain numeral moved by 1 to 100
up or down to where the corpus has none. For neighbours there are numerals spread evenly, in their
logarithm, over the whole number line.
"""

import numpy as np
import numpy.typing as npt

from numerate.extract.counts import Counts
from numerate.extract.numerals import LARGEST

# Ranges as the paper's tables name them; a bound belongs to the range that it opens.
RANGES: dict[str, tuple[float, float]] = {
    "[0,1]": (0, 1),  # the domain `reals` alone has these
    "[1,100]": (1, 100),
    "[100,1k]": (100, 1_000),
    "[1k,10k]": (1_000, 10_000),
    "[10k,10^10]": (10_000, 10**10 + 1),
}

Values = npt.NDArray[np.int64]
ALL = "all"
PROBE_RANGES: dict[str, tuple[float, float]] = {
    **{name: bounds for name, bounds in RANGES.items() if bounds[0] >= 1},
    ALL: (1, LARGEST + 1),
}
OUT_RANGES = ("[1k,10k]", "[10k,10^10]")
_SHIFT = 100
N_SPREAD = 1000


def pick_numerals(counts: Counts, range_name: str, domain: str, rng: np.random.Generator) -> Values:
    """Return the distinct numerals of a cell in increasing order."""
    known = counts.values.astype(np.int64)
    low, high = PROBE_RANGES[range_name]
    inside = known[(known >= low) & (known < high)]
    if domain == "in":
        return inside
    if range_name == "[1k,10k]":
        return np.setdiff1d(np.arange(int(low), int(high)), known)
    moves = rng.integers(1, _SHIFT + 1, len(inside)) * rng.choice([-1, 1], len(inside))
    moved = inside + moves
    return np.setdiff1d(moved[(moved >= low) & (moved < high)], known)


def spread_numerals() -> Values:
    """Return 1,000 numerals from 1 to 10^10 in increasing order, uniform in their logarithm.

    They are always the same.
    """
    drawn = LARGEST ** np.random.default_rng(0).random(2 * N_SPREAD)
    return np.sort(
        np.array(list(dict.fromkeys(np.rint(drawn).astype(np.int64).tolist())))[:N_SPREAD]
    )


def list_outside(counts: Counts) -> Values:
    """Return every numeral that a probe of any seed could ask out-of-domain, in increasing order.

    These are all that `pick_numerals` may return, and the spread numerals that the corpus lacks.
    """
    known = counts.values.astype(np.int64)
    low, high = PROBE_RANGES["[10k,10^10]"]
    large = known[(known >= low) & (known < high)]
    near = (large[:, None] + np.arange(-_SHIFT, _SHIFT + 1)).ravel()
    thousands = np.arange(*map(int, PROBE_RANGES["[1k,10k]"]))
    near = near[(near >= low) & (near < high)]
    return np.setdiff1d(np.concatenate((thousands, near, spread_numerals())), known)
