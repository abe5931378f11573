"""Loading: from a model folder or a name to an encoder, with the anchors of the model."""

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from numerate.embed.encoder import Encoder
from numerate.errors import InputError, first_line
from numerate.fit.anchors import AnchorSet
from numerate.models.base_model import add_markers
from numerate.models.digest import fixed_weights
from numerate.models.digit_tokenizer import split_digits
from numerate.models.names import SystemName, resolve_model
from numerate.models.pretrained import check_finite, explaining, load_pretrained
from numerate.options import Precision
from numerate.pretrain.baselines.released import NAMES as RELEASED
from numerate.pretrain.baselines.released import load_released
from numerate.prime.scheme import CONFIG_KEY, Priming
from numerate.prime.text import MARKERS, MARKERS_OF

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
_SAMPLE = "in 1999"


def load(
    name: str | Path | SystemName,
    *,
    priming: Priming | None = None,
    device: str | None = None,
    precision: Precision = "fp32",
    trust_remote_code: bool = False,
) -> Encoder:
    """Load an encoder: a folder that `numerate pretrain` wrote, or any model of transformers.

    Args:
        name: A folder, a hub name, `package:MODULE/FOLDER`, or a checkpoint that its authors
            released: `genbert:FOLDER`, `mwp-bert:FOLDER`. With `digits:MODEL` the tokenizer splits
            numbers into digits, even if the model was not trained so.
        priming: Primes the text for a model that was not trained on primed text (a control). Each
            marker has an embedding of its own, drawn as training draws its first one.
        device: Such as `cpu`, `cuda:1` or `mps`; by default a GPU if there is one.
        precision: `fp32`, `bf16`, or `auto` for bf16 on machines that are fast at it. bf16 rounds
            to three digits; the vectors of adjacent numerals differ by less.
        trust_remote_code: Whether code that a model folder brings may run.
    """
    system = name if isinstance(name, SystemName) else SystemName.parse(str(name))
    name, path = system.model, resolve_model(system.path)
    if system.kind in ("vectors", "control", "sentence"):
        raise InputError(f"{name}: cannot be loaded as a model; probe it with 'numerate probe'")
    with fixed_weights():
        model, tokenizer = _load_model(system.kind, name, path, trust_remote_code)
    known = _find_priming(name, path, model, tokenizer)
    if priming is not None:
        if known is not None and known != priming:
            raise InputError(f"{name}: has anchors of its own; load it without priming")
        add_markers(model, tokenizer, MARKERS[priming.marker])
    model.train(False).to(_find_device(device))
    encoder = Encoder(
        name=name, model=model, tokenizer=tokenizer, priming=priming or known, precision=precision
    )
    with explaining(name, "a model"):
        check_finite(name, encoder.embed_texts([_SAMPLE]))
    return encoder


def _load_model(
    kind: str, name: str, path: str, trust_remote_code: bool
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase"]:
    if kind in RELEASED:
        return load_released(kind, path)
    model, tokenizer, _ = load_pretrained(name, path, trust_remote_code=trust_remote_code)
    if kind == "digits":
        return model, split_digits(tokenizer, name, number_words=False)
    return model, tokenizer


def _find_priming(
    name: str, path: str, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase"
) -> Priming | None:
    """Return the priming that the config of a model names, or that its `anchors.json` implies."""
    document = getattr(model.config, CONFIG_KEY, None)
    if document is not None:
        return Priming.read(document, name)
    file = Path(path) / "anchors.json"
    if not file.is_file():
        return None
    anchors, known = AnchorSet.load(file), tokenizer.get_vocab()
    for marker in MARKERS_OF[anchors.scale]:
        if all(token in known for token in MARKERS[marker]):
            return Priming(anchors, marker)
    raise InputError(f"{name}: has an anchors.json, but its tokenizer knows no marker")


def _find_device(device: str | None) -> torch.device:
    """Return a device by its name; None stands for a GPU, or for the CPU without one."""
    if device is None:
        return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    try:
        chosen = torch.device(device)
        torch.zeros(1, device=chosen).item()  # the device meta has no values
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"device must be one of this machine, got {device!r} ({first_line(error)})"
        ) from None
    return chosen
