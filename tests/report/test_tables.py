import math
from dataclasses import replace

import pytest
from rich.console import Console

from numerate.cli.show_probe import show_differences, show_scores
from numerate.probe.scores import Score
from numerate.report.paper import PAPER_METRICS, find_paper_scores, read_paper_scores
from numerate.report.tables.formats import to_markdown
from numerate.report.tables.grid import make_grid, tabulate_differences, tabulate_scores
from numerate.report.tables.notes import describe_grid


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
    scores = make_scores("a", [0.2, 0.8]) + make_scores("b", [0.1, 0.1])
    scores += make_scores("a", [0.5], **hits) + make_scores("b", [0.9], **hits)
    scores += make_scores("a", [1.0], metric="rmse-ln")  # in the file, not in the tables
    errors, accuracies = tabulate_scores(scores)
    assert errors.title == "decoding, in-domain: log-rmse"
    assert errors.rows[0].cells[0].summary.mean == pytest.approx(0.4)  # the geometric mean
    assert errors.best(0) == pytest.approx(0.1)
    assert accuracies.best(0) == 0.9


def test_nan_is_left_out_of_the_mean_and_a_cell_without_values_is_empty_everywhere():
    scores = make_scores("a", [0.2, math.nan, 0.8]) + make_scores("b", [math.nan])
    [grid] = tabulate_scores(scores)
    assert grid.rows[0].cells[0].summary.mean == pytest.approx(0.4)
    assert grid.rows[0].cells[0].summary.n_seeds == 2
    assert grid.rows[1].cells == (None,)
    assert grid.best(0) == pytest.approx(0.4)
    assert "| b | – |" in to_markdown(grid)
    lines = [line.split() for line in print_text(show_scores([grid])).splitlines()]
    assert ["b", "–"] in lines
    assert ["a", "0.4000"] in lines


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
    shown = print_text(show_differences(tabulate_differences(scores, "b"), "b"))
    assert "+0.1033*" in shown
    assert "±0.0143" in shown  # t(0.975, 2) = 4.3027 times 0.005774 / sqrt(3)
    assert "over 3 seeds of the probe; one training of each model" in " ".join(shown.split())


def test_differences_of_errors_have_plain_means_on_both_sides_of_zero():
    scores = make_scores("a", [0.3, 0.1]) + make_scores("b", [0.2, 0.4])
    [grid] = tabulate_differences(scores, "b")
    [cell] = grid.rows[0].cells
    assert cell.summary.mean == pytest.approx(-0.1)
    assert cell.summary.low == pytest.approx(-0.1 - 12.7062 * 0.2, rel=1e-4)  # .1 and -.3


def test_a_twin_stands_below_its_system_with_what_training_adds():
    # Trained minus untrained: -.1 each time. In accuracies the same difference is worse.
    for metric, task, effect in (
        ("log-rmse", "decoding", "better"),
        ("accuracy", "list-maximum", "worse"),
    ):
        place = {"metric": metric, "task": task}
        scores = make_scores("untrained a (masked)", [0.2, 0.6, 0.4], **place)
        scores += make_scores("b", [0.2, 0.3, 0.4], **place)
        scores += make_scores("a (masked)", [0.1, 0.5, 0.3], **place)
        [grid] = tabulate_scores(scores)
        assert [row.system for row in grid.rows] == ["b", "a (masked)", "untrained a (masked)"]
        assert [bool(row.gains) for row in grid.rows] == [False, False, True]
        gain = grid.gain("a (masked)", 0)
        assert gain.difference.mean == pytest.approx(-0.1)
        assert gain.effect == effect
        assert grid.gain("b", 0) is None
        assert f"| *training adds* | −0.1000 ± 0.0000 {effect} |" in to_markdown(grid)
        lines = print_text(show_scores([grid])).splitlines()
        place = next(index for index, line in enumerate(lines) if "training adds" in line)
        assert [line.split()[-1] for line in lines[place : place + 3]] == [
            "−0.1000",
            "±0.0000",
            effect,
        ]


def test_a_gain_whose_interval_includes_zero_is_neither_better_nor_worse():
    scores = make_scores("a", [0.1, 0.5, 0.3]) + make_scores("untrained a", [0.2, 0.4, 0.4])
    [grid] = tabulate_scores(scores)
    assert grid.gain("a", 0).effect == ""  # differences -.1, .1, -.1
    [grid] = tabulate_scores(make_scores("a", [0.1]) + make_scores("untrained a", [0.2]))
    assert grid.gain("a", 0).effect == ""  # one seed


def test_every_training_is_compared_with_the_one_twin():
    trained = [replace(s, training=t) for t in (0, 1) for s in make_scores("a", [0.3 + t, 0.5 + t])]
    [grid] = tabulate_scores([*trained, *make_scores("untrained a", [0.1, 0.2])])
    difference = grid.gain("a", 0).difference
    # The trainings differ from the twin by (.2 + .3) / 2 and by one more.
    assert difference.mean == pytest.approx(0.75)
    assert (difference.n_trainings, difference.n_seeds) == (2, 2)
    note = describe_grid(grid)
    assert "95 % intervals over 2 trainings, 2 seeds of the probe each" in note
    assert "trained − twin" in note


def test_an_error_of_zero_is_a_plain_mean_and_the_note_says_so():
    [grid] = tabulate_scores(make_scores("control:oracle", [0.0, 0.2]) + make_scores("a", [1, 2]))
    assert "| control:oracle | 0.1000 |" in to_markdown(grid)
    assert "With an error of exactly 0 the mean is plain" in to_markdown(grid)


def test_the_note_says_in_words_what_an_error_is():
    [grid] = tabulate_scores(make_scores("a", [0.1, 0.2]) + make_scores("b", [0.1, 0.3]))
    note = describe_grid(grid)
    assert "over 2 seeds of the probe; one training of each model" in note
    assert "exactly 0" not in note
    # ln(2 + ln n) is 2.6037 at n = 100,000; 0.006 more is n = 108,500.
    assert math.log(2 + math.log(108_470)) - math.log(2 + math.log(1e5)) == pytest.approx(
        0.006, abs=1e-5
    )
    assert "an error of 0.006 is about 8 % of the number at 100,000, not 0.6 %" in note
    [grid] = tabulate_scores(make_scores("a", [0.9], metric="accuracy", task="list-maximum"))
    assert "log-RMSE" not in describe_grid(grid)


def test_scores_of_no_task_that_is_asked_make_no_table():
    assert (
        make_grid(make_scores("a", [1.0], task="retrieval"), PAPER_METRICS.items(), title="T")
        is None
    )


def test_the_papers_scores_are_those_of_its_tables():
    scores = read_paper_scores()
    assert len(scores) == 168
    found = {(s.system, s.task, s.domain, s.range): s.value for s in scores}
    assert found["paper: ln-anchors", "decoding", "in", "[1k,10k]"] == 0.0049
    assert found["paper: ln-anchors", "decoding", "in", "[100,1k]"] == 0.0087
