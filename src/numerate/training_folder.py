"""The folder of a training run: whether it is done, was cut off, or is something else.

A run works in `unfinished/`, where its plan and its checkpoints are; `run.json` is written last.
"""

import json
import logging
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate import __version__
from numerate.corpus import process_rank
from numerate.errors import InputError
from numerate.files import write_file, write_json

if TYPE_CHECKING:
    from numerate.training import PacedTrainer

logger = logging.getLogger(__name__)
WORK, _PLAN, RUN = "unfinished", "plan.json", "run.json"


def is_begun(folder: Path) -> bool:
    """Return whether a folder holds a run, done or unfinished, that can be gone on with."""
    return (folder / RUN).exists() or (folder / WORK / _PLAN).exists()


def begin_run(folder: Path, settings: dict[str, Any]) -> None:
    """Say in a folder what run works there."""
    if process_rank() == 0:
        write_json(folder / WORK / _PLAN, settings)


def find_done(folder: Path, settings: dict[str, Any], resume: bool) -> dict[str, Any] | None:
    """Return what `run.json` says if this very run is done; raises if something else is there."""
    run, plan = folder / RUN, folder / WORK / _PLAN
    if run.exists():
        done = json.loads(run.read_bytes())
        if done.get("config") == settings:
            return dict(done)
        raise InputError(f"{folder}: holds a model trained in another way; choose another folder")
    if process_rank() > 0:  # the first process looks for all, and has perhaps begun
        return None
    if plan.exists():
        if json.loads(plan.read_bytes()) != settings:
            raise InputError(f"{folder}: holds a run with other settings; choose another folder")
        if not resume:
            raise InputError(
                f"{folder}: holds an unfinished run; go on with --resume, or remove it"
            )
    elif folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: not empty and not a run; choose another folder")
    return None


def make_plain(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document as it comes back from JSON."""
    return dict(json.loads(json.dumps(document)))


def find_start(folder: Path, trainer: "PacedTrainer") -> Path | None:
    """Return the checkpoint to go on from, if any; the clock and the count of tokens go on."""
    from numerate.training import find_checkpoint

    found = find_checkpoint(folder)
    if found is None:
        logger.warning("%s: no whole checkpoint yet, starting from the beginning", folder)
        return None
    checkpoint, trainer.pace.elapsed_before, trainer.tokens_seen = found
    return checkpoint


def judge_start(folder: Path, trainer: "PacedTrainer") -> dict[str, float]:
    """Return the validation before the first step, from the run that began if this one goes on."""
    kept = folder / "start.json"
    if not kept.exists():
        start = trainer.evaluate()
        if process_rank() == 0:
            write_json(kept, start)
        return start
    return dict(json.loads(kept.read_bytes()))


def describe_training(trainer: "PacedTrainer") -> dict[str, Any]:
    """Return what `run.json` says of any training: how much of it there was, and with what."""
    return {
        "versions": _versions(),
        "steps": trainer.state.global_step,
        "tokens": trainer.tokens_seen,
        "seconds_training": trainer.pace.elapsed,
    }


def finish_run(trainer: "PacedTrainer", folder: Path, result: Mapping[str, Any], card: str) -> None:
    """Write curve, card and, last, `run.json`; then remove what was only needed to go on."""
    from numerate.figures import draw_curve

    curve = [{"step": 0, **result["validation"]["start"]}]
    curve += [entry for entry in trainer.state.log_history if "train_runtime" not in entry]
    write_json(folder / "curve.json", {"format": "numerate-curve", "version": 1, "entries": curve})
    draw_curve(curve, folder / "curve.png")
    write_file(folder / "README.md", card.encode())
    write_json(folder / RUN, result)
    shutil.rmtree(folder / WORK)


def _versions() -> dict[str, str]:
    import torch
    import transformers

    return {
        "numerate": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
