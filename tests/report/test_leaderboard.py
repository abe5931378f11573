"""Leaderboards of several files of scores."""

import re
from dataclasses import replace

import pytest

from numerate.errors import InputError
from numerate.probe.scores import Origin, Score, write_scores
from numerate.report.leaderboard import boards_to_markdown, read_boards, write_leaderboard

LINE = {"domain": "line", "protocol": "laptop", "origin": Origin(counts="abc")}
TEXTS = {"domain": "sentences", "protocol": "sentences"}


def score(system, value, *, seed=0, task="geometry", metric="neighbour factor", **place):
    place = {**LINE, "range": "all"} | place
    return Score(system=system, value=value, seed=seed, task=task, metric=metric, **place)


def save(path, *scores):
    write_scores(path, scores)
    return path


def list_rows(board):
    return [row.system for row in board.main.rows]


def list_titles(boards):
    return [board.main.title for board in boards]


def test_a_row_for_each_model_of_all_files_the_best_first(tmp_path):
    first = save(tmp_path / "a.jsonl", score("far", 9.0), score("control:prefix", 1.3))
    second = save(tmp_path / "b.jsonl", score("near", 1.1), score("control:prefix", 1.3))
    [board] = read_boards([first, second])
    assert list_rows(board) == ["near", "control:prefix", "far"]
    assert board.main.title == "Whole number line, protocol laptop, seed 0"
    text = boards_to_markdown([board])
    assert text.index("| near | 1.1") < text.index("| far | 9.0")
    assert text.index("far") < text.index("controls: a rule, no model") < text.index("control:pre")


def test_where_more_is_better_the_highest_is_first(tmp_path):
    rows = [
        score(name, value, metric="cosine spearman") for name, value in [("a", 0.1), ("b", 0.9)]
    ]
    [board] = read_boards([save(tmp_path / "a.jsonl", *rows)])
    assert list_rows(board) == ["b", "a"]


def test_means_have_intervals_over_seeds_and_over_trainings(tmp_path):
    seeds = [score("one", value, seed=seed) for seed, value in enumerate([1.0, 4.0])]
    trained = [
        score("two", value, seed=seed, training=training)
        for training, value in enumerate([2.0, 8.0])
        for seed in (0, 1)
    ]
    [board] = read_boards([save(tmp_path / "a.jsonl", *seeds, *trained)])
    found = {row.system: row.cells[0].summary for row in board.main.rows}
    assert found["one"].mean == pytest.approx(2.0)  # the geometric mean of 1 and 4
    assert (found["one"].n_trainings, found["one"].n_seeds) == (1, 2)
    assert found["two"].mean == pytest.approx(4.0)
    assert (found["two"].n_trainings, found["two"].n_seeds) == (2, 2)


@pytest.mark.parametrize(
    "other",
    [
        {"protocol": "demo"},
        {"domain": "line"},
        {"origin": Origin(counts="xyz")},
        {"seed": 1},
        {**TEXTS, "task": "distance", "metric": "spearman"},
    ],
)
def test_other_questions_are_another_table(other, tmp_path):
    corpus = {"domain": "in"}
    scores = [
        score("a", 0.2, **corpus),
        score("b", 0.3, **corpus),
        score("c", 0.4, **corpus | other),
    ]
    boards = read_boards([save(tmp_path / "a.jsonl", *scores)])
    assert [list_rows(board) for board in boards] == [["a", "b"], ["c"]]
    assert len(set(list_titles(boards))) == 2
    assert boards[0].main.title == "In-domain numerals of counts abc, protocol laptop, seed 0"


def test_of_files_that_do_not_name_their_numerals_each_has_a_table(tmp_path):
    old = {"domain": "in", "origin": None}
    paths = [save(tmp_path / f"{name}.jsonl", score(name, 0.2, **old)) for name in "ab"]
    assert list_titles(read_boards(paths)) == [
        f"In-domain numerals of {name}.jsonl, protocol laptop, seed 0" for name in "ab"
    ]


def test_a_cell_that_lacks_a_seed_is_left_out(tmp_path):
    full = [score("a", 1.5, seed=seed, task=task, metric=metric) for seed in (0, 1)
            for task, metric in KINDS]  # fmt: skip
    rest = [replace(one, system="b") for one in full[:-1]]
    [board] = read_boards([save(tmp_path / "a.jsonl", *full, *rest)])
    assert [bool(cell) for row in board.main.rows for cell in row.cells] == [True] * 3 + [False]


KINDS = [("geometry", "neighbour factor"), ("comparison", "just noticeable ratio")]


def test_ranges_have_tables_of_their_own_below(tmp_path):
    ranges = ["[1,100]", "[100,1k]", "all"]
    rows = [score(name, 1.5, range=one) for name in "ab" for one in ranges]
    [board] = read_boards([save(tmp_path / "a.jsonl", *rows)])
    assert [column.range for column in board.main.columns] == ["all"]
    assert [column.range for column in board.by_range[0].columns] == ranges
    [alone] = read_boards([save(tmp_path / "b.jsonl", rows[0])])
    assert [column.range for column in alone.main.columns] == ["[1,100]"]
    assert alone.by_range == ()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([score("a", 2.0)], "a.jsonl and .*b.jsonl: 'a' has two values of geometry all"),
        ([], "b.jsonl: holds no scores"),
    ],
)
def test_files_that_do_not_fit_are_refused(scores, message, tmp_path):
    paths = [save(tmp_path / "a.jsonl", score("a", 1.0)), save(tmp_path / "b.jsonl", *scores)]
    with pytest.raises(InputError, match=message):
        read_boards(paths)
    with pytest.raises(InputError, match=r"nosuch.jsonl: no such file of scores; make"):
        read_boards([tmp_path / "nosuch.jsonl"])
    with pytest.raises(InputError, match="no scores of a task that a leaderboard shows"):
        read_boards([save(tmp_path / "c.jsonl", score("a", 1.0, metric="accuracy 2"))])


def test_the_command_writes_a_page_and_a_table(run, tmp_path):
    name = "<script>alert(1)</script>"
    first = save(tmp_path / "a.jsonl", score(name, 1.5), score("control:angle", 1.0))
    kind = {"task": "retrieval", "metric": "first", **TEXTS}
    second = save(tmp_path / "b.jsonl", score("b", 0.5, **kind), score("control:bm25", 0.1, **kind))
    out = tmp_path / "board"
    code, shown, _ = run("report", "--scores", first, second, "--out", out)
    assert code == 0
    assert str(out / "index.html") in shown
    page = (out / "index.html").read_text()
    assert re.findall(r'<section id="([^"]+)"', page) == [
        "board-1", "scores-1", "board-2", "scores-2", "made",
    ]  # fmt: skip
    assert name not in page
    assert "controls that are given the number" in page
    assert "numerate report --scores a.jsonl b.jsonl --out board" in page
    assert str(tmp_path) not in page
    text = (out / "leaderboard.md").read_text()
    assert "| control:bm25 | 0.1000 |" in text
    before = page
    write_leaderboard([first, second], out)
    assert (out / "index.html").read_text() == before
    for path in (out / "leaderboard.md", out / "index.html"):
        text = path.read_bytes()
        path.write_text("<!doctype html> mine")
        with pytest.raises(InputError, match="numerate has not made it"):
            write_leaderboard([first, second], out)
        path.write_bytes(text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--scores", "a.jsonl"],
        ["--scores", "a.jsonl", "--out", "b", "--compare", "paper"],
        ["--out", "b", "run"],
        ["run", "other"],
        [],
    ],
)
def test_options_that_do_not_belong_together_are_one_line(arguments, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, errors = run("report", *arguments)
    assert (code, errors.count("\n")) == (2, 1)
    assert "--scores" in errors
    assert list(tmp_path.iterdir()) == []
