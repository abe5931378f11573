"""Plan: which cells to probe, and the probe itself, from systems to scores (section 4).

A cell is a task on a range of numbers, in or out of the domain, with a seed. Its sample depends on
nothing else, so that all systems answer the same questions and their scores can be paired. As in
the paper, pairs and lists of all ranges are those of the four ranges together: each within a range.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.extract.ranges import ALL, OUT_RANGES, PROBE_RANGES, pick_numerals
from numerate.parallel import map_ordered
from numerate.probe.controls import Matrix
from numerate.probe.known_scores import find_known, name_protocol, trace_scores
from numerate.probe.protocols import Protocol
from numerate.probe.samples import (
    CORPUS_DOMAINS,
    DOMAIN_NAMES,
    PROBE_DOMAINS,
    TASKS,
    Sample,
    TooFewError,
    pool_samples,
    take_some,
)
from numerate.probe.score_cell import REGRESSORS, Cell, Question, score_question
from numerate.probe.score_texts import check_texts, score_texts
from numerate.probe.scores import Score, append_scores, hold_scores
from numerate.probe.systems import SentenceSystem, System, embed_cached
from numerate.probe.tasks.benchmark_files import Benchmarks
from numerate.probe.tasks.draw import NUMERAL_TASKS, draw_task
from numerate.probe.tasks.geometry import score_in_sentences
from numerate.probe.tasks.text_tasks import PROTOCOL, SEEDLESS, TEXT_TASKS

Note = Callable[[str], object]


def ignore_note(line: str) -> None:
    """Drop a note."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The cells to probe for every system, and how to compute them.

    Trees and list classifiers are trained on `device`, and `workers` cells at the same time. The
    folder `cache` keeps vectors.
    """

    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    protocol: Protocol
    training: int = 0
    """The number of the system's training, for its scores."""
    counts: Counts | None = None
    """The numerals of the corpus, which are in-domain."""
    benchmarks: Benchmarks = field(default_factory=Benchmarks)
    """The sets that some tasks on texts ask."""
    domains: tuple[str, ...] = ()
    """By default `in` and `out`, or without counts `line`: the whole number line."""
    ranges: tuple[str, ...] = tuple(PROBE_RANGES)
    regressors: tuple[str, ...] = REGRESSORS
    cache: Path | None = None
    device: str = "cpu"
    workers: int = 1

    def __post_init__(self) -> None:
        if not self.domains:
            domains = tuple(CORPUS_DOMAINS) if self.counts else ("line",)
            object.__setattr__(self, "domains", domains)
        for name, given, known in (
            ("tasks", self.tasks, (*NUMERAL_TASKS, *TEXT_TASKS)),
            ("domains", self.domains, PROBE_DOMAINS),
            ("ranges", self.ranges, tuple(PROBE_RANGES)),
            ("regressors", self.regressors, REGRESSORS),
        ):
            for word in given:
                if word not in known:
                    raise InputError(f"{name} must be among {', '.join(known)}, got {word!r}")
        if self.cache is not None and self.cache.is_file():
            raise InputError(f"--cache must be a folder, got a file, {self.cache}")
        needy = [domain for domain in self.domains if domain in CORPUS_DOMAINS]
        if needy and self.counts is None and not self.is_of_texts:
            raise InputError(f"the domain {needy[0]!r} needs --counts; without a corpus ask 'line'")

    @property
    def is_of_texts(self) -> bool:
        """Whether all tasks are on texts."""
        return set(self.tasks).issubset(TEXT_TASKS)

    @property
    def cells(self) -> list[Cell]:
        """All cells, ordered by seed, then task, domain and range."""
        return [
            Cell(task, domain, name, seed)
            for seed in self.seeds
            for task in self.tasks
            for domain, name in self._places(task)
            if seed == self.seeds[0] or task not in SEEDLESS
        ]

    def _places(self, task: str) -> list[tuple[str, str]]:
        if task in TEXT_TASKS:
            return [
                (PROTOCOL, name) for name in self.ranges if TEXT_TASKS[task].by_range or name == ALL
            ]
        return [
            (domain, name)
            for domain in self.domains
            for name in self.ranges
            if domain != "out" or name in OUT_RANGES
        ]


def probe_system(
    system: System,
    plan: Plan,
    path: Path,
    *,
    progress: Callable[[int], object] | None = None,
    note: Note = ignore_note,
) -> list[Score]:
    """Return the scores of a system; those that the file lacks are computed and appended to it.

    `progress` is called with the number of finished cells, and `note` with a line for each cell
    that is left out and with the number of numerals that the system does not know. Raises
    InputError if the file has scores of another model, counts or protocol by the same names, or if
    another process writes it.
    """
    with hold_scores(path):
        known = find_known(system, plan, path, note)
        missing = [cell for cell, scores in known.items() if not scores]
        n_done = len(known) - len(missing)
        for cell, scores in score_cells(system, plan, missing, note=note):
            if scores:
                append_scores(path, scores)
            known[cell] = scores
            n_done += 1
            if progress:
                progress(n_done)
    return [score for scores in known.values() for score in scores]


def score_cells(
    system: System, plan: Plan, cells: Sequence[Cell], *, note: Note = ignore_note
) -> Iterator[tuple[Cell, list[Score]]]:
    """Yield each cell with its scores, in the given order; none for a cell that is left out."""
    check_texts(system, {cell.task for cell in cells})
    samples = draw_samples(plan, [cell for cell in cells if cell.task in NUMERAL_TASKS], note)
    answers = _answer_questions(system, plan, samples, note)
    found: dict[Cell, dict[str, float]] = {}
    for cell in cells:
        if cell.task in TEXT_TASKS:
            place = cell.task, cell.range, cell.seed
            found[cell] = score_texts(system, *place, plan.benchmarks)
        while cell in samples and cell not in found:
            question, values = next(answers)
            found[question.cell] = values
        if cell in samples and cell.task == "geometry" and isinstance(system, SentenceSystem):
            numerals = samples[cell].test.ravel()
            found[cell] |= score_in_sentences(system.embed_texts, numerals, cell.seed)
        yield cell, _name_scores(system, plan, cell, found.get(cell, {}))


def draw_samples(plan: Plan, cells: Sequence[Cell], note: Note = ignore_note) -> dict[Cell, Sample]:
    """Return the sample of each cell; what has too few numerals is left out, with a note."""
    samples: dict[Cell, Sample] = {}
    draw = cache(partial(_draw_part, plan.counts, plan.protocol))
    for cell in cells:
        drawn, missing = [], {}
        for part in split_cell(cell):
            try:
                drawn.append(draw(part))
            except TooFewError as error:
                missing[part.range] = str(error)
        if drawn:
            samples[cell] = pool_samples(drawn)
        if missing and cell.seed == plan.seeds[0]:
            where = DOMAIN_NAMES[cell.domain]
            what = f"without {', '.join(missing)}" if drawn else "left out"
            reasons = "; ".join(dict.fromkeys(missing.values()))
            note(f"{cell.task}, {where} {cell.range} is {what}: {reasons}")
    return samples


def split_cell(cell: Cell) -> list[Cell]:
    """Return the cells whose samples make that of a cell: for pairs and lists of all, the ranges'.

    >>> [part.range for part in split_cell(Cell("addition", "in", "all", 0))]
    ['[1,100]', '[100,1k]', '[1k,10k]', '[10k,10^10]']
    """
    if cell.range != ALL or cell.task not in TASKS or cell.task == "decoding":
        return [cell]
    return [replace(cell, range=name) for name in PROBE_RANGES if name != ALL]


def _draw_part(counts: Counts | None, protocol: Protocol, cell: Cell) -> Sample:
    """Return a sample of a single range; its numerals are the same for all seeds and tasks."""
    place = [PROBE_DOMAINS.index(cell.domain), list(PROBE_RANGES).index(cell.range)]
    fixed = np.random.default_rng(place)
    numerals = pick_numerals(counts, cell.range, cell.domain, fixed)
    rng = np.random.default_rng([cell.seed, NUMERAL_TASKS.index(cell.task), *place])
    some = take_some(numerals, protocol.most, fixed)
    return draw_task(cell.task, some, cell.range, protocol, rng)


def _answer_questions(
    system: System, plan: Plan, samples: dict[Cell, Sample], note: Note
) -> Iterator[tuple[Question, dict[str, float]]]:
    """Return an iterator of questions with their scores; each numeral is embedded once, here."""
    if not samples:
        return iter(())
    drawn = {
        cell: np.unique(np.concatenate([*map(np.ravel, vars(sample).values())]))
        for cell, sample in samples.items()
    }
    numerals = np.unique(np.concatenate([*drawn.values()]))
    vectors = embed_cached(system, numerals, plan.cache)
    _note_unknown(system, vectors, note)
    questions = (
        Question(
            cell=cell,
            sample=sample,
            numerals=drawn[cell],
            vectors=vectors[np.searchsorted(numerals, drawn[cell])],
            protocol=plan.protocol,
            regressors=plan.regressors,
            device=plan.device,
            threads=max(1, torch.get_num_threads() // plan.workers),
        )
        for cell, sample in samples.items()
    )
    workers = min(plan.workers, len(samples))
    return map_ordered(score_question, questions, workers=workers, start="spawn")


def _note_unknown(system: System, vectors: Matrix, note: Note) -> None:
    """Note how many numerals the system does not know: those whose vector is zero."""
    unknown = len(vectors) - int(vectors.any(axis=1).sum())
    if unknown == len(vectors):
        raise InputError(f"{system.name}: has no vector of any numeral asked for")
    if unknown:
        note(
            f"{system.name} knows no vector of {unknown:,} of {len(vectors):,} numerals "
            f"({unknown / len(vectors):.1%}); they are zeros"
        )


def _name_scores(system: System, plan: Plan, cell: Cell, values: dict[str, float]) -> list[Score]:
    protocol = name_protocol(plan, cell.task)
    origin = trace_scores(system, plan, cell.task, cell.domain)
    return [
        Score(
            system=system.name,
            **vars(cell),
            metric=metric,
            protocol=protocol,
            value=value,
            training=plan.training,
            origin=origin,
        )
        for metric, value in values.items()
    ]
