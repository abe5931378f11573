"""Statistics of scores over seeds: means, intervals, paired differences; and rank correlations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.probe.scores import Score

Floats = npt.NDArray[np.float64]
SeedValues = Mapping[tuple[int, int], float]
"""The value of each training and seed of the probe."""


@dataclass(frozen=True)
class Summary:
    """A mean with half the width of its 95 % interval, which is NaN for a single value.

    The interval is over trainings if there are several, and over the seeds of the probe otherwise.
    With `geometric`, the mean is the geometric one, and `half` is in natural logarithms.
    """

    mean: float
    half: float
    n_seeds: int
    n_trainings: int = 1
    geometric: bool = False

    @property
    def low(self) -> float:
        """The lower end of the interval; of a geometric mean it is positive."""
        return self.mean * math.exp(-self.half) if self.geometric else self.mean - self.half

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean * math.exp(self.half) if self.geometric else self.mean + self.half

    @property
    def sign(self) -> Literal[-1, 0, 1]:
        """The side of zero on which the whole interval lies; 0 if it has both, or is missing."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


def summarize_values(values: Iterable[float]) -> Summary:
    """Return the mean and the 95 % interval (Student's t) of one or more values.

    >>> round(summarize_values([1.0, 2.0, 3.0]).half, 4)
    2.4841
    """
    from scipy.stats import t

    array = np.array(list(values), np.float64)
    if len(array) == 1:
        return Summary(float(array[0]), math.nan, 1)
    error = float(np.std(array, ddof=1)) / len(array) ** 0.5
    return Summary(float(np.mean(array)), float(t.ppf(0.975, len(array) - 1)) * error, len(array))


def summarize_seeds(values: SeedValues) -> Summary:
    """Return the mean and its 95 % interval.

    Of several trainings each counts once, by its mean over the seeds of the probe: more seeds say
    more about the trainings at hand, not about another one.

    >>> summarize_seeds({(0, 0): 1.0, (0, 1): 3.0, (1, 0): 4.0, (1, 1): 4.0}).mean
    3.0
    """
    by_training: dict[int, list[float]] = {}
    for (training, _), value in values.items():
        by_training.setdefault(training, []).append(value)
    if len(by_training) == 1:
        return summarize_values(values.values())
    summary = summarize_values(float(np.mean(row)) for row in by_training.values())
    n_seeds = max(map(len, by_training.values()))
    return replace(summary, n_seeds=n_seeds, n_trainings=len(by_training))


def summarize_errors(values: SeedValues) -> Summary:
    """Return the geometric mean of errors and its 95 % interval, which is computed in logarithms.

    Errors are positive, and so are both ends of the interval. An error of zero has no logarithm:
    with one of them the mean is the plain one, without an interval.

    >>> summary = summarize_errors({(0, 0): 0.01, (0, 1): 0.04})
    >>> round(summary.mean, 4), summary.low > 0
    (0.02, True)
    """
    if min(values.values()) <= 0:
        return replace(summarize_seeds(values), half=math.nan)
    summary = summarize_seeds({key: math.log(value) for key, value in values.items()})
    return replace(summary, mean=math.exp(summary.mean), geometric=True)


def group_by_seed(scores: Iterable[Score]) -> dict[tuple[str, ...], dict[tuple[int, int], float]]:
    """Return the value of each training and seed, by (system, task, domain, range, metric).

    Values that are not finite are left out. The scores must be of one protocol.
    """
    found: dict[tuple[str, ...], dict[tuple[int, int], float]] = {}
    for score in scores:
        if math.isfinite(score.value):
            key = score.system, score.task, score.domain, score.range, score.metric
            found.setdefault(key, {})[score.training, score.seed] = score.value
    return found


def subtract_seeds(values: SeedValues, others: SeedValues) -> dict[tuple[int, int], float]:
    """Return the differences of two systems on the same samples, by training and seed.

    Trainings with the same number are paired. If one of the systems has a single training, or none,
    it is compared with every training of the other.

    >>> subtract_seeds({(0, 0): 3.0, (1, 0): 5.0}, {(0, 0): 2.0, (0, 1): 9.0})
    {(0, 0): 1.0, (1, 0): 3.0}
    """
    ours, theirs = ({training for training, _ in part} for part in (values, others))
    if len(theirs) == 1:
        others = {(t, seed): value for t in ours for (_, seed), value in others.items()}
    elif len(ours) == 1:
        values = {(t, seed): value for t in theirs for (_, seed), value in values.items()}
    return {key: value - others[key] for key, value in values.items() if key in others}


def compare_seeds(values: SeedValues, others: SeedValues) -> Summary | None:
    """Return the mean paired difference of two systems, or None if they share no samples.

    >>> compare_seeds({(0, 0): 3.0, (0, 1): 5.0}, {(0, 0): 2.0, (0, 1): 4.0, (0, 2): 9.0})
    Summary(mean=1.0, half=0.0, n_seeds=2, n_trainings=1, geometric=False)
    """
    differences = subtract_seeds(values, others)
    return summarize_seeds(differences) if differences else None


def subtract_system(scores: Sequence[Score], system: str) -> list[Score]:
    """Return the scores of all other systems minus those of `system` on the same samples.

    Scores without a counterpart of the same cell and metric are left out.
    """
    base = [score for score in scores if score.system == system]
    if not base:
        known = ", ".join(dict.fromkeys(score.system for score in scores))
        raise InputError(f"no scores of {system!r} to compare with; there are {known}")
    one = len({score.training for score in base}) == 1  # then it stands beside every training

    def sample(score: Score) -> tuple[object, ...]:
        place = score.task, score.domain, score.range, score.metric, score.protocol, score.seed
        return place if one else (*place, score.training)

    values = {sample(score): score.value for score in base}
    return [
        replace(score, value=score.value - values[sample(score)])
        for score in scores
        if score.system != system and sample(score) in values
    ]


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
