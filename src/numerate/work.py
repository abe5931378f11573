"""Work that may be cut off: whether a folder is new, unfinished, done, or holds something else.

Steps of a run, trained models and primed corpora are folders that take long to fill; one rule
serves them all. From the first moment to the last, a hidden file in the folder describes the work.
The record, a JSON file with the same description, is written when all else is complete. A folder
with neither is new if it is empty; otherwise it is somebody else's, and nothing in it is touched.
"""

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from numerate.errors import InputError
from numerate.files import write_json
from numerate.locks import hold_folder
from numerate.parallel import process_rank

State = Literal["new", "unfinished", "done", "changed"]
Description = Mapping[str, Any]
"""The settings and inputs on which a result depends: some entries of its record."""


@dataclass(frozen=True)
class WorkFolder:
    """A folder for one piece of work; it need not exist.

    Args:
        path: The folder.
        product: What is made there, for messages, such as "a primed corpus".
        record: The name of the JSON file that is written last.
        format: The format that the record names.
    """

    path: Path
    product: str
    record: str
    format: str

    @property
    def mark(self) -> Path:
        """The file that describes the work until it is finished."""
        return self.path / f".{self.record}.begun"

    def find_state(self, description: Description, growing: Collection[str] = ()) -> State:
        """Return whether work is done, unfinished, new, or was done with another description.

        Settings in `growing` change how much is made but not how: work that differs in these alone
        is unfinished. Raises InputError if the folder holds something else.
        """
        if self.mark.exists():
            found, finished = _read(self.mark), False
        elif record := self.read():
            found, finished = record, True
        else:
            if process_rank() == 0:  # which may have begun when others look
                self._check_new()
            return "new"
        wanted = json.loads(json.dumps(description))
        found = {key: found.get(key) for key in wanted}
        if found == wanted and finished:
            return "done"
        return "unfinished" if _drop(found, growing) == _drop(wanted, growing) else "changed"

    def check_state(self, description: Description) -> State:
        """Return the state of work that must not replace other work: refuse a changed one."""
        state = self.find_state(description)
        if state == "changed":
            raise InputError(
                f"{self.path}: holds {self.product} with other settings or inputs; "
                "remove it or choose another folder"
            )
        return state

    def read(self) -> dict[str, Any]:
        """Return the record; empty if there is none."""
        record = _read(self.path / self.record)
        return record if record.get("format") == self.format else {}

    def begin(self, description: Description) -> None:
        """Begin or continue the work; under torchrun, only the first process does."""
        if process_rank() == 0:
            write_json(self.mark, description)
            (self.path / self.record).unlink(missing_ok=True)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let no other process work in the folder while the enclosed block runs.

        Under torchrun, the first process holds it for all.
        """
        with hold_folder(self.path) if process_rank() == 0 else nullcontext():
            yield

    @contextmanager
    def attempt(
        self, description: Description, keep: Callable[[], bool] = lambda: False
    ) -> Iterator[None]:
        """Begin, then run the enclosed block; if it raises InputError, new work leaves nothing.

        `keep` says then whether there is something worth keeping.
        """
        is_new = process_rank() == 0 and not self.mark.exists()
        made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self.begin(description)
        try:
            yield
        except InputError:
            if is_new and not keep():
                self.clear()
                self.mark.unlink()
                for folder in made:
                    folder.rmdir()
            raise

    def clear(self) -> None:
        """Remove all files; if this is cut off, the work counts as changed."""
        write_json(self.mark, {"clearing": True})
        for path in self.path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path != self.mark:
                path.unlink()

    def finish(self, record: Mapping[str, Any]) -> None:
        """Write the record: from now on the work is done."""
        for stray in self.path.glob(".*.tmp"):  # left by processes that were killed while writing
            stray.unlink()
        write_json(self.path / self.record, record)
        self.mark.unlink()

    def _check_new(self) -> None:
        if self.path.is_file():
            raise InputError(f"{self.path}: a file, not a folder; choose another --out")
        if self.path.exists() and not all(_is_ours(path) for path in self.path.iterdir()):
            raise InputError(
                f"{self.path}: not empty and not {self.product}; choose another folder"
            )


def _is_ours(path: Path) -> bool:
    """Return whether a file is a mark, perhaps of an enclosing work, or an unfinished file."""
    return path.name.startswith(".") and path.suffix in (".begun", ".tmp")


def _drop(description: Description, growing: Collection[str]) -> dict[str, Any]:
    settings = description.get("settings") or {}
    kept = {key: value for key, value in settings.items() if key not in growing}
    return {**description, "settings": kept}


def _read(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; empty if there is none."""
    try:
        document = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
