"""Known scores: which cells of a plan a file of scores has, and whether they are what is asked.

A score is looked up by names: of its system, task, domain, range and protocol. What these stood for
when it was computed, its `Origin`, must be the same.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import InputError
from numerate.extract.ranges import hash_line
from numerate.models.digest import shorten_digest
from numerate.probe.score_cell import Cell
from numerate.probe.scores import Origin, Score, repair_scores
from numerate.probe.systems import System
from numerate.probe.tasks.text_tasks import PROTOCOL, TEXT_TASKS

if TYPE_CHECKING:
    from numerate.probe.plan import Plan


def find_known(
    system: System, plan: "Plan", path: Path, note: Callable[[str], object]
) -> dict[Cell, list[Score]]:
    """Return all cells of a plan with the scores that a file has of them."""
    scores = repair_scores(path, check=partial(_check_origins, system, plan, path))
    known: dict[Cell, list[Score]] = {cell: [] for cell in plan.cells}
    for score in _select_own(system, plan, scores):
        cell = Cell(score.task, score.domain, score.range, score.seed)
        if cell in known and score.protocol == name_protocol(plan, cell.task):
            known[cell].append(score)
    unknown = sum(score.origin is None for scores in known.values() for score in scores)
    if unknown:
        note(
            f"{unknown:,} scores of {system.name} in {path} do not say of which model, counts and "
            "protocol they are; they are taken by name"
        )
    return known


def _select_own(system: System, plan: "Plan", scores: Iterable[Score]) -> list[Score]:
    """Return the scores that name the system and its training."""
    own = system.name, plan.training
    return [score for score in scores if (score.system, score.training) == own]


def _check_origins(system: System, plan: "Plan", path: Path, scores: Iterable[Score]) -> None:
    """Refuse to go on with a file that has scores of something else by the same names."""
    for score in _select_own(system, plan, scores):
        wanted = trace_scores(system, plan, score.task, score.domain)
        if score.protocol != plan.protocol.name:
            wanted = replace(wanted, protocol="")
        if score.origin and (differing := score.origin.find_differences(wanted)):
            raise InputError(
                f"{path}: has scores of {system.name!r} with another {' and '.join(differing)}; "
                "choose another --out, or another title, as in TITLE=MODEL"
            )


def trace_scores(system: System, plan: "Plan", task: str, domain: str) -> Origin:
    """Return what the scores of a task in a domain are computed from; the line has counts too."""
    model = shorten_digest(system.fingerprint)
    if task in TEXT_TASKS:
        return Origin(model=model)
    counts = plan.counts.digest[:12] if plan.counts else ""
    protocol = shorten_digest(plan.protocol, plan.regressors)
    return Origin(
        model=model, counts=hash_line() if domain == "line" else counts, protocol=protocol
    )


def name_protocol(plan: "Plan", task: str) -> str:
    """Return the protocol that the scores of a task name."""
    return PROTOCOL if task in TEXT_TASKS else plan.protocol.name
