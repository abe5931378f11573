"""Statistics of scores over seeds: means, intervals, paired differences; and rank correlations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.probe.scores import Score

Floats = npt.NDArray[np.float64]
SeedValues = Mapping[int, float]
"""The value of each seed."""


@dataclass(frozen=True)
class Summary:
    """The mean over seeds, and half the width of its 95 % interval (NaN for a single seed)."""

    mean: float
    half: float
    n_seeds: int


def summarize_values(values: Iterable[float]) -> Summary:
    """Return the mean and the 95 % interval (Student's t) of the values of one or more seeds.

    >>> round(summarize_values([1.0, 2.0, 3.0]).half, 4)
    2.4841
    """
    from scipy.stats import t

    array = np.array(list(values), np.float64)
    if len(array) == 1:
        return Summary(float(array[0]), math.nan, 1)
    error = float(np.std(array, ddof=1)) / len(array) ** 0.5
    return Summary(float(np.mean(array)), float(t.ppf(0.975, len(array) - 1)) * error, len(array))


def group_by_seed(scores: Iterable[Score]) -> dict[tuple[str, ...], dict[int, float]]:
    """Return the value of each seed, by (system, task, domain, range, metric).

    Values that are not finite are left out. The scores must be of one protocol.
    """
    found: dict[tuple[str, ...], dict[int, float]] = {}
    for score in scores:
        if math.isfinite(score.value):
            key = score.system, score.task, score.domain, score.range, score.metric
            found.setdefault(key, {})[score.seed] = score.value
    return found


def compare_seeds(values: SeedValues, others: SeedValues) -> Summary | None:
    """Return the mean paired difference over the seeds that both have, or None if there are none.

    >>> difference = compare_seeds({0: 3.0, 1: 5.0}, {0: 2.0, 1: 4.0, 2: 9.0})
    >>> difference.mean, difference.half, difference.n_seeds
    (1.0, 0.0, 2)
    """
    shared = [seed for seed in values if seed in others]
    return summarize_values([values[seed] - others[seed] for seed in shared]) if shared else None


def subtract_system(scores: Sequence[Score], system: str) -> list[Score]:
    """Return the scores of all other systems minus those of `system` on the same samples.

    Scores without a counterpart of the same cell and metric are left out.
    """
    base = {_sample(score): score.value for score in scores if score.system == system}
    if not base:
        known = ", ".join(dict.fromkeys(score.system for score in scores))
        raise InputError(f"no scores of {system!r} to compare with; there are {known}")
    return [
        replace(score, value=score.value - base[_sample(score)])
        for score in scores
        if score.system != system and _sample(score) in base
    ]


def _sample(score: Score) -> tuple[object, ...]:
    return *score.cell[1:], score.metric


def correlate_with_nearness(cosines: Floats) -> Floats:
    """Return for each of 1, 2, … the rank correlation of its cosines with nearness to the others.

    Numbers are near if the difference of their logarithms is small. `cosines` is a square matrix.
    """
    logs = np.log1p(np.arange(len(cosines)))
    others = ~np.eye(len(cosines), dtype=bool)
    nearness = -np.abs(logs[:, None] - logs)
    return np.array(
        [
            correlate_ranks(row[keep], near[keep])
            for row, near, keep in zip(cosines, nearness, others, strict=True)
        ]
    )


def correlate_ranks(values: Floats, others: Floats) -> float:
    """Return Spearman's rank correlation, or 0 if all values are the same."""
    from scipy.stats import spearmanr

    return float(spearmanr(values, others).statistic) if np.ptp(values) else 0.0


def unit_rows(vectors: npt.NDArray[Any]) -> Floats:
    """Return vectors scaled to length one, in double precision; rows of zeros stay zeros."""
    double: Floats = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(double, axis=1, keepdims=True)
    unit: Floats = double / np.where(lengths > 0, lengths, 1)
    return unit
