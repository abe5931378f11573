"""Standard streams that are closed, or not in UTF-8."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

TEXT = "In 1999 some 12,345 people paid $5 – 7.\n"


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path


def shell(line, **environment):
    command = line.replace("numerate", f"{sys.executable} -m numerate")
    return subprocess.run(
        ["/bin/bash", "-c", command],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_tables_are_ascii_where_the_terminal_is(work):
    done = shell("numerate extract a.txt --out c.json", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"distinct numerals" in done.stdout
    assert done.stdout.isascii()


def test_closed_streams_are_empty_ones(work):
    done = shell("numerate extract a.txt --out c.json >&- && numerate extract - --out d.json <&-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"numerate: -: the corpus is empty\n"
    assert (work / "c.json").exists()


def test_a_pipe_is_a_corpus_and_an_empty_name_is_none(work, run):
    done = shell("numerate extract <(cat a.txt) --out c.json -q")
    assert (done.returncode, done.stderr) == (0, b"")
    code, _, err = run("extract", "", "--out", "d.json")
    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "pipe", "--out", "x.json"),
        ("prime", "a.txt", "--anchors", "pipe", "--out", "x"),
        ("run", "pipe"),
    ],
)
def test_a_pipe_in_place_of_a_file_of_ours_is_not_waited_for(work, run, command):
    os.mkfifo("pipe")
    code, _, err = run(*command)
    told = "numerate: pipe: a pipe, not a file; write its content to a file first\n"
    assert (code, err) == (2, told)


def test_a_name_that_is_not_utf_8_is_kept(work, run):
    name = os.fsdecode(b"\xff.txt")
    Path("a.txt").rename(name)
    code, _, err = run("extract", name, "--out", "c.json")
    assert (code, err) == (0, "")
    from numerate import Counts

    assert Counts.load(work / "c.json").sources == (name,)


def test_an_interrupt_says_that_the_command_continues(work):
    process = subprocess.Popen(
        [sys.executable, "-m", "numerate", "extract", "-", "--out", "c.json"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Tests that run in the background of a shell ignore interrupts, and so would this.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    process.stdin.write(b"in 1999 and\n")
    process.stdin.flush()
    syscall = Path(f"/proc/{process.pid}/syscall")
    while not syscall.read_text().startswith("0 0x0 "):  # until it reads its standard input
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.endswith(b"numerate: interrupted; the same command continues\n")
