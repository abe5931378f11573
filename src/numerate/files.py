"""Files that are whole or not there, and JSON files that say what they are.

Every file of numerate is written under a temporary name and moved to its own when complete, so that
a run cut off at any moment leaves nothing half-written behind. A JSON file opens with its format
and version, and is refused with one line when it is something else. Those that record a run also
hold the versions of the libraries.
"""

import contextlib
import json
import os
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

from numerate import __version__
from numerate.errors import InputError

Json = Mapping[str, Any]
_LIBRARIES = ("numpy", "scikit-learn", "tokenizers", "torch", "transformers", "xgboost")


@contextlib.contextmanager
def open_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write; it gets its name when all is written, and not at all on an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def write_file(path: Path, data: bytes) -> None:
    """Write a file so that at every moment its name means the old content or the new, whole."""
    with open_whole(path) as file:
        file.write(data)


def write_json(path: Path, document: Json) -> None:
    """Write a JSON document that people can read too: each of its entries on a line."""
    parts = (f"  {_dump(key)}: {_dump(value)}" for key, value in document.items())
    write_file(path, ("{\n" + ",\n".join(parts) + "\n}\n").encode())


def write_rows(path: Path, rows: Sequence[Json]) -> None:
    """Write a JSON list of documents, each on a line."""
    write_file(path, ("[\n" + ",\n".join(f"  {_dump(row)}" for row in rows) + "\n]\n").encode())


def read_json(path: Path, format_name: str, *, made_by: str) -> dict[str, Any]:
    """Return the JSON document of a file that must be of the named format, version 1."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; make it with '{made_by}'") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, not a {format_name} file") from None
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON ({error}); make it with '{made_by}'") from None
    if not isinstance(document, dict) or document.get("format") != format_name:
        found = document.get("format") if isinstance(document, dict) else None
        said = f"it says {found!r}" if found else "it does not say what it is"
        raise InputError(f"{path}: not a {format_name} file ({said}); make one with '{made_by}'")
    if document.get("version") != 1:
        raise InputError(
            f"{path}: {format_name} version {document.get('version')!r} is not known to this "
            "numerate, which reads version 1; update numerate"
        )
    return document


def read_data(name: str) -> str:
    """Return the text of a file that comes with the package, in `numerate/data/`."""
    return resources.files("numerate").joinpath("data", name).read_text(encoding="utf-8")


def list_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries that results depend on."""
    versions = {"numerate": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            versions[library] = version(library)
    return versions


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
