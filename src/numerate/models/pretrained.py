"""Models of transformers with their tokenizers, loaded from a folder, the hub or a GGUF file.

What cannot be used is refused before its weights are read: encoder-decoders, models that take
anything but text, and tokenizers without offsets.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import torch

from numerate.errors import InputError, MissingExtraError, first_line, needs_extra
from numerate.models.names import resolve_model
from numerate.options import LmKind
from numerate.progress import quiet_transformers

if TYPE_CHECKING:
    import numpy.typing as npt
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

Head = LmKind | Literal["auto"]
_GGUF = ".gguf"
_HUB_SECONDS = 10.0


def load_pretrained(
    name: str, path: str, *, head: Head | None = None, trust_remote_code: bool = False
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase", set[str]]:
    """Load a model with its tokenizer; return the names of the weights that it lacks too.

    The weights are in float32, whatever they are in the file. `head` is the language-model head to
    load with the model: that of a kind, that of the kind that its config names (`auto`), or none.
    Code that the folder brings is run only with `trust_remote_code`.
    """
    from transformers import (
        AutoModel,
        AutoModelForCausalLM,
        AutoModelForMaskedLM,
        AutoTokenizer,
        GgufConfig,
    )

    classes: dict[LmKind | None, Any] = {
        None: AutoModel,
        "masked": AutoModelForMaskedLM,
        "causal": AutoModelForCausalLM,
    }
    place, options = _find_source(name, path)
    config = read_config(name, path, trust_remote_code=trust_remote_code)
    trusted = {"trust_remote_code": trust_remote_code}
    kind = _choose_kind(name, config, head)
    with explaining(name, f"a {kind} language model" if kind else "a model"), _hiding(options):
        tokenizer = AutoTokenizer.from_pretrained(place, **trusted, **options)
        if not tokenizer.is_fast:
            raise InputError(f"{name}: its tokenizer gives no offsets; it needs a tokenizer.json")
        if options:  # unpacked, so that the weights can be trained
            options["quantization_config"] = GgufConfig(dequantize=True)
        model, loading = classes[kind].from_pretrained(
            place,
            config=config,
            dtype=torch.float32,
            output_loading_info=True,
            **trusted,
            **options,
        )
        _check_rows(name, model, tokenizer)
    return model, tokenizer, set(loading["missing_keys"])


def check_place(name: str, path: str) -> None:
    """Refuse a path that is neither here nor, as far as it can be asked, on the hub.

    transformers would ask for several files, and for each of them again and again.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache

    if Path(path).exists():
        return
    with quiet_transformers():
        try:
            if not try_to_load_from_cache(path, "config.json"):
                HfApi().model_info(path, timeout=_HUB_SECONDS)
        except Exception as error:  # of the hub's name rules, its answer or the network
            reason = first_line(error) or type(error).__name__
            raise InputError(
                f"{name}: cannot be loaded as a model; there is no such folder, and the hub does "
                f"not have it either, or cannot be asked ({reason})"
            ) from None


def check_finite(name: str, vectors: "npt.NDArray[Any]") -> None:
    """Refuse vectors with NaN or infinite values, which damaged weights give."""
    if not np.isfinite(vectors).all():
        raise InputError(f"{name}: its vectors are not finite numbers; its weights are damaged")


def _check_rows(name: str, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> None:
    """Refuse a tokenizer of another model: one with ids that the embeddings have no row for.

    Tokens that were added to its vocabulary, such as one for the end of a text, may have none; the
    one for padding may not.
    """
    net: Any = model
    n_rows, added = net.get_input_embeddings().weight.shape[0], tokenizer.get_added_vocab()
    last = max(
        tokenizer.pad_token_id or 0,
        *(row for token, row in tokenizer.get_vocab().items() if token not in added),
    )
    if last >= n_rows:
        raise InputError(
            f"{name}: its tokenizer has the id {last:,}, but the model only {n_rows:,} embeddings; "
            "it is that of another model"
        )


def read_config(name: str, path: str, *, trust_remote_code: bool = False) -> "PreTrainedConfig":
    """Return the config of a model that takes text and gives a vector for each token."""
    from transformers import MODEL_MAPPING, AutoConfig

    place, options = _find_source(name, path)
    if not options:
        _check_folder(name, Path(place))
    check_place(name, path)
    with explaining(name, "a model"):
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            place, trust_remote_code=trust_remote_code, **options
        )
        model: Any = MODEL_MAPPING.get(type(config), None)
    what = f"{name}: must be a masked or a causal language model, got"
    if config.is_encoder_decoder:
        raise InputError(f"{what} an encoder-decoder ({config.model_type})")
    takes = getattr(model, "input_modalities", "text")
    if set([takes] if isinstance(takes, str) else takes) != {"text"}:
        raise InputError(f"{what} a model of {' and '.join(takes)} ({config.model_type})")
    return config


def find_kind(config: "PreTrainedConfig") -> LmKind | None:
    """Return the kind of a language model; None if it is of neither kind.

    The class in its config decides. An encoder of a family that has both kinds, such as
    `BertModel`, is masked.
    """
    from transformers.models.auto import modeling_auto

    names: dict[LmKind, Any] = {
        "masked": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.get(config.model_type),
        "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(config.model_type),
    }
    saved = getattr(config, "architectures", None) or ()
    found = [kind for kind in get_args(LmKind) if names[kind] in saved]
    kinds: list[LmKind] = [*found, *(kind for kind in get_args(LmKind) if names[kind])]
    return kinds[0] if kinds else None


def find_model_kind(name: str, *, trust_remote_code: bool = False) -> LmKind | None:
    """Return the kind of the language model that a user names; None if it is of neither kind."""
    return find_kind(read_config(name, resolve_model(name), trust_remote_code=trust_remote_code))


def _choose_kind(name: str, config: "PreTrainedConfig", head: Head | None) -> LmKind | None:
    """Return the kind of head to load; refuse one that the model cannot have."""
    if head is None:
        return None
    known = find_kind(config)
    if known is None:
        raise InputError(
            f"{name}: must be a masked or a causal language model, got {config.model_type}"
        )
    if head == "causal" and known == "masked" and not getattr(config, "is_decoder", False):
        raise InputError(
            f"{name}: must be a causal language model, but it reads in both directions"
        )
    return known if head == "auto" else head


def _check_folder(name: str, folder: Path) -> None:
    """Refuse a folder without a model, before transformers looks for it on the hub."""
    if (
        folder.is_dir()
        and not (folder / "config.json").is_file()
        and not any(folder.glob("*.gguf"))
    ):
        hint = "it has no config.json"
        if (folder / "unfinished").is_dir():
            hint = "its training was cut off, continue it with --resume"
        raise InputError(f"{name}: not a model folder; {hint}")


def _find_source(name: str, path: str) -> tuple[str, dict[str, Any]]:
    """Return what transformers loads from: a folder or a hub name, and the GGUF file in it."""
    file = Path(path)
    if not file.is_file():
        return path, {}
    if file.suffix != _GGUF:
        raise InputError(f"{name}: a file, not a model folder or a {_GGUF} file")
    with needs_extra(f"{name}: a GGUF file", "gguf"):
        import_module("gguf")
    return str(file.parent), {"gguf_file": file.name}


def _hiding(options: dict[str, Any]) -> AbstractContextManager[object]:
    """Return a context that hides the progress bar of a GGUF file, which nothing else turns off."""
    return redirect_stderr(StringIO()) if options else nullcontext()


@contextmanager
def explaining(name: str, what: str) -> Iterator[None]:
    """Keep transformers quiet, and turn whatever it raises on a folder into one line.

    What a damaged or foreign folder makes transformers, torch and safetensors raise is of any kind.
    """
    try:
        with quiet_transformers():
            yield
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        if "trust_remote_code" in str(error):
            raise InputError(
                f"{name}: needs code that its folder brings, which is not run; read it, and if you "
                "trust it, allow it with --trust-remote-code"
            ) from None
        reason = first_line(error) or type(error).__name__
        raise InputError(f"{name}: cannot be loaded as {what} ({reason})") from None
