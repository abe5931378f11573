"""Sentence encoders as sentence-transformers runs them, from a folder or the hub."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError, first_line, needs_extra
from numerate.files import read_data
from numerate.models.anchor_tokenizer import add_anchors, start_anchors
from numerate.models.digit_tokenizer import split_digits
from numerate.models.folder import SHIM
from numerate.models.names import resolve_model
from numerate.progress import quiet_transformers

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_PREFIXES = ("digits:", "anchors:")


def load_sentence_encoder(name: str, *, device: str | None = None) -> "SentenceTransformer":
    """Return an encoder of a folder or the hub.

    `digits:MODEL` reads numbers digit by digit, `anchors:MODEL` begins them with their anchors.
    """
    with needs_extra(f"sentence:{name}", "sentence"):
        from sentence_transformers import SentenceTransformer

    pieces, bare = name.split(":", 1) if name.startswith(_PREFIXES) else ("words", name)
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
    split_numbers(model, pieces, bare)
    return model


def split_numbers(model: "SentenceTransformer", pieces: str, name: str) -> None:
    """Let an encoder split numbers into pieces, which its folder keeps; messages name it."""
    first: Any = model[0]
    if pieces != "words":
        first.processor = split_digits(first.processor, name, number_words=False)
    if pieces == "anchors" and (anchored := add_anchors(first.processor, name)) != first.processor:
        first.processor = anchored
        if len(anchored) > first.model.get_input_embeddings().num_embeddings:
            first.model.resize_token_embeddings(len(anchored), mean_resizing=False)
        start_anchors(first.model.get_input_embeddings().weight, anchored)


def _is_ours(folder: Path) -> bool:
    """Return whether the Python file of a folder is the one that numerate writes."""
    file = folder / f"{SHIM}.py"
    return file.is_file() and file.read_text(encoding="utf-8") == read_data(file.name)
