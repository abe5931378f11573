"""Run folder: the files of a run, read for the report; most of them may be missing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.files import hide_home, read_json
from numerate.fit.anchors import AnchorSet
from numerate.fit.fitting import Sweep
from numerate.layout import RECORD, RunLayout
from numerate.models.labels import pair_twins
from numerate.prime.primed_corpus import PrimedCorpus, open_primed
from numerate.probe.diagnostics import Diagnostics
from numerate.probe.scores import Score, read_scores
from numerate.report.figures.charts import Systems

CurveEntry = Mapping[str, float]
_MADE_BY = "numerate run"


@dataclass(frozen=True)
class StepRecord:
    """The record of a finished step of a run."""

    stage: str
    name: str
    seconds: float
    versions: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class RunFiles:
    """The contents of a run folder; files that the run did not write are empty or None here.

    Of several trainings of a system, curves and diagnostics are those of the first one.
    """

    folder: Path
    config: Mapping[str, Any]
    scores: tuple[Score, ...]
    counts: Counts | None = None
    anchors: Mapping[str, AnchorSet] = field(default_factory=dict)
    sweeps: Mapping[str, Sweep] = field(default_factory=dict)
    primed: Mapping[str, PrimedCorpus] = field(default_factory=dict)
    curves: Mapping[str, tuple[CurveEntry, ...]] = field(default_factory=dict)
    baseline_curves: Mapping[str, tuple[CurveEntry, ...]] = field(default_factory=dict)
    """The training curves of the baselines."""
    all_diagnostics: tuple[Diagnostics, ...] = ()
    """The diagnostics of every training of the systems."""
    steps: tuple[StepRecord, ...] = ()

    @property
    def name(self) -> str:
        """The name of the run."""
        return str(self.config.get("name") or self.folder.resolve().name)

    @property
    def systems(self) -> Systems:
        """The systems with scores; the base model is called `base`, or as the config calls it."""
        names = tuple(pair_twins(score.system for score in self.scores))
        known = "base", hide_home(str(self.config.get("base")))
        base = next((name for name in names if name in known), None)
        return Systems(names, base)

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """The diagnostics of the first training of each system, which figures show."""
        return tuple(one for one in self.all_diagnostics if not one.training)

    @property
    def n_trainings(self) -> int:
        """How often each system was trained."""
        return len({score.training for score in self.scores})

    @property
    def notes(self) -> tuple[str, ...]:
        """The cells that the probes left out, and why; each once."""
        return tuple(dict.fromkeys(note for one in self.diagnostics for note in one.notes))


def read_run(folder: Path) -> RunFiles:
    """Return the contents of a run folder; the config and the scores must be there."""
    layout = RunLayout(folder)
    config, scores = layout.config, layout.scores
    for path in (config, scores):
        if not path.is_file():
            missing = path.relative_to(folder)
            raise InputError(f"{folder}: no finished run, {missing} is missing; run '{_MADE_BY}'")
    found, settings = _read_scores(scores), read_json(config, "numerate-config", made_by=_MADE_BY)
    find = _Finder(folder, settings.get("steps"))
    return RunFiles(
        folder=folder,
        config=settings,
        scores=found,
        counts=Counts.load(layout.counts) if layout.counts.is_file() else None,
        anchors={path.parent.name: AnchorSet.load(path) for path in find(layout.anchors("*"))},
        sweeps={path.parent.name: Sweep.load(path) for path in find(layout.sweep("*"))},
        primed={path.parent.name: open_primed(path.parent) for path in find(layout.manifest("*"))},
        curves=_read_curves(find(layout.curve(layout.model("*")))),
        baseline_curves=_read_curves(find(layout.curve(layout.baseline("*")))),
        all_diagnostics=_read_diagnostics(find(layout.diagnostics("*")), found),
        steps=tuple(_read_steps(find)),
    )


@dataclass(frozen=True)
class _Finder:
    """Finds the files of the steps that the config names; leftovers of other steps are ignored."""

    folder: Path
    steps: list[str] | None

    def __call__(self, pattern: Path) -> list[Path]:
        found = self.folder.glob(str(pattern.relative_to(self.folder)))
        paths = sorted(path for path in found if path.is_file())
        return [path for path in paths if self.steps is None or self._name_step(path) in self.steps]

    def _name_step(self, path: Path) -> str:
        stage, *rest = path.relative_to(self.folder).parts
        return f"{stage}/{rest[0]}" if len(rest) > 1 else stage


def _read_scores(path: Path) -> tuple[Score, ...]:
    scores = tuple(read_scores(path))
    if not scores:
        raise InputError(f"{path}: holds no scores; run '{_MADE_BY}' again")
    return scores


def _read_curves(paths: Sequence[Path]) -> dict[str, tuple[CurveEntry, ...]]:
    """Return the training curves by the names of the models, without those of later trainings."""
    folders = {path.parts[-3]: path for path in paths}
    return {name: read_curve(path) for name, path in folders.items() if "~" not in name}


def read_curve(path: Path) -> tuple[CurveEntry, ...]:
    """Return the logs and the validations of a training, in order of their steps."""
    document = read_json(path, "numerate-curve", made_by="numerate pretrain")
    try:
        return tuple({**entry, "step": float(entry["step"])} for entry in document["entries"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged curve ({error!r}); train again") from None


def _read_diagnostics(paths: Sequence[Path], scores: Sequence[Score]) -> tuple[Diagnostics, ...]:
    """Return the diagnostics of the systems that have scores, in the order of the systems."""
    systems = pair_twins(score.system for score in scores)
    known = [one for one in map(Diagnostics.load, paths) if one.system in systems]
    return tuple(sorted(known, key=lambda one: (systems.index(one.system), one.training)))


def _read_steps(find: _Finder) -> Iterator[StepRecord]:
    """Yield the records of the steps in the order of the stages, without that of the report."""
    order = ("extract", "fit", "prime", "pretrain", "baseline", "embed", "probe")
    patterns = (
        pattern for stage in order for pattern in (f"{stage}/{RECORD}", f"{stage}/*/{RECORD}")
    )
    for path in (path for pattern in patterns for path in find(find.folder / pattern)):
        document = read_json(path, "numerate-step", made_by=_MADE_BY)
        try:
            yield StepRecord(
                str(document["stage"]),
                str(document.get("name") or ""),
                float(document["seconds"]),
                {str(key): str(value) for key, value in document.get("versions", {}).items()},
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: damaged record ({error!r}); run '{_MADE_BY}'") from None
