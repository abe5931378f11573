"""Corpus charts: numerals, anchors and training, each chart with a sentence from its data."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from numerate.extract.counts import Counts
from numerate.fit.anchors import AnchorSet, restore
from numerate.fit.fitting import Sweep
from numerate.report.figures.charts import (
    N_COLOURS,
    Axis,
    Chart,
    Panel,
    Point,
    Series,
    Systems,
    span,
    span_log,
)
from numerate.report.primed_examples import PrimedExample
from numerate.report.run_folder import CurveEntry

_BINS = 120
_LOSS, _ACCURACY = "eval_loss_", "eval_accuracy_"


def chart_anchors(counts: Counts | None, fits: Mapping[str, AnchorSet]) -> Chart | None:
    """Return a histogram of the numerals of the corpus, with the anchors as ticks below it."""
    if counts is None or not (counts.values >= 1).any():
        return None
    inside = counts.values >= 1
    values, weights = counts.values[inside], counts.weights[inside]
    top = 10.0 ** np.ceil(np.log10(max(values.max(), 10) * 1.0001)).item()
    edges = np.geomspace(1, top, _BINS + 1)
    heights = np.histogram(values, edges, weights=weights)[0].tolist()
    bars = tuple(
        (low, high, height)
        for (low, high), height in zip(pairwise(edges.tolist()), heights, strict=True)
        if height
    )
    placed = {
        name: restore(anchors.values, anchors.scale, anchors.resolution)
        for name, anchors in fits.items()
    }
    ticks = [
        Series(
            f"{name}: {len(laid):,} anchors",
            tuple((value,) for value in laid[(laid >= 1) & (laid <= top)].tolist()),
            slot=1 + place,
        )
        for place, (name, laid) in enumerate(placed.items())
    ]
    x = Axis("value", 1, top, log=True)
    y = Axis("numerals", 0.5, span_log([1, max(heights)])[1], log=True)
    half = values[np.searchsorted(np.cumsum(weights), weights.sum() / 2)]
    parts = [f"Half of the {counts.numerals:,} numerals are {_format(half)} or less"]
    parts += [
        f"half of the {name} anchors are {_format(float(np.median(laid)))} or less"
        for name, laid in placed.items()
    ]
    return Chart(
        name="anchors",
        kind="histogram",
        title="The numerals of the corpus and the anchors",
        sentence=f"{'; '.join(parts)}.",
        panels=(Panel("", x, y, series=(Series("numerals", bars, slot=0), *ticks)),),
    )


def _format(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def chart_sweeps(sweeps: Mapping[str, Sweep]) -> Chart | None:
    """Return AIC and BIC over the number of components, with a panel for each fit."""
    found = {name: sweep for name, sweep in sweeps.items() if sweep.rows}
    if not found:
        return None
    parts = []
    for name, sweep in found.items():
        aic, bic = (
            min(sweep.rows, key=lambda row: row[key])["components"] for key in ("aic", "bic")
        )
        parts.append(f"for {name}, AIC is lowest at K = {aic:,.0f} and BIC at K = {bic:,.0f}")
    return Chart(
        name="sweep",
        kind="lines",
        title="How many anchors: AIC and BIC",
        sentence=f"Among the numbers of components K that were tried: {'; '.join(parts)}.",
        panels=tuple(_sweep_panel(name, sweep) for name, sweep in found.items()),
    )


def _sweep_panel(name: str, sweep: Sweep) -> Panel:
    rows = sorted(sweep.rows, key=lambda row: row["components"])
    series = tuple(
        Series(
            key.upper(),
            tuple((row["components"], row[key]) for row in rows),
            slot=slot,
            dashed=key == "bic",
        )
        for slot, key in ((1, "aic"), (2, "bic"))
    )
    sizes = [row["components"] for row in rows]
    x = Axis("components K", min(sizes) * 0.9, max(sizes) * 1.1, log=True)
    low, high = span([point[1] for one in series for point in one.points])
    return Panel(name, x, Axis("criterion, less is better", low, high), series=series)


def chart_curves(curves: Mapping[str, Sequence[CurveEntry]], systems: Systems) -> Chart | None:
    """Return loss and accuracy over the steps of training; held-out text is dashed."""
    panels = tuple(
        panel
        for key, title in (("loss", "loss per piece"), ("accuracy", "anchors found"))
        if (panel := _curve_panel(curves, key, title, systems))
    )
    if not panels:
        return None
    held_out = {
        name: [entry["eval_accuracy"] for entry in entries if "eval_accuracy" in entry]
        for name, entries in curves.items()
    }
    ends = {name: (values[0], values[-1]) for name, values in held_out.items() if values}
    sentence = "Dashed lines are on held-out text."
    if ends:
        best = max(ends, key=lambda name: ends[name][1])
        first, last = ends[best]
        sentence += (
            f" There {best} finds {100 * last:.0f} % of the masked anchors after training, and "
            f"{100 * first:.0f} % before."
        )
    return Chart(name="curves", kind="lines", title="Training", sentence=sentence, panels=panels)


def _curve_panel(
    curves: Mapping[str, Sequence[CurveEntry]], key: str, title: str, systems: Systems
) -> Panel | None:
    series = []
    for place, (name, entries) in enumerate(curves.items()):
        probed = systems.of_variant(name)
        slot = systems.slot(probed[0]) if probed else 1 + place % N_COLOURS
        indices = tuple(map(systems.index, probed))
        for field, dashed in ((key, False), (f"eval_{key}", True)):
            points = tuple((entry["step"], entry[field]) for entry in entries if field in entry)
            if points:
                label = f"{name}, held out" if dashed else name
                series.append(Series(label, points, slot=slot, systems=indices, dashed=dashed))
    return _step_panel(title, series) if series else None


def _step_panel(title: str, series: Sequence[Series]) -> Panel:
    """Return a panel of lines over steps, from zero."""
    steps, values = zip(*(point for one in series for point in one.points), strict=True)
    x = Axis("step", 0, max(steps) or 1, whole=True)
    return Panel(title, x, Axis("", 0, span(values, zero=True)[1]), series=tuple(series))


def chart_baseline_curves(curves: Mapping[str, Sequence[CurveEntry]]) -> Chart | None:
    """Return what the baselines learned, with a panel each and a line for each objective.

    A baseline that records losses has objectives with different units, so each loss is divided by
    its first value. Other baselines record accuracies.
    """
    panels, parts = [], []
    for recipe, entries in curves.items():
        has_losses = any(key.startswith(_LOSS) for entry in entries for key in entry)
        found = _read_losses(entries) if has_losses else _read_objectives(entries, _ACCURACY)
        if not found:
            continue
        series = [
            Series(name, points, slot=1 + place % N_COLOURS, dashed=place >= N_COLOURS)
            for place, (name, points) in enumerate(found.items())
        ]
        what = "loss relative to the first" if has_losses else "accuracy"
        panels.append(_step_panel(f"{recipe}: {what}", series))
        parts.append(_describe_ends(recipe, found, has_losses))
    if not panels:
        return None
    return Chart(
        name="baselines",
        kind="lines",
        title="What the baselines learned",
        sentence=" ".join(parts),
        panels=tuple(panels),
    )


def _describe_ends(
    recipe: str, objectives: Mapping[str, tuple[Point, ...]], has_losses: bool
) -> str:
    """Return a sentence on the last value of each objective."""
    ends = {name: f"{100 * points[-1][1]:.0f} %" for name, points in objectives.items()}
    if has_losses:
        listed = join_words([f"{end} ({name})" for name, end in ends.items()])
        return f"The losses of {recipe} end at {listed} of their first values."
    listed = join_words([f"{end} of the {name} questions" for name, end in ends.items()])
    return f"{recipe} ends with {listed} right."


def join_words(words: Sequence[str]) -> str:
    """Return words as an enumeration.

    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _read_objectives(entries: Sequence[CurveEntry], prefix: str) -> dict[str, tuple[Point, ...]]:
    """Return the values over the steps, by objective."""
    found: dict[str, list[Point]] = {}
    for entry in entries:
        for key in (key for key in entry if key.startswith(prefix)):
            name = key.removeprefix(prefix).replace("_", " ")
            found.setdefault(name, []).append((entry["step"], float(entry[key])))
    return {name: tuple(points) for name, points in found.items()}


def _read_losses(entries: Sequence[CurveEntry]) -> dict[str, tuple[Point, ...]]:
    """Return the losses over the steps, by objective, each divided by its first value."""
    return {
        name: tuple((step, loss / (points[0][1] or 1)) for step, loss in points)
        for name, points in _read_objectives(entries, _LOSS).items()
    }


def describe_examples(examples: Sequence[PrimedExample]) -> str:
    """Return a sentence on the distances of the numerals from their anchors."""
    parts = []
    for name in examples[0].misses:
        misses = [miss for example in examples for miss in example.misses[name]]
        parts.append(f"{100 * np.mean(misses):.1f} % away with the {name} anchors")
    n_numerals = sum(len(next(iter(example.misses.values()))) for example in examples)
    return (
        "Each numeral is followed by its nearest anchor, written in the units of its scale. On "
        f"average over {n_numerals} numerals, the anchor is {join_words(parts)}."
    )
