"""Systems: what can be probed, by name: models, released checkpoints, word vectors, controls.

Every result needs its controls beside it: vectors by rule (`control:NAME`), and the untrained model
shown the same primed text (`control:primed:MODEL`).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.files import open_whole
from numerate.options import Anchor, Readout
from numerate.prime.scheme import Priming
from numerate.probe.controls import CONTROLS, Matrix
from numerate.probe.word_vectors import open_word_vectors

if TYPE_CHECKING:
    from numerate.embed.encoder import Encoder


@dataclass(frozen=True)
class System:
    """Something that makes vectors, under the name that its scores will have.

    Controls and word vectors have no vectors of sentences and no layers; a vector of zeros says
    that a numeral is not known. `fingerprint` changes with whatever its vectors of numerals depend
    on, so that they can be kept.
    """

    name: str
    embed_numerals: Callable[[Sequence[int]], Matrix] | None = None
    fingerprint: str = ""
    embed_texts: Callable[[Sequence[str]], Matrix] | None = None
    embed_layer: Callable[[int, Sequence[int]], Matrix] | None = None
    n_layers: int = 0


@dataclass(frozen=True)
class Reading:
    """How the vectors of models are made: what is shown, which tokens are read, which layers."""

    anchors: tuple[Anchor, ...] = ("visible",)
    read: Readout = "all"
    layers: tuple[int, ...] | None = None


def open_systems(
    name: str, *, reading: Reading, priming: Priming | None = None, device: str | None = None
) -> Iterator[System]:
    """Yield the systems of a name: a control, a plain model, or one for each way to show an anchor.

    Args:
        name: A model folder, a name on the hub, `genbert:FOLDER`, `mwp-bert:FOLDER`,
            `digits:MODEL`, `vectors:FILE`, `control:NAME` or `control:primed:MODEL`; in front of it
            may stand what it is to be called, as in `ours=models/ln`.
        reading: How vectors are made; several ways to show an anchor are several systems.
        priming: What `control:primed` shows the untrained model.
        device: Where to compute.
    """
    title, _, model = name.rpartition("=")
    title = title or model
    if model.startswith("control:primed:"):
        if priming is None:
            raise InputError(f"{model}: needs --anchors, the anchors to prime with")
        bare = model.removeprefix("control:primed:")
        yield from _open_model(title, bare, reading, priming, device)
    elif model.startswith("control:"):
        if model not in CONTROLS:
            known = ", ".join([*CONTROLS, "control:primed:MODEL"])
            raise InputError(f"{model}: no such control; there are {known}")
        yield System(title, CONTROLS[model], f"{model} 1")
    elif model.startswith("vectors:"):
        words = open_word_vectors(model.removeprefix("vectors:"))
        yield System(title, words.embed_numerals, words.fingerprint)
    else:
        yield from _open_model(title, model, reading, None, device)


def _open_model(
    name: str, model: str, reading: Reading, priming: Priming | None, device: str | None
) -> Iterator[System]:
    from numerate.embed.load import load

    encoder = load(model, priming=priming, device=device)
    digest = _hash_model(encoder)
    shown: tuple[Anchor | None, ...] = reading.anchors if encoder.priming else (None,)
    for anchor in shown:
        label = f"{name} ({anchor})" if anchor else name
        label += "" if reading.read == "all" else f" at {reading.read}"
        if reading.layers:
            label += f" layers {','.join(map(str, reading.layers))}"
        fingerprint = f"{digest} {anchor} {reading.read} {reading.layers}"
        yield _make_system(label, fingerprint, encoder, anchor, reading)


def _make_system(
    label: str, fingerprint: str, encoder: "Encoder", anchor: Anchor | None, reading: Reading
) -> System:
    options: dict[str, Any] = {"anchor": anchor, "read": reading.read}
    return System(
        label,
        lambda numerals: encoder.embed_numerals(numerals, layers=reading.layers, **options),
        fingerprint,
        lambda texts: encoder.embed_texts(texts, layers=reading.layers, **options),
        lambda layer, numerals: encoder.embed_numerals(numerals, layers=[layer], **options),
        encoder.n_layers,
    )


def _hash_model(encoder: "Encoder") -> str:
    """A digest of everything that a vector depends on: weights, vocabulary, anchors, precision."""
    digest = hashlib.sha256(repr((encoder.priming, encoder.precision)).encode())
    digest.update(encoder.tokenizer.backend_tokenizer.to_str().encode())
    for name, weight in encoder.model.state_dict().items():
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().view(-1).numpy().tobytes())
    return digest.hexdigest()


def embed_cached(system: System, numerals: npt.NDArray[np.int64], folder: Path | None) -> Matrix:
    """Return a vector for each numeral, computed where none was kept in the folder before."""
    wanted = np.unique(numerals)
    key = hashlib.sha256(system.fingerprint.encode()).hexdigest()[:24]
    path = folder / f"{key}.npz" if folder else None
    known, vectors = _read_vectors(path)
    missing = np.setdiff1d(wanted, known)
    if len(missing):
        if system.embed_numerals is None:
            raise InputError(f"{system.name}: makes no vectors of numerals; ask it other tasks")
        new = system.embed_numerals(missing.tolist())
        known = np.concatenate((known, missing))
        vectors = np.concatenate((vectors, new)) if len(vectors) else new
        order = np.argsort(known)
        known, vectors = known[order], vectors[order]
        if path:
            with open_whole(path) as file:
                np.savez(file, numerals=known, vectors=vectors)
    kept: Matrix = vectors[np.searchsorted(known, numerals)]
    return kept


def _read_vectors(path: Path | None) -> tuple[npt.NDArray[np.int64], Matrix]:
    if path is None or not path.exists():
        return np.zeros(0, np.int64), np.zeros((0, 0), np.float32)
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["numerals"], arrays["vectors"]
