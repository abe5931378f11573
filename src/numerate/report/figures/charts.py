"""Charts: the contents of the figures of a report, before they are drawn.

Every chart is drawn twice: by matplotlib into files, and by the script of the page. A chart has
axes, series with the systems they belong to, and a sentence that says what it shows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any, Literal

from numerate.models.labels import SystemLabel

ChartKind = Literal["dots", "scatter", "heat", "lines", "histogram"]
Point = tuple[float, ...]
MOST_BANDS = 4  # more bands would hide each other
N_COLOURS = 7  # besides grey for the base model (slot 0) and black for controls (slot 8)


@dataclass(frozen=True)
class Axis:
    """The label, the limits and the scale of an axis."""

    label: str
    low: float
    high: float
    _: KW_ONLY
    log: bool = False
    decades: bool = False
    """Whether a point stands for the whole decade around it."""
    whole: bool = False
    """Whether ticks are at whole numbers only."""


@dataclass(frozen=True)
class Series:
    """Points with a common name and colour.

    A point is (x, y) or (x, y, lower, upper) in lines, (x, y) in a scatter, (mean, lower, upper) in
    dots, and (left, right, height) for a bar or (x,) for a tick in a histogram.
    """

    name: str
    points: tuple[Point, ...]
    _: KW_ONLY
    slot: int = 1
    systems: tuple[int, ...] = ()
    """The indices of its systems: the page shows it while one of them is switched on, or always."""
    dashed: bool = False
    hollow: bool = False
    """Whether it is of an untrained twin, which is drawn lighter, in the colour of its system."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: Axis
    y: Axis
    _: KW_ONLY
    note: str = ""
    series: tuple[Series, ...] = ()
    systems: tuple[int, ...] = ()
    matrix: tuple[Point, ...] = ()
    """The values of a heatmap; the axis `y` is their colour scale."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A figure: panels of one kind, a title, and a sentence computed from the data."""

    name: str
    kind: ChartKind
    title: str
    sentence: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Systems:
    """The systems of a report in their order; each has an index and a colour."""

    names: tuple[str, ...]
    base: str | None = None

    def index(self, name: str) -> int:
        """Return the index of a system."""
        return self.names.index(name)

    def slot(self, name: str) -> int:
        """Return the colour of a system: 0 for the base model, the last one for controls.

        A twin has the colour of its trained system.
        """
        name = self._find_trained(name)
        if name == self.base:
            return 0
        return N_COLOURS + 1 if _is_control(name) else 1 + self._turn(name) % N_COLOURS

    def is_dashed(self, name: str) -> bool:
        """Return whether an earlier system has the same colour; its twin is not counted."""
        name = self._find_trained(name)
        colours = 1 if _is_control(name) else N_COLOURS
        return name != self.base and self._turn(name) >= colours

    def is_hollow(self, name: str) -> bool:
        """Return whether a system is the twin of another one."""
        return self._find_trained(name) != name

    def _find_trained(self, name: str) -> str:
        """Return the system whose twin this is, or the system itself."""
        trained = str(SystemLabel.parse(name).trained)
        return trained if trained in self.names else name

    def _turn(self, name: str) -> int:
        """Return the index of a system among the controls, or among the models; without twins."""
        others = [n for n in self.names if n != self.base and not self.is_hollow(n)]
        return [n for n in others if _is_control(n) == _is_control(name)].index(name)

    def of_variant(self, variant: str) -> list[str]:
        """Return the systems of a trained variant, such as its masked and its visible anchors."""
        return [name for name in self.names if SystemLabel.parse(name).name == variant]

    def series(self, name: str, points: Iterable[Point]) -> Series:
        """Return a series of one system."""
        return Series(
            name,
            tuple(points),
            slot=self.slot(name),
            systems=(self.index(name),),
            dashed=self.is_dashed(name),
            hollow=self.is_hollow(name),
        )


def _is_control(name: str) -> bool:
    return SystemLabel.parse(name).is_control


def span(values: Iterable[float], *, zero: bool = False, pad: float = 0.05) -> tuple[float, float]:
    """Return the limits of an axis that holds some values, with some padding.

    >>> span([1.0, 3.0], pad=0.5)
    (0.0, 4.0)
    """
    found = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(found), max(found)
    room = pad * (high - low) if high > low else 0.5
    return (0.0 if zero else low - room), high + room


def span_log(values: Sequence[float]) -> tuple[float, float]:
    """Return the powers of ten below and above some values."""
    found = [value for value in values if 0 < value < math.inf] or [1.0]
    low, high = math.floor(math.log10(min(found))), math.ceil(math.log10(max(found)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def describe_chart(chart: Chart) -> dict[str, Any]:
    """Return a chart as a JSON document: numbers with five digits, null if not finite."""
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
