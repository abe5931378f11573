"""Stories: the charts on systems, each with the sentence that its data bear out.

Input: the scores and portraits of a run. Output: charts; a story without data is left out.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from numerate.extract.ranges import PROBE_RANGES
from numerate.probe.scores import summarize_values
from numerate.report.charts import MOST_BANDS, Axis, Cast, Chart, Panel, Point, Series, span
from numerate.report.headline import main_column, name_range
from numerate.report.paper_tables import Cell, Grid, Row
from numerate.report.run_folder import Floats, Neighbours, Points, Portrait, RunFiles
from numerate.report.tables import GIVEN

_LINE_MOST = 1500  # points of a panel; more would be a blot
_SHOWN = 4  # neighbours of an example
_FEWEST = 5  # numerals of a decade whose quartiles mean anything


def find_cast(run: RunFiles) -> Cast:
    """Return the systems of a run; the base model is called `base`, or as the config calls it."""
    names = dict.fromkeys([score.system for score in run.scores])
    known = [name for name in names if name in ("base", run.config.get("base"))]
    return Cast(tuple(names), known[0] if known else None)


def _claimants(portraits: Sequence[Portrait]) -> list[str]:
    """The systems on which a sentence may say that one is best: not those given the number."""
    names = [portrait.system for portrait in portraits]
    return [name for name in names if name not in GIVEN] or names


def chart_scores(grid: Grid, cast: Cast) -> Chart:
    """Return each range of the first task of a table: a dot for each system with its interval."""
    task = grid.columns[main_column(grid)].title
    picked = [index for index, column in enumerate(grid.columns) if column.title == task]
    rows = [row for row in grid.rows if row.kind != "paper"]
    order = sorted(picked, key=lambda index: grid.columns[index].range != "all")
    panels = tuple(_score_panel(grid, index, rows, cast) for index in order)
    first = grid.columns[picked[0]]
    better = "left" if first.low_is_good else "right"
    wins: dict[str, int] = {}
    for row in rows:
        wins[row.system] = sum(c is not None and c.mark == "best" for c in _pick(row, picked))
    best = max(wins, key=lambda system: wins[system])
    sentence = (
        f"Further {better} is better. {best} has the best mean in {wins[best]} of {len(picked)} "
        f"range{'s'[: len(picked) != 1]}; bars are 95 % intervals over seeds."
    )
    return Chart("scores", "dots", f"The result at a glance: {task}", sentence, panels)


def _pick(row: Row, picked: Sequence[int]) -> list[Cell | None]:
    return [row.cells[index] for index in picked]


def _score_panel(grid: Grid, index: int, rows: Sequence[Row], cast: Cast) -> Panel:
    column = grid.columns[index]
    series = []
    for row in rows:
        cell = row.cells[index]
        if cell:
            mean, half = cell.summary.mean, np.nan_to_num(cell.summary.half)
            series.append(cast.series(row.system, [(mean, mean - half, mean + half)]))
    bounds = [value for one in series for value in one.points[0]]
    low, high = span(bounds, zero=column.low_is_good)
    axis = Axis(column.metric, low, high)
    return Panel(name_range(column.range), axis, Axis("", 0, len(series)), "", tuple(series))


def chart_lines(portraits: Sequence[Portrait], cast: Cast) -> Chart | None:
    """Return decoded against true values, a panel for each system, best R² first in the words."""
    lines = [(portrait.system, portrait.line) for portrait in portraits if portrait.line]
    if not lines:
        return None
    high = max(1e4, *(line.true.max() for _, line in lines))
    panels = tuple(_line_panel(system, line, float(high), cast) for system, line in lines)
    told = [pair for pair in lines if pair[0] in _claimants(portraits)] or lines
    order = sorted(told, key=lambda pair: -np.nan_to_num(pair[1].r2, nan=-np.inf))
    sentence = f"On the diagonal a number is decoded as what it is. {order[0][0]} has the "
    sentence += f"highest R² ({order[0][1].r2:.3f})"
    if len(order) > 1:
        sentence += f", {order[-1][0]} the lowest ({order[-1][1].r2:.3f})"
    title = "The number line, decoded from vectors of held-out numerals"
    n_beyond = sum(int((line.predicted > high).sum()) for _, line in lines)
    beyond = f" {n_beyond:,} points above {high:,.0f} are drawn at the edge." if n_beyond else ""
    return Chart("number-line", "scatter", title, f"{sentence}.{beyond}", panels)


def _line_panel(system: str, line: Points, high: float, cast: Cast) -> Panel:
    step = -(-len(line.true) // _LINE_MOST)
    points: list[Point] = list(zip(line.true.tolist(), line.predicted.tolist(), strict=True))
    return Panel(
        system,
        Axis("true value", 0, high),
        Axis("decoded value", 0, high),
        f"R² {line.r2:.3f}".replace("-", "−"),
        (cast.series(system, points[::step]),),
        (cast.number(system),),
    )


def chart_neighbours(portraits: Sequence[Portrait], cast: Cast) -> Chart | None:
    """Return each numeral against one that its vector is most like, a panel for each system."""
    found = find_neighbours(portraits)
    if not found:
        return None
    x, y = Axis("number", 1, 1e10, log=True), Axis("one most like it", 1, 1e10, log=True)
    panels = tuple(
        Panel(
            system,
            x,
            y,
            f"off by a factor of {near.typical_factor:.2f}",
            (cast.series(system, _take_turns(near)),),
            (cast.number(system),),
        )
        for system, near in found.items()
    )
    n_asked, n_nearest = next(iter(found.values())).nearest.shape
    sentence = (
        f"Each dot is one of {n_asked:,} numbers that the corpus does not contain, drawn against "
        f"one of the {n_nearest} numbers, among 1,000 from 1 to 10^10, whose vectors are most like "
        "its own. On the diagonal both are of the same size. Above each panel stands how far off "
        "such a neighbour typically is (the median). No probe is trained for this."
    )
    return Chart("neighbours", "scatter", "Which numbers are most like it?", sentence, panels)


def _take_turns(near: Neighbours) -> list[Point]:
    """One neighbour for each numeral: the nearest, the second nearest and so on, in turn."""
    turns = np.arange(len(near.asked)) % near.nearest.shape[1]
    chosen = near.nearest[np.arange(len(near.asked)), turns]
    return list(zip(near.asked.tolist(), chosen.tolist(), strict=True))


def find_neighbours(portraits: Sequence[Portrait]) -> dict[str, Neighbours]:
    """Return the neighbours of every system that has them, without those given the number."""
    return {
        portrait.system: portrait.neighbours
        for portrait in portraits
        if portrait.neighbours is not None and portrait.system not in GIVEN
    }


def tabulate_neighbours(
    portraits: Sequence[Portrait],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return a header and a row for each system: the numbers most like each of some examples."""
    found = find_neighbours(portraits)
    examples = list(next(iter(found.values())).examples) if found else []
    header = ("system", *(f"most like {numeral:,}" for numeral in examples))
    rows = tuple(
        (system, *("  ".join(f"{n:,}" for n in near.examples[one][:_SHOWN]) for one in examples))
        for system, near in found.items()
    )
    return header, rows


def chart_cosines(portraits: Sequence[Portrait], cast: Cast) -> Chart | None:
    """Return heatmaps of cosines, with how well they follow the distance of the numbers."""
    found = [
        (portrait.system, portrait.cosines)
        for portrait in portraits
        if portrait.cosines is not None and portrait.system not in GIVEN  # one number, all alike
    ]
    if not found:
        return None
    follows = {system: float(follow_distance(cosines).mean()) for system, cosines in found}
    panels = tuple(
        Panel(
            system,
            Axis("numeral", 1, len(cosines)),
            Axis("cosine", *_span_cosines(cosines)),
            f"ρ = {follows[system]:.2f}",
            systems=(cast.number(system),),
            matrix=tuple(tuple(row) for row in cosines.tolist()),
        )
        for system, cosines in found
    )
    order = sorted(((follow, system) for system, follow in follows.items()), reverse=True)
    sentence = f"Nearer numbers are most consistently more alike in {order[0][1]}: the rank "
    sentence += f"correlation of cosine and nearness (in logarithms) is {order[0][0]:.2f}"
    if len(order) > 1:
        sentence += f", against {order[-1][0]:.2f} in {order[-1][1]}"
    size = len(found[0][1])
    sentence += (
        " (ρ above each). Every map has colours of its own, from its 1st percentile to its 99th."
    )
    return Chart("cosines", "heat", f"How alike the vectors of 1 to {size} are", sentence, panels)


def _span_cosines(cosines: Floats) -> tuple[float, float]:
    """From where to where the colours of one system go: training moves all cosines together."""
    beside = cosines[np.triu_indices(len(cosines), 1)]
    return span(np.percentile(beside, [1, 99]).tolist(), pad=0)


def follow_distance(cosines: Floats) -> Floats:
    """Return for each numeral how its cosines with the others follow their distance, by ranks."""
    from scipy.stats import rankdata

    numerals = np.arange(len(cosines))
    beside = numerals[:, None] != numerals
    shape = (len(cosines), len(cosines) - 1)
    nearness = -np.abs(np.log1p(numerals)[:, None] - np.log1p(numerals))
    ranks = [rankdata(side[beside].reshape(shape), axis=1) for side in (cosines, nearness)]
    centred = [rank - rank.mean(axis=1, keepdims=True) for rank in ranks]
    spread = np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
    found: Floats = (centred[0] * centred[1]).sum(axis=1) / np.where(spread > 0, spread, 1)
    return found  # 0 where all are alike: they follow nothing


def chart_magnitudes(portraits: Sequence[Portrait], cast: Cast) -> Chart | None:
    """Return the median error by decade with its quartiles, in powers of ten."""
    found = {p.system: list(_by_decade(p.decoded)) for p in portraits if p.decoded}
    series = tuple(cast.series(system, points) for system, points in found.items() if points)
    if not series:
        return None
    last = max(point[0] for one in series for point in one.points)
    _, high = span([point[3] for one in series for point in one.points], zero=True)
    top = 10 ** np.ceil(np.log10(last)).item()
    x = Axis("true value, by decade", 1, top, log=True, decades=True)
    panel = Panel("", x, Axis("|log₁₀ error|", 0, high), "", series)
    told = [one for one in series if one.name in _claimants(portraits)] or series
    medians = {one.name: {point[0]: point[1] for point in one.points} for one in told}
    decades = sorted({x for points in medians.values() for x in points})
    winners = [min((p[x], name) for name, p in medians.items() if x in p)[1] for x in decades]
    best = max(dict.fromkeys(winners), key=winners.count)
    sentence = (
        f"{best} has the smallest median error in {winners.count(best)} of {len(decades)} decades. "
        f"Lines are medians, and with {MOST_BANDS} systems or fewer bands are quartiles; 0.3 is a "
        "factor of two."
    )
    return Chart("magnitude", "lines", "Error by magnitude", sentence, (panel,))


def _by_decade(points: Points) -> Iterator[Point]:
    """Decade (its middle), median and quartiles of |log10 decoded - log10 true|."""
    decoded = np.maximum(np.nan_to_num(points.predicted, nan=0.0), 1e-9)
    errors = np.abs(np.log10(decoded) - np.log10(points.true))
    decades = np.minimum(np.floor(np.log10(points.true) + 1e-12), 9).astype(int)
    for decade in np.unique(decades).tolist():
        inside = errors[decades == decade]
        if len(inside) >= _FEWEST:
            lower, median, upper = np.quantile(inside, (0.25, 0.5, 0.75)).tolist()
            yield 10 ** (decade + 0.5), median, lower, upper


def chart_layers(portraits: Sequence[Portrait], cast: Cast) -> Chart | None:
    """Return the error by layer, a panel for each range that was asked."""
    asked = {layer.range for portrait in portraits for layer in portrait.layers}
    ranges = [name for name in PROBE_RANGES if name in asked]
    if not ranges:
        return None
    panels = tuple(_layer_panel(name, portraits, cast) for name in ranges)
    told = [one for one in panels[-1].series if one.name in _claimants(portraits)]
    best, system, layer = min(
        (point[1], one.name, int(point[0]))
        for one in told or panels[-1].series
        for point in one.points
    )
    sentence = (
        f"Magnitude is read best from layer {layer} of {system}: a log-RMSE of {best:.4f} by ridge "
        f"over {name_range(ranges[-1])}. Layer 0 is the embedding itself."
    )
    return Chart("layers", "lines", "In which layer magnitude is found", sentence, panels)


def _layer_panel(range_name: str, portraits: Sequence[Portrait], cast: Cast) -> Panel:
    series: list[Series] = []
    for portrait in portraits:
        points: list[Point] = []
        for layer in sorted(portrait.layers, key=lambda layer: layer.layer):
            if layer.range == range_name and layer.values:
                summary = summarize_values(layer.values)
                half = float(np.nan_to_num(summary.half))
                points.append((layer.layer, summary.mean, summary.mean - half, summary.mean + half))
        if points:
            series.append(cast.series(portrait.system, points))
    layers = [point[0] for one in series for point in one.points]
    _, high = span([point[1] for one in series for point in one.points], zero=True)
    y = Axis("ridge log-RMSE", 0, high)
    return Panel(
        name_range(range_name), Axis("layer", 0, max(layers), whole=True), y, "", tuple(series)
    )
