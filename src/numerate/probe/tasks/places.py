"""Places: of several numbers in a text, only the one in the same place counts.

A query asks for one number, an amount or a year. Two documents have two numbers each: the right one
has a near number in the place that is asked for, the other one a still nearer number in its other
place, as the number of an invoice, or a year. Templates are this project's own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from numerate.probe.tasks.sentence_tasks import read_sentences
from numerate.probe.tasks.similarity import Search

_DRAWS = 8  # of each frame and place
_NEAR, _FAR, _TRAP = (0.05, 0.2), (1.5, 3.0), (0.005, 0.02)  # differences of logarithms
_NEAR_YEARS, _TRAP_YEARS, _FAR_YEARS = (4, 9), (1, 4), 50
_YEARS, _AMOUNTS = (1830, 2031), (1_000, 100_000)


@dataclass(frozen=True)
class Traps:
    """Queries with two documents each: the right one, and one with a near number elsewhere.

    `documents` has the shape (queries, 2). `kinds` says what is asked for, and beside what.
    """

    queries: tuple[str, ...]
    documents: npt.NDArray[np.str_]
    kinds: npt.NDArray[np.str_]


def draw_traps(rng: np.random.Generator) -> Traps:
    """Return queries for each place of each frame that can be asked for."""
    rows = [
        _draw_trap(frame, own, other, rng)
        for frame in read_sentences()["frames"]
        for own, other in (("a", "b"), ("b", "a"))
        for _ in range(_DRAWS if f"ask_{own}" in frame else 0)
    ]
    queries, documents, kinds = zip(*rows, strict=True)
    return Traps(queries, np.array(documents), np.array(kinds))


def score_traps(search: Search, traps: Traps) -> dict[str, float]:
    """Return how often the right document comes before the other (chance: 0.5; ties count half).

    `right` is over all queries; the others are by what is asked for, and beside what.
    """
    found = search(traps.queries, traps.documents.ravel().tolist())
    rows = np.arange(len(traps.queries))
    right = (np.sign(found[rows, 2 * rows] - found[rows, 2 * rows + 1]) + 1) / 2
    scores = {"right": float(right.mean())}
    for kind in np.unique(traps.kinds):
        scores[f"right: {kind}"] = float(right[traps.kinds == kind].mean())
    return scores


def _draw_trap(
    frame: Mapping[str, Any], own: str, other: str, rng: np.random.Generator
) -> tuple[str, list[str], str]:
    """Return a query for the number in place `own`, its two documents, and its kind."""
    asks_year, has_year = frame[own] == "year", "year" in (frame[own], frame[other])
    asked = int(rng.integers(*_YEARS)) if has_year else _draw_amount(rng)
    near = _shift(asked, _NEAR_YEARS, rng) if asks_year else _scale(asked, _NEAR, rng)
    trap = _shift(asked, _TRAP_YEARS, rng) if has_year else _scale(asked, _TRAP, rng)
    tell = str(rng.choice(frame["tell"]))
    documents = [
        {own: near, other: _draw_far(frame[other], asked, rng)},
        {own: _draw_far(frame[own], asked, rng), other: trap},
    ]
    query = _fill(str(rng.choice(frame[f"ask_{own}"])), frame, {own: asked})
    kind = f"{frame[own]} beside {frame[other]}"
    return query, [_fill(tell, frame, numbers) for numbers in documents], kind


def _draw_amount(rng: np.random.Generator) -> int:
    return int(np.exp(rng.uniform(*np.log(_AMOUNTS))))


def _shift(number: int, steps: tuple[int, int], rng: np.random.Generator) -> int:
    return number + int(rng.integers(*steps)) * int(rng.choice([-1, 1]))


def _scale(number: int, logs: tuple[float, float], rng: np.random.Generator) -> int:
    """Return a number that is larger or smaller by a factor, but another one."""
    scaled = round(number * np.exp(rng.uniform(*logs) * rng.choice([-1, 1])))
    return scaled if scaled != number else number + 1


def _draw_far(kind: str, number: int, rng: np.random.Generator) -> int:
    """Return a number of a kind that is far from another one."""
    if kind != "year":
        return _scale(number, _FAR, rng)
    years = np.arange(*_YEARS)
    return int(rng.choice(years[np.abs(years - number) >= _FAR_YEARS]))


def _fill(template: str, frame: Mapping[str, Any], numbers: Mapping[str, int]) -> str:
    """Write numbers into a template; only amounts and counts have commas."""
    for place, number in numbers.items():
        written = f"{number}" if frame[place] in ("year", "id") else f"{number:,}"
        template = template.replace(f"{{{place}}}", written)
    return template
