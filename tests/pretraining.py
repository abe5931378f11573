"""Pre-training in tests: settings that take seconds, the command line, weights and checkpoints."""

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_file

from numerate.pretrain.config import PretrainConfig

# In fp32, whatever the processor is fast at: most of these tests ask for exactness. Those on bf16
# ask for it by name, or force what `auto` finds by `NUMERATE_BF16`.
QUICK = {
    "precision": "fp32",
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
    return [*start, "--precision", "fp32", "--learning-rate", "3e-3", *options]


def find_step(work):
    return max(
        (int(path.parent.name.split("-")[1]) for path in work.glob("*/complete.json")), default=0
    )


def wait_for_step(process, work, step):
    """Wait for a checkpoint, however slow the machine is; a run that ends before it has failed."""
    while find_step(work) < step:
        assert process.poll() is None, f"the run ended before step {step}"
        time.sleep(0.02)


def use_fake_clock(monkeypatch, tick):
    """Let the clock of training move by `tick` seconds whenever it is read, and by nothing else."""
    from numerate.pretrain import pace, trainer

    clock = SimpleNamespace(now=0.0)

    def monotonic():
        clock.now += tick
        return clock.now

    for module in (pace, trainer):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=monotonic))
    return clock
