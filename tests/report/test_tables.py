import math

import pytest

from numerate.errors import InputError
from numerate.probe.scores import Score
from numerate.report.tables import read_paper_scores, subtract_system, tabulate_scores


def make_scores(system, values, *, metric="log-rmse", task="decoding"):
    return [
        Score(system, task, "in", "[1,100]", metric, "laptop", seed, value)
        for seed, value in enumerate(values)
    ]


def test_a_table_has_means_over_seeds_and_the_best_by_the_metric():
    scores = make_scores("a", [0.2, 0.4]) + make_scores("b", [0.1, 0.1])
    scores += make_scores("a", [0.5], metric="accuracy", task="list-maximum")
    scores += make_scores("b", [0.9], metric="accuracy", task="list-maximum")
    scores += make_scores("a", [1.0], metric="rmse-ln")  # in the file, not in the tables
    errors, hits = tabulate_scores(scores)
    assert errors.rows["a"]["[1,100]"].mean == pytest.approx(0.3)
    assert errors.best("[1,100]") == pytest.approx(0.1)
    assert errors.low_is_good
    assert errors.title == "decoding, in-domain: log-rmse"
    assert hits.best("[1,100]") == 0.9
    assert not hits.low_is_good


def test_differences_are_taken_seed_by_seed():
    """The pairs differ by 0.1 each, though the seeds differ by far more."""
    scores = make_scores("a", [0.2, 0.6, 0.4]) + make_scores("b", [0.1, 0.5, 0.3])
    scores += make_scores("b", [0.7], metric="r2")
    differences = subtract_system(scores, "b")
    assert [score.value for score in differences] == pytest.approx([0.1, 0.1, 0.1])
    [table] = tabulate_scores(differences)
    summary = table.rows["a"]["[1,100]"]
    assert abs(summary.mean) > summary.half
    assert math.isclose(summary.half, 0, abs_tol=1e-9)


def test_a_system_without_scores_cannot_be_compared_with():
    with pytest.raises(InputError, match="no scores of 'c' to compare with; there are a"):
        subtract_system(make_scores("a", [1]), "c")


def test_the_papers_figures_are_there():
    scores = read_paper_scores()
    assert len(scores) == 168
    found = {(s.system, s.task, s.domain, s.range): s.value for s in scores}
    assert found["paper: ln-anchors", "decoding", "in", "[1k,10k]"] == 0.0049
    assert found["paper: ln-anchors", "decoding", "in", "[100,1k]"] == 0.0087


def test_what_is_told_the_number_is_best_only_where_nothing_else_is():
    def score(system, value):
        return Score(system, "decoding", "in", "all", "log-rmse", "laptop", 0, value)

    scores = [score("control:oracle", 0.001), score("ours", 0.02), score("paper: GenBERT", 0.01)]
    [table] = tabulate_scores(scores)
    assert table.best("all") == 0.02
    [table] = tabulate_scores(scores[:1])
    assert table.best("all") == 0.001
