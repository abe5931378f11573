"""Draws the sample of any task on numerals."""

from collections.abc import Callable

import numpy as np

from numerate.extract.ranges import PROBE_RANGES, Values
from numerate.probe.protocols import Protocol
from numerate.probe.samples import FEWEST, TASKS, Sample, TooFewError, draw_sample
from numerate.probe.tasks.comparison import draw_comparison
from numerate.probe.tasks.extrapolation import draw_beyond, draw_gaps
from numerate.probe.tasks.few_shot import draw_few
from numerate.probe.tasks.geometry import Bounds, draw_geometry

_DRAWS: dict[str, Callable[[Values, Bounds, np.random.Generator], Sample]] = {
    "geometry": draw_geometry,
    "comparison": draw_comparison,
    "few": draw_few,
    "beyond": draw_beyond,
    "gaps": draw_gaps,
}
NUMERAL_TASKS = (*TASKS, *_DRAWS)
DEFAULT_TASKS = (*TASKS, "geometry", "comparison")


def draw_task(
    task: str, numerals: Values, range_name: str, protocol: Protocol, rng: np.random.Generator
) -> Sample:
    """Return the sample of a task on the numerals of a range, which are in increasing order."""
    if task in TASKS:
        return draw_sample(task, numerals, protocol, rng)
    if len(numerals) < FEWEST:
        raise TooFewError(f"{len(numerals)} numerals, but a probe needs at least {FEWEST}")
    return _DRAWS[task](numerals, PROBE_RANGES[range_name], rng)
