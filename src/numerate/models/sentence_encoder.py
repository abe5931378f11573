"""Sentence encoders as sentence-transformers runs them, from a folder or the hub."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError, first_line, needs_extra
from numerate.files import read_data
from numerate.models.digit_tokenizer import split_digits
from numerate.models.folder import SHIM
from numerate.models.names import resolve_model
from numerate.progress import quiet_transformers

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_DIGITS = "digits:"


def load_sentence_encoder(name: str, *, device: str | None = None) -> "SentenceTransformer":
    """Return an encoder of a folder or the hub; `digits:MODEL` reads numbers digit by digit."""
    with needs_extra(f"sentence:{name}", "sentence"):
        from sentence_transformers import SentenceTransformer

    bare = name.removeprefix(_DIGITS)
    folder = Path(resolve_model(bare))
    if folder.is_dir() and not (folder / "modules.json").is_file():
        raise InputError(f"{bare}: no sentence encoder, it has no modules.json")
    try:
        with quiet_transformers():
            model = SentenceTransformer(
                str(folder) if folder.is_dir() else bare,
                device=device,
                trust_remote_code=_is_ours(folder),
            )
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{bare}: cannot be loaded ({first_line(error)})") from None
    if bare != name:
        read_by_digits(model, bare)
    return model


def read_by_digits(model: "SentenceTransformer", name: str) -> None:
    """Let an encoder split numbers into digits, which its folder keeps; messages name it."""
    first: Any = model[0]
    first.processor = split_digits(first.processor, name, number_words=False)


def _is_ours(folder: Path) -> bool:
    """Return whether the Python file of a folder is the one that numerate writes."""
    file = folder / f"{SHIM}.py"
    return file.is_file() and file.read_text(encoding="utf-8") == read_data(file.name)
