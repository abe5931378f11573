import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numerate import locks
from numerate.errors import InputError
from numerate.extract import sources
from numerate.extract.corpus import open_corpus
from numerate.fit.anchors import AnchorSet
from numerate.prime.primed_corpus import open_primed, prime_corpus, unprime_corpus
from numerate.prime.text import prime_text

LN = AnchorSet("ln", tuple(range(10, 241)))
LINES = [f"line {n} of {n * n:,} in {1900 + n % 100}: Zoë\r" for n in range(1, 400)]
TEXT = "\n".join(["", *LINES, "", "no final newline 5"])
ENWIK8 = Path(__file__).parents[3] / "shared" / "corpora" / "enwik8.txt.xz"


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "in" / "a.txt"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8", newline="")
    return path


def files_of(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    ("anchors", "marker"),
    [(LN, "anc"), (LN, "lr"), (AnchorSet("log10", tuple(range(11))), "exp")],
)
def test_a_corpus_comes_back_byte_for_byte(
    text_file, tmp_path, monkeypatch, workers, anchors, marker
):
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1000)
    corpus = open_corpus([str(text_file)])
    primed = prime_corpus(corpus, anchors, tmp_path / "out", marker=marker, workers=workers)
    assert len(primed.manifest["shards"]) > 10
    (back,) = unprime_corpus(primed, tmp_path / "back")
    assert back.name == "a.txt"
    assert back.read_bytes() == text_file.read_bytes()


def test_the_documents_are_those_that_priming_each_would_give(text_file, tmp_path):
    records = ["two\nlines 5", "", "12,345 <b>", "none", "\u2028 7 \x00"]
    (text_file.parent / "b.jsonl").write_text("\n".join(json.dumps({"text": r}) for r in records))
    primed = prime_corpus(open_corpus([str(text_file.parent)]), LN, tmp_path / "out")
    lines = [line for line in TEXT.split("\n") if line.strip()]
    expected = [prime_text(text, LN).text for text in [*lines, *records]]
    assert list(primed.documents()) == expected
    assert primed.manifest["documents"] == len(expected)
    assert primed.manifest["numerals"] == sum(text.count("<ANC>") for text in expected)
    assert [path.name for path in unprime_corpus(primed, tmp_path / "back")] == ["a.txt", "b.jsonl"]
    back = (tmp_path / "back" / "b.jsonl").read_text().split("\n")
    assert [json.loads(line)["text"] for line in back[:-1]] == records


def test_workers_do_not_change_the_bytes(text_file, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1000)
    corpus = open_corpus([str(text_file)])
    for workers in (1, 2, 3):
        prime_corpus(corpus, LN, tmp_path / f"out{workers}", workers=workers)
    assert files_of(tmp_path / "out1") == files_of(tmp_path / "out2") == files_of(tmp_path / "out3")


def test_what_is_done_is_not_done_again(text_file, tmp_path):
    corpus = open_corpus([str(text_file)])
    prime_corpus(corpus, LN, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    prime_corpus(corpus, LN, tmp_path / "out")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before


def test_a_folder_with_something_else_is_left_alone(text_file, tmp_path):
    corpus = open_corpus([str(text_file)])
    prime_corpus(corpus, LN, tmp_path / "out")
    with pytest.raises(InputError, match="a primed corpus with other settings"):
        prime_corpus(corpus, LN, tmp_path / "out", marker="lr")
    with pytest.raises(InputError, match="not empty and not a primed corpus"):
        prime_corpus(corpus, LN, text_file.parent)
    with pytest.raises(InputError, match="a file, not a folder"):
        prime_corpus(corpus, LN, text_file)
    primed = open_primed(tmp_path / "out")
    with pytest.raises(InputError, match="exists already"):
        unprime_corpus(primed, text_file.parent)


def test_the_second_of_two_primings_in_one_folder_is_refused(text_file, tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0)
    corpus, refused = open_corpus([str(text_file)]), []

    def prime_again(_):
        locks._held.clear()  # as in another process
        with pytest.raises(InputError, match="is writing it; wait until it has ended") as told:
            prime_corpus(corpus, LN, tmp_path / "out")
        refused.append(str(told.value))

    primed = prime_corpus(corpus, LN, tmp_path / "out", progress=prime_again)
    assert f"process {os.getpid()} " in refused[0]
    assert "".join(primed.documents())


def test_a_failed_run_leaves_nothing_behind(text_file, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1000)
    text_file.write_text(TEXT + "\na stray <LA> here", encoding="utf-8", newline="")
    line = TEXT.count("\n") + 2
    with pytest.raises(InputError, match=rf"a\.txt, line {line}: holds a marker already"):
        prime_corpus(open_corpus([str(text_file)]), LN, tmp_path / "out", workers=2)
    assert not (tmp_path / "out").exists()
    text_file.write_text("nothing to count")
    with pytest.raises(InputError, match="no numerals of the domain 'integers'"):
        prime_corpus(open_corpus([str(text_file)]), LN, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_changed_shard_is_noticed(text_file, tmp_path):
    primed = prime_corpus(open_corpus([str(text_file)]), LN, tmp_path / "out")
    shard = tmp_path / "out" / "shard-00000.txt"
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"shard-00000\.txt: missing or changed"):
        list(primed.documents())


def test_a_folder_that_is_not_primed_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file; make it with 'numerate prime'"):
        open_primed(tmp_path)


def kill_and_go_on(command, folder, moments):
    """Start a command, kill it at each of the moments, and let it end at last."""
    killed = 0
    for moment in moments:
        process = subprocess.Popen(command, start_new_session=True)
        time.sleep(moment)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
        process.wait()
        if (folder / "manifest.json").exists():
            break
    subprocess.run(command, check=True)
    return killed


def check_killed_runs(corpus, tmp_path, moments, n_runs, workers):
    LN.save(tmp_path / "anchors.json")
    command = [sys.executable, "-c", "from numerate.cli import main; main()", "prime", str(corpus)]
    command += ["--anchors", str(tmp_path / "anchors.json"), "--quiet", "--workers", str(workers)]
    subprocess.run([*command, "--out", str(tmp_path / "whole")], check=True)
    expected = files_of(tmp_path / "whole")
    killed = 0
    for run in range(n_runs):
        folder = tmp_path / f"killed{run}"
        killed += kill_and_go_on([*command, "--out", str(folder)], folder, moments(run))
        assert files_of(folder) == expected
    assert killed


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path, workers):
    corpus = tmp_path / "a.txt"
    corpus.write_text((TEXT + "\n") * 400, encoding="utf-8")
    rng = random.Random(workers)
    check_killed_runs(
        corpus, tmp_path, lambda run: [rng.uniform(0.3, 0.9) for _ in range(2)], 2, workers
    )


@pytest.mark.slow
@pytest.mark.skipif(not ENWIK8.exists(), reason="needs the corpora beside the repository")
@pytest.mark.parametrize("workers", [1, 2])
def test_priming_enwik8_can_be_killed_at_any_moment(tmp_path, workers):
    rng = random.Random(workers)
    check_killed_runs(
        ENWIK8, tmp_path, lambda run: [rng.uniform(0.2, 2.5) for _ in range(5)], 4, workers
    )


def test_an_interrupted_undo_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("in 1999\n")
    primed = prime_corpus(
        open_corpus([str(tmp_path / "a.txt")]), AnchorSet("ln", (86,)), tmp_path / "primed"
    )

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        unprime_corpus(primed, tmp_path / "back", progress=interrupt)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "primed"]


@pytest.mark.parametrize(
    "change",
    [
        {"shards": None},
        {"shards": {"name": 5}},
        {"settings": []},
        {"bytes": "many"},
        {"settings": {"marker": "x", "numeral_form": "as-is", "sources": []}},
        {"shards": [{"name": "shard-00000.txt"}]},
    ],
)
def test_a_damaged_manifest_is_one_line(text_file, tmp_path, change):
    prime_corpus(open_corpus([str(text_file)]), LN, tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **change}))
    with pytest.raises(InputError, match=r"manifest.json: a damaged manifest; prime the corpus"):
        open_primed(tmp_path / "out")
