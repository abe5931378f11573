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

_COMMA = r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))"
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_WORDS += ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
_WORDS += ["eighteen", "nineteen"]


COUNTS = tuple(chr(0xE000 + n) for n in range(1, 14))
"""The tokens for 1 to 12 digits, and for more: characters that no text has."""


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
    no_comma = _replace(_COMMA, "")
    known = _WORDS if number_words else []
    words = [_replace(rf"\b{word}\b", str(value)) for value, word in enumerate(known)]
    steps = [step for step in (document["normalizer"],) if step]
    if no_comma not in (steps[0].get("normalizers", []) if steps else []):
        document["normalizer"] = {"type": "Sequence", "normalizers": [no_comma, *steps, *words]}
    return _rebuild(tokenizer, document)


def count_digits(tokenizer: "PreTrainedTokenizerBase", name: str) -> "PreTrainedTokenizerBase":
    """Return a tokenizer of `split_digits` with a token before each number that counts its digits.

    `12,345` becomes `<5> 1 ##2 ##3 ##4 ##5`, and of `52.4` the two before the point are counted.
    The tokens (`COUNTS`) are new entries of the vocabulary, for which a model needs rows. Messages
    name the model.
    """
    document = json.loads(tokenizer.backend_tokenizer.to_str())
    if document["model"].get("type") != "WordPiece":
        raise InputError(
            f"{name}: pieces must be digits or words, since its tokenizer is not a WordPiece one"
        )
    vocabulary, steps = document["model"]["vocab"], document["normalizer"]["normalizers"]
    if COUNTS[0] in vocabulary:
        return tokenizer
    first = 1 + max(tokenizer.get_vocab().values())
    for n_digits, token in enumerate(COUNTS, 1):
        vocabulary[token] = first + n_digits - 1
        most = "" if n_digits < len(COUNTS) else ","
        number = rf"(?<![\w.,])(?=[0-9]{{{n_digits}{most}}}(?!\w))"
        steps.append(_replace(number, f" {token} "))
    return _rebuild(tokenizer, document)


def _rebuild(
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


def _replace(pattern: str, content: str) -> dict[str, Any]:
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
