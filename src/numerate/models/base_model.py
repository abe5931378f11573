"""Base models: any masked or causal language model with its tokenizer, and the markers added."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from numerate.errors import InputError
from numerate.models.names import resolve_model
from numerate.models.pretrained import Head, find_kind, load_pretrained
from numerate.options import LmKind

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_UNLIMITED = 10**12  # tokens


@dataclass(frozen=True, kw_only=True)
class Base:
    """A language model and its tokenizer.

    `fresh` names the weights that its folder lacked, `dropout` the original rates of its config.
    """

    name: str
    kind: LmKind
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    fresh: tuple[str, ...]
    dropout: dict[str, float]


def load_base(
    name: str,
    markers: tuple[str, ...],
    *,
    kind: Head = "masked",
    dropout: float = 0.0,
    trust_remote_code: bool = False,
) -> Base:
    """Load a base model and add the markers to its tokenizer and its embeddings.

    The embedding of a marker starts as a random token's (`draw_marker`). A head that the model
    lacks starts as the identity. Dropout is off by default, since it takes much of the time on a
    CPU. `auto` takes the kind that the model's config names.
    """
    model, tokenizer, missing = load_pretrained(
        name, resolve_model(name), head=kind, trust_remote_code=trust_remote_code
    )
    found = kind if kind != "auto" else find_kind(model.config) or "masked"
    if found == "masked":
        _check_special(name, tokenizer)
    rates = set_dropout(model, dropout)
    encoder = f"{model.base_model_prefix}."
    fresh = tuple(sorted(key for key in missing if not key.startswith(encoder)))
    _open_head(model, fresh)
    add_markers(model, tokenizer, markers)
    return Base(name=name, kind=found, model=model, tokenizer=tokenizer, fresh=fresh, dropout=rates)


def _check_special(name: str, tokenizer: "PreTrainedTokenizerBase") -> None:
    """Refuse a tokenizer without the tokens that a masked language model needs."""
    if tokenizer.mask_token_id is None:
        raise InputError(f"{name}: its tokenizer has no mask token; choose a masked language model")
    if tokenizer.pad_token_id is None:
        raise InputError(f"{name}: its tokenizer has no padding token")


def _open_head(model: "PreTrainedModel", fresh: tuple[str, ...]) -> None:
    """Set the fresh square layers of a head to the identity, and its last to the embeddings.

    The last layer of most heads is the embedding matrix, so a hidden state that resembles the
    embedding of a token predicts this token from the start.
    """
    net: Any = model
    for name in fresh:
        layer = model.get_submodule(name.rpartition(".")[0])
        if not isinstance(layer, torch.nn.Linear):
            continue
        if layer is net.get_output_embeddings() and name.endswith("weight"):
            layer.weight.data.copy_(net.get_input_embeddings().weight)
        elif layer.in_features == layer.out_features:
            torch.nn.init.eye_(layer.weight)
            if layer.bias is not None:
                torch.nn.init.zeros_(layer.bias)


def find_positions(model: "PreTrainedModel") -> range:
    """Return the position ids that the tokens of a sequence can have.

    RoBERTa and the models derived from it, such as XLM-RoBERTa, CamemBERT and MPNet, count from
    `padding_idx + 1`: of their table of positions some rows are never used.
    """
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    n_rows = getattr(model.config, "max_position_embeddings", None) or _UNLIMITED
    return range(0 if padding is None else padding + 1, n_rows)


def max_tokens(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> int:
    """Return the maximum number of tokens of a sequence, including the special ones."""
    return int(min(tokenizer.model_max_length, len(find_positions(model))))


def add_markers(
    model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", markers: tuple[str, ...]
) -> None:
    """Add markers to a tokenizer as special tokens, and rows for them to the embedding matrix."""
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
    for embeddings in (net.get_input_embeddings(), net.get_output_embeddings()):
        if isinstance(embeddings, torch.nn.Embedding | torch.nn.Linear):
            draw_rows(embeddings.weight, tokenizer, new, old_size)


def draw_rows(
    weight: torch.Tensor,
    tokenizer: "PreTrainedTokenizerBase",
    tokens: Iterable[str],
    n_known: int,
) -> None:
    """Draw the rows of new tokens in an embedding matrix; the first `n_known` rows are known."""
    with torch.no_grad():
        for token in tokens:
            row = tokenizer.convert_tokens_to_ids(token)
            weight[row] = draw_marker(token, weight[:n_known])


def draw_marker(marker: str, embeddings: torch.Tensor) -> torch.Tensor:
    """Return the first embedding of a marker: distributed as those of the tokens, and as long.

    The mean of the tokens would be the same for all markers, and an untrained model could not tell
    `<LA>` from `<RA>`. The draw depends on the marker's text alone, so that a model and its
    untrained twin start from the same one.
    """
    seed = int.from_bytes(hashlib.sha256(marker.encode()).digest()[:7])
    tokens = embeddings.detach().to("cpu", torch.float32)
    noise = torch.randn(tokens.shape[1], generator=torch.Generator().manual_seed(seed))
    drawn = tokens.mean(dim=0) + tokens.std(dim=0) * noise
    scaled: torch.Tensor = drawn / drawn.norm() * tokens.norm(dim=1).median()
    return scaled.to(embeddings)


def set_dropout(model: "PreTrainedModel", rate: float) -> dict[str, float]:
    """Set every dropout rate of a model, and return the previous rates of its config by name."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = rate
        for name in ("attention_dropout", "dropout_prob"):  # attributes of attention, not modules
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, rate)
    config = vars(model.config)
    rates = {k: v for k, v in config.items() if "dropout" in k and isinstance(v, float)}
    for name in rates:
        setattr(model.config, name, rate)
    return rates


def has_fast_bf16() -> bool:
    """Return whether this machine multiplies matrices faster in bfloat16 than in float32.

    The environment variable `NUMERATE_BF16`, `on` or `off`, overrides the answer.
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
