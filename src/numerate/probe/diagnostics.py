"""Diagnostics: what the figures of a report show of one system beyond its scores.

`numerate run` keeps them in `portrait.json`. `probe.diagnose` computes them. This module only
holds, saves and loads them, so that a report needs no torch.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from numerate.errors import InputError
from numerate.files import read_json, write_json
from numerate.probe.statistics import Floats

_FORMAT = "numerate-portrait"


@dataclass(frozen=True)
class DecodedValues:
    """The true and the decoded values of held-out numerals, and their R² if it was measured."""

    true: Floats
    predicted: Floats
    r2: float = float("nan")

    def __post_init__(self) -> None:
        if not self.true.shape == self.predicted.shape == (len(self.true),):
            raise ValueError("true and predicted must be lists of the same length")
        if not (self.true >= 1).all():
            raise ValueError("true must be 1 or more")


@dataclass(frozen=True)
class Neighbours:
    """Numerals that the corpus lacks, and for each the numerals with the most similar vectors."""

    asked: Floats
    nearest: Floats
    """One row per numeral in `asked`; the most similar comes first."""
    examples: Mapping[int, tuple[int, ...]]
    """The numerals with the most similar vectors for a few well-known numerals."""

    def __post_init__(self) -> None:
        if self.asked.ndim != 1 or self.nearest.ndim != 2 or len(self.asked) != len(self.nearest):
            raise ValueError("nearest must have a row for each numeral asked")
        if min(self.asked.min(), self.nearest.min()) < 1:
            raise ValueError("asked and nearest must be 1 or more")

    @property
    def gaps(self) -> Floats:
        """The absolute difference of the logarithms of each numeral and its neighbours."""
        gaps: Floats = np.abs(np.log(self.nearest) - np.log(self.asked)[:, None])
        return gaps

    @property
    def mean_factor(self) -> float:
        """The geometric mean of the factors between numerals and neighbours; 1 is the same size."""
        return float(np.exp(self.gaps.mean()))


@dataclass(frozen=True)
class LayerErrors:
    """The log-RMSE of ridge regression on one layer and range, one value per seed."""

    layer: int
    range: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Diagnostics:
    """What the figures show of one system; parts that were not computed are empty or None."""

    system: str
    training: int = 0
    """The number of the system's training."""
    line: DecodedValues | None = None
    """Numerals up to 10,000."""
    decoded: DecodedValues | None = None
    """Numerals of all magnitudes."""
    cosines: Floats | None = None
    """The cosines of the vectors of 1, 2, …, as a square matrix."""
    neighbours: Neighbours | None = None
    layers: tuple[LayerErrors, ...] = ()
    pooled: tuple[float, ...] = ()
    """The same errors for the vectors that the probes use, which sum several layers."""
    searches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The texts that a sentence encoder finds first, by query."""
    notes: tuple[str, ...] = ()
    """The cells that were left out, and why."""

    def save(self, path: Path) -> None:
        """Write the diagnostics as JSON; parts that were not computed are left out."""
        parts: dict[str, Any] = {
            "line": _dump_values(self.line),
            "decoded": _dump_values(self.decoded),
            "cosines": None if self.cosines is None else self.cosines.tolist(),
            "neighbours": _dump_neighbours(self.neighbours),
            "layers": [asdict(layer) for layer in self.layers],
            "pooled": self.pooled,
            "searches": self.searches,
            "notes": self.notes,
        }
        known = {name: part for name, part in parts.items() if part}
        head = {"format": _FORMAT, "version": 1, "system": self.system, "training": self.training}
        write_json(path, {**head, **known})

    @classmethod
    def load(cls, path: Path) -> "Diagnostics":
        """Return the diagnostics of a file."""
        document = read_json(path, _FORMAT, made_by="numerate run")
        try:
            return cls(
                system=str(document["system"]),
                training=int(document.get("training", 0)),
                line=_load_values(document.get("line")),
                decoded=_load_values(document.get("decoded")),
                cosines=_load_cosines(document.get("cosines")),
                neighbours=_load_neighbours(document.get("neighbours")),
                layers=tuple(
                    LayerErrors(int(row["layer"]), str(row["range"]), _floats(row["values"]))
                    for row in document.get("layers") or ()
                ),
                pooled=_floats(document.get("pooled") or ()),
                searches={
                    str(query): tuple(map(str, texts))
                    for query, texts in (document.get("searches") or {}).items()
                },
                notes=tuple(map(str, document.get("notes") or ())),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            message = f"{path}: damaged diagnostics ({error!r}); run 'numerate run' again"
            raise InputError(message) from None


def _floats(values: Any) -> tuple[float, ...]:  # noqa: ANN401
    return tuple(map(float, values))


def _dump_values(values: DecodedValues | None) -> dict[str, Any] | None:
    if values is None:
        return None
    true = values.true.astype(np.int64).tolist()
    return {"true": true, "predicted": values.predicted.tolist(), "r2": values.r2}


def _load_values(document: Mapping[str, Any] | None) -> DecodedValues | None:
    if not document or not document["true"]:
        return None
    true, predicted = (np.asarray(document[key], np.float64) for key in ("true", "predicted"))
    return DecodedValues(true, predicted, float(document.get("r2", "nan")))


def _dump_neighbours(neighbours: Neighbours | None) -> dict[str, Any] | None:
    if neighbours is None:
        return None
    asked, nearest = (
        part.astype(np.int64).tolist() for part in (neighbours.asked, neighbours.nearest)
    )
    examples = {str(numeral): row for numeral, row in neighbours.examples.items()}
    return {"asked": asked, "nearest": nearest, "examples": examples}


def _load_neighbours(document: Mapping[str, Any] | None) -> Neighbours | None:
    if not document or not document["asked"]:
        return None
    asked, nearest = (np.asarray(document[key], np.float64) for key in ("asked", "nearest"))
    examples = {int(key): tuple(map(int, row)) for key, row in document["examples"].items()}
    return Neighbours(asked, nearest, examples)


def _load_cosines(rows: list[list[float]] | None) -> Floats | None:
    if rows is None:
        return None
    cosines = np.asarray(rows, np.float64)
    if cosines.ndim != 2 or cosines.shape[0] != cosines.shape[1]:
        raise ValueError(f"cosines must be a square matrix, got the shape {cosines.shape}")
    return cosines
