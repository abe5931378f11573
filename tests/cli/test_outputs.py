"""What a command writes to: never an input, never a file of somebody else."""

import stat
from pathlib import Path

import numpy as np
import pytest

from numerate.extract.corpus import open_corpus
from numerate.extract.counts import Counts
from numerate.fit.anchors import AnchorSet
from numerate.prime.primed_corpus import prime_corpus

TEXT = "In 1999 some 12,345 people paid $5.\nIn 2000, 7 of 9.\n"


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(TEXT)
    Path("notes.txt").write_text("my notes")
    Counts(dict.fromkeys(range(1, 300), 1), documents=1, words=1).save(Path("counts.json"))
    return tmp_path


def refuse(run, file, *arguments):
    """Run a command that must be refused in one line and leave a file as it is."""
    before = Path(file).read_bytes()
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert Path(file).read_bytes() == before
    return err


PROBE = ("probe", "control:oracle", "--counts", "counts.json", "--seeds", 1, "--out")
FIT = ("fit", "counts.json", "--components", 3, "--out")


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("a.txt", ("extract", "a.txt", "--out", "a.txt")),
        ("notes.txt", ("extract", "a.txt", "--out", "notes.txt")),
        ("counts.json", (*FIT, "counts.json")),
        ("notes.txt", (*FIT, "notes.txt")),
        ("notes.txt", ("fit", "counts.json", "--sweep", "2,3", "--out", "notes.txt")),
        ("counts.json", (*FIT, "anchors.json", "--plot", "counts.json")),
        ("notes.txt", (*PROBE, "notes.txt")),
        ("counts.json", (*PROBE, "counts.json")),
    ],
)
def test_a_file_of_somebody_else_is_refused(run, work, file, command):
    refuse(run, file, *command)


def test_a_picture_and_vectors_replace_only_their_kind(run, work, tiny_models):
    Path("x.svg").write_text("not a picture")
    refuse(run, "x.svg", *FIT, "anchors.json", "--plot", "x.svg")
    np.savez("x.npz", inputs_of_mine=np.arange(3))
    embed = ("embed", tiny_models("bert"), 5, "--out")
    assert "numerate has not made it" in refuse(run, "x.npz", *embed, "x.npz")
    assert [run(*embed, "y.npz")[0] for _ in range(2)] == [0, 0]


def test_what_numerate_has_written_is_written_again(run, work):
    Path("empty.json").touch()
    for out in ("c.json", "c.json", "empty.json"):
        assert run("extract", "a.txt", "--out", out, "--quiet") == (0, "", "")
    for _ in range(2):
        assert run(*FIT, "l.json", "--plot", "l.svg", "--quiet") == (0, "", "")


def test_a_link_to_an_input_is_that_input(run, work):
    Path("link").symlink_to("a.txt")
    refuse(run, "a.txt", "extract", "a.txt", "--out", "link")


def test_a_link_is_written_through_and_one_to_nothing_refused(run, work):
    Path("c.json").symlink_to("real.json")
    code, _, err = run("extract", "a.txt", "--out", "c.json")
    assert (code, err) == (
        2,
        "numerate: c.json: a link to nothing; remove it, or choose another file to write\n",
    )
    Path("real.json").touch()
    assert run("extract", "a.txt", "--out", "c.json", "--quiet") == (0, "", "")
    assert Path("c.json").is_symlink()
    assert Counts.load(Path("real.json")).numerals == 6


def test_devices_stay_devices(run, work):
    assert run("extract", "a.txt", "--out", "/dev/null", "--quiet") == (0, "", "")
    assert run(*PROBE, "/dev/null", "--tasks", "geometry", "--quiet")[0] == 0
    code, _, err = run("extract", "a.txt", "--out", "/dev/full")
    assert (code, err) == (2, "numerate: /dev/full: No space left on device\n")
    for name in ("null", "full"):
        assert stat.S_ISCHR(Path("/dev", name).stat().st_mode)


def test_a_folder_is_named_as_it_was_given(run, work):
    Path("folder").mkdir()
    for command in (("extract", "a.txt", "--out"), FIT, PROBE):
        code, _, err = run(*command, "folder")
        assert (code, err) == (2, "numerate: folder: a folder; the output must be a file\n")


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (("extract", "a.txt", "--out"), "a.txt/c.json"),
        (FIT, "a.txt/new/x.json"),
        ((*FIT, "x.json", "--plot"), "a.txt/x.svg"),
        (PROBE, "a.txt/s.jsonl"),
        (("prime", "a.txt", "--anchors", "anchors.json", "--out"), "a.txt/p"),
        (("prime", "primed", "--undo", "--out"), "a.txt/back"),
    ],
)
def test_a_place_below_a_file_is_refused_before_any_work(run, work, command, place):
    anchors = AnchorSet("ln", (10, 86))
    anchors.save(Path("anchors.json"))
    prime_corpus(open_corpus(["a.txt"]), anchors, "primed")
    before = sorted(work.rglob("*"))
    code, out, err = run(*command, place)
    told = f"numerate: {place}: a.txt is a file, not a folder; choose another --out\n"
    assert (code, out, err) == (2, "", told)
    assert sorted(work.rglob("*")) == before


def test_a_corpus_is_not_primed_into_itself(run, work):
    Path("texts").mkdir()
    Path("a.txt").rename("texts/a.txt")
    AnchorSet("ln", (10, 86)).save(Path("anchors.json"))
    prime = ("prime", "texts", "--anchors", "anchors.json", "--workers", 1, "--out")
    for out in ("texts", "texts/primed", "texts/../texts/new/primed"):
        code, _, err = run(*prime, out)
        told = f"numerate: {out}: inside the corpus texts; choose another --out\n"
        assert (code, err) == (2, told)
    assert [*Path("texts").iterdir()] == [Path("texts/a.txt")]
    assert run(*prime, "texts-primed", "--quiet") == (0, "", "")


def test_vectors_are_kept_in_a_folder(run, work):
    told = refuse(run, "notes.txt", *PROBE, "s.jsonl", "--cache", "notes.txt")
    assert told == "numerate: --cache must be a folder, got a file, notes.txt\n"
    Path("s.vectors").write_text("mine")
    assert "--cache must be a folder" in refuse(run, "s.vectors", *PROBE, "s.jsonl")
    assert not Path("s.jsonl").exists()


def test_a_picture_does_not_replace_the_anchors_beside_it(run, work):
    before = sorted(work.iterdir())
    code, out, err = run(*FIT, "x.svg", "--plot", "x.svg")
    told = "numerate: --out and --plot must be two files, got x.svg for both\n"
    assert (code, out, err) == (2, "", told)
    assert sorted(work.iterdir()) == before


def test_a_run_does_not_overwrite_the_config_of_a_model(run, work, tiny_models):
    import shutil

    shutil.copytree(tiny_models("bert"), "model")
    refuse(run, "model/config.json", "run", "demo", "--out", "model", "--set", "corpus=['a.txt']")
    assert not Path("model/extract").exists()


def test_probing_against_a_system_that_is_not_there_leaves_nothing(run, work):
    before = sorted(work.iterdir())
    code, _, err = run(*PROBE, "s.jsonl", "--against", "nosuch")
    assert (code, err) == (2, "numerate: --against must be among control:oracle, got 'nosuch'\n")
    assert sorted(work.iterdir()) == before


def test_word_vectors_without_any_numeral_are_named_and_leave_nothing(run, work):
    Path("v.txt").write_text("the 1 2\nof 3 4\n")
    before = sorted(work.iterdir())
    code, _, err = run("probe", "vectors:v.txt", "--tasks", "geometry", "--out", "s.jsonl", "-q")
    told = "numerate: vectors:v.txt: has no vector of any numeral asked for\n"
    assert (code, err) == (2, told)
    assert sorted(work.iterdir()) == before
