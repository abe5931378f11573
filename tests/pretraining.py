"""Pre-training in tests: settings that take seconds, the command line, weights and checkpoints."""

import sys
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

from numerate.pretrain.config import PretrainConfig

QUICK = {
    "epochs": 2,
    "max_length": 48,
    "batch_size": 4,
    "learning_rate": 3e-3,
    "validation_share": 0.1,
}


def quick_config(base, **changes):
    return PretrainConfig(base=str(base), **{**QUICK, **changes})


def weights_of(folder):
    return load_file(Path(folder) / "model.safetensors")


def assert_same_weights(first, second, tolerance=0.0):
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        torch.testing.assert_close(tensor, second[name], rtol=tolerance, atol=tolerance)


def command_for(base, corpus, out, *options, launcher=()):
    start = [sys.executable, *launcher, "-m", "numerate", "pretrain", str(corpus)]
    start += ["--base", str(base), "--out", str(out), "--max-length", "48", "--quiet"]
    return [*start, "--learning-rate", "3e-3", *options]


def find_step(work):
    return max(
        (int(path.parent.name.split("-")[1]) for path in work.glob("*/complete.json")), default=0
    )


def wait_for_step(process, work, step):
    for _ in range(1200):
        if process.poll() is not None or find_step(work) >= step:
            return
        time.sleep(0.05)
