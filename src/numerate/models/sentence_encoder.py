"""Sentence encoders as sentence-transformers runs them, from a folder or the hub."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError, first_line, needs_extra
from numerate.files import read_data
from numerate.models.base_model import draw_rows
from numerate.models.digest import fixed_weights
from numerate.models.digit_tokenizer import COUNTS, count_digits, split_digits
from numerate.models.folder import SHIM
from numerate.models.names import resolve_model
from numerate.progress import quiet_transformers

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_PREFIXES = ("digits:", "counted-digits:")


def load_sentence_encoder(name: str, *, device: str | None = None) -> "SentenceTransformer":
    """Return an encoder of a folder or the hub.

    `digits:MODEL` reads numbers digit by digit, `counted-digits:MODEL` also counts the digits.
    """
    with needs_extra(f"sentence:{name}", "sentence"):
        from sentence_transformers import SentenceTransformer

    pieces, bare = name.split(":", 1) if name.startswith(_PREFIXES) else ("words", name)
    folder = Path(resolve_model(bare))
    if folder.is_dir() and not (folder / "modules.json").is_file():
        raise InputError(f"{bare}: no sentence encoder, it has no modules.json")
    try:
        with quiet_transformers(), fixed_weights():
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
    """Let an encoder split numbers into pieces, which its folder keeps; messages name it.

    New tokens start as random ones that are like the others, the same for every training.
    """
    first: Any = model[0]
    if pieces != "words":
        first.processor = split_digits(first.processor, name, number_words=False)
    if pieces == "counted-digits":
        first.processor = count_digits(first.processor, name)
        n_rows = first.model.get_input_embeddings().weight.shape[0]
        if len(first.processor) > n_rows:
            first.model.resize_token_embeddings(len(first.processor), mean_resizing=False)
            draw_rows(first.model.get_input_embeddings().weight, first.processor, COUNTS, n_rows)


def _is_ours(folder: Path) -> bool:
    """Return whether the Python file of a folder is the one that numerate writes."""
    file = folder / f"{SHIM}.py"
    return file.is_file() and file.read_text(encoding="utf-8") == read_data(file.name)
