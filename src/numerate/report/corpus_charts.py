"""Corpus stories: the charts on numerals, anchors and training, each with its sentence."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from numerate.extract.counts import Counts
from numerate.fit.anchors import AnchorSet, restore
from numerate.fit.fitting import Sweep
from numerate.report.charts import (
    N_COLOURS,
    Axis,
    Cast,
    Chart,
    Panel,
    Point,
    Series,
    span,
    span_log,
)
from numerate.report.primed_examples import PrimedExample
from numerate.report.run_folder import CurveEntry

_BINS = 120
_LOSSES, _SHARES = "eval_loss_", "eval_accuracy_"


def chart_anchors(counts: Counts | None, fits: Mapping[str, AnchorSet]) -> Chart | None:
    """Return the corpus' numerals as a histogram, and below it where the anchors are."""
    if counts is None or not (counts.values >= 1).any():
        return None
    inside = counts.values >= 1
    values, weights = counts.values[inside], counts.weights[inside]
    top = 10.0 ** np.ceil(np.log10(max(values.max(), 10) * 1.0001)).item()
    edges = np.geomspace(1, top, _BINS + 1)
    heights = np.histogram(values, edges, weights=weights)[0].tolist()
    bars = [
        (low, high, height)
        for (low, high), height in zip(pairwise(edges.tolist()), heights, strict=True)
        if height
    ]
    ticks = [
        Series(f"{name}: {len(anchors.values):,} anchors", _ticks(anchors, top), 1 + place)
        for place, (name, anchors) in enumerate(fits.items())
    ]
    x = Axis("value", 1, top, log=True)
    y = Axis("numerals", 0.5, span_log([1, max(heights)])[1], log=True)
    panel = Panel("", x, y, "", (Series("numerals", tuple(bars), 0), *ticks))
    half = values[np.searchsorted(np.cumsum(weights), weights.sum() / 2)]
    sentence = f"Half of the {counts.numerals:,} numerals are {_say(half)} or less"
    for name, anchors in fits.items():
        laid = restore(anchors.values, anchors.scale, anchors.resolution)
        sentence += f"; half of the {name} anchors are {_say(float(np.median(laid)))} or less"
    return Chart(
        "anchors", "histogram", "The corpus' numerals and its anchors", f"{sentence}.", (panel,)
    )


def _ticks(anchors: AnchorSet, top: float) -> tuple[Point, ...]:
    """Where anchors are on the number line, as values."""
    laid = restore(anchors.values, anchors.scale, anchors.resolution)
    return tuple((value,) for value in laid[(laid >= 1) & (laid <= top)].tolist())


def _say(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def chart_sweeps(sweeps: Mapping[str, Sweep]) -> Chart | None:
    """Return AIC and BIC over the number of components, a panel for each scale."""
    found = {name: sweep for name, sweep in sweeps.items() if sweep.rows}
    if not found:
        return None
    panels, parts = [], []
    for name, sweep in found.items():
        rows = sorted(sweep.rows, key=lambda row: row["components"])
        series = tuple(
            Series(
                key.upper(),
                tuple((row["components"], row[key]) for row in rows),
                slot,
                dashed=key == "bic",
            )
            for slot, key in ((1, "aic"), (2, "bic"))
        )
        sizes = [row["components"] for row in rows]
        x = Axis("components K", min(sizes) * 0.9, max(sizes) * 1.1, log=True)
        low, high = span([point[1] for one in series for point in one.points])
        panels.append(Panel(name, x, Axis("criterion, less is better", low, high), "", series))
        lowest = {key: min(rows, key=lambda row: row[key])["components"] for key in ("aic", "bic")}
        parts.append(
            f"for {name} AIC is lowest at K = {lowest['aic']:,.0f} and BIC at {lowest['bic']:,.0f}"
        )
    sentence = f"Of the sizes that were tried, {'; '.join(parts)}."
    return Chart("sweep", "lines", "How many anchors: AIC and BIC", sentence, tuple(panels))


def chart_curves(curves: Mapping[str, Sequence[CurveEntry]], cast: Cast) -> Chart | None:
    """Return loss and accuracy over the steps of training, and on held-out text (dashed)."""
    panels = tuple(
        panel
        for key, title in (("loss", "loss per piece"), ("accuracy", "anchors found"))
        if (panel := _curve_panel(curves, key, title, cast))
    )
    if not panels:
        return None
    held = {
        name: [entry["eval_accuracy"] for entry in entries if "eval_accuracy" in entry]
        for name, entries in curves.items()
    }
    ends = {name: (values[0], values[-1]) for name, values in held.items() if values}
    sentence = "Dashed lines are on text that was held out."
    if ends:
        best = max(ends, key=lambda name: ends[name][1])
        first, last = ends[best]
        sentence += (
            f" There {best} finds {100 * last:.0f} % of the masked anchors at the end, "
            f"and {100 * first:.0f} % before."
        )
    return Chart("curves", "lines", "Training", sentence, panels)


def _curve_panel(
    curves: Mapping[str, Sequence[CurveEntry]], key: str, title: str, cast: Cast
) -> Panel | None:
    series = []
    for place, (name, entries) in enumerate(curves.items()):
        systems = cast.of_variant(name)
        slot = cast.slot(systems[0]) if systems else 1 + place % N_COLOURS
        numbers = tuple(map(cast.number, systems))
        for field, dashed in ((key, False), (f"eval_{key}", True)):
            points = tuple((entry["step"], entry[field]) for entry in entries if field in entry)
            if points:
                label = f"{name}, held out" if dashed else name
                series.append(Series(label, points, slot, numbers, dashed))
    if not series:
        return None
    steps = [point[0] for one in series for point in one.points]
    _, high = span([point[1] for one in series for point in one.points], zero=True)
    return Panel(
        title, Axis("step", 0, max(steps) or 1, whole=True), Axis("", 0, high), "", tuple(series)
    )


def chart_lessons(curves: Mapping[str, Sequence[CurveEntry]]) -> Chart | None:
    """Return what the baselines' recipes learned, a panel each: held out, kind by kind.

    Where there are losses of several objectives, each is shown beside what it was at first, for
    they have different units; otherwise the shares that are right.
    """
    panels, parts = [], []
    for recipe, entries in curves.items():
        has_losses = any(key.startswith(_LOSSES) for entry in entries for key in entry)
        found = _list_objectives(entries, _LOSSES if has_losses else _SHARES, has_losses)
        if not found:
            continue
        series = [
            Series(name, points, 1 + place % N_COLOURS, dashed=place >= N_COLOURS)
            for place, (name, points) in enumerate(found.items())
        ]
        steps, values = zip(*(point for one in series for point in one.points), strict=True)
        title = f"{recipe}: {'loss, of that at first' if has_losses else 'share that is right'}"
        x, y = Axis("step", 0, max(steps) or 1, whole=True), Axis("", 0, span(values, zero=True)[1])
        panels.append(Panel(title, x, y, "", tuple(series)))
        ends = [f"{name} {100 * points[-1][1]:.0f} %" for name, points in found.items()]
        said = "the losses end, of what they were," if has_losses else "right in the end are"
        parts.append(f"Of {recipe} {said} {', '.join(ends)}.")
    if not panels:
        return None
    title = "What the baselines' recipes learned"
    return Chart("lessons", "lines", title, " ".join(parts), tuple(panels))


def _list_objectives(
    entries: Sequence[CurveEntry], prefix: str, relative: bool
) -> dict[str, tuple[Point, ...]]:
    """The points of every objective; relative to the first of them if asked."""
    found: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        for key in (key for key in entry if key.startswith(prefix)):
            name = key.removeprefix(prefix).replace("_", " ")
            found.setdefault(name, []).append((entry["step"], float(entry[key])))
    return {
        name: tuple(
            (step, value / (points[0][1] or 1) if relative else value) for step, value in points
        )
        for name, points in found.items()
    }


def tell_examples(examples: Sequence[PrimedExample]) -> str:
    """Return how near the anchors are to the numerals of the sentences."""
    parts = []
    for name in examples[0].misses:
        misses = [miss for example in examples for miss in example.misses[name]]
        parts.append(f"{100 * np.mean(misses):.1f} % away with the {name} anchors")
    n_numerals = sum(len(next(iter(example.misses.values()))) for example in examples)
    return (
        "Each numeral is followed by its nearest anchor in the units of its scale. On average over "
        f"{n_numerals} numerals it is {' and '.join(parts)}."
    )
