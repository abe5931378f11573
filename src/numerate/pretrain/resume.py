"""The checkpoints of a training: which are complete, and which one to resume from.

They are in `unfinished/`, beside what else a resumed training should not compute again.
"""

import json
import logging
import shutil
from pathlib import Path
from typing import NamedTuple

from numerate.files import write_json

logger = logging.getLogger(__name__)
WORK = "unfinished"
_COMPLETE = "complete.json"


class Checkpoint(NamedTuple):
    """The folder of a complete checkpoint, with the seconds and the tokens of training so far."""

    path: Path
    elapsed: float
    tokens: int


def complete_checkpoint(folder: Path, elapsed: float, tokens: int) -> None:
    """Mark a checkpoint as complete: write a last file, with the sizes of all others."""
    record = {"elapsed": elapsed, "tokens": tokens, "files": _measure_files(folder)}
    write_json(folder / _COMPLETE, record)


def find_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the last complete checkpoint, or None; damaged ones are skipped with a warning."""
    for path in _list_checkpoints(folder):
        if not (path / _COMPLETE).exists():
            continue
        try:
            record = json.loads((path / _COMPLETE).read_bytes())
            if record["files"].items() <= _measure_files(path).items():
                return Checkpoint(path, float(record["elapsed"]), int(record["tokens"]))
        except (AttributeError, KeyError, TypeError, ValueError):
            pass
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


def _measure_files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
