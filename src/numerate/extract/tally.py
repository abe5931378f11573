"""Tallies: the counts of a part of a corpus, and their sum, in bounded memory.

A worker hands on the tally of its part, not the numerals. Above a million distinct values, values
are counted in bins that grow with them: all that have the same leading binary digits. How many
digits are kept follows from the corpus alone, whatever its parts and their order: a bin with one
digit more is one half of a bin, so that a part never needs coarser bins than the whole.
"""

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from numerate.extract.numerals import as_number

Values = npt.NDArray[np.float64]
Weights = npt.NDArray[np.int64]
MOST_DISTINCT = 1_000_000
EXACT = 52  # binary digits of a float behind the first


@dataclass(frozen=True)
class Tally:
    """How often each of `values`, which increase, occurs, and the size of the text.

    Each value stands for its bin: all values that begin with the same binary digits, the first one
    and `digits` behind it. It is the one of them that is nearest to zero.
    """

    values: Values
    weights: Weights
    documents: int = 0
    words: int = 0
    digits: int = EXACT

    @property
    def counts(self) -> dict[int | float, int]:
        """The counts by value."""
        values = map(as_number, self.values.tolist())
        return dict(zip(values, self.weights.tolist(), strict=True))


@dataclass
class Total:
    """The sum of tallies; they wait until they are many, so that adding one up costs little."""

    _waiting: list[Tally] = field(default_factory=list)

    def add(self, tally: Tally) -> None:
        """Add a tally."""
        self._waiting.append(tally)
        if sum(len(part.values) for part in self._waiting[1:]) > MOST_DISTINCT:
            self._waiting = [self.tally]

    @property
    def tally(self) -> Tally:
        """The sum of all tallies so far."""
        parts = (Tally(np.zeros(0), np.zeros(0, np.int64)), *self._waiting)
        digits = min(part.digits for part in parts)
        found = np.concatenate([part.values for part in parts])
        values, places = np.unique(cut_digits(found, digits), return_inverse=True)
        if len(values) > MOST_DISTINCT:
            digits = _find_digits(values, digits)
            values, places = np.unique(cut_digits(found, digits), return_inverse=True)
        weights = np.zeros(len(values), np.int64)
        np.add.at(weights, places, np.concatenate([part.weights for part in parts]))
        documents = sum(part.documents for part in parts)
        return Tally(values, weights, documents, sum(part.words for part in parts), digits)


def cut_digits(values: Values, digits: int) -> Values:
    """Return values with only the first binary digit and some behind it; the others are zeros.

    >>> cut_digits(np.array([5.0, 1999.0, -0.7]), 2).tolist()  # 101, 11111001111, 1.0110...
    [5.0, 1792.0, -0.625]
    """
    kept = np.uint64(2**64 - 2 ** (EXACT - digits))
    return (np.ascontiguousarray(values, np.float64).view(np.uint64) & kept).view(np.float64)


def _find_digits(values: Values, most: int) -> int:
    """Return how many digits, at most `most`, leave no more distinct values than may be."""

    def count_distinct(digits: int) -> int:
        return len(np.unique(cut_digits(values, digits)))

    return max(0, bisect_right(range(most + 1), MOST_DISTINCT, key=count_distinct) - 1)
