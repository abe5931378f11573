"""A tokenizer that splits numbers into digits, as that of GenBERT does.

`12` becomes `1 ##2`, `12,345` becomes `1 ##2 ##3 ##4 ##5`, and `twelve` is read as `12`. The saved
tokenizer does all of this: its normalizer drops commas within numbers. In a WordPiece tokenizer,
multi-digit entries of the vocabulary keep their ids but are renamed to `1 2`, which WordPiece can
never match, so that it falls back to single digits. (GenBERT splits the tokens of WordPiece
instead; words such as `129th` may be split differently.) For a BPE tokenizer, text is split between
digits before pieces are merged.
"""

import json
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

COMMA = r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))"
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_WORDS += ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
_WORDS += ["eighteen", "nineteen"]


def split_digits(
    tokenizer: "PreTrainedTokenizerBase", name: str, *, number_words: bool = True
) -> "PreTrainedTokenizerBase":
    """Return a WordPiece or BPE tokenizer that splits numbers into digits.

    With `number_words` it reads `twelve` as `12`, as GenBERT does. Messages name the model.
    """
    document = json.loads(tokenizer.backend_tokenizer.to_str())
    if document["model"].get("type") == "BPE":
        _split_text(document)
    else:
        _rename_numbers(document["model"], name)
    known = _WORDS if number_words else []
    words = [replace_step(rf"\b{word}\b", str(value)) for value, word in enumerate(known)]
    add_steps(document, words)
    return rebuild_tokenizer(tokenizer, document)


def add_steps(document: dict[str, Any], last: list[dict[str, Any]]) -> None:
    """Let a normalizer drop the commas of numbers before all else, and take steps behind it.

    Nothing happens to one that drops them already.
    """
    no_comma = replace_step(COMMA, "")
    steps = [step for step in (document["normalizer"],) if step]
    if no_comma not in (steps[0].get("normalizers", []) if steps else []):
        document["normalizer"] = {"type": "Sequence", "normalizers": [no_comma, *steps, *last]}


def rebuild_tokenizer(
    tokenizer: "PreTrainedTokenizerBase", document: dict[str, Any]
) -> "PreTrainedTokenizerBase":
    """Return a tokenizer like another one from a changed tokenizer.json."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    document |= {"truncation": None, "padding": None}
    # The tokenizer's own class would ignore the changes and rebuild it from the vocabulary.
    fast: Any = PreTrainedTokenizerFast
    split: PreTrainedTokenizerBase = fast(
        tokenizer_object=Tokenizer.from_str(json.dumps(document)),
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        **tokenizer.special_tokens_map,
    )
    return split


def replace_step(pattern: str, content: str) -> dict[str, Any]:
    """Return a replacement step of a normalizer, in the format of tokenizer.json."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def _split_text(document: dict[str, Any]) -> None:
    """Split text between digits, behind all other steps: some of these would add spaces there."""
    split = {"type": "Digits", "individual_digits": True}
    before = document["pre_tokenizer"] or {"type": "Sequence", "pretokenizers": []}
    steps = before["pretokenizers"] if before["type"] == "Sequence" else [before]
    if split not in steps:
        document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*steps, split]}


def check_saved(tokenizer: "PreTrainedTokenizerBase", model: "PreTrainedModel", name: str) -> None:
    """Refuse a tokenizer that would not split digits any more once it is saved with its model.

    For some families transformers builds the tokenizer anew from its vocabulary.
    """
    from transformers import AutoTokenizer

    with TemporaryDirectory() as folder:
        model.config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        again = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    sample = "12,345"
    if again(sample)["input_ids"] != tokenizer(sample)["input_ids"]:
        raise InputError(
            f"{name}: pieces must be words, since transformers rebuilds its tokenizer "
            f"({type(again).__name__})"
        )


def _rename_numbers(model: dict[str, Any], name: str) -> None:
    """Rename multi-digit entries of the vocabulary, `12` to `1 2`, and keep their ids."""
    prefix = model.get("continuing_subword_prefix")
    digits = [form + digit for form in ("", prefix or "") for digit in "0123456789"]
    if model.get("type") != "WordPiece" or not all(digit in model["vocab"] for digit in digits):
        raise InputError(
            f"{name}: its tokenizer has no pieces for single digits; choose a WordPiece or BPE base"
        )

    def rename(piece: str) -> str:
        bare = piece.removeprefix(prefix or "")
        if len(bare) > 1 and bare.isascii() and bare.isdigit():
            return piece.removesuffix(bare) + " ".join(bare)
        return piece

    model["vocab"] = {rename(piece): index for piece, index in model["vocab"].items()}
