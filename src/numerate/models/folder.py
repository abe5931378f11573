"""Equip: what a model folder holds beside model and tokenizer, so that others can plug it in.

`config.json` says how text is primed, and keeps saying so when the model is fine-tuned and saved by
transformers; `modules.json` and its like let sentence-transformers load the folder and prime by
itself, through a small Python file that asks for numerate where it is missing.
"""

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.files import write_file, write_json, write_rows
from numerate.prime.scheme import CONFIG_KEY, Priming

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SHIM = "numerate_sentence"
_MODULES = (
    ("", f"{SHIM}.PrimedTransformer"),
    ("1_Pooling", "sentence_transformers.sentence_transformer.modules.pooling.Pooling"),
    ("2_Normalize", "sentence_transformers.base.modules.normalize.Normalize"),
)


def set_priming(model: "PreTrainedModel", priming: Priming) -> None:
    """Let a model's config say how its text is primed; it is saved with the model."""
    setattr(model.config, CONFIG_KEY, priming.describe())


def write_modules(folder: Path, *, width: int, n_layers: int) -> None:
    """Write what sentence-transformers needs to make sentence vectors with the folder's model."""
    files: dict[str, dict[str, Any]] = {
        "sentence_bert_config.json": {
            "transformer_task": "feature-extraction",
            "modality_config": {
                "text": {"method": "forward", "method_output_name": "last_hidden_state"}
            },
            "module_output_name": "token_embeddings",
            "anchor": "visible",
            "layers": list(range(-min(4, n_layers), 0)),
        },
        "config_sentence_transformers.json": {
            "model_type": "SentenceTransformer",
            "prompts": {},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
        "1_Pooling/config.json": {"embedding_dimension": width, "pooling_mode": "mean"},
        "2_Normalize/config.json": {},
    }
    for name, document in files.items():
        write_json(folder / name, document)
    shim = resources.files("numerate").joinpath("data", f"{SHIM}.py")
    write_file(folder / f"{SHIM}.py", shim.read_bytes())
    rows = [
        {"idx": index, "name": str(index), "path": path, "type": kind}
        for index, (path, kind) in enumerate(_MODULES)
    ]
    write_rows(folder / "modules.json", rows)
