"""Notes: how to read a table of scores, in full sentences."""

import math

from numerate.probe.statistics import Summary
from numerate.report.tables.grid import Grid, is_contestant

_EXAMPLE = 0.006, 100_000


def describe_grid(grid: Grid, close: str = "underlined") -> str:
    """Return full sentences on how to read a table; `close` is how close means are marked."""
    kinds = [kind for kind, _ in grid.kinds]
    parts = [
        _describe_means(grid, close),
        _describe_twins() if any(row.gains for row in grid.rows) else "",
        explain_log_error() if any("log-rmse" in c.metric for c in grid.columns) else "",
        "Controls that are given the number itself are never marked." if "given" in kinds else "",
        "The paper's scores come from its tables. They were measured with another corpus, model "
        "and samples, so they are never marked."
        if "paper" in kinds
        else "",
    ]
    return " ".join(filter(None, parts))


def describe_repeats(summary: Summary) -> str:
    """Return what an interval is over, trainings or seeds of the probe, and how many of each.

    >>> describe_repeats(Summary(1.0, 0.1, n_seeds=3))
    'over 3 seeds of the probe; one training of each model'
    >>> describe_repeats(Summary(1.0, 0.1, n_seeds=3, n_trainings=5))
    'over 5 trainings, 3 seeds of the probe each'
    """
    seeds = f"{summary.n_seeds} seed{'' if summary.n_seeds == 1 else 's'} of the probe"
    if summary.n_trainings > 1:
        return f"over {summary.n_trainings} trainings, {seeds} each"
    return f"over {seeds}; one training of each model"


def find_repeats(grid: Grid) -> Summary:
    """Return the summary with the most trainings and seeds among the contestants of a table."""
    rows = [row for row in grid.rows if is_contestant(row.system)]
    cells = [cell for row in rows for cell in row.cells if cell]
    found = [cell.summary for cell in cells] or [Summary(math.nan, math.nan, 1)]
    return max(found, key=lambda summary: (summary.n_trainings, summary.n_seeds))


def explain_log_error() -> str:
    """Return what a log-RMSE means in per cent of the number, by an example."""
    error, value = _EXAMPLE
    return (
        f"The log-RMSE is of a double logarithm, ln(2 + ln n): an error of {error:g} is about "
        f"{percent_of_error(error, value):.0f} % of the number at {value:,}, "
        f"not {100 * error:.1f} %."
    )


def percent_of_error(error: float, value: float) -> float:
    """Return by how many per cent a number is missed that has a given log-RMSE.

    The probe predicts y = ln n + 1, and the log-RMSE is of ln(1 + y).

    >>> round(percent_of_error(0.006, 100_000), 1)  # (2 + 11.5) * 0.006 in ln n
    8.5
    """
    return 100 * math.expm1((2 + math.log(value)) * math.expm1(error))


def _describe_means(grid: Grid, close: str) -> str:
    repeats = find_repeats(grid)
    if repeats.n_seeds == repeats.n_trainings == 1:
        return "One training of each model and one seed: no intervals, and nothing is marked."
    text = f"Means with 95 % intervals {describe_repeats(repeats)}"
    text += "; of untrained systems over the seeds. " if repeats.n_trainings > 1 else ". "
    if any(column.low_is_good for column in grid.columns):
        text += "Errors are positive: means are geometric, and intervals on the log scale. "
    if _has_zero(grid):
        text += "With an error of exactly 0 the mean is plain and has no interval. "
    return text + (
        "Bold: significantly better than every other system of the column. "
        f"{close.capitalize()}, where nothing is bold: not significantly worse than the best mean, "
        "by the 95 % interval of the paired difference."
    )


def _has_zero(grid: Grid) -> bool:
    """Return whether a mean of several errors has no interval, since one of them is zero."""
    found = [cell.summary for row in grid.rows for cell in row.cells if cell]
    return any(one.n_seeds > 1 and math.isnan(one.half) for one in found)


def _describe_twins() -> str:
    return (
        "Untrained: the twin of the row above, the same model before training, shown the same text "
        "and read at the same place. Training adds: trained − twin, paired, with its 95 % "
        "interval; better or worse where that excludes zero (of errors, less is better)."
    )
