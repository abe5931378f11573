"""Steps: pieces of a run that know what they depend on, so that only what has to be done is.

Each step has a folder `RUN/STAGE/NAME` with its products and, written last, `run.json`: its
settings, the hashes of its inputs and outputs, versions and duration. While it works, a hidden file
beside the folder says for what, so that a step that was cut off goes on, and one whose settings
have changed since starts afresh.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from numerate.errors import InputError
from numerate.files import list_versions, write_json

State = Literal["done", "changed", "unfinished", "new"]
RECORD = "run.json"


@dataclass(frozen=True)
class Step:
    """A piece of work: what it depends on, what it makes, and how.

    Args:
        stage: Which of the stages it belongs to.
        name: Which of the stage's steps it is; empty if there is but one.
        settings: All that its result depends on, but for its inputs.
        inputs: Files and folders by name; text stands for itself.
        outputs: What must be there when it is done, in its folder.
        work: Does it, into the folder; goes on where it was cut off.
        growing: Settings that change how much is made, not what: what is there is kept.
    """

    stage: str
    name: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, Path | str]
    outputs: tuple[str, ...]
    work: Callable[[Path], object]
    growing: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self.stage} {self.name}".strip()

    def folder(self, root: Path) -> Path:
        """Return where it works."""
        return root / self.stage / self.name if self.name else root / self.stage

    def begun(self, root: Path) -> Path:
        """Return the file that says what it works at."""
        folder = self.folder(root)
        return folder.with_name(f".{folder.name}.begun.json")


def judge_step(step: Step, root: Path) -> State:
    """Return whether a step is done, and if not, whether something of it is there."""
    folder = step.folder(root)
    key = _describe_work(step)
    record = _read(folder / RECORD)
    if record is not None:
        same = {name: record.get(name) for name in key} == key
        return "done" if same and record["outputs"] == _hash_outputs(step, folder) else "changed"
    begun = _read(step.begun(root))
    if begun is None:
        return "new"
    return "unfinished" if begun == _without(key, step.growing) else "changed"


def judge_steps(steps: Iterable[Step], root: Path) -> list[State]:
    """Return what is to be done of steps in order; what depends on one that runs, runs too."""
    states: list[State] = []
    folders: list[Path] = []
    for step in steps:
        state = judge_step(step, root)
        inputs = [value for value in step.inputs.values() if isinstance(value, Path)]
        if state == "done" and any(
            path.is_relative_to(folder) for path in inputs for folder in folders
        ):
            state = "changed"
        if state != "done":
            folders.append(step.folder(root))
        states.append(state)
    return states


def run_step(step: Step, root: Path) -> float:
    """Do a step that is not done, and return how many seconds it took."""
    folder = step.folder(root)
    key = _describe_work(step)
    stable = _without(key, step.growing)
    begun = step.begun(root)
    before = _read(folder / RECORD) or _read(begun)
    if before is None and folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: holds something that is no run; choose another --out")
    kept = {name: _without(before or {}, step.growing).get(name) for name in stable} == stable
    if before and not kept:
        write_json(begun, {"clearing": True})  # cut off at any moment, it will be cleared again
        shutil.rmtree(folder, ignore_errors=True)
    write_json(begun, stable)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).unlink(missing_ok=True)
    began = time.monotonic()
    step.work(folder)
    seconds = time.monotonic() - began
    record = {"format": "numerate-step", "version": 1, **key, "versions": list_versions()}
    record |= {
        "outputs": _hash_outputs(step, folder),
        "seconds": seconds,
        "continued": bool(before),
    }
    write_json(folder / RECORD, record)
    begun.unlink()
    return seconds


def hash_path(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all in a folder."""
    if path.is_dir():
        names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*"))
        parts = [f"{name} {hash_path(path / name)}" for name in names if (path / name).is_file()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    status = path.stat()
    return _hash_file(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _hash_file(path: Path, size: int, modified: int) -> str:
    """Of a file as it is at that size and time: weights are hashed once, not for every step."""
    del size, modified
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _describe_work(step: Step) -> dict[str, Any]:
    """All that a step's result depends on, as it comes back from JSON."""
    inputs = {name: _hash_input(value) for name, value in step.inputs.items()}
    key = {"stage": step.stage, "name": step.name, "settings": step.settings, "inputs": inputs}
    return dict(json.loads(json.dumps(key)))


def _hash_input(value: Path | str) -> str | None:
    if isinstance(value, str):
        return value
    return hash_path(value) if value.exists() else None


def _hash_outputs(step: Step, folder: Path) -> dict[str, str | None]:
    return {name: _hash_input(folder / name) for name in step.outputs}


def _without(key: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    kept = dict(key)
    if "settings" in kept:
        kept["settings"] = {k: v for k, v in kept["settings"].items() if k not in names}
    return kept


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError):
        return None
