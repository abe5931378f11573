"""The stage `probe` of a run: its settings, its steps, and the estimate of their duration."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.extract.numerals import LARGEST
from numerate.extract.ranges import ALL, PROBE_RANGES
from numerate.extract.stage import RunText, estimate_counts
from numerate.layout import RunContext
from numerate.models.names import SystemName
from numerate.options import Anchor, Readout, default_readout
from numerate.prime.stage import PrimingPlan
from numerate.probe.protocols import Protocol, find_protocol
from numerate.probe.samples import CORPUS_DOMAINS, TASKS
from numerate.probe.tasks.draw import DEFAULT_TASKS, NUMERAL_TASKS, draw_task
from numerate.probe.tasks.text_tasks import TEXT_TASKS
from numerate.progress import show_progress
from numerate.settings import Section
from numerate.steps import START_SECONDS, Step, measure_seconds

if TYPE_CHECKING:
    from numerate.probe.plan import Plan

_SAMPLE_NUMERALS, _PARTS = 1000, 20


class ProbeSettings(Section):
    """What to ask, and how models with anchors are shown them.

    Without `anchor` they are shown in all ways of the base model's kind. Without `read` all tokens
    are read, or the last, the marker, if an anchor is unsaid.
    """

    protocol: str = "laptop"
    tasks: tuple[str, ...] = DEFAULT_TASKS
    domains: tuple[str, ...] = tuple(CORPUS_DOMAINS)
    ranges: tuple[str, ...] = tuple(PROBE_RANGES)
    anchor: tuple[Anchor, ...] | None = None
    read: Readout | None = None
    seeds: int = Field(default=3, gt=0)

    @field_validator("protocol")
    @classmethod
    def _known_protocol(cls, name: str) -> str:
        return find_protocol(name).name

    @field_validator("tasks", "domains", "ranges")
    @classmethod
    def _known_words(cls, words: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        choices = {
            "tasks": (*NUMERAL_TASKS, *TEXT_TASKS),
            "domains": tuple(CORPUS_DOMAINS),
            "ranges": tuple(PROBE_RANGES),
        }
        known = choices[info.field_name or ""]
        for word in words:
            if word not in known:
                raise InputError(f"must be among {', '.join(known)}, got {word!r}")
        return words

    @field_validator("tasks")
    @classmethod
    def _fill_a_table(cls, tasks: tuple[str, ...]) -> tuple[str, ...]:
        if set(tasks).isdisjoint((*TASKS, *TEXT_TASKS)):
            raise InputError(
                f"must have {', '.join(TASKS)} or a task on texts among them, for the tables of "
                f"the report; got {', '.join(tasks) or 'none'}"
            )
        return tasks

    def make_plan(self, counts: Counts) -> "Plan":
        """Return the plan of the probes on the numerals of a corpus."""
        from numerate.probe.plan import Plan

        return Plan(
            tasks=self.tasks,
            seeds=tuple(range(self.seeds)),
            protocol=find_protocol(self.protocol),
            counts=counts,
            domains=self.domains,
            ranges=self.ranges,
        )


@dataclass(frozen=True, kw_only=True)
class ProbeTarget:
    """A system to probe, with the name of its folder in the run.

    `trained_here` says that the run itself trains it, so that its folder may not exist yet;
    `training` numbers its trainings.
    `shown` is None for a system without anchors, and `read` to leave the choice to the config.
    `priming` has the anchors that an untrained model is shown, as a control.
    """

    folder: str
    system: SystemName
    trained_here: bool = False
    training: int = 0
    shown: Anchor | None = None
    read: Readout | None = None
    priming: PrimingPlan | None = None


def plan_probe(
    run: RunContext, target: ProbeTarget, settings: ProbeSettings, base: str, text: RunText
) -> Step:
    """Return the step that probes a system; `base` and `text` serve the estimate alone."""
    system = target.system
    described: dict[str, Any] = {
        "title": system.title,
        **settings.model_dump(exclude={"anchor"}),
        "shown": target.shown,
        "read": _find_readout(target, settings),
    }
    inputs: dict[str, Path | str] = {run.layout.counts.name: run.layout.counts}
    inputs["model"] = Path(system.path) if target.trained_here else system.location
    if system.kind not in ("model", "control"):
        inputs["kind"] = system.kind
    if target.priming:
        described |= target.priming.describe()
        inputs[target.priming.anchors.name] = target.priming.anchors
    layout = run.layout
    return Step(
        stage="probe",
        name=target.folder,
        settings=described,
        inputs=inputs,
        outputs=(layout.system_scores("*").name, layout.diagnostics("*").name),
        work=lambda folder: _probe(run, target, settings, folder),
        estimate=lambda: estimate_probe(run, settings, base=base, text=text),
        check=lambda: _check(run, target),
        growing=("seeds",),
    )


def _check(run: RunContext, target: ProbeTarget) -> None:
    """Refuse a system that could not be opened; one of the run itself is not there yet."""
    from numerate.probe.systems import check_system

    if not target.trained_here:
        check_system(target.system, trust_remote_code=run.trust_remote_code)


def _find_readout(target: ProbeTarget, settings: ProbeSettings) -> Readout:
    return target.read or settings.read or default_readout(target.shown)


def _probe(run: RunContext, target: ProbeTarget, settings: ProbeSettings, folder: Path) -> None:
    from numerate.probe.diagnose import diagnose_system
    from numerate.probe.plan import probe_system
    from numerate.probe.scores import write_scores
    from numerate.probe.systems import Reading, open_systems

    plan = settings.make_plan(Counts.load(run.layout.counts))
    plan = replace(plan, training=target.training, cache=run.layout.vectors, workers=run.workers)
    reading = Reading((target.shown or "visible",), _find_readout(target, settings))
    priming = target.priming.load() if target.priming else None
    options: dict[str, Any] = {"trust_remote_code": run.trust_remote_code}
    [system] = open_systems(target.system, reading=reading, priming=priming, **options)
    path, notes = folder / run.layout.system_scores("*").name, list[str]()
    title = f"probe {system.name}"
    with show_progress(title, len(plan.cells), quiet=run.quiet, unit="items") as progress:
        scores = probe_system(system, plan, path, progress=progress, note=notes.append)
    if not scores:
        raise InputError(f"no cell can be probed: {notes[0]}; take more text")
    diagnostics = replace(diagnose_system(system, plan), notes=tuple(notes))
    diagnostics.save(folder / run.layout.diagnostics("*").name)
    write_scores(path, scores)


def estimate_probe(
    run: RunContext, settings: ProbeSettings, *, base: str, text: RunText
) -> float | None:
    """Return the seconds to probe a model like the base; tasks on texts are left out.

    None before the counts are known, or if there are tasks on texts alone.
    """
    from numerate.probe.plan import draw_samples, split_cell

    found = estimate_counts(text, run.layout.counts)
    if found is None:
        return None
    plan = replace(settings.make_plan(found[0]), seeds=(0,))
    if plan.is_of_texts:
        return None
    samples = draw_samples(plan, [cell for cell in plan.cells if cell.task in NUMERAL_TASKS])
    asked = [part.ravel() for sample in samples.values() for part in vars(sample).values()]
    width, per_numeral = _measure_embedding(base, run.trust_remote_code)
    numerals = len(np.unique(np.concatenate(asked))) if asked else 0
    cells = sum(
        len(split_cell(cell)) * _measure_cell(cell.task, plan.protocol, width) for cell in samples
    )
    return add_seeds(numerals * per_numeral, cells / run.workers, settings.seeds)


def add_seeds(embedding: float, cells: float, n_seeds: int) -> float:
    """Return the seconds of all seeds, from those to embed and to score the first one.

    All seeds ask for the same numerals, and these are embedded once.

    >>> add_seeds(10.0, 20.0, 3)  # 5 to start, 10 to embed, 3 * 20 to score
    75.0
    """
    return START_SECONDS + embedding + n_seeds * cells


@lru_cache
def _measure_embedding(base: str, trust_remote_code: bool) -> tuple[int, float]:
    """Return the width of the base model's vectors, and the seconds per numeral."""
    from numerate.embed.load import load

    encoder = load(SystemName("base", "model", base), trust_remote_code=trust_remote_code)
    numerals = np.random.default_rng(0).integers(1, 10**6, _SAMPLE_NUMERALS).tolist()
    seconds = measure_seconds(lambda: encoder.embed_numerals(numerals))
    return int(encoder.model.config.hidden_size), seconds / len(set(numerals))


@lru_cache
def _measure_cell(task: str, protocol: Protocol, width: int) -> float:
    """Return the seconds of a cell: 1/20 and 2/20 of the trees or epochs, extrapolated."""
    few, more = (_shorten(protocol, parts) for parts in (1, 2))
    _time_cell(task, few, width)  # the first one loads libraries
    first, second = _time_cell(task, few, width), _time_cell(task, more, width)
    return first + max(0.0, second - first) * (_PARTS - 1)


def _time_cell(task: str, protocol: Protocol, width: int) -> float:
    """Return the seconds of a cell with random vectors."""
    from numerate.probe.score_cell import Cell, Question, score_question

    known = np.unique(np.geomspace(1, LARGEST, min(protocol.most or 2000, 2000)).astype(np.int64))
    rng = np.random.default_rng(0)
    sample = draw_task(task, known, ALL, protocol, rng)
    asked = np.unique(np.concatenate([part.ravel() for part in vars(sample).values()]))
    question = Question(
        cell=Cell(task, "in", ALL, 0),
        sample=sample,
        numerals=asked,
        vectors=rng.standard_normal((len(asked), width)).astype(np.float32),
        protocol=protocol,
    )
    return measure_seconds(partial(score_question, question))


def _shorten(protocol: Protocol, parts: int) -> Protocol:
    """Return a protocol with only some twentieths of its trees and epochs."""
    epochs = max(1, parts * protocol.lists.epochs // _PARTS)
    trees = max(1, parts * protocol.trees // _PARTS)
    return replace(protocol, trees=trees, lists=replace(protocol.lists, epochs=epochs))
