"""Training in two processes: which documents each of them sees."""

import json
import os
import signal
import subprocess
from collections import Counter

import pytest

from numerate.extract.corpus import open_corpus
from numerate.fit.anchors import AnchorSet
from numerate.prime.primed_corpus import prime_corpus
from tests.pretraining import assert_same_weights, command_for, find_step, wait_for_step, weights_of

# Runs the command line, and notes which rows of the training this process reads, and their tokens.
RECORDER = """
import json, os, sys
from numerate.pretrain.batches import PlannedRows

read = PlannedRows.__getitem__
name = f"{os.environ['NOTES']}-{os.environ['RANK']}"
with open(f"{name}.pid", "w") as file:
    file.write(str(os.getpid()))

def read_and_note(self, index):
    row = read(self, index)
    [sequence] = row[1]
    with open(f"{name}.jsonl", "a") as file:
        file.write(json.dumps([index, sequence.ids.tolist()]) + "\\n")
    return row

PlannedRows.__getitem__ = read_and_note
sys.argv[0] = "numerate"
from numerate.cli import main
main()
"""
N_DOCUMENTS, N_HELD_OUT, ROWS_PER_STEP = 37, 1, 4
N_EPOCH = N_DOCUMENTS - N_HELD_OUT  # each document is a row of its own


@pytest.fixture
def long_documents(tmp_path):
    words = "the town of some people and a year in the line is about " * 2
    path = tmp_path / "text.txt"
    path.write_text("\n".join(f"{words}{1000 + n}" for n in range(N_DOCUMENTS)))
    anchors = AnchorSet("ln", tuple(range(10, 241)))
    return prime_corpus(open_corpus([str(path)]), anchors, tmp_path / "primed")


def read_notes(path):
    """Return what a process read: pairs of a row's index and its tokens."""
    return [(index, tuple(ids)) for index, ids in map(json.loads, path.read_text().splitlines())]


def test_each_document_is_seen_once_an_epoch_by_one_process_though_it_was_killed(
    tiny_models, long_documents, tmp_path
):
    script = tmp_path / "record.py"
    script.write_text(RECORDER)
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29877"]

    def make_command(name, *more):
        options = ["--epochs", "2", "--batch-size", "2"]
        options += ["--checkpoint-minutes", "0", *more]
        command = command_for(
            tiny_models("bert"), long_documents.folder, tmp_path / name, *options, launcher=launcher
        )
        place = command.index("-m", 2)  # of `-m numerate`
        return [*command[:place], str(script), *command[place + 2 :]]

    def settings(notes):
        return {**os.environ, "OMP_NUM_THREADS": "1", "NOTES": str(tmp_path / notes)}

    subprocess.run(make_command("whole"), check=True, env=settings("whole"))
    work = tmp_path / "killed" / "unfinished"
    process = subprocess.Popen(make_command("killed"), env=settings("before"))
    wait_for_step(process, work, 4)  # of 9 in an epoch
    process.kill()
    for rank in range(2):  # whose sessions are their own
        os.kill(int((tmp_path / f"before-{rank}.pid").read_text()), signal.SIGKILL)
    process.wait()
    kept = ROWS_PER_STEP * find_step(work)
    assert 0 < kept < 2 * N_EPOCH
    subprocess.run(make_command("killed", "--resume"), check=True, env=settings("after"))

    seen = []
    for rank in range(2):
        before, after = (
            read_notes(tmp_path / f"{name}-{rank}.jsonl") for name in ("before", "after")
        )
        assert min(index for index, _ in after) >= kept
        seen.append([(index, ids) for index, ids in before if index < kept] + after)
        assert seen[-1] == read_notes(tmp_path / f"whole-{rank}.jsonl")
    for epoch in range(2):
        own = [Counter(ids for index, ids in one if index // N_EPOCH == epoch) for one in seen]
        assert not own[0].keys() & own[1].keys()
        assert len(own[0] + own[1]) == N_EPOCH
        assert set((own[0] + own[1]).values()) == {1}
    assert_same_weights(weights_of(tmp_path / "whole"), weights_of(tmp_path / "killed"))
    tokens = [
        json.loads((tmp_path / name / "run.json").read_text())["tokens"]
        for name in ("whole", "killed")
    ]
    assert tokens[0] == tokens[1] == sum(len(ids) for one in seen for _, ids in one)
