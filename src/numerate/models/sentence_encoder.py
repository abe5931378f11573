"""Sentence encoders as sentence-transformers runs them, from a folder or the hub."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError, needs_extra
from numerate.files import read_data
from numerate.models.anchor_tokenizer import add_anchors, start_anchors
from numerate.models.digest import fixed_weights
from numerate.models.digit_tokenizer import split_digits
from numerate.models.folder import OWN_MODULES, SHIM
from numerate.models.names import resolve_model
from numerate.models.pretrained import check_finite, check_place, explaining

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_PREFIXES = ("digits:", "anchors:")


def load_sentence_encoder(
    name: str, *, device: str | None = None, trust_remote_code: bool = False
) -> "SentenceTransformer":
    """Return an encoder of a folder or the hub.

    `digits:MODEL` reads numbers digit by digit, `anchors:MODEL` begins them with their anchors.
    Code that the folder brings is run only with `trust_remote_code`, but for numerate's own.
    """
    with needs_extra(f"sentence:{name}", "sentence"):
        from sentence_transformers import SentenceTransformer

    pieces, bare = _split_name(name)
    folder = Path(resolve_model(bare))
    _check_modules(bare, folder)
    with explaining(bare, "a sentence encoder"), fixed_weights():
        model = SentenceTransformer(
            str(folder) if folder.is_dir() else bare,
            device=device,
            trust_remote_code=trust_remote_code or _is_ours(folder),
        )
        check_finite(bare, model.encode(["in 1999"], show_progress_bar=False))
    if not getattr(model.tokenizer, "is_fast", True):
        raise InputError(f"{bare}: its tokenizer gives no offsets; it needs a tokenizer.json")
    split_numbers(model, pieces, bare)
    return model


def check_sentence_encoder(name: str) -> None:
    """Refuse a name that is no sentence encoder, as far as that can be told without loading it."""
    bare = _split_name(name)[1]
    _check_modules(bare, Path(resolve_model(bare)))


def _split_name(name: str) -> tuple[str, str]:
    """Return how a name has numbers split, and the folder or hub name behind it."""
    pieces, _, bare = name.partition(":") if name.startswith(_PREFIXES) else ("words", "", name)
    return pieces, bare


def _check_modules(name: str, folder: Path) -> None:
    check_place(name, str(folder))
    if folder.is_dir() and not (folder / "modules.json").is_file():
        raise InputError(f"{name}: no sentence encoder, it has no modules.json")


def split_numbers(model: "SentenceTransformer", pieces: str, name: str) -> None:
    """Let an encoder split numbers into pieces, which its folder keeps; messages name it."""
    first: Any = model[0]
    if pieces == "digits":
        first.processor = split_digits(first.processor, name, number_words=False)
    if (
        pieces == "anchors"
        and (anchored := add_anchors(first.processor, name)) is not first.processor
    ):
        first.processor = anchored
        if len(anchored) > first.model.get_input_embeddings().num_embeddings:
            first.model.resize_token_embeddings(len(anchored), mean_resizing=False)
        start_anchors(first.model.get_input_embeddings().weight, anchored)


def _is_ours(folder: Path) -> bool:
    """Return whether the only code that a folder brings or asks for is numerate's own."""
    file = folder / f"{SHIM}.py"
    if not file.is_file() or file.read_bytes() != read_data(file.name).encode():
        return False
    try:
        kinds = {row["type"] for row in json.loads((folder / "modules.json").read_bytes())}
        settings = [json.loads((folder / name).read_bytes()) for name in _find_settings(folder)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return kinds <= OWN_MODULES and all("auto_map" not in document for document in settings)


def _find_settings(folder: Path) -> list[Path]:
    """Return the JSON files in which transformers may find the name of code to run."""
    return [path for path in folder.rglob("*.json") if path.name.endswith("config.json")]
