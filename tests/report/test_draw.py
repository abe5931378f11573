"""What the figures show: their points, labels and axes, as matplotlib holds them."""

import numpy as np
import pytest

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.fit.anchors import AnchorSet
from numerate.fit.fitting import Sweep
from numerate.report.figures.charts import Axis, Chart, Panel, Series, Systems
from numerate.report.figures.corpus_charts import chart_anchors, chart_curves, chart_sweeps
from numerate.report.figures.draw import draw_chart, make_figure

SWEEP = Sweep(
    "ln",
    (
        {"components": 100.0, "aic": 8.0, "bic": 9.0},
        {"components": 10.0, "aic": 5.0, "bic": 3.0},
    ),
)
ENTRIES = [
    {"step": 0, "eval_loss": 9.0, "eval_accuracy": 0.1},
    {"step": 1, "loss": 8.0, "accuracy": 0.2},
    {"step": 2, "loss": 4.0, "accuracy": 0.6},
]


def make_chart(kind, panel):
    return Chart(name="a", kind=kind, title="T", sentence="", panels=(panel,))


def points_of(line):
    return list(zip(*(np.asarray(part).tolist() for part in line.get_data()), strict=True))


def labels_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_sweep_has_a_line_for_each_criterion_in_the_order_of_sizes():
    figure = make_figure(chart_sweeps({"ln": SWEEP}))
    [axes] = figure.axes
    assert [points_of(line) for line in axes.lines] == [
        [(10, 5), (100, 8)],
        [(10, 3), (100, 9)],
    ]
    assert labels_of(figure) == ["AIC", "BIC"]
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "components K"


def test_the_number_line_has_a_bar_for_each_bin_and_a_tick_for_each_anchor():
    anchors = AnchorSet("linear", (3, 400, 9000))
    figure = make_figure(chart_anchors(Counts({3: 5, 400: 2, 9000: 1}), {"linear": anchors}))
    [axes] = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [5, 2, 1]
    for bar, value in zip(axes.patches, (3, 400, 9000), strict=True):
        assert bar.get_x() <= value <= bar.get_x() + bar.get_width()
    [ticks] = axes.lines
    assert [x for x, _ in points_of(ticks)] == [3, 400, 9000]
    assert axes.get_xlabel() == "linear: 3 anchors"


def test_a_curve_has_training_and_held_out_text_apart():
    figure = make_figure(chart_curves({"training": ENTRIES}, Systems(())))
    loss, accuracy = figure.axes
    assert [points_of(line) for line in loss.lines] == [[(1, 8), (2, 4)], [(0, 9)]]
    assert [points_of(line) for line in accuracy.lines] == [[(1, 0.2), (2, 0.6)], [(0, 0.1)]]
    assert labels_of(figure) == ["training", "training, held out"]
    assert [line.get_linestyle() for line in loss.lines] == ["-", "--"]


def test_dots_have_their_intervals_and_names_with_dollars_are_text():
    series = tuple(
        Series(name, ((mean, mean - 1, mean + 1),)) for name, mean in (("a", 2.0), ("$x_1$", 5.0))
    )
    panel = Panel("all", Axis("error", 0, 7), Axis("", 0, 2), series=series)
    [axes] = make_figure(make_chart("dots", panel)).axes
    assert [points_of(line) for line in axes.lines] == [
        [(1, 0), (3, 0)],
        [(2, 0)],
        [(4, 1), (6, 1)],
        [(5, 1)],
    ]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", r"\$x_1\$"]


def test_a_scatter_clips_to_the_axes_and_a_heatmap_shows_its_matrix():
    axis = Axis("", 0, 10)
    scatter = Panel("", axis, axis, series=(Series("a", ((1.0, 2.0), (3.0, 99.0))),))
    [axes] = make_figure(make_chart("scatter", scatter)).axes
    assert points_of(axes.lines[-1]) == [(1, 2), (3, 10)]
    heat = Panel("", axis, Axis("cosine", -1, 1), matrix=((1.0, 0.5), (0.5, 1.0)))
    axes = make_figure(make_chart("heat", heat)).axes[0]
    assert axes.images[0].get_array().tolist() == [[1, 0.5], [0.5, 1]]
    assert axes.images[0].get_clim() == (-1, 1)


def test_figures_are_png_or_svg_and_the_same_bytes_every_time(tmp_path):
    for name in ("a", "b"):
        draw_chart(chart_curves({"training": ENTRIES}, Systems(())), tmp_path / f"{name}.png")
        draw_chart(chart_sweeps({"ln": SWEEP}), tmp_path / f"{name}.svg")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert b"AIC" in (tmp_path / "a.svg").read_bytes()
    for suffix in (".png", ".svg"):
        first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
        assert first == second


def test_a_figure_that_cannot_be_drawn_leaves_nothing_behind(tmp_path):
    with pytest.raises(InputError, match=r"plot must end in \.png or \.svg, got a\.doc"):
        draw_chart(chart_sweeps({"ln": SWEEP}), type(tmp_path)("a.doc"))
    with pytest.raises(InputError, match="nothing to draw"):
        draw_chart(chart_anchors(None, {}), tmp_path / "a.svg")
    panel = Panel("", Axis("", 0, 1), Axis("", 0, 1), series=(Series("a", ()),))  # has no points
    with pytest.raises(ValueError, match="unpack"):
        draw_chart(make_chart("scatter", panel), tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []
