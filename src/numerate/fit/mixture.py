"""One-dimensional Gaussian mixtures by expectation and maximisation: numerics, nothing else.

The computation is the one of scikit-learn's `GaussianMixture` with full covariances, started at
data points, on data where each value stands as often as it was counted; here each distinct value is
handled once, with its count as weight. Values are sorted and cut into strips; for a strip, only the
components are computed whose responsibility for some value in it can differ from zero in double
precision. A component's log density is concave in the value, so that on a strip it is bounded from
below at the strip's ends and from above at its mean or the nearer end: the choice is exact.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STRIP = 32  # values per strip: fewer are bounded more tightly, more need fewer bounds
# exp(-50) is 2e-22: beside the largest responsibility, which is at least 1/K, nothing in a double.
NEGLIGIBLE = 50.0
_ROUNDING = 1e-7  # more than the relative error of a log density, for values up to 10^10
_CELLS = 1 << 21  # strips x components bounded at a time, so that memory stays small
_LOG_2_PI = math.log(2 * math.pi)
_TINY = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Mixture:
    """Components as columns; `log_likelihood` is the mean per observation.

    A component can stand for several equal ones, its `copies`; `weights` are of all of them.
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
    """Return the start of EM: components at randomly drawn observations, of no width.

    Components drawn at the same value stay equal for ever, so that they are kept as copies of one.
    """
    total = int(counts.sum())
    if not 1 <= n_components <= total:
        raise ValueError(
            f"n_components must be from 1 to the number of observations, got {n_components} "
            f"for {total}"
        )
    drawn = rng.multivariate_hypergeometric(counts, n_components, method="marginals")
    chosen = np.flatnonzero(drawn)
    copies = drawn[chosen]
    return Mixture(values[chosen], np.zeros(len(chosen)), copies / total, copies)


def spread_start(values: Floats, n_components: int) -> Mixture:
    """Return the start of EM: components at the values next to points spread evenly, of no width.

    Points that have the same value next to them are kept as copies of one component.
    """
    points = np.linspace(values[0], values[-1], n_components)
    nearest = np.searchsorted((values[1:] + values[:-1]) / 2, points)
    chosen, copies = np.unique(nearest, return_counts=True)
    return Mixture(values[chosen], np.zeros(len(chosen)), copies / n_components, copies)


def fit_mixture(
    values: Floats,
    counts: Ints,
    start: Mixture,
    *,
    tolerance: float = 1e-3,
    max_iterations: int = 100,
    floor: float = 1e-6,
) -> Mixture:
    """Return the mixture to which EM converges from a start.

    Args:
        values: Distinct values, strictly increasing.
        counts: How often each was observed.
        start: Components to start from; `floor` is added to their variances.
        tolerance: EM ends when the mean log-likelihood changes by less.
        max_iterations: EM ends here at the latest, then not converged.
        floor: Added to every variance, so that a component can sit on a single value.
    """
    previous = -math.inf
    mixture = start
    for mixture in iterate_em(values, counts, start, floor=floor):
        if abs(mixture.log_likelihood - previous) < tolerance:
            converged = True
            break
        if mixture.iterations >= max_iterations:
            converged = False
            break
        previous = mixture.log_likelihood
    final = measure_likelihood(values, counts, mixture)
    return replace(mixture, log_likelihood=final, converged=converged)


def iterate_em(
    values: Floats, counts: Ints, start: Mixture, *, floor: float = 1e-6
) -> Iterator[Mixture]:
    """Yield the mixture after every iteration, with the log-likelihood of the one before it."""
    strips = _Strips(values, counts)
    mixture = replace(start, variances=start.variances + floor)
    iteration = 0
    while True:
        iteration += 1
        statistics = [_expect(part, mixture) for part in strips.parts(len(mixture.means))]
        mixture = _maximise(statistics, mixture, strips.total, floor, iteration)
        yield mixture


def measure_likelihood(values: Floats, counts: Ints, mixture: Mixture) -> float:
    """Return the mean log-likelihood of the observations."""
    strips = _Strips(values, counts)
    parts = strips.parts(len(mixture.means))
    return sum(_expect(part, mixture).log_likelihood for part in parts) / strips.total


class _Strips:
    """Sorted values in rows of STRIP, the last one filled up with values that count nothing."""

    def __init__(self, values: Floats, counts: Ints) -> None:
        if not len(values) or len(values) != len(counts) or np.any(np.diff(values) <= 0):
            raise ValueError("values must be non-empty, strictly increasing and as many as counts")
        missing = -len(values) % STRIP
        self.values = np.pad(values.astype(np.float64), (0, missing), "edge").reshape(-1, STRIP)
        self.counts = np.pad(counts.astype(np.float64), (0, missing)).reshape(-1, STRIP)
        self.total = float(counts.sum())

    def parts(self, n_components: int) -> Iterator[tuple[Floats, Floats]]:
        step = max(1, _CELLS // n_components)
        for first in range(0, len(self.values), step):
            yield self.values[first : first + step], self.counts[first : first + step]


@dataclass(frozen=True)
class _Statistics:
    """What one part of the values says: per pair of strip and component, mass, mean and spread."""

    component: Ints
    mass: Floats
    mean: Floats
    spread: Floats
    log_likelihood: float


def _expect(part: tuple[Floats, Floats], mixture: Mixture) -> _Statistics:
    """The E step on some strips, and the sums that the M step needs of it."""
    values, counts = part
    precision = 1 / np.sqrt(mixture.variances)
    log_weight = np.log(mixture.weights / mixture.copies)
    height = np.log(precision) + log_weight - 0.5 * _LOG_2_PI
    strip, component = _active_pairs(values, mixture.means, height, precision)
    first_of_strip = np.searchsorted(strip, np.arange(len(values)))

    x = values[strip]
    mu = mixture.means[component, None]
    scale = precision[component, None]
    # Every operation in scikit-learn's order, copies counted outside of the logarithm: in the first
    # iteration a value can be so far from all means that rounding decides, and is to decide alike.
    log_density = -0.5 * (_LOG_2_PI + (x * scale - mu * scale) ** 2)
    log_density = log_density + np.log(scale) + log_weight[component, None]
    peak = np.maximum.reduceat(log_density, first_of_strip)
    copies = mixture.copies[component, None]
    density = copies * np.exp(log_density - peak[strip])
    log_norm = peak + np.log(np.add.reduceat(density, first_of_strip))
    mass = copies * np.exp(log_density - log_norm[strip]) * counts[strip]

    sums = mass.sum(axis=1)
    mean = (mass * (x - mu)).sum(axis=1) / np.maximum(sums, np.finfo(np.float64).tiny) + mu[:, 0]
    spread = (mass * (x - mean[:, None]) ** 2).sum(axis=1)
    log_likelihood = float((counts * log_norm).sum())
    return _Statistics(component, sums, mean, spread, log_likelihood)


def _active_pairs(
    values: Floats, means: Floats, height: Floats, precision: Floats
) -> tuple[Ints, Ints]:
    """The pairs of strip and component that count, by strip; every strip has at least one."""
    low, high = values[:, :1], values[:, -1:]
    nearest = np.clip(means, low, high)
    farthest = np.where(means - low > high - means, low, high)
    best = height - 0.5 * ((nearest - means) * precision) ** 2
    worst = (height - 0.5 * ((farthest - means) * precision) ** 2).max(axis=1, keepdims=True)
    keep = best >= worst - NEGLIGIBLE - _ROUNDING * np.abs(worst)
    strip, component = np.nonzero(keep)
    return strip, component


def _maximise(
    statistics: list[_Statistics], before: Mixture, total: float, floor: float, iteration: int
) -> Mixture:
    """The M step: components from the sums of all parts.

    A component that lost its last observation keeps its mean, with no weight to speak of.
    """
    component = np.concatenate([part.component for part in statistics])
    mass = np.concatenate([part.mass for part in statistics])
    mean = np.concatenate([part.mean for part in statistics])
    spread = np.concatenate([part.spread for part in statistics])
    size = len(before.means)

    masses = np.bincount(component, mass, size) + _TINY
    shifts = np.bincount(component, mass * (mean - before.means[component]), size)
    means = before.means + shifts / masses
    spreads = np.bincount(component, spread + mass * (mean - means[component]) ** 2, size)
    log_likelihood = sum(part.log_likelihood for part in statistics) / total
    weights = masses / masses.sum()
    return Mixture(
        means, spreads / masses + floor, weights, before.copies, log_likelihood, iteration
    )
