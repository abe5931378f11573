"""Tables of scores: systems by tasks and ranges, as in the paper's tables 1 and 2.

Input: scores of one protocol. Output: a `Grid`, from which the page, the terminal and the docs are
written. In each column the best mean of the probed systems is marked, and so are the means that are
not significantly worse. Controls that are given the number and the paper's own scores are shown
beside but are never marked. Scores that are not finite are left out of the means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from typing import Literal

from numerate.extract.ranges import PROBE_RANGES
from numerate.models.labels import SystemLabel
from numerate.probe.scores import Score
from numerate.probe.statistics import (
    SeedValues,
    Summary,
    compare_seeds,
    group_by_seed,
    summarize_seeds,
)

RowKind = Literal["probed", "given", "paper"]
Mark = Literal["", "best", "close"]
GIVEN = ("control:oracle", "control:angle", "control:value")
"""Controls whose vectors hold the number itself: bounds, not contestants."""
SHOWN_METRICS = (
    "log-rmse",
    "ridge log-rmse",
    "accuracy",
    "spearman",
    "closer",
    "first",
    "subject",
    "nearest",
    "cosine spearman",
    "distance spearman",
    "sentence spearman",
    "neighbour factor",
    "just noticeable ratio",
    "16 log-rmse",
    "64 log-rmse",
    "256 log-rmse",
    "16 accuracy",
    "64 accuracy",
    "256 accuracy",
)
_LOW_IS_GOOD = ("neighbour factor", "just noticeable ratio")
DOMAIN_NAMES = {"in": "in-domain", "out": "out-of-domain"}


@dataclass(frozen=True)
class Column:
    """One task in one domain and range, by one metric."""

    task: str
    domain: str
    range: str
    metric: str

    @property
    def low_is_good(self) -> bool:
        """Whether the metric is an error."""
        return low_is_good(self.metric)

    @property
    def title(self) -> str:
        """The task and the metric in words."""
        return f"{self.task.replace('-', ' ')}, {self.metric}"


@dataclass(frozen=True)
class TableCell:
    """The mean over seeds with its interval, and whether it is the best of its column."""

    summary: Summary
    mark: Mark = ""


@dataclass(frozen=True)
class TableRow:
    """The cells of one system; None where it has no score."""

    system: str
    cells: tuple[TableCell | None, ...]

    @property
    def kind(self) -> RowKind:
        """The group of rows to which the system belongs."""
        return find_kind(self.system)

    @property
    def label(self) -> str:
        """The name of the system below the heading of its group."""
        return SystemLabel.parse(self.system).paper_model or self.system


@dataclass(frozen=True)
class Grid:
    """A table of scores: a column for each task and range, a row for each system."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The title of each group of columns (a task and its metric), and its number of columns."""
        titles = [column.title for column in self.columns]
        return [(title, titles.count(title)) for title in dict.fromkeys(titles)]

    @property
    def group_starts(self) -> set[int]:
        """The indices of the columns that start a group."""
        titles = [column.title for column in self.columns]
        return {titles.index(title) for title in titles}

    @property
    def kinds(self) -> list[tuple[RowKind, list[TableRow]]]:
        """The rows by kind: probed systems first, the paper's scores last."""
        order: tuple[RowKind, ...] = ("probed", "given", "paper")
        found = [(kind, [row for row in self.rows if row.kind == kind]) for kind in order]
        return [(kind, rows) for kind, rows in found if rows]

    def best(self, index: int) -> float | None:
        """Return the best mean of a column, or None if no probed system has a score there."""
        cells = [row.cells[index] for row in self.rows]
        return next((cell.summary.mean for cell in cells if cell and cell.mark == "best"), None)

    def note(self, close: str = "underlined") -> str:
        """Return full sentences on how to read the table; `close` is how close means are marked."""
        cells = [cell for row in self.rows if row.kind == "probed" for cell in row.cells if cell]
        parts = [_describe_marks(max((cell.summary.n_seeds for cell in cells), default=1), close)]
        kinds = [kind for kind, _ in self.kinds]
        if "given" in kinds:
            parts.append("Controls that are given the number itself are never marked as best.")
        if "paper" in kinds:
            parts.append(
                "The paper's scores come from its tables. They were measured with another corpus, "
                "model and samples, so they are never marked as best."
            )
        return " ".join(parts)


def low_is_good(metric: str) -> bool:
    """Return whether a metric is an error.

    >>> low_is_good("ridge log-rmse"), low_is_good("neighbour factor"), low_is_good("accuracy")
    (True, True, False)
    """
    return "rmse" in metric or metric in _LOW_IS_GOOD


@cache
def find_kind(system: str) -> RowKind:
    """Return whether a system was probed, is given the number, or is quoted from the paper."""
    if SystemLabel.parse(system).paper_model:
        return "paper"
    return "given" if system in GIVEN else "probed"


def is_contestant(system: str) -> bool:
    """Return whether a system can be the best: it was probed and is not given the number."""
    return find_kind(system) == "probed"


def _describe_marks(n_seeds: int, close: str) -> str:
    if n_seeds == 1:
        return "There is one seed, so there are no intervals. The best mean of a column is bold."
    return (
        f"Means with 95 % intervals over {n_seeds} seeds. The best mean of a column is bold. Means "
        f"that are not significantly worse are {close}: the 95 % interval of their paired "
        "difference from the best includes zero."
    )


def tabulate_scores(scores: Sequence[Score]) -> list[Grid]:
    """Return a table of the ranges for each task, domain and main metric."""
    kinds = dict.fromkeys((score.task, score.domain, score.metric) for score in scores)
    grids = []
    for task, domain, metric in kinds:
        if metric in SHOWN_METRICS:
            where = f", {DOMAIN_NAMES[domain]}" if domain in DOMAIN_NAMES else ""
            chosen = [score for score in scores if score.domain == domain]
            grids.append(make_grid(chosen, {task: metric}, title=f"{task}{where}: {metric}"))
    return [grid for grid in grids if grid]


def make_grid(
    scores: Sequence[Score], metrics: Mapping[str, str], *, title: str, name: str = ""
) -> Grid | None:
    """Return the table of some scores, or None if it would have no column.

    The scores must be of one domain and one protocol; the paper's scores may be among them.
    `metrics` has the metric of each task, in the order of the columns.
    """
    shown = [score for score in scores if metrics.get(score.task) == score.metric]
    columns = _find_columns(shown, metrics)
    if not columns:
        return None
    by_seed = group_by_seed(shown)
    systems = dict.fromkeys(score.system for score in shown if _column(score) in columns)
    values = [
        {system: by_seed.get((system, *astuple(column)), {}) for system in systems}
        for column in columns
    ]
    marks = [_mark_systems(*pair) for pair in zip(values, columns, strict=True)]
    rows = []
    for system in systems:
        cells = (
            TableCell(summarize_seeds(seeds[system]), mark.get(system, ""))
            if seeds[system]
            else None
            for seeds, mark in zip(values, marks, strict=True)
        )
        rows.append(TableRow(system, tuple(cells)))
    return Grid(name, title, columns, tuple(rows))


def _find_columns(scores: Sequence[Score], metrics: Mapping[str, str]) -> tuple[Column, ...]:
    """Return the columns that have scores of our own, in the order of `metrics` and the paper."""
    found = dict.fromkeys(_column(score) for score in scores if find_kind(score.system) != "paper")
    tasks, ranges = list(metrics), list(PROBE_RANGES)

    def order(column: Column) -> tuple[int, int]:
        known = column.range in ranges
        return tasks.index(column.task), ranges.index(column.range) if known else len(ranges)

    return tuple(sorted(found, key=order))


def _column(score: Score) -> Column:
    return Column(score.task, score.domain, score.range, score.metric)


def _mark_systems(values: Mapping[str, SeedValues], column: Column) -> dict[str, Mark]:
    """Return the mark of each contestant that is the best, or not significantly worse."""
    sign = 1 if column.low_is_good else -1
    values = {system: seeds for system, seeds in values.items() if seeds and is_contestant(system)}
    means = {system: summarize_seeds(seeds).mean for system, seeds in values.items()}
    errors = {system: sign * mean for system, mean in means.items()}
    if not errors:
        return {}
    best = min(errors, key=lambda system: errors[system])
    marks: dict[str, Mark] = {}
    for system, seeds in values.items():
        difference = compare_seeds(seeds, values[best])
        if errors[system] == errors[best]:
            marks[system] = "best"
        elif difference and sign * difference.mean <= difference.half:  # NaN for a single seed
            marks[system] = "close"
    return marks
