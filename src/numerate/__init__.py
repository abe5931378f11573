"""Make any language model numerate.

`__init__.pyi` lists the public names. Each is imported when it is first used, so that
`import numerate` and the command line's `--help` are quick.
"""

import re
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0.dev0"

# A stub, so that every name is written once for type checkers, editors and this module alike.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {
    name: module for module, name in re.findall(r"^from (\S+) import (\w+) as \2$", _STUB, re.M)
}
# The optional dependencies (`numerate[...]`) that a room's modules import.
_EXTRAS = {"embed": "embed", "pretrain": "train", "tune": "tune"}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'numerate' has no attribute {name!r}")
    room = _HOMES[name].split(".")[1]
    with import_module("numerate.errors").needs_extra(f"numerate.{name}", _EXTRAS.get(room, "all")):
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
