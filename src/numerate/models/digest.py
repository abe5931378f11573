"""Digests of models: texts that differ if anything differs that vectors depend on."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

_NOT_IN_VECTORS = ("_name_or_path", "architectures", "dtype", "transformers_version")


@contextmanager
def fixed_weights() -> Iterator[None]:
    """Let weights that a folder lacks, such as a pooler's, be the same whenever it is loaded."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def hash_model(
    model: torch.nn.Module,
    config: "PreTrainedConfig | None",
    tokenizer: "PreTrainedTokenizerBase",
    *settings: object,
) -> str:
    """Return the SHA-256 of a model's weights, config and tokenizer, and of further settings."""
    backend: Any = tokenizer
    tokens = json.loads(backend.backend_tokenizer.to_str())
    tokens |= {"truncation": None, "padding": None}  # these change when it is used
    shape = config.to_dict() if config else {}
    shape = {key: value for key, value in shape.items() if key not in _NOT_IN_VECTORS}
    digest = hashlib.sha256(json.dumps([tokens, shape], sort_keys=True, default=str).encode())
    digest.update(repr(settings).encode())
    for name, weight in model.state_dict().items():
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().view(-1).numpy().tobytes())
    return digest.hexdigest()


def shorten_digest(*parts: object) -> str:
    """Return a digest of some values in twelve characters; empty without any value.

    >>> shorten_digest("control:oracle 1")
    'ffc9586bf46d'
    >>> shorten_digest("")
    ''
    """
    text = repr(parts) if any(parts) else ""
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else ""
