"""Vectors: the edge of embedding: what is read from the command line and files, and written."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from numerate.embed import Vectors
from numerate.errors import InputError
from numerate.files import open_whole


def parse_layers(text: str | None) -> list[int] | None:
    """Return the layers that a list such as `-4,-3,-2,-1` names.

    >>> parse_layers("-2,-1")
    [-2, -1]
    """
    try:
        return None if text is None else [int(layer) for layer in text.split(",")]
    except ValueError:
        raise InputError(f"layers must be like -1 or -4,-3,-2,-1, got {text!r}") from None


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file, or of standard input for `-`, that are not blank."""
    data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}") from None
    return [line for line in map(str.strip, text.splitlines()) if line]


def save_vectors(
    path: Path, inputs: Sequence[str], vectors: Vectors, settings: Mapping[str, object]
) -> None:
    """Write an .npz file with the arrays `inputs`, `vectors` and `settings`, a JSON text."""
    with open_whole(path) as file:
        np.savez(
            file, inputs=np.array(inputs), vectors=vectors, settings=np.array(json.dumps(settings))
        )
