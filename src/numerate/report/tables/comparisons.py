"""Comparisons within a column of a table: its best systems, and what training adds to each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from numerate.models.labels import SystemLabel
from numerate.probe.statistics import (
    SeedValues,
    Summary,
    compare_seeds,
    summarize_errors,
    summarize_seeds,
)

Mark = Literal["", "best", "close"]
Effect = Literal["", "better", "worse"]


@dataclass(frozen=True)
class Gain:
    """What training adds: the trained system minus its twin, on the same samples."""

    difference: Summary
    low_is_good: bool

    @property
    def effect(self) -> Effect:
        """Whether training helps or harms, if the interval of the difference excludes zero."""
        if not self.difference.sign:
            return ""
        return "better" if (self.difference.sign < 0) == self.low_is_good else "worse"


def summarize_column(seeds: SeedValues, low_is_good: bool) -> Summary:
    """Return the mean of a cell with its interval; of errors, both are on the log scale."""
    return summarize_errors(seeds) if low_is_good else summarize_seeds(seeds)


def find_gains(values: Mapping[str, SeedValues], low_is_good: bool) -> dict[str, Gain]:
    """Return what training adds to each trained system, by the name of its twin."""
    twins = {system: str(SystemLabel.parse(system).twin) for system in values}
    gains = {}
    for system, twin in twins.items():
        difference = compare_seeds(values[system], values.get(twin, {}))
        if difference:
            gains[twin] = Gain(difference, low_is_good)
    return gains


def mark_best(values: Mapping[str, SeedValues], low_is_good: bool) -> dict[str, Mark]:
    """Return the marks of the systems that are not significantly worse than the best mean.

    A single one is `best`, several are `close`. Nothing is marked if there is nothing to compare:
    one system, or one value of each.
    """
    sign = 1 if low_is_good else -1
    errors = {s: sign * summarize_column(part, low_is_good).mean for s, part in values.items()}
    best = min(errors, key=lambda system: errors[system], default="")
    if len(errors) < 2 or len(values[best]) < 2:
        return {}
    differences = {system: compare_seeds(part, values[best]) for system, part in values.items()}
    close = [s for s, part in differences.items() if part is None or part.sign != sign]
    return dict.fromkeys(close, "best" if close == [best] else "close")
