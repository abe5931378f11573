"""The folder of a training run: whether it is done, was cut off, or is something else.

A run works in `unfinished/`, where its plan and its checkpoints are; `run.json` is written last.
"""

import json
import logging
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate import __version__
from numerate.errors import InputError
from numerate.files import write_file, write_json
from numerate.parallel import process_rank

if TYPE_CHECKING:
    from numerate.pretrain.trainer import PacedTrainer

logger = logging.getLogger(__name__)
WORK, _PLAN, RUN, _SEAL = "unfinished", "plan.json", "run.json", "complete.json"


def is_begun(folder: Path) -> bool:
    """Return whether a folder holds a run, done or unfinished, that can be gone on with."""
    return (folder / RUN).exists() or (folder / WORK / _PLAN).exists()


@contextmanager
def begin_run(folder: Path, settings: dict[str, Any], *, resume: bool) -> Iterator[None]:
    """Say in a folder what run works there; what goes wrong before its first step leaves nothing.

    Enclose what prepares the trainer.
    """
    if process_rank() == 0:
        write_json(folder / WORK / _PLAN, settings)
    try:
        yield
    except InputError:
        if not resume:
            shutil.rmtree(folder / WORK, ignore_errors=True)
        raise


def train_from(folder: Path, trainer: "PacedTrainer", *, resume: bool) -> dict[str, float]:
    """Train, from the last checkpoint if asked; return the validation before the first step."""
    start = _judge_start(folder / WORK, trainer)
    checkpoint = _find_start(folder / WORK, trainer) if resume else None
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return start


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


def _find_start(folder: Path, trainer: "PacedTrainer") -> Path | None:
    """Return the checkpoint to go on from, if any; the clock and the count of tokens go on."""
    found = find_checkpoint(folder)
    if found is None:
        logger.warning("%s: no whole checkpoint yet, starting from the beginning", folder)
        return None
    checkpoint, trainer.pace.elapsed_before, trainer.tokens_seen = found
    return checkpoint


def _judge_start(folder: Path, trainer: "PacedTrainer") -> dict[str, float]:
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
    from numerate.report.draw import draw_curve

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


def seal_checkpoint(folder: Path, elapsed: float, tokens: int) -> None:
    """Write the file that says that a checkpoint is whole, with the sizes of the others."""
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    write_json(folder / _SEAL, {"elapsed": elapsed, "tokens": tokens, "files": sizes})


def find_checkpoint(folder: Path) -> tuple[Path, float, int] | None:
    """Return the last whole checkpoint with the seconds and tokens behind it; None without any.

    A checkpoint that was cut off while it was written is removed. One that was whole once and is
    damaged now is passed over, and told.
    """
    steps = sorted(
        (int(path.name.split("-")[1]) for path in folder.glob("checkpoint-*")), reverse=True
    )
    for step in steps:
        path = folder / f"checkpoint-{step}"
        if not (path / _SEAL).exists():
            shutil.rmtree(path)
            continue
        seal = json.loads((path / _SEAL).read_bytes())
        whole = (path / name for name in seal["files"])
        if all(
            file.is_file() and file.stat().st_size == seal["files"][file.name] for file in whole
        ):
            return path, float(seal["elapsed"]), int(seal["tokens"])
        logger.warning("%s: damaged, going back to the checkpoint before it", path)
    return None
