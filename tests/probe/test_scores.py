from dataclasses import replace

import pytest

from numerate.errors import InputError
from numerate.probe.scores import Score, append_scores, read_scores, repair_scores

SCORES = [
    Score(
        system="a",
        task="retrieval",
        domain="sentences",
        range="all",
        metric="first",
        protocol="sentences",
        seed=seed,
        value=seed / 7,
    )
    for seed in range(3)
]


def test_scores_are_read_back_as_written(tmp_path):
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
    before = path.read_bytes()
    assert read_scores(path) == SCORES[:2]
    assert path.read_bytes() == before  # a reader beside a running probe changes nothing
    assert repair_scores(path) == SCORES[:2]
    append_scores(path, cut)
    assert read_scores(path) == [*SCORES[:2], *cut]


def test_a_first_line_that_was_cut_off_leaves_an_empty_file(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text('{"system": "a"')
    assert repair_scores(path) == []
    append_scores(path, SCORES)
    assert read_scores(path) == SCORES


@pytest.mark.parametrize("line", ["what", "{}", "[1]"])
def test_an_error_names_the_line_that_is_no_score(line, tmp_path):
    path = tmp_path / "scores.jsonl"
    append_scores(path, SCORES)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match="line 4: not a score"):
        read_scores(path)


def test_a_last_line_that_lacks_only_its_end_is_whole(tmp_path):
    path = tmp_path / "scores.jsonl"
    append_scores(path, SCORES)
    path.write_bytes(path.read_bytes()[:-1])
    assert read_scores(path) == SCORES
    assert repair_scores(path) == SCORES
    append_scores(path, SCORES[:1])
    assert read_scores(path) == [*SCORES, SCORES[0]]


@pytest.mark.parametrize("content", [b"my notes", b"\xff\xfe\x00", b"[" * 100_000, b"{}"])
def test_a_file_of_something_else_is_refused_and_kept(content, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"notes.txt, line 1: not a score"):
        repair_scores(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("change", [{"system": ["a"]}, {"seed": "0"}, {"value": None}])
def test_a_score_has_words_where_words_belong(change, tmp_path):
    with pytest.raises(InputError, match=" is no "):
        replace(SCORES[0], **change)
