"""Lists the licences of all packages that numerate brings, from what is installed, as a page.

`python -m tools.list_licences` (part of `make audit`) writes docs/licences.md. What a package says
itself is taken: its licence expression, else its classifiers, else the first line of its licence.
"""

import re
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement

from numerate.markdown import format_table

PAGE = Path(__file__).parents[1] / "docs" / "licences.md"
_EXTRAS = ("all", "demo", "gguf", "ray", "tensorboard")
_HEAD = """\
# Licences of the dependencies

Made by `python -m tools.list_licences` from the packages that \
`pip install '.[all,demo,gguf,ray,tensorboard]'` brings, directly or not, on the \
machine where it ran. Versions are in `constraints.txt`.

"""


def list_packages(root: str = "numerate", extras: tuple[str, ...] = _EXTRAS) -> list[str]:
    """Return the names of all installed packages that one needs with some extras, sorted."""
    found: dict[str, set[str]] = {}
    waiting = [(root, frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        new = {"", *wanted} - found.setdefault(key, set())
        found[key] |= new
        try:
            needs = [Requirement(line) for line in requires(name) or ()] if new else []
        except PackageNotFoundError:  # for another system, or another extra of its own
            del found[key]
            continue
        waiting += [
            (need.name, frozenset(need.extras))
            for need in needs
            if need.marker is None or any(need.marker.evaluate({"extra": one}) for one in new)
        ]
    return sorted(found.keys() - {root})


def find_licence(package: Message) -> str:
    """Return the licence that the metadata of a package names.

    >>> package = Message()
    >>> package["Classifier"] = "License :: OSI Approved :: MIT License"
    >>> find_licence(package)
    'MIT License'
    """
    if expression := package.get("License-Expression"):
        return str(expression)
    classifiers = [str(line) for line in package.get_all("Classifier") or ()]
    named = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    if named:
        return ", ".join(named)
    lines = str(package.get("License") or "").strip().splitlines()
    return lines[0].strip() if lines else "not named"


def write_page() -> str:
    """Return the page: a table of all packages and their licences."""
    packages = {name: metadata(name) for name in list_packages()}
    rows = [[name, find_licence(package)] for name, package in packages.items()]
    return _HEAD + format_table(["package", "licence"], rows)


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
