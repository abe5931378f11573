"""Headline: the main result of a run in one line; it claims only what the intervals support."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from numerate.extract.ranges import ALL
from numerate.models.labels import SystemLabel
from numerate.probe.diagnostics import Neighbours
from numerate.probe.scores import Score
from numerate.probe.statistics import Summary, compare_seeds, group_by_seed, summarize_values
from numerate.report.tables.comparisons import Effect, Gain
from numerate.report.tables.grid import Column, Grid
from numerate.report.tables.notes import describe_repeats
from numerate.report.tables.numbers import format_summary


@dataclass(frozen=True)
class Headline:
    """The main result in one line, and the numbers behind it."""

    title: str
    detail: str


def _name_twin(system: str) -> str:
    return str(SystemLabel.parse(system).twin)


def compare_twins(found: Mapping[str, Neighbours], n_trainings: int = 1) -> Headline | None:
    """Return how training changed the neighbours of numbers, where it changed them most.

    A trained system is compared with its twin: the same model, untrained, shown the same text and
    read at the same place. The one with the nearest neighbours may have them all by its tokenizer.
    Systems to which training brought nothing sure come last. The result is None without such a
    pair. The neighbours are those of the first of `n_trainings`.
    """
    pairs = [name for name in found if _name_twin(name) in found]
    if not pairs:
        return None
    gains = {name: _measure_gain(found[_name_twin(name)], found[name]) for name in pairs}
    best = max(pairs, key=lambda name: (_is_sure(gains[name]), gains[name].mean))
    after, before, gain = found[best], found[_name_twin(best)], gains[best]
    n_nearest = after.nearest.shape[1]
    title = f"the {n_nearest} numbers most like a given one are off by a factor of "
    title += f"{after.mean_factor:.2g} on average; before, by {before.mean_factor:.2g}"
    if _is_sure(gain):
        title = f"After training, {title}"
    else:
        title = f"Training did not measurably bring numbers of like size together: {title}"
    trainings = "one training" if n_trainings == 1 else f"the first of {n_trainings} trainings"
    detail = (
        f"After is {best}. Before is its twin: the same model, untrained, shown the same text and "
        f"read at the same place. Both are geometric means over {len(after.asked):,} numbers from "
        "1 to 10^10 that the corpus does not contain; "
        f"{_percent(_share_nearer(before, after))} of them have nearer neighbours after "
        f"training. In ln, the gap shrinks by {format_summary(gain, digits=2)} on average "
        f"(95\u00a0% interval over numbers, {trainings})."
    )
    return Headline(title, detail)


def _measure_gain(before: Neighbours, after: Neighbours) -> Summary:
    """Return by how much nearer the neighbours of a number are after training, in ln."""
    return summarize_values(before.gaps.mean(axis=1) - after.gaps.mean(axis=1))


def _is_sure(gain: Summary) -> bool:
    return gain.mean > gain.half


def _share_nearer(before: Neighbours, after: Neighbours) -> float:
    """Return the share of the numbers whose neighbours are nearer after training."""
    return float(np.mean(after.gaps.mean(axis=1) < before.gaps.mean(axis=1)))


def summarize_scores(grid: Grid, scores: Sequence[Score], base: str | None) -> Headline:
    """Return the result of the main column: what training adds, or the best system without twins.

    A system is compared with the base model only if no system has a twin. Controls are not named.
    """
    index = find_main_column(grid)
    means = grid.means(index)
    if not means:
        return Headline("No system has a score yet", "")
    trained = [system for system in means if grid.gain(system, index)]
    if trained:
        return _compare_scores(grid, index, trained)
    models = [s for s in means if s != base and not SystemLabel.parse(s).is_control]
    best = _find_best(grid, index, models or list(means))
    detail = f"{_describe_measure(grid, index)} is {format_summary(means[best])} for {best}"
    if base is None or base not in means or best == base:
        return _name_best(grid, index, best, f"{detail}, {describe_repeats(means[best])}.")
    seeds = group_by_seed(scores)
    column = grid.columns[index]
    difference = compare_seeds(*(seeds[system, *astuple(column)] for system in (best, base)))
    detail += f" and {format_summary(means[base])} for {base}. {_describe_difference(difference)}"
    detail += _describe_untrained(grid, index, best)
    detail += f" The run has no untrained twin of {best}, so it does not say what training adds."
    gain = difference and Gain(difference, column.low_is_good).effect
    if gain != "better":
        measurably = " measurably" if gain == "" else ""
        return Headline(f"No system reads numbers{measurably} better than {base}", detail)
    amount = _describe_amount(column, means[best], means[base])
    return Headline(f"{best} reads numbers {amount} than {base}", detail)


def _compare_scores(grid: Grid, index: int, trained: Sequence[str]) -> Headline:
    """Return what training adds to the best of the systems that have a twin."""
    best = _find_best(grid, index, trained)
    twin, means, gain = _name_twin(best), grid.means(index), grid.gain(best, index)
    if gain is None:
        raise ValueError(f"{best} has no twin in the column")
    of_all = f", the best of {len(trained)} trained systems," if len(trained) > 1 else ""
    detail = (
        f"{_describe_measure(grid, index)} is {format_summary(means[best])} for {best}{of_all} and "
        f"{format_summary(means[twin])} for its twin: the same model, untrained, shown the same "
        f"text and read at the same place. {_describe_difference(gain.difference)}"
    )
    if gain.effect == "":
        return Headline("Training did not measurably change how well numbers are read", detail)
    amount = _describe_amount(grid.columns[index], means[best], means[twin], gain.effect)
    return Headline(f"After training, {best} reads numbers {amount} than untrained", detail)


def _find_best(grid: Grid, index: int, systems: Sequence[str]) -> str:
    means, sign = grid.means(index), 1 if grid.columns[index].low_is_good else -1
    return min(systems, key=lambda system: sign * means[system].mean)


def _name_best(grid: Grid, index: int, best: str, detail: str) -> Headline:
    """Return the best of several systems, or the score of a single one."""
    column, means = grid.columns[index], grid.means(index)
    if len(means) == 1:
        return Headline(f"{best} has a {column.metric} of {means[best].mean:.4f}", detail)
    marks = {row.system: cell.mark for row in grid.rows if (cell := row.cells[index])}
    if marks[best] == "best":
        return Headline(f"{best} reads numbers best of {len(means)} systems", detail)
    extreme = "lowest" if column.low_is_good else "highest"
    return Headline(f"{best} has the {extreme} {column.metric} of {len(means)} systems", detail)


def _describe_measure(grid: Grid, index: int) -> str:
    column = grid.columns[index]
    better = "less" if column.low_is_good else "more"
    task = f"{column.task.replace('-', ' ')} of {name_range(column.range)}"
    return f"In {task}, the {column.metric} ({better} is better)"


def _describe_amount(
    column: Column, ours: Summary, others: Summary, effect: Effect = "better"
) -> str:
    """Return by how much a mean is better or worse; errors are compared in per cent."""
    if not column.low_is_good or others.mean <= 0:
        return effect
    share = abs(others.mean - ours.mean) / others.mean
    return f"with {_percent(share)} {'less' if effect == 'better' else 'more'} error"


def find_main_column(grid: Grid) -> int:
    """Return the index of the column of decoding over all numerals, or 0 without one."""
    for index, column in enumerate(grid.columns):
        if column.task == "decoding" and column.range == ALL:
            return index
    return 0


def _describe_untrained(grid: Grid, index: int, best: str) -> str:
    """Return a sentence on the best untrained base model that is shown anchors, if there is one."""
    means = grid.means(index)
    primed = [name for name in means if name != best and SystemLabel.parse(name).primed_as]
    if not primed:
        return ""
    first = _find_best(grid, index, primed)
    return f" Without training, {first} has {format_summary(means[first])}."


def _describe_difference(difference: Summary | None) -> str:
    if difference is None or math.isnan(difference.half):
        return "There is one seed, so there is no interval."
    verdict = "excludes" if difference.sign else "includes"
    return (
        f"The paired difference is {format_summary(difference, signed=True)}; its 95\u00a0% "
        f"interval ({describe_repeats(difference)}) {verdict} zero."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def name_range(name: str) -> str:
    """Return a range as it is called in a sentence."""
    return "all numerals" if name == ALL else name
