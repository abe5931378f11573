"""The layout of a run folder: where every stage keeps its files."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from numerate.engines import Engine, LocalEngine

RECORD = "run.json"
"""The file in the folder of every finished step that describes it."""


def name_training(system: str, training: int) -> str:
    """Return the name of a training of a system: its own for the first, then `NAME~1` and so on."""
    return f"{system}~{training}" if training else system


@dataclass(frozen=True)
class RunLayout:
    """The paths of a run's files; `*` in place of a name makes a pattern for `glob`."""

    root: Path

    @property
    def config(self) -> Path:
        """The settings of the run, and the names of its steps."""
        return self.root / "config.json"

    @property
    def counts(self) -> Path:
        """How often the corpus has each numeral."""
        return self.root / "extract" / "counts.json"

    def anchors(self, fit: str) -> Path:
        """Return the anchors of a fit."""
        return self.root / "fit" / fit / "anchors.json"

    def sweep(self, fit: str) -> Path:
        """Return the comparison of numbers of components of a fit."""
        return self.root / "fit" / fit / "sweep.json"

    def manifest(self, variant: str) -> Path:
        """Return the manifest of a variant's primed corpus, which lies in the same folder."""
        return self.root / "prime" / variant / "manifest.json"

    def model(self, training: str) -> Path:
        """Return the model folder of a training of a variant."""
        return self.root / "pretrain" / training / "model"

    def baseline(self, training: str) -> Path:
        """Return the model folder of a training of a baseline."""
        return self.root / "baseline" / training / "model"

    def tuned(self, training: str) -> Path:
        """Return the folder of a tuned sentence encoder."""
        return self.root / "tune" / training / "model"

    @staticmethod
    def curve(model: Path) -> Path:
        """Return the training curve of a model folder."""
        return model / "curve.json"

    @property
    def tokens(self) -> Path:
        """The folder of cached tokens of primed corpora, which trainings share."""
        return self.root / "tokens"

    @property
    def vectors(self) -> Path:
        """The folder of cached vectors."""
        return self.root / "vectors"

    @property
    def scores(self) -> Path:
        """The scores of all systems of the run."""
        return self.root / "probe" / "scores.jsonl"

    def system_scores(self, folder: str) -> Path:
        """Return the scores of one system."""
        return self.root / "probe" / folder / "scores.jsonl"

    def diagnostics(self, folder: str) -> Path:
        """Return what the figures show of one system beyond its scores."""
        return self.root / "probe" / folder / "portrait.json"

    @property
    def page(self) -> Path:
        """The page of the report."""
        return self.root / "report" / "index.html"


@dataclass(frozen=True)
class RunContext:
    """What a stage has to know of the run that it is part of; `quiet` hides progress bars.

    `engine` runs the work on the corpus, `workers` processes of this machine do all other work.
    `draw_curve` draws the training curve in the folder of a trained model; the report does this,
    which stages of training cannot import.
    """

    layout: RunLayout
    workers: int = 1
    quiet: bool = True
    draw_curve: Callable[[Path], object] | None = None
    engine: Engine = field(default_factory=LocalEngine)
