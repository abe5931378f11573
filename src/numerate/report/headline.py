"""Headline: the main result of a run in one line, said only as far as the seeds bear it out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from numerate.prime.variants import name_twin
from numerate.probe.scores import Score, Summary, summarize_values
from numerate.report.charts import Cast
from numerate.report.paper_tables import Grid, compare_seeds
from numerate.report.run_folder import Neighbours


@dataclass(frozen=True)
class Headline:
    """The main result in one line, and what stands behind it."""

    title: str
    detail: str


def compare_twins(found: Mapping[str, Neighbours]) -> Headline | None:
    """Return what training did to the neighbours of numbers, in the system that has the nearest.

    Every trained system stands beside its twin, the same model untrained, shown the same text and
    read at the same place; without such a pair there is nothing to say.
    """
    pairs = [name for name in found if name_twin(name) in found]
    if not pairs:
        return None
    best = min(pairs, key=lambda name: found[name].typical_factor)
    after, before = found[best], found[name_twin(best)]
    gaps = [near.gaps.mean(axis=1) for near in (before, after)]
    gain = summarize_values((gaps[0] - gaps[1]).tolist())
    n_nearest = after.nearest.shape[1]
    title = f"the {n_nearest} numbers most like a given one are typically off by a factor of "
    title += f"{after.typical_factor:.3g}; before, by {before.typical_factor:.3g}"
    if gain.mean > gain.half:
        title = f"After training, {title}"
    else:
        title = f"Training did not measurably bring numbers of like size together: {title}"
    interval = f"{gain.mean:.2f}\u00a0±\u00a0{gain.half:.2f}"
    detail = (
        f"After is {best}. Before is its twin: the same model, untrained, shown the same text and "
        f"read at the same place. Both are medians over {len(after.asked):,} numbers from 1 to "
        f"10^10 that the corpus does not contain; {_percent(float(np.mean(gaps[1] < gaps[0])))} of "
        f"them have nearer neighbours after training. In ln, the gap shrinks by {interval} on "
        "average (95\u00a0% interval over numbers, one training)."
    )
    return Headline(title, detail)


def tell_headline(grid: Grid, scores: Sequence[Score], cast: Cast) -> Headline:
    """Return the result of the widest decoding column: the best system, and the base model."""
    index = main_column(grid)
    column = grid.columns[index]
    rows = [(row.system, row.cells[index]) for row in grid.rows if row.kind == "probed"]
    cells = {system: cell.summary for system, cell in rows if cell}
    if not cells:
        return Headline("No system has a score yet", "")
    sign = 1 if column.low_is_good else -1
    others = [system for system in cells if system != cast.base] or list(cells)
    best = min(others, key=lambda system: sign * cells[system].mean)
    better = "less" if column.low_is_good else "more"
    what = f"{column.task.replace('-', ' ')} of {name_range(column.range)}"
    detail = (
        f"In {what} the {column.metric} ({better} is better) is {tell_summary(cells[best])} for "
    )
    detail += best
    if cast.base not in cells or best == cast.base:
        return Headline(f"{best} reads numbers best of {len(cells)} systems", f"{detail}.")
    base = cells[cast.base]
    seeds = [
        _by_seed(scores, system, column.task, column.metric, column.range)
        for system in (best, cast.base)
    ]
    difference = compare_seeds(*seeds)
    detail += f" and {tell_summary(base)} for {cast.base}. {_tell_difference(difference)}"
    detail += _tell_untrained({name: one for name, one in cells.items() if name != best}, sign)
    return Headline(_tell_winner(best, cast.base, cells[best], base, difference, sign), detail)


def main_column(grid: Grid) -> int:
    """Return the place of the column of decoding over all numerals, or of the first."""
    for index, column in enumerate(grid.columns):
        if column.task == "decoding" and column.range == "all":
            return index
    return 0


def _by_seed(
    scores: Sequence[Score], system: str, task: str, metric: str, range_name: str
) -> dict[int, float]:
    place = (system, task, metric, range_name)
    return {
        score.seed: score.value
        for score in scores
        if (score.system, score.task, score.metric, score.range) == place
        and math.isfinite(score.value)
    }


def _tell_untrained(cells: dict[str, Summary], sign: int) -> str:
    """How far the base model comes by being shown anchors alone, without training on them."""
    shown = {name: cell for name, cell in cells.items() if name.startswith("base primed as ")}
    if not shown:
        return ""
    best = min(shown, key=lambda name: sign * shown[name].mean)
    return f" Untrained, {best} has {tell_summary(shown[best])}."


def _tell_winner(
    best: str, base_name: str, ours: Summary, base: Summary, difference: Summary | None, sign: int
) -> str:
    """Who reads numbers better, said only if the seeds agree on it."""
    gain = sign * (base.mean - ours.mean)
    if difference and abs(difference.mean) <= difference.half:
        return f"No system reads numbers measurably better than {base_name}"
    if gain <= 0:
        return f"No system reads numbers better than {base_name}"
    if sign > 0 and base.mean > 0:
        return f"{best} reads numbers with {_percent(gain / base.mean)} less error than {base_name}"
    return f"{best} reads numbers better than {base_name}"


def _tell_difference(difference: Summary | None) -> str:
    if difference is None or difference.n_seeds < 2:
        return "From one seed, so there is no interval."
    verdict = "includes" if abs(difference.mean) <= difference.half else "excludes"
    return (
        f"The paired difference over {difference.n_seeds} seeds is "
        f"{_signed(difference.mean)}\u00a0±\u00a0{difference.half:.4f}; its 95\u00a0% interval "
        f"{verdict} zero."
    )


def tell_summary(summary: Summary) -> str:
    """Return a mean with its interval, if it has one."""
    return f"{summary.mean:.4f}" + (
        f"\u00a0±\u00a0{summary.half:.4f}" if summary.n_seeds > 1 else ""
    )


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def name_range(name: str) -> str:
    """Return a range as a sentence calls it."""
    return "all numerals" if name == "all" else name
