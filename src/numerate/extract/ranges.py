"""Ranges of values as the paper's tables name them; numerals in and out of a corpus.

Input: `Counts`. Output: arrays of numerals to probe or to avoid in training. In-domain numerals
occur in the corpus. Out-of-domain numerals do not; as in the paper they are missing integers of
[1k,10k], as many as there are in-domain, and, above 10k, the numerals of the corpus shifted
up or down by 1 to 100. Neighbours are looked for among numerals that are spread evenly, in their
logarithm, over the whole number line.

Probes ask for 100 at [1,100], as the paper's scripts do, whose test sets of 20 and 180 are a fifth
of 1 to 100 and of the 900 after it. So [100,1k] starts at 101: no numeral is in two ranges.
"""

import numpy as np
import numpy.typing as npt

from numerate.extract.counts import Counts
from numerate.extract.numerals import LARGEST, find_numerals

# Low is inside the range, high is not.
RANGES: dict[str, tuple[float, float]] = {
    "[0,1]": (0, 1),  # not in the domain `integers`
    "[1,100]": (1, 100),
    "[100,1k]": (100, 1_000),
    "[1k,10k]": (1_000, 10_000),
    "[10k,10^10]": (10_000, 10**10 + 1),
    "[10^10,10^15]": (10**10 + 1, 10**15 + 1),  # only in the domain `quantities`
}

Values = npt.NDArray[np.int64]
ALL = "all"
PROBE_RANGES: dict[str, tuple[int, int]] = {
    "[1,100]": (1, 101),
    "[100,1k]": (101, 1_000),
    "[1k,10k]": (1_000, 10_000),
    "[10k,10^10]": (10_000, LARGEST + 1),
    ALL: (1, LARGEST + 1),
}
OUT_RANGES = ("[1k,10k]", "[10k,10^10]")
_SHIFT = 100  # at most, up or down
GAP_DIGIT = 3
N_SPREAD = 1000


def pick_numerals(counts: Counts, range_name: str, domain: str, rng: np.random.Generator) -> Values:
    """Return the distinct numerals of a range that are `in` or `out` of the domain, sorted."""
    known = counts.values.astype(np.int64)
    low, high = PROBE_RANGES[range_name]
    counts.check_exact(high)
    inside = known[(known >= low) & (known < high)]
    if domain == "in":
        return inside
    if range_name == "[1k,10k]":
        missing = np.setdiff1d(np.arange(low, high), known)
        return np.sort(rng.permutation(missing)[: len(inside)])
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


def is_in_gap(values: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return which values lie in a gap: from 30 to 39, from 300 to 399, and so on up to 10^10.

    Gaps are intervals of the number line that training may leave out as a whole. A single number
    that is left out proves little, since its neighbours are seen.

    >>> is_in_gap([3, 30, 39.5, 40, 3_999, 4_000, 13_000]).tolist()
    [False, True, True, False, True, False, False]
    """
    numbers = np.abs(np.asarray(values, np.float64))
    leading = numbers / 10.0 ** np.floor(np.log10(np.maximum(numbers, 1)))
    inside: npt.NDArray[np.bool_] = (numbers >= 10) & (leading >= GAP_DIGIT)
    return inside & (leading < GAP_DIGIT + 1)


def find_gap_numerals(text: str) -> list[int]:
    """Return where in a text the numerals in gaps start; decimals and signs count too.

    >>> find_gap_numerals("35 of 1,999 people paid $3,500.25")
    [0, 25]
    """
    numerals = find_numerals(text, "reals")
    inside = is_in_gap([numeral.value for numeral in numerals])
    return [numeral.start for numeral, chosen in zip(numerals, inside, strict=True) if chosen]


def list_outside(counts: Counts) -> Values:
    """Return all out-of-domain numerals that a probe can ask with any seed, sorted.

    These are all that `pick_numerals` may return, and the spread numerals that the corpus lacks.
    """
    known = counts.values.astype(np.int64)
    low, high = PROBE_RANGES["[10k,10^10]"]
    counts.check_exact(high)
    large = known[(known >= low) & (known < high)]
    near = (large[:, None] + np.arange(-_SHIFT, _SHIFT + 1)).ravel()
    thousands = np.arange(*PROBE_RANGES["[1k,10k]"])
    near = near[(near >= low) & (near < high)]
    return np.setdiff1d(np.concatenate((thousands, near, spread_numerals())), known)
