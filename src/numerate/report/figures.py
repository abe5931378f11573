"""Figures, drawn with matplotlib into PNG or SVG files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.fit.anchors import AnchorSet, restore
from numerate.fit.fitting import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_sweep(sweep: Sweep, path: Path) -> None:
    """Draw AIC and BIC over the number of components."""
    figure = _new_figure(path, height=4)
    axes = figure.add_subplot()
    sizes = [row["components"] for row in sweep.rows]
    for name, style in (("AIC", "o-"), ("BIC", "s--")):
        axes.plot(sizes, [row[name.lower()] for row in sweep.rows], style, label=name)
    axes.set(xscale="log", xlabel="components K", title=f"{sweep.scale} scale")
    axes.legend()
    _save(figure, path)


def draw_number_line(counts: Counts, anchors: AnchorSet, path: Path) -> None:
    """Draw the numerals of a corpus as a histogram over the number line, its anchors below."""
    figure = _new_figure(path, height=2.6)
    axes = figure.add_subplot()
    values = counts.values[counts.values >= 1]
    edges = np.geomspace(1, max(values.max(), 10) * 1.01, 160).tolist()
    axes.hist(values, edges, weights=counts.weights[counts.values >= 1], color="#9db4c0")
    axes.set(xscale="log", yscale="log", ylabel="numerals")
    laid = restore(anchors.values, anchors.scale, anchors.resolution)
    axes.plot(
        laid,
        np.full(len(laid), -0.06),
        "|",
        color="#d1495b",
        markersize=9,
        clip_on=False,
        transform=axes.get_xaxis_transform(),
    )
    axes.set_xlabel(
        f"{len(laid)} anchors on the {anchors.scale} scale", color="#d1495b", labelpad=9
    )
    axes.tick_params(axis="x", pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


def draw_curve(entries: Sequence[Mapping[str, float]], path: Path) -> None:
    """Draw loss and anchor accuracy over the steps of a training run, and on held-out text."""
    figure = _new_figure(path, height=3.2)
    for place, (name, title) in enumerate(
        (("loss", "loss per piece"), ("accuracy", "accuracy")), 1
    ):
        axes = figure.add_subplot(1, 2, place)
        for key, style, label in ((name, "-", "training"), (f"eval_{name}", "o--", "held out")):
            points = [(entry["step"], entry[key]) for entry in entries if key in entry]
            if points:
                axes.plot(*zip(*points, strict=True), style, label=label)
        axes.set(xlabel="step", title=title)
        axes.legend()
    _save(figure, path)


def _new_figure(path: Path, *, height: float) -> "Figure":
    if path.suffix not in (".png", ".svg"):
        raise InputError(f"plot must end in .png or .svg, got {path}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plotting needs matplotlib: pip install 'numerate[report]'") from None
    return Figure(figsize=(7.5, height), layout="constrained")


def _save(figure: "Figure", path: Path) -> None:
    from matplotlib import rc_context

    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "numerate"}):
        # No date, and names that do not change: the same figure is the same bytes.
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata, dpi=150)
