"""Charts: what a figure of the report holds, before anything is drawn.

The same charts are drawn twice: by matplotlib into files, and by the page's script. A chart knows
its axes, its series and to which systems they belong, and one sentence that says what to see in it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

ChartKind = Literal["dots", "scatter", "heat", "lines", "histogram"]
Point = tuple[float, ...]
MOST_BANDS = 4  # more of them would hide each other
N_COLOURS = 7  # besides grey for the base model (slot 0) and black for controls (slot 8)


@dataclass(frozen=True)
class Axis:
    """What an axis shows, and from where to where."""

    label: str
    low: float
    high: float
    log: bool = False
    decades: bool = False
    """Whether a place stands for the whole decade around it."""
    whole: bool = False
    """Whether there is nothing between whole numbers."""


@dataclass(frozen=True)
class Series:
    """Points that belong together.

    In lines a point is x and y, and perhaps the bounds of y; in dots a mean with its bounds; in a
    histogram the two edges of a bar and its height, or just the place of a tick.
    """

    name: str
    points: tuple[Point, ...]
    slot: int = 1
    systems: tuple[int, ...] = ()
    """The series is shown while one of these is switched on; always if there are none."""
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: Axis
    y: Axis
    note: str = ""
    series: tuple[Series, ...] = ()
    systems: tuple[int, ...] = ()
    matrix: tuple[Point, ...] = ()
    """Of a heatmap, whose colours the axis `y` explains."""


@dataclass(frozen=True)
class Chart:
    """A figure: panels of one kind, a title, and a sentence computed from the data."""

    name: str
    kind: ChartKind
    title: str
    sentence: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Cast:
    """The systems of a report in their order; each has a number and a colour."""

    names: tuple[str, ...]
    base: str | None = None

    def number(self, name: str) -> int:
        """Return the number of a system."""
        return self.names.index(name)

    def slot(self, name: str) -> int:
        """Return the colour of a system; the base model and controls have theirs."""
        if name == self.base:
            return 0
        return N_COLOURS + 1 if _is_control(name) else 1 + self._turn(name) % N_COLOURS

    def is_dashed(self, name: str) -> bool:
        """Return whether another system has had the colour before."""
        colours = 1 if _is_control(name) else N_COLOURS
        return name != self.base and self._turn(name) >= colours

    def _turn(self, name: str) -> int:
        """How many systems of its kind, controls or models, come before it."""
        peers = [n for n in self.names if n != self.base and _is_control(n) == _is_control(name)]
        return peers.index(name)

    def of_variant(self, variant: str) -> list[str]:
        """Return the systems of a trained variant: those that bear its name, and perhaps a way."""
        return [name for name in self.names if name == variant or name.startswith(f"{variant} ")]

    def series(self, name: str, points: Iterable[Point]) -> Series:
        """Return a series of one system."""
        numbers = (self.number(name),)
        return Series(name, tuple(points), self.slot(name), numbers, self.is_dashed(name))


def _is_control(name: str) -> bool:
    return name.startswith("control:")


def span(values: Iterable[float], *, zero: bool = False, pad: float = 0.05) -> tuple[float, float]:
    """Return from where to where an axis has to go to hold some values, with some room.

    >>> span([1.0, 3.0], pad=0.5)
    (0.0, 4.0)
    """
    found = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(found), max(found)
    room = pad * (high - low) if high > low else 0.5
    return (0.0 if zero else low - room), high + room


def span_log(values: Sequence[float]) -> tuple[float, float]:
    """Return the powers of ten around some values."""
    found = [value for value in values if 0 < value < math.inf] or [1.0]
    low, high = math.floor(math.log10(min(found))), math.ceil(math.log10(max(found)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def describe_chart(chart: Chart) -> dict[str, Any]:
    """Return a chart as a JSON document: five digits of each number, null for what is none."""
    described: dict[str, Any] = _clean(asdict(chart))
    return described


def _clean(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _clean(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(part) for part in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        short = float(f"{value:.5g}")
        return int(short) if short.is_integer() else short
    return value
