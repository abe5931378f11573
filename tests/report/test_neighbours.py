"""What the report says of the numbers whose vectors are most alike."""

import numpy as np
import pytest

from numerate.probe.diagnostics import Diagnostics, Neighbours
from numerate.report.figures.charts import Systems
from numerate.report.figures.neighbour_charts import chart_neighbours, tabulate_neighbours
from numerate.report.headline import compare_twins

ASKED = np.array([10.0, 100.0, 1000.0, 10_000.0])


def make_neighbours(factors):
    """Neighbours that are off by given factors, up and down in turn."""
    nearest = ASKED[:, None] * np.array([factors[0], 1 / factors[1]])
    return Neighbours(ASKED, nearest, {1999: (2000, 1990)})


def test_the_mean_factor_is_the_geometric_mean_of_ratios_up_or_down():
    assert make_neighbours((4, 4)).mean_factor == pytest.approx(4)
    assert make_neighbours((2, 8)).mean_factor == pytest.approx(4)  # half way in logarithms


def test_a_row_for_each_numeral_and_no_numbers_below_one():
    with pytest.raises(ValueError, match="a row for each numeral asked"):
        Neighbours(ASKED, np.ones((3, 2)), {})
    with pytest.raises(ValueError, match="1 or more"):
        Neighbours(ASKED, np.zeros((4, 2)), {})


def test_the_headline_is_where_training_changed_most_beside_its_own_twin():
    found = {
        "untrained a (absent)": make_neighbours((9, 9)),
        "a (absent)": make_neighbours((3, 3)),
        "untrained b (absent)": make_neighbours((2, 2)),
        "b (absent)": make_neighbours((1.5, 1.5)),
        "best of all, without a twin": make_neighbours((1.1, 1.1)),
    }
    headline = compare_twins(found)
    assert headline.title == (
        "After training, the 2 numbers most like a given one are off by a factor of 3 on "
        "average; before, by 9"
    )
    assert headline.detail.startswith("After is a (absent). Before is its twin")
    assert "over 4 numbers" in headline.detail
    assert "100\u00a0% of them have nearer neighbours after" in headline.detail
    assert "shrinks by 1.10\u00a0±\u00a00.00" in headline.detail  # ln 9 - ln 3


def test_a_system_whose_twin_has_nearly_as_much_is_not_the_headline():
    found = {
        "untrained a": make_neighbours((1.11, 1.11)),
        "a": make_neighbours((1.1, 1.1)),
        "untrained b": make_neighbours((4, 4)),
        "b": make_neighbours((2, 2)),
    }
    assert compare_twins(found).detail.startswith("After is b.")


def test_no_gain_is_claimed_that_the_numbers_do_not_bear_out():
    mixed = np.array([[20.0, 20.0], [100.0, 100.0], [2000.0, 2000.0], [10_000.0, 10_000.0]])
    after, before = Neighbours(ASKED, mixed, {}), make_neighbours((1.42, 1.42))
    headline = compare_twins({"a": after, "untrained a": before})
    assert headline.title.startswith("Training did not measurably bring numbers of like size toge")
    assert compare_twins({"a": after, "b": before}) is None


def test_each_dot_is_a_numeral_and_one_of_its_neighbours_in_turn():
    near = Neighbours(ASKED, ASKED[:, None] * [2, 3], {1999: (2000, 1990, 2100, 1800, 5)})
    diagnostics = [
        Diagnostics(system="a", neighbours=near),
        Diagnostics(system="control:oracle", neighbours=near),
    ]
    chart = chart_neighbours(diagnostics, Systems(("a", "control:oracle")))
    [panel] = chart.panels  # what is given the number is no contestant
    assert panel.series[0].points == ((10, 20), (100, 300), (1000, 2000), (10_000, 30_000))
    assert panel.note == "off by a factor of 2.45"  # the square root of 2 times 3
    assert "one of 4 numbers" in chart.sentence
    assert "one of the 2 numbers" in chart.sentence
    header, rows = tabulate_neighbours(diagnostics)
    assert header == ("system", "most like 1,999")
    assert rows == (("a", "2,000  1,990  2,100  1,800"),)
