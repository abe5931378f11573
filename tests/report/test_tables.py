import math

import pytest
from rich.console import Console

from numerate.cli.show_probe import show_differences, show_scores
from numerate.probe.scores import Score
from numerate.probe.statistics import subtract_system
from numerate.report.formats import to_markdown
from numerate.report.paper import PAPER_METRICS, find_paper_scores, read_paper_scores
from numerate.report.tables import make_grid, tabulate_scores


def make_scores(system, values, **place):
    place = {"task": "decoding", "domain": "in", "range": "[1,100]", "metric": "log-rmse"} | place
    return [
        Score(system=system, protocol="laptop", seed=seed, value=value, **place)
        for seed, value in enumerate(values)
    ]


def print_text(shown):
    console = Console(width=100)
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


def test_a_table_has_means_over_seeds_and_the_best_by_the_metric():
    hits = {"metric": "accuracy", "task": "list-maximum"}
    scores = make_scores("a", [0.2, 0.4]) + make_scores("b", [0.1, 0.1])
    scores += make_scores("a", [0.5], **hits) + make_scores("b", [0.9], **hits)
    scores += make_scores("a", [1.0], metric="rmse-ln")  # in the file, not in the tables
    errors, accuracies = tabulate_scores(scores)
    assert errors.title == "decoding, in-domain: log-rmse"
    assert errors.rows[0].cells[0].summary.mean == pytest.approx(0.3)
    assert errors.best(0) == pytest.approx(0.1)
    assert accuracies.best(0) == 0.9


def test_nan_is_left_out_of_the_mean_and_a_cell_without_values_is_empty_everywhere():
    scores = make_scores("a", [0.2, math.nan, 0.4]) + make_scores("b", [math.nan])
    [grid] = tabulate_scores(scores)
    assert grid.rows[0].cells[0].summary.mean == pytest.approx(0.3)
    assert grid.rows[0].cells[0].summary.n_seeds == 2
    assert grid.rows[1].cells == (None,)
    assert grid.best(0) == pytest.approx(0.3)
    assert "| b | – |" in to_markdown(grid)
    lines = [line.split() for line in print_text(show_scores([grid])).splitlines()]
    assert ["b", "–"] in lines
    assert ["a", "0.3000"] in lines


def test_the_paper_and_controls_that_are_given_the_number_are_never_best():
    scores = make_scores("control:oracle", [0.001]) + make_scores("ours", [0.02])
    scores += make_scores("paper: GenBERT", [0.01])
    [grid] = tabulate_scores(scores)
    assert grid.best(0) == 0.02
    assert [row.kind for row in grid.rows] == ["given", "probed", "paper"]
    [grid] = tabulate_scores(scores[:1])
    assert grid.best(0) is None


def test_the_paper_adds_rows_but_no_columns_and_no_tables():
    scores = make_scores("ours", [0.02], range="[1k,10k]")
    [grid] = tabulate_scores([*scores, *find_paper_scores(scores)])
    assert [column.range for column in grid.columns] == ["[1k,10k]"]
    assert {row.kind for row in grid.rows} == {"probed", "paper"}


def test_an_interval_of_a_paired_difference_that_excludes_zero_has_a_star():
    scores = make_scores("a", [0.2, 0.6, 0.41]) + make_scores("b", [0.1, 0.5, 0.3])
    shown = print_text(show_differences(tabulate_scores(subtract_system(scores, "b")), "b"))
    assert "+0.1033*" in shown
    assert "±0.0143" in shown  # t(0.975, 2) = 4.3027 times 0.005774 / sqrt(3)


def test_scores_of_no_task_that_is_asked_make_no_table():
    assert make_grid(make_scores("a", [1.0], task="retrieval"), PAPER_METRICS, title="T") is None


def test_the_papers_scores_are_those_of_its_tables():
    scores = read_paper_scores()
    assert len(scores) == 168
    found = {(s.system, s.task, s.domain, s.range): s.value for s in scores}
    assert found["paper: ln-anchors", "decoding", "in", "[1k,10k]"] == 0.0049
    assert found["paper: ln-anchors", "decoding", "in", "[100,1k]"] == 0.0087
