"""Files on this machine, or at a URL such as `s3://bucket/key`: list, describe, open, read parts.

URLs are those of pyarrow's filesystems: s3, gs, hdfs, file.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from numerate.errors import InputError, first_line, needs_extra

Read = Callable[[int], bytes]
Span = tuple[int, int]
"""From a start up to an end that is outside."""
_LOOK_BYTES = 64 << 10  # at a time, for the end of a line


class FileStatus(NamedTuple):
    """The size of a file in bytes, and when it was modified, in nanoseconds."""

    size: int
    modified: int


def is_url(name: str) -> bool:
    """Return whether a file is not one of this machine."""
    return "://" in name


def make_absolute(name: str) -> str:
    """Return the name by which a process with another working directory finds a file."""
    return name if is_url(name) else str(Path(name).absolute())


def open_file(name: str) -> BinaryIO:
    """Open a file to read its bytes."""
    if not is_url(name):
        return Path(name).open("rb")
    filesystem, path, _ = _find(name)
    file: BinaryIO = filesystem.open_input_file(path)
    return file


def find_status(name: str) -> FileStatus:
    """Return the size and the time of a file."""
    if is_url(name):
        info = _find(name)[2]
        return FileStatus(info.size, info.mtime_ns or 0)
    status = Path(name).stat()
    return FileStatus(status.st_size, status.st_mtime_ns)


def list_files(name: str) -> list[str]:
    """Return a file, or the files of a folder, sorted; hidden ones are left out."""
    found = _list_url(name) if is_url(name) else _list_path(name)
    if not found:
        raise InputError(f"{name}: a folder without files")
    return sorted(found)


def read_lines(file: BinaryIO, span: Span) -> Read:
    """Return a function that reads, some bytes at a time, the lines that start in a span."""
    first, last = (_find_line(file, place) for place in span)
    file.seek(first)

    def read(size: int) -> bytes:
        return file.read(min(size, last - file.tell()))

    return read


def _find_line(file: BinaryIO, place: int) -> int:
    """Return where the first line starts that does not start before a place."""
    if place == 0:
        return 0
    place -= 1  # if a newline is here, a line starts right behind it
    file.seek(place)
    while chunk := file.read(_LOOK_BYTES):
        newline = chunk.find(b"\n")
        if newline >= 0:
            return place + newline + 1
        place += len(chunk)
    return place


def _list_path(name: str) -> list[str]:
    path = Path(name)
    if not path.exists():
        raise InputError(f"{name}: no such file or folder")
    if path.is_file():
        return [name]
    files = (file for file in path.rglob("*") if file.is_file())
    return [str(file) for file in files if not _is_hidden(file.relative_to(path).parts)]


def _list_url(name: str) -> list[str]:
    from pyarrow.fs import FileSelector, FileType

    filesystem, path, info = _find(name)
    if info.type == FileType.File:
        return [name]
    base, mark, query = name.partition("?")
    inside = filesystem.get_file_info(FileSelector(path, recursive=True))
    files = [found.path[len(path.rstrip("/")) :] for found in inside if found.is_file]
    shown = [file for file in files if not _is_hidden(file.split("/"))]
    return [f"{base.rstrip('/')}{file}{mark}{query}" for file in shown]


def _is_hidden(parts: "tuple[str, ...] | list[str]") -> bool:
    return any(part.startswith(".") for part in parts)


def _find(name: str) -> tuple[Any, str, Any]:
    """Return the filesystem of a URL, the path there and what it is: a file or a folder."""
    with needs_extra(f"{name}: a URL", "data"):
        from pyarrow.fs import FileSystem, FileType
    try:
        filesystem, path = FileSystem.from_uri(name)
        info = filesystem.get_file_info(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are such
        raise InputError(f"{name}: cannot be reached ({first_line(error)})") from None
    if info.type == FileType.NotFound:
        raise InputError(f"{name}: no such file or folder")
    return filesystem, path, info
