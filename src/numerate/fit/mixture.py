"""Fits one-dimensional Gaussian mixtures by EM: distinct values and their counts go in.

The result is that of scikit-learn's `GaussianMixture` with full covariances, started at data
points, on data in which each value is repeated as often as it was counted. It is computed faster in
two ways, neither of which is an approximation:

- *Weighted EM.* Each distinct value is handled once, with its count as a weight.
- *Strips.* The sorted values are cut into strips of 32. With K components most responsibilities
  are zero in double precision; for each strip only the components are computed that are not zero
  for some value of it. To find them without computing them: a Gaussian's log density is concave, so
  that on an interval it is smallest at one of the ends and largest at the mean, or at the end
  nearer to the mean. A component whose largest value on the strip is far below the smallest value
  of another component is negligible everywhere on it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# As in scikit-learn: EM ends when the mean log-likelihood changes by less than TOLERANCE, or after
# MAX_ITERATIONS; FLOOR is added to every variance, so that a component can sit on a single value.
TOLERANCE = 1e-3
MAX_ITERATIONS = 100
FLOOR = 1e-6

STRIP = 32  # values per strip: shorter strips have tighter bounds, longer ones are fewer
# The largest responsibility for a value is at least 1/K; one that is smaller by exp(-50) = 2e-22
# vanishes beside it in double precision.
NEGLIGIBLE = 50.0
_ROUNDING = 1e-7  # above the relative rounding error of a log density, for values up to 10^10
_CELLS = 1 << 21  # strips x components whose bounds are computed at a time, to limit memory
_MOST_MARGINALS = 10**9  # observations that NumPy draws from by its method "marginals"
_LOG_2_PI = math.log(2 * math.pi)
_TINY = 10 * np.finfo(np.float64).eps  # scikit-learn adds it too: no division by a mass of zero


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """A Gaussian mixture, as one array per parameter with an entry for each component.

    Components that start at the same value stay equal in every iteration, so that they are kept as
    one component with a number of `copies`. Its weight is the sum of theirs. `log_likelihood` is
    the mean per observation.
    """

    means: Floats
    variances: Floats
    weights: Floats
    copies: Ints
    log_likelihood: float = -math.inf
    iterations: int = 0
    converged: bool = False


def draw_start(
    values: Floats, counts: Ints, n_components: int, rng: np.random.Generator
) -> Mixture:
    """Return a start of EM: components at randomly drawn observations, with variance 0."""
    total = int(counts.sum())
    if not 1 <= n_components <= total:
        raise ValueError(
            f"n_components must be from 1 to the number of observations, got {n_components} "
            f"for {total}"
        )
    if total < _MOST_MARGINALS:
        drawn = rng.multivariate_hypergeometric(counts, n_components, method="marginals")
    else:
        places = rng.choice(total, n_components, replace=False)
        owners = np.searchsorted(np.cumsum(counts), places, side="right")
        drawn = np.bincount(owners, minlength=len(counts))
    chosen = np.flatnonzero(drawn)
    copies = drawn[chosen]
    # Divided by the number of observations, not of components: scikit-learn's weights of the first
    # iteration do not sum to one either.
    return _start_at(values[chosen], copies, copies / total)


def spread_start(values: Floats, n_components: int) -> Mixture:
    """Return a start of EM: at the values nearest to evenly spaced points, with variance 0."""
    points = np.linspace(values[0], values[-1], n_components)
    nearest = np.searchsorted((values[1:] + values[:-1]) / 2, points)
    chosen, copies = np.unique(nearest, return_counts=True)
    return _start_at(values[chosen], copies, copies / n_components)


def _start_at(means: Floats, copies: Ints, weights: Floats) -> Mixture:
    return Mixture(means=means, variances=np.zeros(len(means)), weights=weights, copies=copies)


def fit_mixture(values: Floats, counts: Ints, start: Mixture) -> Mixture:
    """Return the mixture to which EM converges from a start; `values` are strictly increasing."""
    previous = -math.inf
    for mixture in iterate_em(values, counts, start):
        converged = abs(mixture.log_likelihood - previous) < TOLERANCE
        if converged or mixture.iterations >= MAX_ITERATIONS:
            break
        previous = mixture.log_likelihood
    final = measure_likelihood(values, counts, mixture)
    return replace(mixture, log_likelihood=final, converged=converged)


def iterate_em(values: Floats, counts: Ints, start: Mixture) -> Iterator[Mixture]:
    """Yield the mixture after each iteration, with the log-likelihood of the one before it."""
    strips = _Strips(values, counts)
    mixture = replace(start, variances=start.variances + FLOOR)
    while True:
        statistics = [_expect(part, mixture) for part in strips.parts(len(mixture.means))]
        mixture = _maximise(statistics, mixture, strips.total)
        yield mixture


def measure_likelihood(values: Floats, counts: Ints, mixture: Mixture) -> float:
    """Return the mean log-likelihood of the observations under a mixture."""
    strips = _Strips(values, counts)
    parts = strips.parts(len(mixture.means))
    return sum(_expect(part, mixture).log_likelihood for part in parts) / strips.total


class _Strips:
    """Sorted values and counts in rows of STRIP; the last row is padded with counts of 0."""

    def __init__(self, values: Floats, counts: Ints) -> None:
        if not len(values) or len(values) != len(counts) or np.any(np.diff(values) <= 0):
            raise ValueError("values must be non-empty, strictly increasing and as many as counts")
        missing = -len(values) % STRIP
        self.values = np.pad(values.astype(np.float64), (0, missing), "edge").reshape(-1, STRIP)
        self.counts = np.pad(counts.astype(np.float64), (0, missing)).reshape(-1, STRIP)
        self.total = float(counts.sum())

    def parts(self, n_components: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield values and counts of as many strips at a time as memory allows."""
        step = max(1, _CELLS // n_components)
        for first in range(0, len(self.values), step):
            yield self.values[first : first + step], self.counts[first : first + step]


class _Statistics(NamedTuple):
    """The sums of the E step over some strips, one entry for each pair of strip and component.

    `mass` is the weight that the component has in the strip, `mean` the mean of the strip's values
    for it, `spread` the sum of squared deviations from that mean.
    """

    component: Ints
    mass: Floats
    mean: Floats
    spread: Floats
    log_likelihood: float


def _expect(part: tuple[Floats, Floats], mixture: Mixture) -> _Statistics:
    """Do the E step on some strips, and return the sums that the M step needs."""
    values, counts = part
    precision = 1 / np.sqrt(mixture.variances)
    log_weight = np.log(mixture.weights / mixture.copies)
    height = np.log(precision) + log_weight - 0.5 * _LOG_2_PI
    strip, component = _active_pairs(values, mixture.means, height, precision)
    # The pairs are sorted by strip: reduceat sums over the components of each.
    first_of_strip = np.searchsorted(strip, np.arange(len(values)))

    # From here on a row is a pair of strip and component, a column a value of the strip.
    x = values[strip]
    mu = mixture.means[component, None]
    scale = precision[component, None]
    # The operations are in scikit-learn's order, and copies stay outside of the logarithm: in the
    # first iteration a value can be so far from all means that rounding errors decide which
    # component gets it, and they should decide as there.
    log_density = -0.5 * (_LOG_2_PI + (x * scale - mu * scale) ** 2)
    log_density = log_density + np.log(scale) + log_weight[component, None]
    peak = np.maximum.reduceat(log_density, first_of_strip)
    copies = mixture.copies[component, None]
    density = copies * np.exp(log_density - peak[strip])
    log_norm = peak + np.log(np.add.reduceat(density, first_of_strip))
    mass = copies * np.exp(log_density - log_norm[strip]) * counts[strip]

    # Deviations from a mean, not sums of squares: values up to 10^10 squared would lose all digits.
    sums = mass.sum(axis=1)
    mean = (mass * (x - mu)).sum(axis=1) / np.maximum(sums, np.finfo(np.float64).tiny) + mu[:, 0]
    spread = (mass * (x - mean[:, None]) ** 2).sum(axis=1)
    return _Statistics(component, sums, mean, spread, float((counts * log_norm).sum()))


def _active_pairs(
    values: Floats, means: Floats, height: Floats, precision: Floats
) -> tuple[Ints, Ints]:
    """Return the pairs of strip and component that are not negligible, sorted by strip.

    Every strip has at least one: the component with the largest lower bound.
    """
    low, high = values[:, :1], values[:, -1:]
    nearest = np.clip(means, low, high)
    farthest = np.where(means - low > high - means, low, high)
    # Of each component on each strip: the largest log density, and over components the largest of
    # the smallest ones, which every value of the strip reaches.
    best = height - 0.5 * ((nearest - means) * precision) ** 2
    worst = (height - 0.5 * ((farthest - means) * precision) ** 2).max(axis=1, keepdims=True)
    strip, component = np.nonzero(best >= worst - NEGLIGIBLE - _ROUNDING * np.abs(worst))
    return strip, component


def _maximise(statistics: list[_Statistics], before: Mixture, total: float) -> Mixture:
    """Do the M step: return the mixture after one more iteration.

    A component without observations keeps its mean and has a negligible weight.
    """
    component, mass, mean, spread = map(np.concatenate, list(zip(*statistics, strict=True))[:4])
    size = len(before.means)

    masses = np.bincount(component, mass, size) + _TINY
    shifts = np.bincount(component, mass * (mean - before.means[component]), size)
    means = before.means + shifts / masses
    # The spread about the new mean is that about each strip's mean, plus the distance of the two.
    spreads = np.bincount(component, spread + mass * (mean - means[component]) ** 2, size)
    return Mixture(
        means=means,
        variances=spreads / masses + FLOOR,
        weights=masses / masses.sum(),
        copies=before.copies,
        log_likelihood=sum(part.log_likelihood for part in statistics) / total,
        iterations=before.iterations + 1,
    )
