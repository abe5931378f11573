"""Systems: models, released checkpoints, word vectors and controls, opened by name to be probed.

Every result needs its controls beside it: vectors by rule (`control:NAME`), and the untrained model
shown the same primed text (`control:primed:MODEL`).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.files import open_whole
from numerate.models.digest import hash_model
from numerate.models.labels import SystemLabel
from numerate.models.names import SystemName, resolve_model
from numerate.models.pretrained import check_finite, read_config
from numerate.models.sentence_encoder import check_sentence_encoder, load_sentence_encoder
from numerate.options import SHOWN, Anchor, Readout, default_readout
from numerate.prime.scheme import Priming
from numerate.probe.controls import CONTROL_READS, CONTROLS, Matrix, Reads, read_numbers
from numerate.probe.statistics import Floats
from numerate.probe.tasks.similarity import search_by
from numerate.probe.text_systems import (
    BM25,
    Bm25System,
    SentenceEncoder,
    share_words,
)
from numerate.probe.word_vectors import open_word_vectors

if TYPE_CHECKING:
    from numerate.embed.encoder import Encoder


class System(Protocol):
    """Something that turns numerals into vectors.

    A vector of zeros means that the numeral is unknown. The fingerprint changes with everything
    that the vectors depend on, so that they can be cached.
    """

    @property
    def name(self) -> str:
        """The label of the system in its scores."""

    @property
    def fingerprint(self) -> str:
        """A text that differs between systems with different vectors."""

    def embed_numerals(self, numerals: Sequence[int], /) -> Matrix:
        """Return a row for each numeral."""


@runtime_checkable
class SentenceSystem(System, Protocol):
    """A system that turns sentences into vectors, too."""

    def embed_texts(self, texts: Sequence[str], /) -> Matrix:
        """Return a row for each text."""


@runtime_checkable
class LayeredSystem(System, Protocol):
    """A system whose layers can be read one by one; layer 0 is the embeddings."""

    @property
    def n_layers(self) -> int:
        """The number of layers above the embeddings."""

    def embed_layers(self, numerals: Sequence[int], /) -> Sequence[Matrix]:
        """Return a row for each numeral, for every layer."""


@dataclass(frozen=True)
class NumeralSystem:
    """A function from numerals to vectors: a control, word vectors, or one layer of a model."""

    name: str
    embed: Callable[[Sequence[Any]], Matrix]
    fingerprint: str = ""

    def embed_numerals(self, numerals: Sequence[int], /) -> Matrix:
        """Return a row for each numeral."""
        return self.embed(numerals)


@runtime_checkable
class SearchSystem(System, Protocol):
    """A system that says how similar documents are to queries in a way of its own."""

    def search(self, queries: Sequence[str], documents: Sequence[str], /) -> Floats:
        """Return a row for each query and a column for each document."""


@dataclass(frozen=True)
class ControlSystem(NumeralSystem):
    """A control; the vector of a text is the sum of those of its numerals, zeros if it has none.

    `reads` says of which numbers: of integers, of all numbers as they are written, or of their
    values, with scale words. A search first looks at the words that a query and a document share,
    and only then at their numbers.
    """

    reads: Reads = "integers"

    def embed_texts(self, texts: Sequence[str], /) -> Matrix:
        """Return a row for each text."""
        found = [read_numbers(text, self.reads) for text in texts]
        vectors = self.embed([1, *chain(*found)])  # 1 gives the width if there is no numeral
        sums = np.zeros((len(texts), vectors.shape[1]))
        np.add.at(sums, np.repeat(np.arange(len(texts)), list(map(len, found))), vectors[1:])
        return sums

    def search(self, queries: Sequence[str], documents: Sequence[str], /) -> Floats:
        """Return shared words in steps of 0.01, and less than half a step for the numbers."""
        numbers = search_by(self.embed_texts)(queries, documents)
        similarities: Floats = share_words(queries, documents).round(2) + 0.004 * numbers
        return similarities


@dataclass(frozen=True)
class Reading:
    """How vectors are read from models.

    Each way in `shown` to show a model its anchors is a system of its own; None stands for all ways
    of the model's kind. If `read` is None, all tokens are read, or the last if it is unsaid.
    The last four layers are summed if `layers` is None.
    """

    shown: tuple[Anchor, ...] | None = ("visible",)
    read: Readout | None = None
    layers: tuple[int, ...] | None = None


@dataclass(frozen=True)
class ModelSystem:
    """An encoder that is shown anchors and read in one way."""

    label: SystemLabel
    encoder: "Encoder"
    digest: str

    @property
    def name(self) -> str:
        """The label of the system in its scores."""
        return str(self.label)

    @property
    def fingerprint(self) -> str:
        """A text that changes with the model and the way it is read."""
        return f"{self.digest} {self.label.shown} {self.label.read} {self.label.layers}"

    @property
    def n_layers(self) -> int:
        """The number of layers above the embeddings."""
        return self.encoder.n_layers

    def embed_numerals(self, numerals: Sequence[int], /) -> Matrix:
        """Return a row for each numeral."""
        return self.encoder.embed_numerals(numerals, layers=self.label.layers, **self._options)

    def embed_texts(self, texts: Sequence[str], /) -> Matrix:
        """Return a row for each text."""
        return self.encoder.embed_texts(texts, layers=self.label.layers, **self._options)

    def embed_layers(self, numerals: Sequence[int], /) -> Sequence[Matrix]:
        """Return a row for each numeral, for every layer; layer 0 is the embeddings."""
        return list(self.encoder.embed_layers(numerals, **self._options))

    @property
    def _options(self) -> dict[str, Any]:
        return {"anchor": self.label.shown, "read": self.label.read}


def open_systems(
    name: str | SystemName,
    *,
    reading: Reading,
    priming: Priming | None = None,
    device: str | None = None,
    trust_remote_code: bool = False,
) -> Iterator[System]:
    """Yield the systems of a name: one, or for a model with anchors one for each way to show them.

    `priming` has the anchors that `control:primed` shows the untrained model. Code that a model
    folder brings is run only with `trust_remote_code`.
    """
    system = SystemName.parse(name) if isinstance(name, str) else name
    _check_anchors(system, priming is not None)
    if system.model == BM25:
        yield Bm25System(system.title)
    elif system.kind == "control":
        _check_control(system.model)
        reads = CONTROL_READS.get(system.model, "integers")
        yield ControlSystem(system.title, CONTROLS[system.model], f"{system.model} 1", reads)
    elif system.kind == "sentence":
        encoder = load_sentence_encoder(
            system.path, device=device, trust_remote_code=trust_remote_code
        )
        yield SentenceEncoder(system.title, encoder)
    elif system.kind == "vectors":
        words = open_word_vectors(system.path)
        yield NumeralSystem(system.title, words.embed_numerals, words.fingerprint)
    else:
        from numerate.embed.load import load

        shown = priming if system.primed else None
        options: dict[str, Any] = {"device": device, "trust_remote_code": trust_remote_code}
        yield from _open_model(system, load(system, priming=shown, **options), reading)


def _check_anchors(name: SystemName, are_given: bool) -> None:
    if name.primed and not are_given:
        raise InputError(f"control:primed:{name.model}: needs --anchors, the anchors to show")


def check_system(
    name: SystemName, *, has_anchors: bool = True, trust_remote_code: bool = False
) -> None:
    """Refuse a name that cannot be opened, as far as that can be told without loading weights."""
    _check_anchors(name, has_anchors)
    if name.kind == "control":
        _check_control(name.model)
    elif name.kind == "vectors":
        open_word_vectors(name.path)
    elif name.kind == "sentence":
        check_sentence_encoder(name.path)
    elif name.kind in ("model", "digits"):
        read_config(name.model, resolve_model(name.path), trust_remote_code=trust_remote_code)
    elif not Path(name.path).is_dir():
        raise InputError(f"{name.model}: no such folder")


def _check_control(name: str) -> None:
    if name not in CONTROLS and name != BM25:
        known = ", ".join([*CONTROLS, BM25, "control:primed:MODEL"])
        raise InputError(f"{name}: no such control; there are {known}")


def _open_model(system: SystemName, encoder: "Encoder", reading: Reading) -> Iterator[ModelSystem]:
    settings = encoder.priming, encoder.precision
    digest = hash_model(encoder.model, encoder.model.config, encoder.tokenizer, *settings)
    for shown in reading.shown or SHOWN[encoder.kind] if encoder.priming else (None,):
        read = reading.read or default_readout(shown)
        label = SystemLabel(name=system.title, shown=shown, read=read, layers=reading.layers)
        yield ModelSystem(label, encoder, digest)


def embed_cached(system: System, numerals: npt.NDArray[np.int64], folder: Path | None) -> Matrix:
    """Return a vector for each numeral; vectors cached in the folder are not computed again."""
    wanted = np.unique(numerals)
    key = hashlib.sha256(system.fingerprint.encode()).hexdigest()[:24]
    path = folder / f"{key}.npz" if folder else None
    known, vectors = _read_vectors(path)
    missing = np.setdiff1d(wanted, known)
    if len(missing):
        new = system.embed_numerals(missing.tolist())
        check_finite(system.name, new)
        if path and len(vectors) and vectors.shape[1:] != new.shape[1:]:  # of something else
            path.unlink()
            return embed_cached(system, numerals, folder)
        known = np.concatenate((known, missing))
        vectors = np.concatenate((vectors, new)) if len(vectors) else new
        order = np.argsort(known)
        known, vectors = known[order], vectors[order]
        if path and vectors.any():  # a system that knows no numeral at all is about to be refused
            with open_whole(path) as file:
                np.savez(file, numerals=known, vectors=vectors)
    kept: Matrix = vectors[np.searchsorted(known, numerals)]
    return kept


def _read_vectors(path: Path | None) -> tuple[npt.NDArray[np.int64], Matrix]:
    """Return the numerals and the vectors of a file; none of a damaged one, to be made again."""
    nothing = np.zeros(0, np.int64), np.zeros((0, 0), np.float32)
    if path is None or not path.exists():
        return nothing
    try:
        with np.load(path, allow_pickle=False) as arrays:
            numerals, vectors = arrays["numerals"], arrays["vectors"]
    except (AttributeError, EOFError, KeyError, OSError, TypeError, ValueError, BadZipFile):
        return nothing
    is_whole = numerals.dtype == np.int64 and numerals.ndim == 1 and vectors.ndim == 2
    is_whole = is_whole and vectors.dtype.kind == "f" and len(numerals) == len(vectors)
    is_whole = is_whole and bool((np.diff(numerals) > 0).all())
    return (numerals, vectors) if is_whole and np.isfinite(vectors).all() else nothing
