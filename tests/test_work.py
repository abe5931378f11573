import json

import pytest

from numerate.errors import InputError
from numerate.work import WorkFolder

SAME, OTHER = {"settings": {"size": (1, 2)}}, {"settings": {"size": (1, 3)}}


@pytest.fixture
def work(tmp_path):
    return WorkFolder(tmp_path / "out", "a cake", "cake.json", "test-cake")


def finish(work, description=SAME):
    work.finish({"format": "test-cake", **description, "seconds": 3})


def fail(work):
    (work.path / "deep").mkdir()
    (work.path / "deep" / "dough").touch()
    raise InputError("no flour")


def test_work_is_new_then_unfinished_then_done(work):
    assert work.check_state(SAME) == "new"
    work.begin(SAME)
    assert work.check_state(SAME) == "unfinished"
    finish(work)
    assert work.check_state(SAME) == "done"
    assert work.read()["seconds"] == 3
    assert [path.name for path in work.path.iterdir()] == ["cake.json"]


@pytest.mark.parametrize("end", [lambda work: None, finish], ids=["begun", "done"])
def test_work_with_another_description_is_refused(work, end):
    work.begin(SAME)
    end(work)
    assert work.find_state(OTHER) == "changed"
    with pytest.raises(InputError, match="out: holds a cake with other settings or inputs"):
        work.check_state(OTHER)


def test_a_setting_that_grows_leaves_work_unfinished(work):
    work.begin({"settings": {"seeds": 1, "size": 1}})
    finish(work, {"settings": {"seeds": 1, "size": 1}})
    assert work.find_state({"settings": {"seeds": 1, "size": 1}}, ("seeds",)) == "done"
    assert work.find_state({"settings": {"seeds": 2, "size": 1}}, ("seeds",)) == "unfinished"
    assert work.find_state({"settings": {"seeds": 2, "size": 2}}, ("seeds",)) == "changed"


def test_a_killed_process_leaves_a_folder_that_is_still_new(work):
    # killed while it wrote its mark, or while an enclosing work had begun and this one had not
    work.path.mkdir()
    (work.path / "..cake.json.begun.0a1b.tmp").touch()
    (work.path / ".run.json.begun").touch()
    assert work.check_state(SAME) == "new"
    work.begin(SAME)
    finish(work)
    assert {path.name for path in work.path.iterdir()} == {"cake.json", ".run.json.begun"}


@pytest.mark.parametrize("name", ["thesis.txt", ".git", "cake.json", "x.tmp"])
def test_files_of_others_are_refused(work, name):
    work.path.mkdir()
    (work.path / name).write_text(json.dumps({"format": "another"}))
    with pytest.raises(InputError, match="out: not empty and not a cake; choose another folder"):
        work.find_state(SAME)


def test_a_file_in_place_of_the_folder_is_refused(work):
    work.path.touch()
    with pytest.raises(InputError, match="out: a file, not a folder; choose another --out"):
        work.find_state(SAME)


@pytest.mark.parametrize("existed", [True, False])
def test_new_work_that_is_refused_leaves_nothing(work, existed):
    if existed:
        work.path.mkdir()
    with pytest.raises(InputError, match="no flour"), work.attempt(SAME):
        fail(work)
    assert work.path.exists() == existed
    assert work.check_state(SAME) == "new"


def test_continued_work_that_is_refused_stays(work):
    work.begin(SAME)
    (work.path / "dough").touch()
    with pytest.raises(InputError, match="no flour"), work.attempt(SAME):
        raise InputError("no flour")
    assert work.check_state(SAME) == "unfinished"
    assert (work.path / "dough").exists()


def test_only_the_first_process_marks_its_work(work, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(InputError, match="no flour"), work.attempt(SAME):
        raise InputError("no flour")
    assert not work.path.exists()
