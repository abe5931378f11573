"""Run files: what a run has left in its folder, read for the report; any part of it may be missing.

Input: the folder of `numerate run`. Output: one `RunFiles`, each part checked when it is read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.files import read_json
from numerate.fit.anchors import AnchorSet
from numerate.fit.fitting import Sweep
from numerate.prime.primed_corpus import PrimedCorpus, open_primed
from numerate.probe.scores import Score, read_scores

Floats = npt.NDArray[np.float64]
Entry = Mapping[str, float]
_MADE_BY = "numerate run"


@dataclass(frozen=True)
class Points:
    """True values and what was decoded in their place, as values; R² if it was measured."""

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
    """Numerals that the corpus lacks, and for each the few whose vectors are most like its own."""

    asked: Floats
    nearest: Floats
    """A row for each numeral asked, the most alike first."""
    examples: Mapping[int, tuple[int, ...]]
    """The same for some numerals that everybody knows."""

    def __post_init__(self) -> None:
        if self.asked.ndim != 1 or self.nearest.ndim != 2 or len(self.asked) != len(self.nearest):
            raise ValueError("nearest must be a row for each numeral asked")
        if min(self.asked.min(), self.nearest.min()) < 1:
            raise ValueError("asked and nearest must be 1 or more")

    @property
    def gaps(self) -> Floats:
        """How far off each neighbour is: the absolute difference of the logarithms."""
        gaps: Floats = np.abs(np.log(self.nearest) - np.log(self.asked)[:, None])
        return gaps

    @property
    def typical_factor(self) -> float:
        """The median factor between a numeral and a neighbour: 1 is the same size."""
        return float(np.exp(np.median(self.gaps)))


@dataclass(frozen=True)
class Layer:
    """How well numerals of a range are decoded from one layer by ridge: an error for each seed."""

    layer: int
    range: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Portrait:
    """What a probe saw in one system beyond its scores."""

    system: str
    line: Points | None = None
    decoded: Points | None = None
    cosines: Floats | None = None
    """Of the vectors of 1, 2, …: a square matrix."""
    neighbours: Neighbours | None = None
    layers: tuple[Layer, ...] = ()
    pooled: tuple[float, ...] = ()
    """The same errors of the vectors that the probes saw, the sum of several layers."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""


@dataclass(frozen=True)
class Step:
    """The record of one finished step of a run."""

    stage: str
    name: str
    seconds: float
    versions: Mapping[str, str]


@dataclass(frozen=True)
class RunFiles:
    """All that a report is made from; what the run did not make is empty or None."""

    folder: Path
    config: Mapping[str, Any]
    scores: tuple[Score, ...]
    counts: Counts | None = None
    anchors: Mapping[str, AnchorSet] = field(default_factory=dict)
    sweeps: Mapping[str, Sweep] = field(default_factory=dict)
    primed: Mapping[str, PrimedCorpus] = field(default_factory=dict)
    curves: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    lessons: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    """The curves of the baselines' recipes."""
    portraits: tuple[Portrait, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def name(self) -> str:
        """What the run is called."""
        return str(self.config.get("name") or self.folder.resolve().name)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the probes left out, and why; each once."""
        return tuple(dict.fromkeys(note for one in self.portraits for note in one.notes))


def read_run(folder: Path) -> RunFiles:
    """Return what is in the folder of a run; without config and scores there is nothing to tell."""
    config, scores = folder / "config.json", folder / "probe" / "scores.jsonl"
    for path in (config, scores):
        if not path.is_file():
            missing = path.relative_to(folder)
            raise InputError(f"{folder}: no finished run, {missing} is missing; run '{_MADE_BY}'")
    counts = folder / "extract" / "counts.json"
    found, settings = _read_scores(scores), read_json(config, "numerate-config", made_by=_MADE_BY)
    find = _Finder(folder, settings.get("steps"))
    return RunFiles(
        folder,
        settings,
        found,
        Counts.load(counts) if counts.is_file() else None,
        {path.parent.name: AnchorSet.load(path) for path in find("fit/*/anchors.json")},
        {path.parent.name: _read_sweep(path) for path in find("fit/*/sweep.json")},
        {path.parent.name: open_primed(path.parent) for path in find("prime/*/manifest.json")},
        {path.parts[-3]: _read_curve(path) for path in find("pretrain/*/model/curve.json")},
        {path.parts[-3]: _read_curve(path) for path in find("baseline/*/model/curve.json")},
        _read_portraits(find, list(dict.fromkeys(score.system for score in found))),
        tuple(_read_steps(find)),
    )


@dataclass(frozen=True)
class _Finder:
    """Finds files of the steps that the config names; folders of an earlier config are left out."""

    folder: Path
    steps: list[str] | None

    def __call__(self, pattern: str) -> list[Path]:
        paths = sorted(path for path in self.folder.glob(pattern) if path.is_file())
        return [path for path in paths if self.steps is None or self._name_step(path) in self.steps]

    def _name_step(self, path: Path) -> str:
        stage, *rest = path.relative_to(self.folder).parts
        return f"{stage}/{rest[0]}" if len(rest) > 1 else stage


def _read_scores(path: Path) -> tuple[Score, ...]:
    scores = tuple(read_scores(path))
    if not scores:
        raise InputError(f"{path}: holds no scores; run '{_MADE_BY}' again")
    return scores


def _read_sweep(path: Path) -> Sweep:
    document = read_json(path, "numerate-sweep", made_by="numerate fit --sweep")
    try:
        rows = tuple(
            {**row, **{key: float(row[key]) for key in ("components", "aic", "bic")}}
            for row in document["rows"]
        )
        return Sweep(document["scale"], rows)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged sweep ({error!r}); run '{_MADE_BY}' again") from None


def _read_curve(path: Path) -> tuple[Entry, ...]:
    document = read_json(path, "numerate-curve", made_by="numerate pretrain")
    try:
        return tuple({**entry, "step": float(entry["step"])} for entry in document["entries"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged curve ({error!r}); train again") from None


def _read_portraits(find: _Finder, systems: list[str]) -> tuple[Portrait, ...]:
    """The portraits of systems that have scores, in their order; others are of an earlier run."""
    portraits = map(_read_portrait, find("probe/*/portrait.json"))
    known = [portrait for portrait in portraits if portrait.system in systems]
    return tuple(sorted(known, key=lambda portrait: systems.index(portrait.system)))


def _read_portrait(path: Path) -> Portrait:
    document = read_json(path, "numerate-portrait", made_by=_MADE_BY)
    try:
        return Portrait(
            str(document["system"]),
            _read_points(document.get("line")),
            _read_points(document.get("decoded")),
            _read_cosines(document.get("cosines")),
            _read_neighbours(document.get("neighbours")),
            tuple(
                Layer(int(row["layer"]), str(row["range"]), tuple(map(float, row["values"])))
                for row in document.get("layers") or ()
            ),
            tuple(map(float, document.get("pooled") or ())),
            tuple(map(str, document.get("notes") or ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged portrait ({error!r}); run '{_MADE_BY}' again") from None


def _read_points(document: Mapping[str, Any] | None) -> Points | None:
    if not document or not document["true"]:
        return None
    true, predicted = (np.asarray(document[key], np.float64) for key in ("true", "predicted"))
    return Points(true, predicted, float(document.get("r2", "nan")))


def _read_neighbours(document: Mapping[str, Any] | None) -> Neighbours | None:
    if not document or not document["asked"]:
        return None
    asked, nearest = (np.asarray(document[key], np.float64) for key in ("asked", "nearest"))
    examples = {int(key): tuple(map(int, row)) for key, row in document["examples"].items()}
    return Neighbours(asked, nearest, examples)


def _read_cosines(rows: list[list[float]] | None) -> Floats | None:
    if rows is None:
        return None
    cosines = np.asarray(rows, np.float64)
    if cosines.ndim != 2 or cosines.shape[0] != cosines.shape[1]:
        raise ValueError(f"cosines must be a square, got the shape {cosines.shape}")
    return cosines


def _read_steps(find: _Finder) -> Iterator[Step]:
    """The records of the steps in the order of the stages; the report's own is not among them."""
    order = ("extract", "fit", "prime", "pretrain", "baseline", "embed", "probe")
    paths = [path for stage in order for path in find(f"{stage}/run.json")]
    paths += [path for stage in order for path in find(f"{stage}/*/run.json")]
    for path in sorted(paths, key=lambda path: order.index(path.relative_to(find.folder).parts[0])):
        document = read_json(path, "numerate-step", made_by=_MADE_BY)
        try:
            yield Step(
                str(document["stage"]),
                str(document.get("name") or ""),
                float(document["seconds"]),
                {str(key): str(value) for key, value in document.get("versions", {}).items()},
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: damaged record ({error!r}); run '{_MADE_BY}'") from None
