import json

import pytest

from numerate.errors import InputError
from numerate.steps import Step, find_state, hash_path, run_step


def make_step(tmp_path, *, times=1, text="a", seeds=1):
    """A step that writes its input as often as told, and goes on with what is there."""
    source = tmp_path / "in.txt"
    source.write_text(text)

    def work(folder):
        path = folder / "out.txt"
        before = path.read_text() if path.exists() else ""
        path.write_text(before + source.read_text() * times)

    settings = {"times": times, "seeds": seeds}
    inputs = {"in.txt": source, "base": "some/name"}
    return Step(
        stage="stage",
        name="one",
        settings=settings,
        inputs=inputs,
        outputs=("out.txt",),
        work=work,
        growing=("seeds",),
    )


def test_a_step_is_done_once(tmp_path):
    step = make_step(tmp_path)
    assert find_state(step, tmp_path) == "new"
    assert run_step(step, tmp_path) >= 0
    assert find_state(step, tmp_path) == "done"
    record = json.loads((tmp_path / "stage" / "one" / "run.json").read_text())
    assert record["settings"] == {"times": 1, "seeds": 1}
    assert record["inputs"] == {"in.txt": hash_path(tmp_path / "in.txt"), "base": "some/name"}
    assert record["outputs"] == {"out.txt": hash_path(tmp_path / "in.txt")}
    assert {"numerate", "python", "torch"} <= set(record["versions"])
    assert record["seconds"] >= 0


@pytest.mark.parametrize(("change", "made"), [({"times": 2}, "aa"), ({"text": "b"}, "b")])
def test_a_changed_setting_or_input_starts_afresh(tmp_path, change, made):
    run_step(make_step(tmp_path), tmp_path)
    step = make_step(tmp_path, **change)
    assert find_state(step, tmp_path) == "changed"
    run_step(step, tmp_path)
    assert (tmp_path / "stage" / "one" / "out.txt").read_text() == made
    assert find_state(step, tmp_path) == "done"


def test_a_growing_setting_keeps_what_is_there(tmp_path):
    run_step(make_step(tmp_path), tmp_path)
    step = make_step(tmp_path, seeds=2)
    assert find_state(step, tmp_path) == "unfinished"
    run_step(step, tmp_path)
    assert (tmp_path / "stage" / "one" / "out.txt").read_text() == "aa"


def test_what_was_cut_off_goes_on_and_with_other_settings_does_not(tmp_path):
    def fail(folder):
        (folder / "out.txt").write_text("half ")
        raise KeyboardInterrupt

    step = make_step(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_step(Step(**{**vars(step), "work": fail}), tmp_path)
    assert find_state(step, tmp_path) == "unfinished"
    assert find_state(make_step(tmp_path, times=3), tmp_path) == "changed"
    run_step(make_step(tmp_path), tmp_path)
    assert (tmp_path / "stage" / "one" / "out.txt").read_text() == "half a"


def test_a_product_that_was_touched_or_lost_is_made_again(tmp_path):
    step = make_step(tmp_path)
    run_step(step, tmp_path)
    out = tmp_path / "stage" / "one" / "out.txt"
    for damage in (lambda: out.write_text("other"), out.unlink):
        damage()
        assert find_state(step, tmp_path) == "changed"
        run_step(step, tmp_path)
        assert out.read_text() == "a"
        assert find_state(step, tmp_path) == "done"


def test_nothing_of_others_is_removed(tmp_path):
    (tmp_path / "stage" / "one").mkdir(parents=True)
    (tmp_path / "stage" / "one" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="not empty and not a step of a run; choose another"):
        run_step(make_step(tmp_path), tmp_path)
    assert (tmp_path / "stage" / "one" / "thesis.txt").read_text() == "years of work"


def test_clearing_that_was_cut_off_is_done_again(tmp_path):
    step = make_step(tmp_path, times=2)
    folder = tmp_path / "stage" / "one"
    folder.mkdir(parents=True)
    (folder / ".run.json.begun").write_text('{"clearing": true}')
    (folder / "out.txt").write_text("of other settings")
    assert find_state(step, tmp_path) == "changed"
    run_step(step, tmp_path)
    assert (folder / "out.txt").read_text() == "aa"


def test_a_folder_hashes_by_names_and_contents(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "x").write_text("1")
    assert hash_path(first) == hash_path(second)
    (second / "deep" / "x").rename(second / "deep" / "y")
    assert hash_path(first) != hash_path(second)
