"""The checkpoints of GenBERT and MWP-BERT that their authors released, as folders.

GenBERT (Geva et al. 2020) is a BERT with a decoder: `config.json` of pytorch-pretrained-bert,
`vocab.txt`, and a pickled `pytorch_model.bin`, whose decoder and heads are not needed here. It
drops commas in numbers, reads number words up to nineteen as digits, and splits tokens of several
digits after WordPiece, `12` into `1 ##2`.

MWP-BERT (Liang et al. 2022) is saved by `BertForMaskedLM.save_pretrained`, without a tokenizer; its
vocabulary is that of bert-base-uncased.
"""

import json
import pickle
import struct
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from numerate.errors import InputError
from numerate.models.digit_tokenizer import split_digits

if TYPE_CHECKING:
    from transformers import BertConfig, BertModel, PreTrainedTokenizerBase

Weights = dict[str, torch.Tensor]
NAMES = {"genbert": "GenBERT", "mwp-bert": "MWP-BERT"}
_GENBERTS_OWN = ("embed", "extra_enc_layer", "extra_dec_layer", "dec_head", "qa_head", "head_type")
_NEEDED = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
)
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_BAD_PICKLES = (
    pickle.UnpicklingError,
    struct.error,
    AssertionError,
    EOFError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


def load_released(kind: str, folder: str) -> tuple["BertModel", "PreTrainedTokenizerBase"]:
    """Return the encoder and the tokenizer of a checkpoint: `genbert` or `mwp-bert`."""
    place = Path(folder)
    config = _read_config(place, NAMES[kind])
    vocabulary = _read_vocabulary(place, config.vocab_size)
    weights = _read_weights(place)
    _check_kind(place, kind, weights)
    model = _make_encoder(place, config, weights)
    tokenizer = _make_tokenizer(vocabulary, config.max_position_embeddings)
    return model, split_digits(tokenizer, folder) if kind == "genbert" else tokenizer


def _make_tokenizer(vocabulary: dict[str, int], max_length: int) -> "PreTrainedTokenizerBase":
    from transformers import BertTokenizer

    # A dict: in transformers 5 `vocab_file=` is ignored and yields five tokens without an error.
    make: Any = BertTokenizer
    tokenizer: PreTrainedTokenizerBase = make(vocab=vocabulary, model_max_length=max_length)
    return tokenizer


def _read_config(folder: Path, name: str) -> "BertConfig":
    from huggingface_hub.errors import StrictDataclassError
    from transformers import BertConfig

    document = _read_json(folder / "config.json", f"{folder}: not a checkpoint of {name}")
    lacking = [key for key in _NEEDED if not isinstance(document.get(key), int)]
    if document.get("model_type", "bert") != "bert" or lacking:
        why = f"it lacks {lacking[0]}" if lacking else f"it says {document['model_type']!r}"
        raise InputError(
            f"{folder}: not a checkpoint of {name}; its config.json is not that of a BERT ({why})"
        )
    try:
        return BertConfig(**document)
    except StrictDataclassError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{folder / 'config.json'}: cannot be read ({reason})") from None


def _read_json(path: Path, problem: str) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError:
        raise InputError(f"{problem}; it has no {path.name}") from None
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON ({error})") from None
    return document if isinstance(document, dict) else {}


def _read_vocabulary(folder: Path, size: int) -> dict[str, int]:
    """Return the vocabulary of `vocab.txt` or, without it, of `tokenizer.json`."""
    path = folder / "vocab.txt"
    if path.is_file():
        lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
        tokens = [line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines]
        vocabulary = {token: index for index, token in enumerate(tokens)}
    else:
        path = folder / "tokenizer.json"
        hint = f"{folder}: has no vocabulary; put the vocab.txt of bert-base-uncased into it"
        if not path.is_file():
            raise InputError(hint)
        model = _read_json(path, hint).get("model")
        vocabulary = model.get("vocab", {}) if isinstance(model, dict) else {}
    digits = [f"{prefix}{digit}" for digit in "0123456789" for prefix in ("", "##")]
    lacking = [token for token in (*_SPECIAL, *digits) if token not in vocabulary]
    if lacking:
        raise InputError(f"{path}: not a vocabulary of BERT; it lacks {lacking[0]}")
    if max(vocabulary.values()) >= size:
        raise InputError(
            f"{path}: has {len(vocabulary):,} tokens, but config.json says {size:,}; "
            "put the vocab.txt of the checkpoint there"
        )
    return vocabulary


def _read_weights(folder: Path) -> Weights:
    """Return the weights of a folder; a pickle may contain nothing but tensors."""
    safe, pickled = folder / "model.safetensors", folder / "pytorch_model.bin"
    if safe.is_file():
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(safe)
        except SafetensorError as error:
            raise InputError(f"{safe}: damaged ({error}); fetch it again") from None
    if not pickled.is_file():
        raise InputError(f"{folder}: has no weights; it needs pytorch_model.bin")
    try:
        with warnings.catch_warnings():  # about the format of the pickle
            warnings.simplefilter("ignore", UserWarning)
            weights = torch.load(pickled, map_location="cpu", weights_only=True)
    except _BAD_PICKLES:
        raise InputError(
            f"{pickled}: contains more than weights, or is damaged, and is not loaded; "
            "if you trust it, load it elsewhere and save its state_dict"
        ) from None
    if not isinstance(weights, dict):
        raise InputError(f"{pickled}: not a dict of weights; save the state_dict of the model")
    return {str(key): value for key, value in weights.items() if isinstance(value, torch.Tensor)}


def _check_kind(folder: Path, kind: str, weights: Weights) -> None:
    """Refuse the weights of another model."""
    if not any(key.startswith("bert.") for key in weights):
        raise InputError(
            f"{folder}: not a checkpoint of {NAMES[kind]}; it has no weights of bert.*"
        )
    is_genbert = any(key.split(".")[0] in _GENBERTS_OWN for key in weights)
    if is_genbert and kind != "genbert":
        raise InputError(
            f"{folder}: a checkpoint of GenBERT, since it has a decoder; name it genbert:{folder}"
        )
    if not is_genbert and kind == "genbert":
        raise InputError(f"{folder}: not a checkpoint of GenBERT; it has no weights of a decoder")


def _make_encoder(folder: Path, config: "BertConfig", weights: Weights) -> "BertModel":
    from transformers import BertModel

    own = {k.removeprefix("bert."): v for k, v in weights.items() if k.startswith("bert.")}
    make: Any = BertModel
    try:
        model: BertModel = make(config, add_pooling_layer=False)
        missing = model.load_state_dict(own, strict=False).missing_keys
    except (RuntimeError, ValueError, KeyError) as error:
        reason = str(error).split("\n\t")[:2][-1]  # the first line is only a title
        raise InputError(f"{folder}: weights and config.json do not fit ({reason})") from None
    if missing:
        raise InputError(
            f"{folder}: its weights lack bert.{missing[0]}; the file may be incomplete"
        )
    return model
