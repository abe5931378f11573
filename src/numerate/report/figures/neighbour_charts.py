"""Neighbours: the numbers with the most similar vectors, as a chart and as a small table."""

from collections.abc import Sequence

import numpy as np

from numerate.probe.diagnostics import Diagnostics, Neighbours
from numerate.report.figures.charts import Axis, Chart, Panel, Point, Systems
from numerate.report.tables.grid import is_contestant

_MOST_EXAMPLES = 4  # neighbours of an example


def chart_neighbours(diagnostics: Sequence[Diagnostics], systems: Systems) -> Chart | None:
    """Return each numeral against one with a similar vector, with a panel for each system."""
    found = find_neighbours(diagnostics)
    if not found:
        return None
    x, y = Axis("number", 1, 1e10, log=True), Axis("one most like it", 1, 1e10, log=True)
    panels = tuple(
        Panel(
            system,
            x,
            y,
            note=f"off by a factor of {near.mean_factor:.2f}",
            series=(systems.series(system, _pair_in_turn(near)),),
            systems=(systems.index(system),),
        )
        for system, near in found.items()
    )
    n_asked, n_nearest = next(iter(found.values())).nearest.shape
    sentence = (
        f"Each dot is one of {n_asked:,} numbers that the corpus does not contain, drawn against "
        f"one of the {n_nearest} numbers, among 1,000 from 1 to 10^10, whose vectors are most like "
        "its own. On the diagonal both have the same size. The factor above each panel is the "
        "geometric mean over all these pairs. No probe is trained for this."
    )
    return Chart(
        name="neighbours",
        kind="scatter",
        title="Which numbers are most like it?",
        sentence=sentence,
        panels=panels,
    )


def _pair_in_turn(near: Neighbours) -> list[Point]:
    """Return a neighbour for each numeral: the first, the second, and so on in turn."""
    turns = np.arange(len(near.asked)) % near.nearest.shape[1]
    chosen = near.nearest[np.arange(len(near.asked)), turns]
    return list(zip(near.asked.tolist(), chosen.tolist(), strict=True))


def find_neighbours(diagnostics: Sequence[Diagnostics]) -> dict[str, Neighbours]:
    """Return the neighbours by system, without the systems that are given the number."""
    return {
        one.system: one.neighbours
        for one in diagnostics
        if one.neighbours is not None and is_contestant(one.system)
    }


def tabulate_neighbours(
    diagnostics: Sequence[Diagnostics],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return a header, and a row for each system with the neighbours of a few numbers."""
    found = find_neighbours(diagnostics)
    examples = list(next(iter(found.values())).examples) if found else []
    header = ("system", *(f"most like {numeral:,}" for numeral in examples))
    rows = tuple(
        (system, *(_join(near.examples[numeral][:_MOST_EXAMPLES]) for numeral in examples))
        for system, near in found.items()
    )
    return header, rows


def _join(numerals: Sequence[int]) -> str:
    return "  ".join(f"{numeral:,}" for numeral in numerals)
