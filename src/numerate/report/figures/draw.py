"""Draw charts with matplotlib as PNG and SVG files; the same chart gives the same bytes."""

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from numerate.errors import InputError, needs_extra
from numerate.files import check_output, write_file
from numerate.layout import RunLayout
from numerate.report.figures.charts import (
    MOST_BANDS,
    Axis,
    Chart,
    ChartKind,
    Panel,
    Series,
    Systems,
)
from numerate.report.figures.corpus_charts import chart_curves
from numerate.report.run_folder import read_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, darkened where they would be too pale on white; grey for the base model,
# black for controls.
COLOURS = (
    *("#767676", "#0072b2", "#d55e00", "#00805c"),
    *("#a83f7d", "#8f6a00", "#4b4bb5", "#7a3b12", "#222222"),
)
_WIDTH = 8.0
_STARTS = {".png": rb"\x89PNG", ".svg": rb"\s*<(\?xml|svg)"}  # of files that may be replaced


def check_plot(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file to draw into that is no PNG or SVG, or that `check_output` refuses."""
    if path.suffix not in _STARTS:
        raise InputError(f"plot must end in .png or .svg, got {path}")
    check_output(path, starts=_STARTS[path.suffix], inputs=inputs)


def draw_chart(chart: Chart | None, *paths: Path) -> None:
    """Write a chart to PNG or SVG files; each is written whole or not at all."""
    if chart is None:
        raise InputError("there is nothing to draw")
    for path in paths:
        check_plot(path)
    figure = make_figure(chart)
    for path in paths:
        write_file(path, _render(figure, path.suffix[1:]))


def draw_curve(folder: Path) -> None:
    """Draw loss and accuracy over the steps of a training, from and into its model folder."""
    curves = {"training": read_curve(RunLayout.curve(folder))}
    draw_chart(chart_curves(curves, Systems(())), folder / "curve.png")


def make_figure(chart: Chart) -> "Figure":
    """Return a chart as a figure: its panels in rows, its title above, one legend below."""
    with needs_extra("drawing", "report"):
        from matplotlib.figure import Figure
    draw, columns, height = _KINDS[chart.kind]
    rows = -(-len(chart.panels) // columns)
    columns = -(-len(chart.panels) // rows)
    figure = Figure(figsize=(_WIDTH, rows * height + 0.8), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, chart.panels, strict=False):
        axes.set_title(_plain(f"{panel.title}  {panel.note}".strip()), fontsize=9)
        draw(axes, panel)
    for axes in grid.flat[len(chart.panels) :]:
        axes.set_axis_off()
    figure.suptitle(_plain(chart.title))
    if chart.kind == "lines":
        _add_legend(figure, chart.panels)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # one layout for all files
    return figure


def _render(figure: "Figure", form: str) -> bytes:
    from matplotlib import rc_context

    buffer = io.BytesIO()
    # Without the date, and with fixed ids, the same figure gives the same bytes.
    metadata: dict[str, Any] | None = {"Date": None} if form == "svg" else None
    with rc_context({"svg.hashsalt": "numerate"}):
        figure.savefig(buffer, format=form, metadata=metadata, dpi=150)
    return buffer.getvalue()


def _plain(text: str) -> str:
    """Escape dollar signs, which matplotlib reads as mathematics."""
    return text.replace("$", r"\$")


def _add_legend(figure: "Figure", panels: Iterable[Panel]) -> None:
    from matplotlib.lines import Line2D

    series = {one.name: one for panel in panels for one in panel.series}
    handles = [Line2D([], [], **_style(one)) for one in series.values()]
    labels = [_plain(name) for name in series]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)


def _style(series: Series) -> dict[str, Any]:
    style = {"color": COLOURS[series.slot], "linestyle": "--" if series.dashed else "-"}
    return style | ({"alpha": 0.5, "linewidth": 1.0} if series.hollow else {})


def _set_axes(axes: "Axes", x: Axis, y: Axis) -> None:
    for axis, name in ((x, "x"), (y, "y")):
        axes.set(**{f"{name}scale": "log" if axis.log else "linear"})
        axes.set(**{f"{name}lim": (axis.low, axis.high), f"{name}label": axis.label})
    if x.whole:
        axes.locator_params(axis="x", integer=True)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_dots(axes: "Axes", panel: Panel) -> None:
    for place, series in enumerate(panel.series):
        mean, low, high = series.points[0]
        axes.plot([low, high], [place, place], color=COLOURS[series.slot], linewidth=2)
        inside = "white" if series.hollow else COLOURS[series.slot]
        axes.plot([mean], [place], "o", color=COLOURS[series.slot], markerfacecolor=inside)
    _set_axes(axes, panel.x, Axis("", len(panel.series) - 0.5, -0.5))
    names = [_plain(series.name) for series in panel.series]
    axes.set_yticks(range(len(names)), names, fontsize=8)


def _draw_scatter(axes: "Axes", panel: Panel) -> None:
    axes.plot([panel.x.low, panel.x.high], [panel.x.low, panel.x.high], color="#bbb", linewidth=1)
    for series in panel.series:
        x, y = np.array(series.points).T
        y = np.clip(y, panel.y.low, panel.y.high)
        alpha = 0.25 if series.hollow else 0.5
        axes.plot(x, y, ".", color=COLOURS[series.slot], markersize=3, alpha=alpha)
    _set_axes(axes, panel.x, panel.y)


def _draw_heat(axes: "Axes", panel: Panel) -> None:
    size = len(panel.matrix)
    image = axes.imshow(
        np.array(panel.matrix),
        cmap="cividis",
        vmin=panel.y.low,
        vmax=panel.y.high,
        extent=(0.5, size + 0.5, size + 0.5, 0.5),
    )
    axes.figure.colorbar(image, ax=axes, shrink=0.8)


def _draw_lines(axes: "Axes", panel: Panel) -> None:
    for series in panel.series:
        columns = np.array(series.points).T
        marker = "." if len(columns[0]) < 20 else ""
        axes.plot(columns[0], columns[1], marker=marker, **_style(series))
        if len(columns) == 4 and len(panel.series) <= MOST_BANDS:
            band: dict[str, Any] = {"color": COLOURS[series.slot], "alpha": 0.15, "linewidth": 0}
            axes.fill_between(columns[0], columns[2], columns[3], **band)
    _set_axes(axes, panel.x, panel.y)
    if panel.x.log and not panel.x.decades:  # a few sizes, less than a decade apart
        places = sorted({point[0] for series in panel.series for point in series.points})
        axes.set_xticks(places, [f"{place:,.0f}" for place in places])
        axes.minorticks_off()


def _draw_histogram(axes: "Axes", panel: Panel) -> None:
    bars, *ticks = panel.series
    left, right, height = np.array(bars.points).T
    axes.bar(left, height, right - left, align="edge", color=COLOURS[bars.slot], alpha=0.6)
    for place, series in enumerate(ticks, 1):
        y = np.full(len(series.points), -0.1 * place)
        options: dict[str, Any] = {"color": COLOURS[series.slot], "markersize": 8, "clip_on": False}
        transform = axes.get_xaxis_transform()
        axes.plot(np.ravel(series.points), y, "|", transform=transform, **options)
    _set_axes(axes, panel.x, panel.y)
    axes.tick_params(axis="x", pad=4 + 16 * len(ticks))
    axes.set_xlabel("; ".join(_plain(series.name) for series in ticks) or "value")


_KINDS: dict[ChartKind, tuple[Callable[["Axes", Panel], None], int, float]] = {
    "dots": (_draw_dots, 2, 1.9),
    "scatter": (_draw_scatter, 3, 2.6),
    "heat": (_draw_heat, 2, 3.2),
    "lines": (_draw_lines, 2, 3.0),
    "histogram": (_draw_histogram, 1, 2.6),
}
"""How to draw a panel, the number of panels in a row, and the height of a row in inches."""
