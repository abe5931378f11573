"""Headline: the main result of a run in one line; it claims only what the intervals support."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from numerate.extract.ranges import ALL
from numerate.models.labels import SystemLabel
from numerate.probe.diagnostics import Neighbours
from numerate.probe.scores import Score
from numerate.probe.statistics import Summary, compare_seeds, group_by_seed, summarize_values
from numerate.report.charts import Systems
from numerate.report.tables import Grid, is_contestant


@dataclass(frozen=True)
class Headline:
    """The main result in one line, and the numbers behind it."""

    title: str
    detail: str


def _name_twin(system: str) -> str:
    return str(SystemLabel.parse(system).twin)


def compare_twins(found: Mapping[str, Neighbours]) -> Headline | None:
    """Return how training changed the neighbours of numbers, for the system with the nearest.

    A trained system is compared with its twin: the same model, untrained, shown the same text and
    read at the same place. The result is None without such a pair.
    """
    pairs = [name for name in found if _name_twin(name) in found]
    if not pairs:
        return None
    best = min(pairs, key=lambda name: found[name].mean_factor)
    after, before = found[best], found[_name_twin(best)]
    gaps = [near.gaps.mean(axis=1) for near in (before, after)]
    gain = summarize_values(gaps[0] - gaps[1])
    n_nearest = after.nearest.shape[1]
    title = f"the {n_nearest} numbers most like a given one are off by a factor of "
    title += f"{after.mean_factor:.2g} on average; before, by {before.mean_factor:.2g}"
    if gain.mean > gain.half:
        title = f"After training, {title}"
    else:
        title = f"Training did not measurably bring numbers of like size together: {title}"
    interval = f"{gain.mean:.2f}\u00a0±\u00a0{gain.half:.2f}"
    detail = (
        f"After is {best}. Before is its twin: the same model, untrained, shown the same text and "
        f"read at the same place. Both are geometric means over {len(after.asked):,} numbers from "
        "1 to 10^10 that the corpus does not contain; "
        f"{_percent(float(np.mean(gaps[1] < gaps[0])))} of them have nearer neighbours after "
        f"training. In ln, the gap shrinks by {interval} on average (95\u00a0% interval over "
        "numbers, one training)."
    )
    return Headline(title, detail)


def summarize_scores(grid: Grid, scores: Sequence[Score], systems: Systems) -> Headline:
    """Return the result of the main column: the best system, compared with the base model."""
    index = find_main_column(grid)
    column = grid.columns[index]
    rows = [(row.system, row.cells[index]) for row in grid.rows if is_contestant(row.system)]
    means = {system: cell.summary for system, cell in rows if cell}
    if not means:
        return Headline("No system has a score yet", "")
    sign = 1 if column.low_is_good else -1
    others = [system for system in means if system != systems.base] or list(means)
    best = min(others, key=lambda system: sign * means[system].mean)
    task = f"{column.task.replace('-', ' ')} of {name_range(column.range)}"
    better = "less" if column.low_is_good else "more"
    detail = f"In {task}, the {column.metric} ({better} is better) is "
    detail += f"{format_summary(means[best])} for {best}"
    base = systems.base
    if base is None or base not in means or best == base:
        return Headline(f"{best} reads numbers best of {len(means)} systems", f"{detail}.")
    seeds = group_by_seed(scores)
    difference = compare_seeds(*(seeds[system, *astuple(column)] for system in (best, base)))
    detail += f" and {format_summary(means[base])} for {base}. {_describe_difference(difference)}"
    detail += _describe_untrained(means, best, sign)
    gain = sign * (means[base].mean - means[best].mean)
    if difference and abs(difference.mean) <= difference.half:
        return Headline(f"No system reads numbers measurably better than {base}", detail)
    if gain <= 0:
        return Headline(f"No system reads numbers better than {base}", detail)
    amount = "better"
    if column.low_is_good and means[base].mean > 0:
        amount = f"with {_percent(gain / means[base].mean)} less error"
    return Headline(f"{best} reads numbers {amount} than {base}", detail)


def find_main_column(grid: Grid) -> int:
    """Return the index of the column of decoding over all numerals, or 0 without one."""
    for index, column in enumerate(grid.columns):
        if column.task == "decoding" and column.range == ALL:
            return index
    return 0


def _describe_untrained(means: Mapping[str, Summary], best: str, sign: int) -> str:
    """Return a sentence on the best untrained base model that is shown anchors, if there is one."""
    primed = [name for name in means if name != best and SystemLabel.parse(name).primed_as]
    if not primed:
        return ""
    first = min(primed, key=lambda name: sign * means[name].mean)
    return f" Without training, {first} has {format_summary(means[first])}."


def _describe_difference(difference: Summary | None) -> str:
    if difference is None or difference.n_seeds < 2:
        return "There is one seed, so there is no interval."
    mean = f"{difference.mean:+.4f}".replace("-", "−")
    verdict = "includes" if abs(difference.mean) <= difference.half else "excludes"
    return (
        f"The paired difference over {difference.n_seeds} seeds is "
        f"{mean}\u00a0±\u00a0{difference.half:.4f}; its 95\u00a0% interval "
        f"{verdict} zero."
    )


def format_summary(summary: Summary) -> str:
    """Return a mean, with its interval if there are several trainings or seeds."""
    interval = f"\u00a0±\u00a0{summary.half:.4f}" if summary.n_values > 1 else ""
    return f"{summary.mean:.4f}{interval}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def name_range(name: str) -> str:
    """Return a range as it is called in a sentence."""
    return "all numerals" if name == ALL else name
