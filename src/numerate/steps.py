"""Steps: the pieces of a run, which know what they depend on, so that finished work is not redone.

Each step has a folder `RUN/STAGE/NAME` with its products and, written last, `run.json`: its
settings, the hashes of its inputs and outputs, versions and duration. A step that was interrupted
continues if settings and inputs are the same (`work.py`), and starts again otherwise.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from numerate.files import list_versions
from numerate.layout import RECORD
from numerate.work import State, WorkFolder

FORMAT = "numerate-step"
START_SECONDS = 5.0
"""An estimate of the seconds to load libraries and a model."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A piece of work with its inputs and outputs.

    Args:
        stage: The stage that it belongs to.
        name: Its name among the steps of the stage; empty if there is only one.
        settings: Everything but the inputs that the result depends on.
        inputs: Files and folders by name; they are compared by content, and text as it is.
        outputs: Files that exist when it is done, relative to its folder.
        work: Does the work in the folder, and continues work that was interrupted.
        estimate: Returns the seconds that it may take; None if that cannot be known yet.
        check: Refuses what the work could not use; called before the first step of a run.
        growing: Settings that change how much is made but not how: finished parts are kept.
    """

    stage: str
    name: str = ""
    settings: Mapping[str, Any]
    inputs: Mapping[str, Path | str]
    outputs: tuple[str, ...]
    work: Callable[[Path], object]
    estimate: Callable[[], float | None] = lambda: START_SECONDS
    check: Callable[[], object] = lambda: None
    growing: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The stage and the name, for messages."""
        return f"{self.stage} {self.name}".strip()

    def folder(self, root: Path) -> Path:
        """Return the folder of the step in the folder of a run."""
        return root / self.stage / self.name if self.name else root / self.stage


def find_state(step: Step, root: Path) -> State:
    """Return whether a step is done, unfinished, new, or done with other settings or inputs."""
    work = _open_folder(step, root)
    state = work.find_state(_describe_work(step), step.growing)
    if state == "done" and work.read()["outputs"] != _hash_outputs(step, work.path):
        return "changed"
    return state


def find_states(steps: Iterable[Step], root: Path) -> list[State]:
    """Return the states of steps in order; a step that depends on one to be run is changed."""
    states: list[State] = []
    folders: list[Path] = []
    for step in steps:
        state = find_state(step, root)
        inputs = [value for value in step.inputs.values() if isinstance(value, Path)]
        is_stale = any(path.is_relative_to(folder) for path in inputs for folder in folders)
        if state == "done" and is_stale:
            state = "changed"
        if state != "done":
            folders.append(step.folder(root))
        states.append(state)
    return states


def run_step(step: Step, root: Path) -> float:
    """Do the work of a step, and return how many seconds it took.

    A new step that raises InputError before it has made anything leaves no folder.
    """
    work = _open_folder(step, root)
    description = _describe_work(step)
    before = find_state(step, root)
    if before == "changed":
        work.clear()
    with work.attempt(description, keep=lambda: {*work.path.iterdir()} != {work.mark}):
        seconds = measure_seconds(lambda: step.work(work.path))
    record = {"format": FORMAT, "version": 1, **description, "versions": list_versions()}
    record |= {"outputs": _hash_outputs(step, work.path), "seconds": seconds}
    work.finish({**record, "continued": before != "new"})
    return seconds


def measure_seconds(work: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def hash_path(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files in a folder."""
    if path.is_dir():
        names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*"))
        parts = [f"{name} {hash_path(path / name)}" for name in names if (path / name).is_file()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    status = path.stat()
    return _hash_file(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _hash_file(path: Path, size: int, modified: int) -> str:  # noqa: ARG001
    """Return the SHA-256 of a file; `size` and `modified` are the key that makes the cache safe."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open_folder(step: Step, root: Path) -> WorkFolder:
    return WorkFolder(step.folder(root), "a step of a run", RECORD, FORMAT)


def _describe_work(step: Step) -> dict[str, Any]:
    """Return everything that the result depends on."""
    inputs = {name: _hash_input(value) for name, value in step.inputs.items()}
    return {"stage": step.stage, "name": step.name, "settings": step.settings, "inputs": inputs}


def _hash_input(value: Path | str) -> str | None:
    if isinstance(value, str):
        return value
    return hash_path(value) if value.exists() else None


def _hash_outputs(step: Step, folder: Path) -> dict[str, str | None]:
    return {name: _hash_input(folder / name) for name in step.outputs}
