"""Stages: the work of each stage of a run, with what it shows while it works."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from numerate.errors import InputError
from numerate.extract.corpus import Corpus, open_corpus
from numerate.extract.counts import Counts, extract_counts
from numerate.fit.anchors import AnchorSet
from numerate.fit.fitting import fit_anchors
from numerate.options import Anchor, Readout
from numerate.prime.scheme import Priming
from numerate.progress import show_progress
from numerate.run.config import Config

Work = Callable[[Path], object]
SCORES, PORTRAIT = "scores.jsonl", "portrait.json"


@dataclass(frozen=True)
class Entry:
    """A system to probe: its folder, and how `open_systems` is to open it.

    `read` is what the config says of all systems unless it is given.
    """

    folder: str
    title: str
    model: str
    shown: Anchor | None = None
    primed_as: str | None = None
    read: Readout | None = None


@dataclass(frozen=True)
class Stages:
    """The stages of one run; each method does its work into a folder, or returns what does."""

    config: Config
    root: Path
    workers: int
    quiet: bool

    @property
    def corpus(self) -> Corpus:
        """The text."""
        reading = self.config.extract
        return open_corpus(self.config.corpus, field=reading.field, errors=reading.errors)

    @property
    def counts_path(self) -> Path:
        """Where the counts are."""
        return self.root / "extract" / "counts.json"

    def anchors_path(self, variant: str) -> Path:
        """Return where the anchors of a variant are."""
        return self.root / "fit" / self.config.fit_name(variant) / "anchors.json"

    @staticmethod
    def locate(model: str) -> Path | str:
        """Return the folder or file of a system, or its name if it is on the hub or a control."""
        from numerate.models.names import resolve_model, split_kind

        _, path = split_kind(model)
        found = Path(resolve_model(path))
        return found if found.exists() or path.startswith("package:") else model

    def extract(self, folder: Path) -> None:
        """Count the numerals of the corpus."""
        corpus = self.corpus
        with show_progress("extract", corpus.size, quiet=self.quiet) as progress:
            counts = extract_counts(
                corpus,
                domain=self.config.extract.domain,
                workers=self.workers,
                progress=progress,
            )
        counts.save(folder / self.counts_path.name)

    def fit(self, variant: str) -> Work:
        """Return what fits a variant's anchors, and compares numbers of components if asked."""
        chosen = self.config.variants[variant]

        def work(folder: Path) -> None:
            from numerate.fit.fitting import sweep_components

            counts = Counts.load(self.counts_path)
            anchors = fit_anchors(
                counts,
                n_components=chosen.fit.components,
                scale=chosen.scale,
                resolution=chosen.fit.resolution,
                start=chosen.fit.start,
                width=chosen.fit.width,
                seed=self.config.seed,
            )
            if chosen.sizes:
                sweep = sweep_components(
                    counts,
                    chosen.sizes,
                    scale=chosen.scale,
                    resolution=chosen.fit.resolution,
                    start=chosen.fit.start,
                    seed=self.config.seed,
                )
                sweep.save(folder / "sweep.json")
            anchors.save(folder / "anchors.json")

        return work

    def prime(self, variant: str) -> Work:
        """Return what primes the corpus for a variant."""
        chosen = self.config.variants[variant]

        def work(folder: Path) -> None:
            from numerate.prime.primed_corpus import MANIFEST, PLAN, prime_corpus

            if not any((folder / name).exists() for name in (PLAN, MANIFEST)):
                shutil.rmtree(folder, ignore_errors=True)  # killed before it could say what it is
            corpus = self.corpus
            with show_progress(f"prime {variant}", corpus.size, quiet=self.quiet) as progress:
                prime_corpus(
                    corpus,
                    AnchorSet.load(self.anchors_path(variant)),
                    folder,
                    marker=chosen.marker,
                    numeral_form=chosen.prime.numeral_form,
                    workers=self.workers,
                    progress=progress,
                )

        return work

    def pretrain(self, variant: str) -> Work:
        """Return what trains a variant."""

        def work(folder: Path) -> None:
            from numerate.pretrain.resume import is_begun
            from numerate.pretrain.train import pretrain_model
            from numerate.prime.primed_corpus import open_primed
            from numerate.progress import show_training

            primed, model = open_primed(self.root / "prime" / variant), folder / "model"
            training = self.config.training(variant)
            if training.rehearse and not training.hold_out:  # what probes will ask out-of-domain
                training = replace(training, hold_out=str(self.counts_path.resolve()))
            if not (begun := is_begun(model)):  # killed before it could say what it is
                shutil.rmtree(model, ignore_errors=True)
            with show_training(quiet=self.quiet) as report:
                pretrain_model(primed, training, model, resume=begun, report=report)

        return work

    def baseline(self, system: str) -> Work:
        """Return what trains a baseline by its recipe."""

        def work(folder: Path) -> None:
            from numerate.pretrain.baselines.train import train_baseline
            from numerate.pretrain.resume import is_begun
            from numerate.progress import show_training

            model = folder / "model"
            if not (begun := is_begun(model)):  # killed before it could say what it is
                shutil.rmtree(model, ignore_errors=True)
            with show_training(system, quiet=self.quiet) as report:
                train_baseline(self.config.baseline(system), model, resume=begun, report=report)

        return work

    def probe(self, entry: Entry) -> Work:
        """Return what probes and portrays a system."""

        def work(folder: Path) -> None:
            from numerate.probe.diagnose import diagnose_system
            from numerate.probe.plan import Plan, probe_system
            from numerate.probe.protocols import find_protocol
            from numerate.probe.scores import write_scores
            from numerate.probe.systems import Reading, open_systems

            asked = self.config.probe
            plan = Plan(
                tasks=asked.tasks,
                seeds=tuple(range(asked.seeds)),
                protocol=find_protocol(asked.protocol),
                counts=Counts.load(self.counts_path),
                domains=asked.domains,
                ranges=asked.ranges,
                cache=self.root / "vectors",
                workers=self.workers,
            )
            reading = Reading((entry.shown or "visible",), entry.read or asked.read)
            [system] = open_systems(
                f"{entry.title}={entry.model}", reading=reading, priming=self._priming(entry)
            )
            path, notes = folder / SCORES, list[str]()
            with show_progress(
                f"probe {system.name}", len(plan.cells), quiet=self.quiet, unit="items"
            ) as progress:
                scores = probe_system(system, plan, path, progress=progress, note=notes.append)
            if not scores:
                raise InputError(f"no cell can be probed: {notes[0]}; take more text")
            diagnostics = diagnose_system(system, plan)
            replace(diagnostics, notes=tuple(notes)).save(folder / PORTRAIT)
            write_scores(path, scores)

        return work

    def report(self, folder: Path) -> None:
        """Write tables, figures and the page."""
        from numerate.report.write import write_report

        del folder  # it knows its own
        settings = self.config.report
        compare = "paper" if settings.compare == "paper" else None
        write_report(self.root, compare=compare, examples=settings.examples)

    def _priming(self, entry: Entry) -> Priming | None:
        if entry.primed_as is None:
            return None
        chosen = self.config.variants[entry.primed_as]
        anchors = AnchorSet.load(self.anchors_path(entry.primed_as))
        return Priming(anchors, chosen.marker, chosen.prime.numeral_form)
