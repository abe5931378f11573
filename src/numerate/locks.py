"""Locks on files and folders, so that two processes never write the same one.

The operating system holds them: however a process ends, its locks end with it, and no file is left
that somebody would have to remove.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from numerate.errors import InputError
from numerate.files import check_parents

try:
    import fcntl
except ImportError:  # pragma: no cover  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

PATIENCE = 5.0
"""Seconds to wait for a lock: the worker processes of a killed process need a moment to end."""
_held: set[tuple[int, int]] = set()


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Let no other process hold an existing file or folder while the enclosed block runs.

    What this process holds already, it may hold again. Raises InputError, which names the other
    process, if it does not let go within a moment.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
        key = status.st_dev, status.st_ino
        if key in _held:
            yield
            return
        if not _acquire(descriptor):
            raise InputError(
                f"{path}: {_name_holder(status.st_ino)} is writing it; wait until it has ended, or "
                "choose another --out"
            )
        _held.add(key)
        try:
            yield
        finally:
            _held.discard(key)
    finally:
        os.close(descriptor)


@contextmanager
def hold_folder(path: Path) -> Iterator[None]:
    """Hold a folder, which need not exist; if the block leaves it empty, it is removed again."""
    if path.is_file():
        raise InputError(f"{path}: a file, not a folder; choose another --out")
    check_parents(path)
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        with hold(path):
            yield
    finally:
        with suppress(OSError):  # it holds something
            for folder in made:
                folder.rmdir()


def _acquire(descriptor: int) -> bool:
    """Return whether a lock could be had; where a file system has none, it counts as had."""
    if fcntl is None:
        return True
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.05)
        except OSError:  # such as on a network drive
            return True
        else:
            return True


def _name_holder(inode: int) -> str:
    """Return the process that holds a lock, as far as the system tells."""
    try:
        rows = [row.split() for row in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        rows = []
    for row in rows:  # such as `1: FLOCK ADVISORY WRITE 4711 08:01:131 0 EOF`
        if "FLOCK" in row and row[-3].endswith(f":{inode}"):
            return f"process {row[-4]}"
    return "another process"
