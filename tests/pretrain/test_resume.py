import json
import re
import shutil
import signal
import subprocess

import pytest

from numerate.pretrain.resume import complete_checkpoint, find_checkpoint, remove_incomplete
from tests.pretraining import assert_same_weights, command_for, find_step, wait_for_step, weights_of


@pytest.mark.parametrize("architecture", ["bert", "llama"])
def test_a_killed_run_goes_on_to_the_same_weights(
    architecture, tiny_models, primed_corpora, tmp_path
):
    primed, base = primed_corpora(), tiny_models(architecture)
    options = ["--epochs", "0.3", "--batch-size", "1", "--dropout", "0.1"]
    options += ["--checkpoint-minutes", "0"]  # after every step: no clock decides what is kept
    whole = command_for(base, primed.folder, tmp_path / "whole", *options)
    subprocess.run(whole, check=True)
    killed = command_for(base, primed.folder, tmp_path / "killed", *options)
    work = tmp_path / "killed" / "unfinished"
    n_killed = 0
    for n_seen in (1, 2):  # let it write some checkpoints, then kill it
        process = subprocess.Popen([*killed, *(["--resume"] if n_killed else [])])
        before = find_step(work)
        wait_for_step(process, work, before + n_seen + 1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        n_killed += not (tmp_path / "killed" / "run.json").exists()
    assert n_killed == 2
    refused = subprocess.run(killed, capture_output=True, check=False)
    assert refused.returncode == 2
    assert b"holds an unfinished run; continue it with --resume" in refused.stderr
    subprocess.run([*killed, "--resume"], check=True)
    assert_same_weights(weights_of(tmp_path / "whole"), weights_of(tmp_path / "killed"))
    curves = [
        [
            (entry["step"], entry["loss"])
            for entry in json.loads((tmp_path / name / "curve.json").read_text())["entries"]
            if "loss" in entry
        ]
        for name in ("whole", "killed")
    ]
    assert [step for step, _ in curves[1]] == sorted({step for step, _ in curves[1]})
    assert curves[1][-1] == curves[0][-1]


def test_the_last_complete_checkpoint_is_the_one_to_resume_from(tmp_path, caplog):
    for step in (5, 10, 15):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"x" * 100)
        if step < 15:  # the last one was cut off while it was written
            complete_checkpoint(folder, elapsed=step, tokens=step)
    assert find_checkpoint(tmp_path) == (tmp_path / "checkpoint-10", 10.0, 10)
    assert (tmp_path / "checkpoint-15").exists()  # to find is not to delete
    remove_incomplete(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint-5", "checkpoint-10"}
    (tmp_path / "checkpoint-10" / "model.safetensors").write_bytes(b"x" * 50)
    assert find_checkpoint(tmp_path) == (tmp_path / "checkpoint-5", 5.0, 5)
    assert "checkpoint-10: damaged" in caplog.text
    shutil.rmtree(tmp_path / "checkpoint-5")
    assert find_checkpoint(tmp_path) is None


def test_a_full_disk_is_one_line_and_the_checkpoint_before_stays(
    tiny_models, primed_corpora, tmp_path
):
    # A limit on the size of files stands in for a disk that is full: writing fails half-way.
    options = ["--epochs", "0.3", "--batch-size", "1", "--checkpoint-minutes", "0"]
    out = tmp_path / "out"
    command = command_for(tiny_models("bert"), primed_corpora().folder, out, *options)
    process = subprocess.Popen(command)
    wait_for_step(process, out / "unfinished", 3)
    process.kill()
    process.wait()
    before = find_step(out / "unfinished")
    limited = ["bash", "-c", 'ulimit -f 20; exec "$@"', "bash", *command, "--resume"]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    last = done.stderr.strip().split("\n")[-1]
    assert re.match(
        r"numerate: .*checkpoint-\d+: the checkpoint could not be written .*--resume", last
    )
    assert find_step(out / "unfinished") == before
    subprocess.run([*command, "--resume"], check=True)
    assert (out / "run.json").exists()
