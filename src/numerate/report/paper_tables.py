"""Layout: scores as a grid, systems by tasks and ranges as in the paper's tables 1 and 2.

The best of a column is marked, and so is what is not significantly worse: what cannot be told from
the best by the differences over the seeds, which draw the same samples for every system.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from numerate.extract.ranges import PROBE_RANGES
from numerate.probe.scores import Score, Summary, summarize_values
from numerate.report.tables import GIVEN

Kind = Literal["probed", "given", "paper"]
Mark = Literal["", "best", "close"]
PAPER_METRICS = {
    "decoding": "log-rmse",
    "addition": "log-rmse",
    "list-maximum": "accuracy",
    "list-minimum": "accuracy",
}
_BySeed = dict[int, float]


@dataclass(frozen=True)
class Column:
    """One task on one range by one metric."""

    task: str
    metric: str
    range: str

    @property
    def low_is_good(self) -> bool:
        """Whether the metric is an error."""
        return "rmse" in self.metric

    @property
    def title(self) -> str:
        """What is measured, in words."""
        return f"{self.task.replace('-', ' ')}, {self.metric}"


@dataclass(frozen=True)
class Cell:
    """A mean with its interval, and whether it is the best of its column or close to it."""

    summary: Summary
    mark: Mark = ""


@dataclass(frozen=True)
class Row:
    """The cells of a system; None where it has no score."""

    system: str
    kind: Kind
    cells: tuple[Cell | None, ...]

    @property
    def label(self) -> str:
        """What the row is called below the heading of its kind."""
        return self.system.removeprefix("paper: ") if self.kind == "paper" else self.system


@dataclass(frozen=True)
class Grid:
    """A table in the paper's layout: columns in groups by task, rows in groups by kind."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The tasks with their metrics, and over how many columns each stands."""
        titles = [column.title for column in self.columns]
        return [(title, titles.count(title)) for title in dict.fromkeys(titles)]

    @property
    def kinds(self) -> list[tuple[Kind, list[Row]]]:
        """The rows by their kind, in the order in which the kinds are shown."""
        order: tuple[Kind, ...] = ("probed", "given", "paper")
        found = [(kind, [row for row in self.rows if row.kind == kind]) for kind in order]
        return [(kind, rows) for kind, rows in found if rows]

    def note(self, close: str = "underlined") -> str:
        """Return how to read the table, in full sentences; `close` says how those are marked."""
        seeds = {cell.summary.n_seeds for cell in self._cells("probed")}
        parts = [_tell_marks(max(seeds, default=1), close)]
        kinds = [kind for kind, _ in self.kinds]
        if "given" in kinds:
            parts.append("Controls that are given the number itself are not counted in the best.")
        if "paper" in kinds:
            parts.append(
                "The paper's rows are quoted from its tables: other corpus, model and samples, so "
                "they are not counted in the best."
            )
        return " ".join(parts)

    def _cells(self, kind: Kind) -> list[Cell]:
        return [cell for row in self.rows if row.kind == kind for cell in row.cells if cell]


def _tell_marks(n_seeds: int, close: str) -> str:
    if n_seeds == 1:
        return "One seed, so there are no intervals. The best of a column is bold."
    return (
        f"Means with 95 % intervals over {n_seeds} seeds. The best of a column is bold; {close} "
        "are those not significantly worse: the 95 % interval of their paired difference to the "
        "best includes zero."
    )


def lay_out_scores(
    scores: Sequence[Score],
    *,
    name: str,
    title: str,
    metrics: Mapping[str, str],
    paper: Sequence[Score] = (),
) -> Grid | None:
    """Return the grid of scores by a metric for each task, or None if there are none.

    Args:
        scores: Of one domain and one protocol.
        name: What a file of it is called.
        title: What is written above it.
        metrics: By which metric each task is shown, in the order of the columns.
        paper: What the paper says on the same domain; shown, but not counted in the best.
    """
    shown = [score for score in scores if metrics.get(score.task) == score.metric]
    if not shown:
        return None
    columns = _find_columns(shown, metrics)
    ours, theirs = _gather(shown, columns), _gather(paper, columns)
    counted = {system: row for system, row in ours.items() if system not in GIVEN}
    marks = {column: mark_systems(counted, column) for column in columns}
    rows = [
        Row(
            system,
            "given" if system in GIVEN else "probed",
            tuple(_make_cell(values.get(c), marks[c].get(system, "")) for c in columns),
        )
        for system, values in ours.items()
    ]
    quoted = [
        Row(system, "paper", tuple(_make_cell(values.get(column)) for column in columns))
        for system, values in theirs.items()
    ]
    return Grid(name, title, columns, (*rows, *quoted))


def _find_columns(scores: Sequence[Score], metrics: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns that have scores: tasks as asked for, ranges as the paper orders them."""
    found = dict.fromkeys(Column(score.task, score.metric, score.range) for score in scores)
    tasks, ranges = list(metrics), list(PROBE_RANGES)

    def place(column: Column) -> tuple[int, int]:
        known = column.range in ranges
        return tasks.index(column.task), ranges.index(column.range) if known else len(ranges)

    return tuple(sorted(found, key=place))


def _gather(scores: Sequence[Score], columns: Sequence[Column]) -> dict[str, dict[Column, _BySeed]]:
    """For each system what each seed scored in each column; values that are no numbers left out."""
    rows: dict[str, dict[Column, _BySeed]] = {}
    for score in scores:
        column = Column(score.task, score.metric, score.range)
        if column in columns:
            row = rows.setdefault(score.system, {})
            if math.isfinite(score.value):
                row.setdefault(column, {})[score.seed] = score.value
    return rows


def mark_systems(rows: Mapping[str, Mapping[Column, _BySeed]], column: Column) -> dict[str, Mark]:
    """Return which systems are best in a column, and which are not significantly worse."""
    sign = 1 if column.low_is_good else -1
    values = {system: row[column] for system, row in rows.items() if row.get(column)}
    errors = {system: sign * _mean(seeds) for system, seeds in values.items()}
    if not errors:
        return {}
    best = min(errors, key=lambda system: errors[system])
    marks: dict[str, Mark] = {}
    for system, seeds in values.items():
        if errors[system] == errors[best]:
            marks[system] = "best"
        else:
            difference = compare_seeds(seeds, values[best])
            if difference and sign * difference.mean <= difference.half:  # never for a single seed
                marks[system] = "close"
    return marks


def compare_seeds(values: Mapping[int, float], others: Mapping[int, float]) -> Summary | None:
    """Return mean and interval of the paired difference, if there are seeds that both have.

    >>> difference = compare_seeds({0: 3.0, 1: 5.0}, {0: 2.0, 1: 4.0, 2: 9.0})
    >>> difference.mean, difference.half, difference.n_seeds
    (1.0, 0.0, 2)
    """
    shared = [seed for seed in values if seed in others]
    return summarize_values([values[seed] - others[seed] for seed in shared]) if shared else None


def _mean(seeds: Mapping[int, float]) -> float:
    return summarize_values(list(seeds.values())).mean


def _make_cell(seeds: Mapping[int, float] | None, mark: Mark = "") -> Cell | None:
    return Cell(summarize_values(list(seeds.values())), mark) if seeds else None
