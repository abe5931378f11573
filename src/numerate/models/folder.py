"""The files of a model folder beside model and tokenizer, for use by other libraries.

The priming is in `config.json`, where it stays if transformers fine-tunes and saves the model.
`modules.json` and the files that it names let sentence-transformers load the folder and prime text,
through a small Python file that says what to install if numerate is missing.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.files import read_data, write_file, write_json, write_rows
from numerate.prime.scheme import CONFIG_KEY, Priming

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SHIM = "numerate_sentence"
_MODULES = (
    ("", f"{SHIM}.PrimedTransformer"),
    ("1_Pooling", "sentence_transformers.sentence_transformer.modules.pooling.Pooling"),
    ("2_Normalize", "sentence_transformers.base.modules.normalize.Normalize"),
)
OWN_MODULES = {kind for _, kind in _MODULES}
"""The modules of a sentence encoder whose code is numerate's or that of sentence-transformers."""


def set_priming(model: "PreTrainedModel", priming: Priming) -> None:
    """Put the priming into the config of a model, which is saved with it."""
    setattr(model.config, CONFIG_KEY, priming.describe())


def write_modules(folder: Path, *, width: int, n_layers: int) -> None:
    """Write the files with which sentence-transformers computes vectors: mean, then unit length."""
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
    write_file(folder / f"{SHIM}.py", read_data(f"{SHIM}.py").encode())
    rows = [
        {"idx": index, "name": str(index), "path": path, "type": kind}
        for index, (path, kind) in enumerate(_MODULES)
    ]
    write_rows(folder / "modules.json", rows)
