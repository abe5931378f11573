"""Files that are complete or absent, JSON files that name their format, and packaged data.

Every file is written under a temporary name and renamed when complete, so that a killed process
never leaves a half-written file under its final name. A JSON file starts with its format and
version; a file of another format is refused in one line. Files that record a run also hold the
versions of the libraries.
"""

import contextlib
import json
import os
import platform
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

from numerate import __version__
from numerate.errors import InputError

Json = Mapping[str, Any]
_ESCAPE = "backslashreplace"  # as JSON writes the bytes of a file name that is not UTF-8
_HOMES = r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s`'\"<>]+|/root(?![\w.-])"
_LIBRARIES = ("numpy", "scikit-learn", "tokenizers", "torch", "transformers", "xgboost")


def check_output(path: Path, *, starts: bytes = b"", inputs: Iterable[Path | str] = ()) -> None:
    """Refuse an output that is a folder, one of the inputs, or a file of something else.

    An existing file is ours if it is empty, or if its beginning matches the pattern `starts`.
    """
    check_parents(path)
    if path.is_dir():
        raise InputError(f"{path}: a folder; the output must be a file")
    if path.is_symlink() and not path.exists():
        raise InputError(f"{path}: a link to nothing; remove it, or choose another file to write")
    if not path.is_file():
        return
    for given in inputs:
        if Path(given).exists() and path.samefile(given):
            raise InputError(f"{path}: is read, and would be overwritten; choose another file")
    with path.open("rb") as file:
        head = file.read(1 << 10)
    if head and not re.match(starts, head):
        raise InputError(
            f"{path}: exists, and numerate has not made it; remove it, or choose another file"
        )


def check_parents(path: Path) -> None:
    """Refuse a path below a file: no folder can be made there."""
    nearest = next((parent for parent in path.parents if parent.exists()), None)
    if nearest is not None and not nearest.is_dir():
        raise InputError(f"{path}: {nearest} is a file, not a folder; choose another --out")


def check_json_output(path: Path, format_name: str, inputs: Iterable[Path | str] = ()) -> None:
    """Refuse an output that `check_output` refuses; an existing file must be of the format."""
    starts = rf'\s*\{{\s*"format"\s*:\s*"{format_name}"'.encode()
    check_output(path, starts=starts, inputs=inputs)


@contextlib.contextmanager
def open_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing; it gets its name when the block ends, or not at all on an error.

    What a link leads to is written, not the link; devices and pipes are written as they are.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    is_device = path.exists() and not path.is_file() and not path.is_dir()
    try:
        with path.open("wb") if is_device else _open_temporary(path.resolve()) as file:
            yield file
    except OSError as error:  # of the temporary file, or without a name, as on a full disk
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextlib.contextmanager
def _open_temporary(path: Path) -> Iterator[BinaryIO]:
    # Not tempfile: its files are private (0600), and the umask can only be read by setting it,
    # for all threads. A plain open respects the umask.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def write_file(path: Path, data: bytes) -> None:
    """Replace a file in one step: a reader sees the old content or the new, never a part."""
    with open_whole(path) as file:
        file.write(data)


def write_json(path: Path, document: Json) -> None:
    """Write a JSON object with one entry per line, so that people can read it too.

    An object that names its format replaces no file of another format.
    """
    if "format" in document:
        check_json_output(path, document["format"])
    parts = (f"  {_dump(key)}: {_dump(value)}" for key, value in document.items())
    write_file(path, ("{\n" + ",\n".join(parts) + "\n}\n").encode("utf-8", _ESCAPE))


def write_rows(path: Path, rows: Sequence[Json]) -> None:
    """Write a JSON list with one object per line."""
    write_file(path, ("[\n" + ",\n".join(f"  {_dump(row)}" for row in rows) + "\n]\n").encode())


def read_json(path: Path, format_name: str, *, made_by: str) -> dict[str, Any]:
    """Return the JSON document in a file, which must be of the named format, version 1.

    Error messages name `made_by`, the command that writes such files.
    """
    refuse_pipe(path)
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; make it with '{made_by}'") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, not a {format_name} file") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON ({error}); make it with '{made_by}'") from None
    if not isinstance(document, dict) or document.get("format") != format_name:
        found = document.get("format") if isinstance(document, dict) else None
        reason = f"its format is {found!r}" if found else "it names no format"
        raise InputError(f"{path}: not a {format_name} file ({reason}); make one with '{made_by}'")
    if document.get("version") != 1:
        raise InputError(
            f"{path}: {format_name} version {document.get('version')!r} is unknown; this numerate "
            "reads version 1; update numerate"
        )
    return document


def has_shape(value: object, shape: Any) -> bool:  # noqa: ANN401
    """Return whether a JSON value has a shape: a type, a list of a shape, or an object with fields.

    >>> has_shape({"names": ["a", 5], "more": None}, {"names": [str]})
    False
    """
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(
            has_shape(value.get(key), part) for key, part in shape.items()
        )
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(part, shape[0]) for part in value)
    return type(value) is shape


def refuse_pipe(path: Path) -> None:
    """Refuse a pipe in place of a file: it may keep its reader waiting for ever."""
    if path.is_fifo():
        raise InputError(f"{path}: a pipe, not a file; write its content to a file first")


def read_data(name: str) -> str:
    """Return the text of a file that comes with the package, in `numerate/data/`."""
    return resources.files("numerate").joinpath("data", name).read_text(encoding="utf-8")


def hide_home(text: str) -> str:
    """Return text with `~` for home folders, this user's and others': what is published names none.

    >>> hide_home("from /home/ann/text.txt and https://example.org/home/page")
    'from ~/text.txt and https://example.org/home/page'
    """
    home = Path.home()
    own = rf"|{re.escape(str(home))}(?![\w.-])" if home != Path(home.anchor) else ""
    return re.sub(rf"(?:(?<=file://)|(?<![\w./-]))(?:{_HOMES}{own})", "~", text)


def list_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries that results depend on."""
    versions = {"numerate": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            versions[library] = version(library)
    return versions


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
