"""The .npz file of `numerate embed`: inputs, their vectors, and how these were made."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from numerate.embed.encoder import Vectors
from numerate.errors import InputError
from numerate.files import check_output, open_whole


def check_vectors_output(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file to write that is no .npz, or that `check_output` refuses."""
    if path.suffix != ".npz":
        raise InputError(f"--out must end in .npz, got {path}")
    check_output(path, starts=rb"PK\x03\x04(?s:.{26})inputs\.npy", inputs=inputs)


def save_vectors(
    path: Path, inputs: Sequence[str], vectors: Vectors, settings: Mapping[str, object]
) -> None:
    """Write an .npz file with the arrays `inputs`, `vectors` and `settings` (as JSON text)."""
    with open_whole(path) as file:
        np.savez(
            file, inputs=np.array(inputs), vectors=vectors, settings=np.array(json.dumps(settings))
        )
