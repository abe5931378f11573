"""Probe: from systems to scores, cell by cell; what is done already is skipped (section 4).

The samples of a cell depend on nothing but the cell, so that all systems answer the same questions
and can be compared in pairs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.extract.ranges import ALL, OUT_RANGES, PROBE_RANGES, Values, pick_numerals
from numerate.parallel import map_ordered
from numerate.probe.controls import Matrix
from numerate.probe.labels import SystemLabel
from numerate.probe.protocols import Protocol
from numerate.probe.samples import PROBE_DOMAINS, TASKS, Sample, TooFewError, draw_sample, take_some
from numerate.probe.score_cell import Cell, Question, score_question
from numerate.probe.scores import Score, append_scores, read_scores
from numerate.probe.sentence_tasks import PROTOCOL, SENTENCE_TASKS, probe_sentences
from numerate.probe.systems import System, embed_cached


@dataclass(frozen=True)
class Plan:
    """What to ask every system.

    `counts` says which numerals are in the domain; tasks on sentences need none. `regressors` are
    `trees` and `ridge`. `cache` is a folder to keep vectors in. `workers` is how many cells are
    computed at a time.
    """

    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    protocol: Protocol
    counts: Counts | None = None
    domains: tuple[str, ...] = PROBE_DOMAINS
    ranges: tuple[str, ...] = tuple(PROBE_RANGES)
    regressors: tuple[str, ...] = ("trees", "ridge")
    cache: Path | None = None
    device: str = "cpu"
    workers: int = 1

    def __post_init__(self) -> None:
        known = (*TASKS, *SENTENCE_TASKS)
        for task in self.tasks:
            if task not in known:
                raise InputError(f"tasks must be among {', '.join(known)}, got {task!r}")
            if task in TASKS and self.counts is None:
                raise InputError(f"{task} needs --counts: which numerals are in the domain")
        for what, given, words in (
            ("domains", self.domains, PROBE_DOMAINS),
            ("ranges", self.ranges, tuple(PROBE_RANGES)),
        ):
            for word in given:
                if word not in words:
                    raise InputError(f"{what} must be among {', '.join(words)}, got {word!r}")

    @property
    def cells(self) -> list[Cell]:
        """Every cell, seed by seed."""
        return [
            Cell(task, domain, name, seed)
            for seed in self.seeds
            for task in self.tasks
            for domain, name in self._places(task)
        ]

    def _places(self, task: str) -> list[tuple[str, str]]:
        if task in SENTENCE_TASKS:  # paraphrases, without numbers, have no ranges
            return [
                (PROTOCOL, name) for name in self.ranges if task != "paraphrases" or name == ALL
            ]
        return [
            (domain, name)
            for domain in self.domains
            for name in self.ranges
            if domain == "in" or name in OUT_RANGES
        ]


def probe_system(
    system: System,
    plan: Plan,
    path: Path,
    *,
    progress: Callable[[int], object] = int,
    note: Callable[[str], object] = str,
) -> list[Score]:
    """Return the scores of a system, and add those to the file that it does not have yet.

    Args:
        system: What makes the vectors.
        plan: What to ask.
        path: `scores.jsonl`.
        progress: Called with the cells that are done.
        note: Called with a line for each cell that is left out, and why, and with how many numerals
            a system does not know.
    """
    known: dict[tuple[object, ...], list[Score]] = {}
    for score in read_scores(path):
        known.setdefault(score.cell, []).append(score)
    todo = [cell for cell in plan.cells if _key(system, plan, cell) not in known]
    if any(cell.task in SENTENCE_TASKS for cell in todo) and system.embed_texts is None:
        raise InputError(f"{system.name}: makes no vectors of sentences; ask it other tasks")
    samples = draw_samples(plan, [cell for cell in todo if cell.task in TASKS], note)
    answers = _ask(system, plan, samples, note)
    scores = []
    for done, cell in enumerate(plan.cells, 1):
        key = _key(system, plan, cell)
        if key not in known and cell in samples:
            _, answer = next(answers)
            known[key] = _name_scores(system, plan, cell, answer)
            append_scores(path, known[key])
        elif key not in known and cell.task in SENTENCE_TASKS and system.embed_texts:
            known[key] = probe_sentences(
                system.embed_texts, system.name, cell.seed, task=cell.task, range_name=cell.range
            )
            append_scores(path, known[key])
        scores += known.get(key, [])
        progress(done)
    return scores


def probe_layers(
    system: System, plan: Plan, path: Path, *, note: Callable[[str], object] = str
) -> list[Score]:
    """Return how well ridge regression decodes numbers from each layer, 0 the embeddings.

    Every layer is a system of its own, named after the whole one; cells that are left out are told
    as by `probe_system`.
    """
    if system.embed_layer is None:
        raise InputError(f"{system.name}: has no layers; ask a model")
    ridge = replace(plan, tasks=("decoding",), regressors=("ridge",), workers=1)
    scores = []
    for layer in range(system.n_layers + 1):
        part = System(
            str(replace(SystemLabel.parse(system.name), layer=layer)),
            partial(system.embed_layer, layer),
            f"{system.fingerprint} layer {layer}",
        )
        scores += probe_system(part, ridge, path, note=note)
    return scores


def draw_samples(
    plan: Plan, cells: Sequence[Cell], note: Callable[[str], object] = str
) -> dict[Cell, Sample]:
    """Return the samples of cells; one with too few numerals is left out, with a note."""
    samples: dict[Cell, Sample] = {}
    if plan.counts is None:  # then no cell of the plan asks for numerals
        return samples
    for cell in cells:
        rng = np.random.default_rng(
            [
                cell.seed,
                TASKS.index(cell.task),
                PROBE_DOMAINS.index(cell.domain),
                list(PROBE_RANGES).index(cell.range),
            ]
        )
        try:
            numerals = _find_numerals(plan.counts, cell, plan.protocol.most, rng)
            samples[cell] = draw_sample(cell.task, numerals, plan.protocol, rng)
        except TooFewError as error:
            if cell.seed == plan.seeds[0]:
                where = "in-domain" if cell.domain == "in" else "out-of-domain"
                note(f"{cell.task}, {where} {cell.range} is left out: {error}")
    return samples


def _find_numerals(
    counts: Counts, cell: Cell, most: int | None, rng: np.random.Generator
) -> Values:
    """The numerals of a cell; if there may be but some, the same for all seeds and tasks."""
    if most is None:
        return pick_numerals(counts, cell.range, cell.domain, rng)
    place = [PROBE_DOMAINS.index(cell.domain), list(PROBE_RANGES).index(cell.range)]
    fixed = np.random.default_rng(place)
    return take_some(pick_numerals(counts, cell.range, cell.domain, fixed), most, fixed)


def _ask(
    system: System, plan: Plan, samples: dict[Cell, Sample], note: Callable[[str], object]
) -> Iterator[tuple[Question, dict[str, float]]]:
    """The answers to some cells, in order; every numeral is embedded once, here."""
    if not samples:
        return iter(())
    drawn = {
        cell: np.unique(np.concatenate([*map(np.ravel, vars(sample).values())]))
        for cell, sample in samples.items()
    }
    numerals = np.unique(np.concatenate([*drawn.values()]))
    vectors = embed_cached(system, numerals, plan.cache)
    _tell_unknown(system, vectors, note)
    questions = (
        Question(
            cell,
            sample,
            drawn[cell],
            vectors[np.searchsorted(numerals, drawn[cell])],
            plan.protocol,
            plan.regressors,
            plan.device,
            max(1, torch.get_num_threads() // plan.workers),
        )
        for cell, sample in samples.items()
    )
    workers = min(plan.workers, len(samples))
    return map_ordered(score_question, questions, workers=workers, start="spawn")


def _tell_unknown(system: System, vectors: Matrix, note: Callable[[str], object]) -> None:
    """Say how many numerals have a vector of zeros, which is that of the unknown."""
    unknown = len(vectors) - int(vectors.any(axis=1).sum())
    if unknown == len(vectors):
        raise InputError(f"{system.name}: has no vector of any numeral asked for")
    if unknown:
        note(
            f"{system.name} knows no vector of {unknown:,} of {len(vectors):,} numerals "
            f"({unknown / len(vectors):.1%}); they are zeros"
        )


def _name_scores(system: System, plan: Plan, cell: Cell, answer: dict[str, float]) -> list[Score]:
    return [
        Score(
            system.name,
            cell.task,
            cell.domain,
            cell.range,
            metric,
            plan.protocol.name,
            cell.seed,
            value,
        )
        for metric, value in answer.items()
    ]


def _key(system: System, plan: Plan, cell: Cell) -> tuple[object, ...]:
    protocol = PROTOCOL if cell.task in SENTENCE_TASKS else plan.protocol.name
    return system.name, cell.task, cell.domain, cell.range, protocol, cell.seed
