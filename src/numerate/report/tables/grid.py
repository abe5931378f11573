"""Tables of scores: systems by tasks and ranges, as in the paper's tables 1 and 2.

Input: scores of one protocol. Output: a `Grid`, from which the page, the terminal and the docs are
written. A trained system is followed by its twin, and the twin holds what training adds to it. In
each column the systems are marked that no other is significantly better than. Controls that are
given the number and the paper's own scores are shown beside but are never marked. Scores that are
not finite are left out of the means.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from typing import Literal

from numerate.extract.ranges import PROBE_RANGES
from numerate.models.labels import SystemLabel, pair_twins
from numerate.probe.samples import DOMAIN_NAMES
from numerate.probe.scores import Score
from numerate.probe.statistics import (
    SeedValues,
    Summary,
    group_by_seed,
    subtract_system,
    summarize_seeds,
)
from numerate.report.tables.comparisons import Gain, Mark, find_gains, mark_best, summarize_column

RowKind = Literal["probed", "rule", "given", "paper"]
Values = Literal["scores", "differences"]
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
    "right",
    "triples",
    "plain triples",
    "percent triples",
    "amount triples",
    "recall_at_10",
    "cosine_spearman",
    "cosine_spearman with digits",
    "ndcg_at_10",
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
    """The mean with its interval, and whether it is the best of its column or close to it."""

    summary: Summary
    mark: Mark = ""


@dataclass(frozen=True)
class TableRow:
    """The cells of one system; None where it has no score.

    `gains` are those of the trained system whose twin this one is. Other systems have none.
    """

    system: str
    cells: tuple[TableCell | None, ...]
    gains: tuple[Gain | None, ...] = ()

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
        """The rows by kind: probed models first, then controls, the paper's scores last."""
        order: tuple[RowKind, ...] = ("probed", "rule", "given", "paper")
        found = [(kind, [row for row in self.rows if row.kind == kind]) for kind in order]
        return [(kind, rows) for kind, rows in found if rows]

    def means(self, index: int) -> dict[str, Summary]:
        """Return the means of a column, by contestant."""
        cells = {row.system: row.cells[index] for row in self.rows if is_contestant(row.system)}
        return {system: cell.summary for system, cell in cells.items() if cell}

    def best(self, index: int) -> float | None:
        """Return the best mean of a column, or None if no contestant has a score there."""
        means = [summary.mean for summary in self.means(index).values()]
        return (min if self.columns[index].low_is_good else max)(means, default=None)

    def gain(self, system: str, index: int) -> Gain | None:
        """Return what training adds to a trained system in a column; None without its twin."""
        twin = str(SystemLabel.parse(system).twin)
        rows = (row for row in self.rows if row.system == twin and row.gains)
        return next((row.gains[index] for row in rows), None)


def low_is_good(metric: str) -> bool:
    """Return whether a metric is an error.

    >>> low_is_good("ridge log-rmse"), low_is_good("neighbour factor"), low_is_good("accuracy")
    (True, True, False)
    """
    return "rmse" in metric or metric in _LOW_IS_GOOD


@cache
def find_kind(system: str) -> RowKind:
    """Return whether a system is a model, a control by rule or given the number, or the paper's."""
    label = SystemLabel.parse(system)
    if label.paper_model:
        return "paper"
    if system in GIVEN:
        return "given"
    return "rule" if label.is_control else "probed"


def is_contestant(system: str) -> bool:
    """Return whether a system can be the best: it was probed and is not given the number."""
    return find_kind(system) in ("probed", "rule")


def tabulate_scores(scores: Sequence[Score]) -> list[Grid]:
    """Return a table of the ranges for each task, domain and main metric."""
    return _tabulate(scores, "scores")


def tabulate_differences(scores: Sequence[Score], system: str) -> list[Grid]:
    """Return the same tables of the paired differences between all other systems and one."""
    return _tabulate(subtract_system(scores, system), "differences")


def _tabulate(scores: Sequence[Score], values: Values) -> list[Grid]:
    kinds = dict.fromkeys((score.task, score.domain, score.metric) for score in scores)
    grids = []
    for task, domain, metric in kinds:
        if metric in SHOWN_METRICS:
            where = f", {DOMAIN_NAMES[domain]}" if domain in DOMAIN_NAMES else ""
            chosen = [score for score in scores if score.domain == domain]
            title = f"{task}{where}: {metric}"
            grids.append(make_grid(chosen, [(task, metric)], title=title, values=values))
    return [grid for grid in grids if grid]


def make_grid(
    scores: Sequence[Score],
    metrics: Iterable[tuple[str, str]],
    *,
    title: str,
    name: str = "",
    values: Values = "scores",
) -> Grid | None:
    """Return the table of some scores, or None if it would have no column.

    The scores must be of one domain and one protocol; the paper's scores may be among them.
    `metrics` has tasks and their metrics, in the order of the columns. Differences of scores are
    not marked, and have plain means.
    """
    kinds = list(metrics)
    shown = [score for score in scores if (score.task, score.metric) in kinds]
    columns = _find_columns(shown, kinds)
    if not columns:
        return None
    by_seed = group_by_seed(shown)
    systems = pair_twins(score.system for score in shown if _column(score) in columns)
    parts = [
        _fill_column({s: by_seed.get((s, *astuple(column)), {}) for s in systems}, column, values)
        for column in columns
    ]
    rows = [
        TableRow(
            system,
            tuple(cells.get(system) for cells, _ in parts),
            tuple(gains.get(system) for _, gains in parts)
            if any(system in gains for _, gains in parts)
            else (),
        )
        for system in systems
    ]
    return Grid(name, title, columns, tuple(rows))


def _fill_column(
    seeds: Mapping[str, SeedValues], column: Column, values: Values
) -> tuple[dict[str, TableCell], dict[str, Gain]]:
    """Return the cells of a column by system, and the gains by twin."""
    found = {system: part for system, part in seeds.items() if part}
    if values == "differences":
        return {s: TableCell(summarize_seeds(part)) for s, part in found.items()}, {}
    contestants = {system: part for system, part in found.items() if is_contestant(system)}
    marks = mark_best(contestants, column.low_is_good)
    cells = {
        system: TableCell(summarize_column(part, column.low_is_good), marks.get(system, ""))
        for system, part in found.items()
    }
    return cells, find_gains(found, column.low_is_good)


def _find_columns(scores: Sequence[Score], kinds: Sequence[tuple[str, str]]) -> tuple[Column, ...]:
    """Return the columns that have scores of our own, in the order of `kinds` and the paper."""
    found = dict.fromkeys(_column(score) for score in scores if find_kind(score.system) != "paper")
    ranges = list(PROBE_RANGES)

    def order(column: Column) -> tuple[int, int]:
        known = column.range in ranges
        place = ranges.index(column.range) if known else len(ranges)
        return kinds.index((column.task, column.metric)), place

    return tuple(sorted(found, key=order))


def _column(score: Score) -> Column:
    return Column(score.task, score.domain, score.range, score.metric)
