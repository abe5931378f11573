import math
from dataclasses import replace

import pytest

from numerate.errors import InputError
from numerate.probe.scores import Score, append_scores, read_scores, summarize_values

SCORES = [
    Score("a", "retrieval", "sentences", "all", "first", "sentences", seed, seed / 7)
    for seed in range(3)
]


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "runs" / "scores.jsonl"
    assert read_scores(path) == []
    append_scores(path, SCORES[:1])
    append_scores(path, SCORES[1:])
    assert read_scores(path) == SCORES


def test_the_cell_that_was_cut_off_is_dropped_whole(tmp_path):
    path = tmp_path / "scores.jsonl"
    cut = [replace(SCORES[2], metric=metric) for metric in ("first", "subject", "nearest")]
    append_scores(path, [*SCORES[:2], *cut])
    path.write_text(path.read_text()[:-20])
    assert read_scores(path) == SCORES[:2]
    append_scores(path, cut)
    assert read_scores(path) == [*SCORES[:2], *cut]


def test_a_first_line_that_was_cut_off_leaves_an_empty_file(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text('{"system": "a"')
    assert read_scores(path) == []
    append_scores(path, SCORES)
    assert read_scores(path) == SCORES


@pytest.mark.parametrize("line", ["what", "{}", "[1]"])
def test_a_line_that_is_no_score_is_named(line, tmp_path):
    path = tmp_path / "scores.jsonl"
    append_scores(path, SCORES)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match="line 4: not a score"):
        read_scores(path)


def test_the_interval_is_students():
    """Half the width for 1, 2, 3: t(0.975, 2) = 4.3027 times 1 / sqrt(3)."""
    summary = summarize_values([1, 2, 3])
    assert summary.mean == 2
    assert summary.half == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert math.isnan(summarize_values([1.0]).half)
