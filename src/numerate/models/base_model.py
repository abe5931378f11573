"""Base models: any masked language model with its tokenizer, taught the markers."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from numerate.errors import InputError
from numerate.models.names import resolve_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Base:
    """A masked language model and its tokenizer.

    `fresh` names the weights that it did not come with, `dropout` the rates that its config had.
    """

    name: str
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    fresh: tuple[str, ...]
    dropout: dict[str, float]


def load_base(name: str, markers: tuple[str, ...], *, dropout: float = 0.0) -> Base:
    """Load a base model and make it know the markers.

    A marker's vector starts as the mean of all token vectors: a token like any other, which no text
    has given a meaning yet. A head that the model did not come with starts as the identity.

    Args:
        name: A folder, a name on the hub, or `package:MODULE/FOLDER` for a model that a Python
            package carries.
        markers: Tokens to add; those that the tokenizer has already are left as they are.
        dropout: In place of the model's own dropout rates. There is none by default: on a
            processor it takes a good part of the time.
    """
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    path = resolve_model(name)
    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(path)
            model, loading = AutoModelForMaskedLM.from_pretrained(path, output_loading_info=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = str(error).strip().split("\n")[0]
        raise InputError(
            f"{name}: cannot be loaded as a masked language model ({reason})"
        ) from None
    _check_tokenizer(name, tokenizer)
    rates = set_dropout(model, dropout)
    add_markers(model, tokenizer, markers)
    missing = {key for key in loading["missing_keys"] if not _is_encoder_weight(model, key)}
    _open_head(model, missing)
    return Base(name, model, tokenizer, tuple(sorted(missing)), rates)


def _open_head(model: "PreTrainedModel", fresh: set[str]) -> None:
    """Make the fresh square layers of a head the identity.

    The head's last layer is the embedding matrix, so that a vector which still resembles the
    embedding of a token says that token from the start.
    """
    for name in fresh:
        layer = model.get_submodule(name.rpartition(".")[0])
        if isinstance(layer, torch.nn.Linear) and layer.in_features == layer.out_features:
            torch.nn.init.eye_(layer.weight)
            if layer.bias is not None:
                torch.nn.init.zeros_(layer.bias)


def fit_length(base: Base, wanted: int) -> int:
    """Return the greatest length of a sequence: what was asked for, or what the model can take."""
    limits = (base.tokenizer.model_max_length, base.model.config.max_position_embeddings)
    padding = 2 if base.model.config.model_type in ("roberta", "mpnet") else 0
    return int(min(wanted, limits[0], limits[1] - padding))


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Load without bars and without a report on weights that are missing or left over: we tell."""
    from transformers.utils import logging as transformers_logging

    library: Any = transformers_logging
    before, had_bar = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity_error()
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(before)
        if had_bar:
            library.enable_progress_bar()


def add_markers(
    model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", markers: tuple[str, ...]
) -> None:
    """Add markers as special tokens, and rows for them to the embedding matrix."""
    known = tokenizer.get_vocab()
    new = [marker for marker in markers if marker not in known]
    if not new:
        return
    special = [*(getattr(tokenizer, "extra_special_tokens", None) or []), *new]
    tokenizer.add_special_tokens({"extra_special_tokens": special})
    net: Any = model
    n_rows = net.get_input_embeddings().weight.shape[0]
    old_size = min(n_rows, len(known))
    if len(tokenizer) > n_rows:
        net.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        for embeddings in (net.get_input_embeddings(), net.get_output_embeddings()):
            if isinstance(embeddings, torch.nn.Embedding | torch.nn.Linear):
                rows = tokenizer.convert_tokens_to_ids(new)
                embeddings.weight[rows] = embeddings.weight[:old_size].mean(dim=0)


def set_dropout(model: "PreTrainedModel", rate: float) -> dict[str, float]:
    """Set every dropout rate of a model; returns those that its config had, by their names."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = rate
        for name in ("attention_dropout", "dropout_prob"):  # read by attention, without a module
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, rate)
    config = vars(model.config)
    rates = {k: v for k, v in config.items() if "dropout" in k and isinstance(v, float)}
    for name in rates:
        setattr(model.config, name, rate)
    return rates


def has_fast_bf16() -> bool:
    """Return whether this machine multiplies matrices faster in bfloat16 than in float32.

    `NUMERATE_BF16=on` or `off` in the environment answers in place of the processor.
    """
    forced = os.environ.get("NUMERATE_BF16", "auto")
    if forced not in ("auto", "on", "off"):
        raise InputError(f"NUMERATE_BF16 must be on, off or auto, got {forced!r}")
    if forced != "auto":
        return forced == "on"
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    able = torch.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def _check_tokenizer(name: str, tokenizer: "PreTrainedTokenizerBase") -> None:
    if tokenizer.mask_token_id is None:
        raise InputError(f"{name}: its tokenizer has no mask token; choose a masked language model")
    if not tokenizer.is_fast:
        raise InputError(f"{name}: its tokenizer gives no offsets; it needs a tokenizer.json")
    if tokenizer.pad_token_id is None:
        raise InputError(f"{name}: its tokenizer has no padding token")


def _is_encoder_weight(model: "PreTrainedModel", key: str) -> bool:
    return key.startswith(f"{model.base_model_prefix}.")
