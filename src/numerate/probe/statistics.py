"""Statistics of scores over trainings and seeds: means, intervals, paired differences, and tests.

Also the rank correlation of cosines with nearness on the number line.
"""

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

    @property
    def n_values(self) -> int:
        """The number of values behind the interval: trainings if there are several, else seeds."""
        return self.n_trainings if self.n_trainings > 1 else self.n_seeds

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        from scipy.stats import t

        return self.half / float(t.ppf(0.975, self.n_values - 1))


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


def combine_seeds(terms: Sequence[tuple[float, SeedValues]]) -> dict[tuple[int, int], float]:
    """Return the weighted sum of the values of several systems, by training and seed.

    Trainings with the same number are put together. A system with a single training, or none, is
    put beside every training of the others. Samples that not all systems have are left out.

    >>> combine_seeds([(1, {(0, 0): 3.0, (1, 0): 5.0}), (-0.5, {(0, 0): 2.0, (0, 1): 9.0})])
    {(0, 0): 2.0, (1, 0): 4.0}
    """
    trainings = [{training for training, _ in values} for _, values in terms]
    several = [found for found in trainings if len(found) > 1]
    shared = set.intersection(*several) if several else {0}
    parts = [
        (weight, _repeat(values, shared) if len(found) == 1 else values)
        for (weight, values), found in zip(terms, trainings, strict=True)
    ]
    keys = [key for key in parts[0][1] if all(key in values for _, values in parts)]
    return {key: sum(weight * values[key] for weight, values in parts) for key in keys}


def _repeat(values: SeedValues, trainings: Iterable[int]) -> SeedValues:
    """Return the values of a single training for every one of some trainings."""
    return {(number, seed): value for number in trainings for (_, seed), value in values.items()}


def compare_seeds(values: SeedValues, others: SeedValues) -> Summary | None:
    """Return the mean paired difference of two systems, or None if they share no samples.

    >>> compare_seeds({(0, 0): 3.0, (0, 1): 5.0}, {(0, 0): 2.0, (0, 1): 4.0, (0, 2): 9.0})
    Summary(mean=1.0, half=0.0, n_seeds=2, n_trainings=1, geometric=False)
    """
    differences = combine_seeds([(1, values), (-1, others)])
    return summarize_seeds(differences) if differences else None


def find_p_value(summary: Summary, null: float = 0.0) -> float:
    """Return the two-sided p-value of Student's t that the true mean is `null`.

    It is 1 without an interval, since nothing is known then.

    >>> round(find_p_value(summarize_values([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    from scipy.stats import t

    distance = abs(summary.mean - null)
    if math.isnan(summary.half) or not distance:
        return 1.0
    if not summary.half:
        return 0.0
    return 2 * float(t.sf(distance / summary.error, summary.n_values - 1))


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Return p-values after Holm's correction for their number.

    >>> adjust_p_values([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = least
    return adjusted


def is_equivalent(summary: Summary, bound: float) -> bool:
    """Return whether the 95 % interval lies between -`bound` and `bound`.

    >>> is_equivalent(Summary(0.01, 0.02, 3), 0.04), is_equivalent(Summary(0.01, 0.02, 3), 0.02)
    (True, False)
    """
    return abs(summary.mean) + summary.half < bound


def count_values_needed(sd: float, effect: float) -> int:
    """Return how many values a t-test at 5 % needs to find an effect with a power of 80 %.

    `sd` is the standard deviation of the values, such as paired differences.

    >>> count_values_needed(1.0, 0.5)
    34
    """
    from scipy.stats import nct, norm, t

    ratio = effect / sd if sd else math.inf
    count = max(2, math.ceil((float(norm.ppf(0.975) + norm.ppf(0.8)) / ratio) ** 2))
    while nct.sf(t.ppf(0.975, count - 1), count - 1, min(ratio, 1e3) * count**0.5) < 0.8:
        count += 1
    return count


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
