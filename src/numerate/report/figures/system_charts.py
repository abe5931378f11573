"""System charts: the charts on the probed systems, each with a sentence from its data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from numerate.extract.ranges import PROBE_RANGES
from numerate.models.labels import SystemLabel
from numerate.probe.diagnostics import DecodedValues, Diagnostics
from numerate.probe.statistics import (
    Floats,
    Summary,
    correlate_with_nearness,
    summarize_errors,
)
from numerate.report.figures.charts import (
    MOST_BANDS,
    Axis,
    Chart,
    Panel,
    Point,
    Series,
    Systems,
    span,
)
from numerate.report.headline import find_main_column, name_range
from numerate.report.tables.grid import Grid, TableRow, is_contestant
from numerate.report.tables.notes import describe_repeats, find_repeats

_MOST_POINTS = 1500  # in a panel of a scatter
_FEWEST = 5  # numerals of a decade, for quartiles to mean anything


def _choose_contestants(series: Sequence[Series]) -> Sequence[Series]:
    """Return the series that a sentence may call the best: all but those given the number."""
    return [one for one in series if is_contestant(one.name)] or series


def _beside_twin(system: str, values: Mapping[str, str]) -> str:
    """Return the value of the untrained twin of a system, to be put behind its own."""
    twin = str(SystemLabel.parse(system).twin)
    return f"; {twin} has {values[twin]}" if twin in values else ""


def chart_scores(grid: Grid, systems: Systems) -> Chart:
    """Return a panel for each range of the main task: a dot with its interval for each system."""
    task = grid.columns[find_main_column(grid)].title
    columns = [index for index, column in enumerate(grid.columns) if column.title == task]
    rows = [row for row in grid.rows if row.kind != "paper"]
    order = sorted(columns, key=lambda index: grid.columns[index].range != "all")
    better = "left" if grid.columns[columns[0]].low_is_good else "right"
    sentence = f"Further {better} is better."
    repeats = find_repeats(grid)
    if repeats.n_seeds * repeats.n_trainings > 1:
        sentence += f" Bars are 95 % intervals {describe_repeats(repeats)}."
    effects = [gain.effect for row in rows for i in columns if row.gains and (gain := row.gains[i])]
    if effects:
        sentence += (
            " A hollow dot is the untrained twin of the dot above it: training adds what lies "
            f"between them. By paired intervals it is better in {effects.count('better')} and "
            f"worse in {effects.count('worse')} of {len(effects)} pairs."
        )
    return Chart(
        name="scores",
        kind="dots",
        title=f"The result at a glance: {task}",
        sentence=sentence,
        panels=tuple(_score_panel(grid, index, rows, systems) for index in order),
    )


def chart_columns(grid: Grid, systems: Systems, name: str) -> Chart:
    """Return a panel for each column of a table: a dot with its interval for each system."""
    panels = []
    for index, column in enumerate(grid.columns):
        better = "left" if column.low_is_good else "right"
        panel = _score_panel(grid, index, grid.rows, systems)
        title = f"{column.title}, {panel.title}"
        panels.append(replace(panel, title=title, note=f"further {better} is better"))
    sentence = f"Bars are 95 % intervals {describe_repeats(find_repeats(grid))}."
    return Chart(name=name, kind="dots", title=grid.title, sentence=sentence, panels=tuple(panels))


def _score_panel(grid: Grid, index: int, rows: Sequence[TableRow], systems: Systems) -> Panel:
    column = grid.columns[index]
    series = []
    for row in rows:
        cell = row.cells[index]
        if cell:
            series.append(systems.series(row.system, [_with_interval(cell.summary)]))
    bounds = [value for one in series for value in one.points[0]]
    x = Axis(column.metric, *span(bounds, zero=column.low_is_good))
    return Panel(name_range(column.range), x, Axis("", 0, len(series)), series=tuple(series))


def _with_interval(summary: Summary) -> Point:
    """Return a mean and the ends of its interval, which are the mean itself without one."""
    mean, low, high = summary.mean, summary.low, summary.high
    return (mean, low, high) if low <= high else (mean, mean, mean)


def chart_lines(diagnostics: Sequence[Diagnostics], systems: Systems) -> Chart | None:
    """Return decoded against true values, with a panel for each system."""
    lines = {one.system: one.line for one in diagnostics if one.line}
    if not lines:
        return None
    high = max(1e4, *(float(line.true.max()) for line in lines.values()))
    panels = tuple(_line_panel(system, line, high, systems) for system, line in lines.items())
    named = [system for system in lines if is_contestant(system)] or list(lines)
    named.sort(key=lambda system: -np.nan_to_num(lines[system].r2, nan=-np.inf))
    best, worst = named[0], named[-1]
    sentence = f"On the diagonal, the decoded value equals the true value. {best} has the highest "
    sentence += f"R² ({lines[best].r2:.3f})"
    if len(named) > 1:
        sentence += f", {worst} the lowest ({lines[worst].r2:.3f})"
    sentence += _beside_twin(best, {name: f"{lines[name].r2:.3f}" for name in named})
    n_beyond = sum(int((line.predicted > high).sum()) for line in lines.values())
    beyond = f" {n_beyond:,} points above {high:,.0f} are drawn at the edge." if n_beyond else ""
    return Chart(
        name="number-line",
        kind="scatter",
        title="The number line, decoded from vectors of held-out numerals",
        sentence=f"{sentence}.{beyond}",
        panels=panels,
    )


def _line_panel(system: str, line: DecodedValues, high: float, systems: Systems) -> Panel:
    step = -(-len(line.true) // _MOST_POINTS)
    points: list[Point] = list(zip(line.true.tolist(), line.predicted.tolist(), strict=True))
    return Panel(
        system,
        Axis("true value", 0, high),
        Axis("decoded value", 0, high),
        note=f"R² {line.r2:.3f}".replace("-", "−"),
        series=(systems.series(system, points[::step]),),
        systems=(systems.index(system),),
    )


def chart_cosines(diagnostics: Sequence[Diagnostics], systems: Systems) -> Chart | None:
    """Return heatmaps of cosines, with their rank correlation with the nearness of the numbers."""
    found = {
        one.system: one.cosines
        for one in diagnostics
        if one.cosines is not None and is_contestant(one.system)
    }
    if not found:
        return None
    rho = {system: float(correlate_with_nearness(one).mean()) for system, one in found.items()}
    panels = tuple(
        Panel(
            system,
            Axis("numeral", 1, len(cosines)),
            Axis("cosine", *_span_cosines(cosines)),
            note=f"ρ = {rho[system]:.2f}",
            systems=(systems.index(system),),
            matrix=tuple(tuple(row) for row in cosines.tolist()),
        )
        for system, cosines in found.items()
    )
    best, worst = max(rho, key=lambda name: rho[name]), min(rho, key=lambda name: rho[name])
    sentence = (
        "ρ is the rank correlation between the cosine of two numbers and their nearness on the "
        f"logarithmic scale. It is highest for {best} ({rho[best]:.2f})"
    )
    if len(rho) > 1:
        sentence += f" and lowest for {worst} ({rho[worst]:.2f})"
    sentence += _beside_twin(best, {name: f"{value:.2f}" for name, value in rho.items()})
    sentence += ". Each map has its own colour scale, from its 1st to its 99th percentile."
    size = len(next(iter(found.values())))
    return Chart(
        name="cosines",
        kind="heat",
        title=f"How similar the vectors of 1 to {size} are",
        sentence=sentence,
        panels=panels,
    )


def _span_cosines(cosines: Floats) -> tuple[float, float]:
    """Return the limits of the colour scale; systems differ in the level of all their cosines."""
    above_diagonal = cosines[np.triu_indices(len(cosines), 1)]
    return span(np.percentile(above_diagonal, [1, 99]).tolist(), pad=0)


def chart_magnitudes(diagnostics: Sequence[Diagnostics], systems: Systems) -> Chart | None:
    """Return the median error by decade with its quartiles, in powers of ten."""
    found = {one.system: list(_by_decade(one.decoded)) for one in diagnostics if one.decoded}
    series = tuple(systems.series(system, points) for system, points in found.items() if points)
    if not series:
        return None
    last = max(point[0] for one in series for point in one.points)
    _, high = span([point[3] for one in series for point in one.points], zero=True)
    top = 10 ** np.ceil(np.log10(last)).item()
    x = Axis("true value, by decade", 1, top, log=True, decades=True)
    best, n_best, n_decades = _find_winner(_choose_contestants(series))
    twin = [one for one in series if one.name == str(SystemLabel.parse(best).twin)]
    sentence = f"{best} has the smallest median error in {n_best} of {n_decades} decades"
    if twin:
        pair = [one for one in series if one.name == best] + twin
        _, n_less, n_shared = _find_winner(pair, best)
        sentence += (
            f"; of it and its untrained twin, it has the smaller one in {n_less} of {n_shared}"
        )
    sentence += (
        f". Lines are medians. Bands are quartiles; they are drawn for up to {MOST_BANDS} systems. "
        "An error of 0.3 is a factor of two."
    )
    return Chart(
        name="magnitude",
        kind="lines",
        title="Error by magnitude",
        sentence=sentence,
        panels=(Panel("", x, Axis("|log₁₀ error|", 0, high), series=series),),
    )


def _find_winner(series: Sequence[Series], name: str = "") -> tuple[str, int, int]:
    """Return the series that is lowest at the most places, at how many, and of how many.

    With a name, it is the series of that name.
    """
    lowest: dict[float, tuple[float, str]] = {}
    for one in series:
        for x, y, *_ in one.points:
            lowest[x] = min(lowest.get(x, (np.inf, "")), (y, one.name))
    names = [lowest[x][1] for x in sorted(lowest)]
    best = name or max(dict.fromkeys(names), key=names.count)
    return best, names.count(best), len(names)


def _by_decade(points: DecodedValues) -> Iterator[Point]:
    """Yield the middle of each decade, and the median and quartiles of its errors in log10."""
    decoded = np.maximum(np.nan_to_num(points.predicted, nan=0.0), 1e-9)
    errors = np.abs(np.log10(decoded) - np.log10(points.true))
    decades = np.minimum(np.floor(np.log10(points.true) + 1e-12), 9).astype(int)
    for decade in np.unique(decades).tolist():
        inside = errors[decades == decade]
        if len(inside) >= _FEWEST:
            lower, median, upper = np.quantile(inside, (0.25, 0.5, 0.75)).tolist()
            yield 10 ** (decade + 0.5), median, lower, upper


def chart_layers(diagnostics: Sequence[Diagnostics], systems: Systems) -> Chart | None:
    """Return the error by layer, with a panel for each range that was measured."""
    measured = {layer.range for one in diagnostics for layer in one.layers}
    ranges = [name for name in PROBE_RANGES if name in measured]
    if not ranges:
        return None
    panels = tuple(_layer_panel(name, diagnostics, systems) for name in ranges)
    lowest = {
        one.name: min((point[1], int(point[0])) for point in one.points)
        for one in _choose_contestants(panels[-1].series)
    }
    system = min(lowest, key=lambda name: lowest[name])
    error, layer = lowest[system]
    twin = _beside_twin(system, {name: f"{least:.4f}" for name, (least, _) in lowest.items()})
    sentence = (
        f"Ridge regression on {name_range(ranges[-1])} has its lowest error at layer {layer} of "
        f"{system}: a log-RMSE of {error:.4f}{twin}. Layer 0 is the embeddings."
    )
    return Chart(
        name="layers",
        kind="lines",
        title="Which layer holds the magnitude",
        sentence=sentence,
        panels=panels,
    )


def _layer_panel(range_name: str, diagnostics: Sequence[Diagnostics], systems: Systems) -> Panel:
    series: list[Series] = []
    for one in diagnostics:
        points: list[Point] = []
        for layer in sorted(one.layers, key=lambda layer: layer.layer):
            if layer.range == range_name and layer.values:
                summary = summarize_errors({(0, n): v for n, v in enumerate(layer.values)})
                points.append((layer.layer, *_with_interval(summary)))
        if points:
            series.append(systems.series(one.system, points))
    layers = [point[0] for one in series for point in one.points]
    _, high = span([point[1] for one in series for point in one.points], zero=True)
    x, y = Axis("layer", 0, max(layers), whole=True), Axis("ridge log-RMSE", 0, high)
    return Panel(name_range(range_name), x, y, series=tuple(series))
