"""The files of a training folder that say whether the training is done, was cut off, or is other.

A training works in `unfinished/`, which holds its settings and its checkpoints. `run.json` is
written last: a folder with it is done.
"""

import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from numerate.errors import InputError
from numerate.files import write_json
from numerate.parallel import process_rank

logger = logging.getLogger(__name__)
WORK, RUN = "unfinished", "run.json"
_PLAN, _COMPLETE = "plan.json", "complete.json"


class Checkpoint(NamedTuple):
    """The folder of a complete checkpoint, with the seconds and the tokens of training so far."""

    path: Path
    elapsed: float
    tokens: int


def is_begun(folder: Path) -> bool:
    """Return whether a folder holds a training that is done or can be resumed."""
    return (folder / RUN).exists() or (folder / WORK / _PLAN).exists()


def find_done(folder: Path, settings: dict[str, Any], *, resume: bool) -> dict[str, Any] | None:
    """Return `run.json` if this training is done, or None if it may start or resume in the folder.

    Raises InputError if the folder holds anything else, or a training to resume without `resume`.
    """
    run, plan = folder / RUN, folder / WORK / _PLAN
    if run.exists():
        done = json.loads(run.read_bytes())
        if done.get("config") == settings:
            return dict(done)
        raise InputError(f"{folder}: holds a model trained in another way; choose another folder")
    if process_rank() > 0:  # the first process checks for all, and may have begun already
        return None
    if plan.exists():
        if json.loads(plan.read_bytes()) != settings:
            raise InputError(f"{folder}: holds a run with other settings; choose another folder")
        if not resume:
            raise InputError(
                f"{folder}: holds an unfinished run; continue it with --resume, or remove it"
            )
    elif folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: not empty and not a run; choose another folder")
    return None


@contextmanager
def begin_run(folder: Path, settings: dict[str, Any], *, resume: bool) -> Iterator[None]:
    """Write `unfinished/plan.json`, then run the enclosed block, which builds the trainer.

    If the block raises InputError, `unfinished/` is removed again, unless this is a resume.
    """
    if process_rank() == 0:
        write_json(folder / WORK / _PLAN, settings)
    try:
        yield
    except InputError:
        if not resume:
            shutil.rmtree(folder / WORK, ignore_errors=True)
        raise


def complete_checkpoint(folder: Path, elapsed: float, tokens: int) -> None:
    """Mark a checkpoint as complete: write a last file, with the sizes of all others."""
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    write_json(folder / _COMPLETE, {"elapsed": elapsed, "tokens": tokens, "files": sizes})


def find_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the last complete checkpoint, or None; damaged ones are skipped with a warning."""
    for path in _list_checkpoints(folder):
        if not (path / _COMPLETE).exists():
            continue
        record = json.loads((path / _COMPLETE).read_bytes())
        if all(_has_size(path / name, size) for name, size in record["files"].items()):
            return Checkpoint(path, float(record["elapsed"]), int(record["tokens"]))
        logger.warning("%s: damaged, resuming from the checkpoint before it", path)
    return None


def remove_incomplete(folder: Path) -> None:
    """Remove the checkpoints that were cut off while they were written."""
    for path in _list_checkpoints(folder):
        if not (path / _COMPLETE).exists():
            shutil.rmtree(path)


def _list_checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints of a folder, the last one first."""
    return sorted(
        folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True
    )


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
