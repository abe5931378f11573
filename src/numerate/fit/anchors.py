"""Anchors and the scales that they live on.

On the scale `linear` stand the values themselves, on `ln` resolution * (ln n + 1), where the
paper's resolution is 10. There 1999 stands at 86. On the scale `log10` stand the exponents of
scientific notation: 1999 stands at 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.numerals import DOMAINS
from numerate.files import read_json, write_json
from numerate.fit.mixture import Floats
from numerate.options import Domain, Scale

SCALES: tuple[Scale, ...] = get_args(Scale)
FORMAT = "numerate-anchors"
RESOLUTION = 10.0
# Every power of ten that a double can be; to look an exponent up is exact, a logarithm is not.
_POWERS = np.array([float(f"1e{exponent}") for exponent in range(-323, 309)])


def rescale(values: npt.ArrayLike, scale: Scale = "ln", resolution: float = RESOLUTION) -> Floats:
    """Return values as they stand on a scale.

    The ln scale is linear from 0 to 1, where the logarithm would leave for minus infinity, and the
    mirror image below 0. On log10 stands the exponent of scientific notation, which knows no sign;
    that of 0 is 0.

    >>> rescale([1999, 1, 0.5, -1999], "ln").round(3).tolist()
    [86.004, 10.0, 5.0, -86.004]
    >>> rescale([1999, 1, 0.5, -1999], "log10").tolist()
    [3.0, 0.0, -1.0, 3.0]
    """
    plain = np.asarray(values, dtype=np.float64)
    if scale == "linear":
        return plain
    size = np.abs(plain)
    if scale == "log10":
        exponents = np.searchsorted(_POWERS, size, side="right") - 324.0
        return np.where(size > 0, exponents, 0.0)
    return np.copysign(
        resolution * np.where(size > 1, np.log(np.maximum(size, 1)) + 1, size), plain
    )


def restore(
    positions: npt.ArrayLike, scale: Scale = "ln", resolution: float = RESOLUTION
) -> Floats:
    """Return the values that stand at positions on a scale: `rescale` undone.

    Of an exponent it is the power of ten, the smallest value that has it.
    """
    plain = np.asarray(positions, dtype=np.float64)
    if scale == "linear":
        return plain
    if scale == "log10":
        return np.power(10.0, plain)
    size = np.abs(plain) / resolution
    return np.copysign(np.where(size > 1, np.exp(size - 1), size), plain)


@dataclass(frozen=True)
class AnchorSet:
    """Anchors in increasing order, in the units of their scale, and how they came about.

    They are written with `width` digits at least: with 3, 86 is `086`, as long as `118`.
    """

    scale: Scale
    values: tuple[int, ...]
    resolution: float = RESOLUTION
    domain: Domain = "integers"
    fit: Mapping[str, Any] = field(default_factory=dict, compare=False)
    width: int = 1

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(SCALES)}, got {self.scale!r}")
        if self.domain not in DOMAINS:
            raise ValueError(f"domain must be one of {', '.join(DOMAINS)}, got {self.domain!r}")
        if not self.resolution > 0:
            raise ValueError(f"resolution must be above 0, got {self.resolution}")
        if self.width < 1:
            raise ValueError(f"width must be 1 or more, got {self.width}")
        if not self.values or list(self.values) != sorted(set(self.values)):
            raise ValueError(
                f"values must be non-empty and strictly increasing, got {self.values[:5]}"
            )

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The anchors as they are written.

        >>> AnchorSet("ln", (86, 118), width=3).texts
        ('086', '118')
        """
        return tuple(f"{value:0{self.width}}" for value in self.values)

    @cached_property
    def _midpoints(self) -> Floats:
        anchors = np.array(self.values, dtype=np.float64)
        return (anchors[1:] + anchors[:-1]) / 2

    def locate(self, values: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return for each value the index of its anchor, and whether the anchor lies to its left.

        Nearest is meant on the scale of the anchors; a tie goes to the smaller one. As in the
        paper's scripts, a value on the ln scale is rounded before its side is taken.
        """
        positions = rescale(values, self.scale, self.resolution)
        index = np.searchsorted(self._midpoints, positions)
        rounded = np.rint(positions) if self.scale == "ln" else positions
        return index, rounded > np.array(self.values)[index]

    def nearest(self, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the anchor of each value.

        >>> AnchorSet("linear", (5, 10, 20)).nearest([1, 15, 16]).tolist()
        [5, 10, 20]
        """
        return np.array(self.values)[self.locate(values)[0]]

    def describe(self) -> dict[str, Any]:
        """Return the anchors as a JSON document, without how they came about."""
        return {
            "format": FORMAT,
            "version": 1,
            "scale": self.scale,
            "resolution": self.resolution,
            "domain": self.domain,
            "width": self.width,
            "values": list(self.values),
        }

    def save(self, path: Path) -> None:
        """Write `anchors.json`."""
        write_json(path, {**self.describe(), "fit": dict(self.fit)})

    @classmethod
    def read(cls, document: Mapping[str, Any], place: object) -> "AnchorSet":
        """Return the anchors of a JSON document; the place is named if it is damaged."""
        try:
            return cls(
                document["scale"],
                tuple(_whole(value) for value in document["values"]),
                float(document.get("resolution", RESOLUTION)),
                document.get("domain", "integers"),
                document.get("fit", {}),
                _whole(document.get("width", 1)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{place}: damaged anchors ({error}); run 'numerate fit'") from None

    @classmethod
    def load(cls, path: Path) -> "AnchorSet":
        """Read `anchors.json`."""
        return cls.read(read_json(path, FORMAT, made_by="numerate fit"), path)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"values and width must be whole numbers, got {value!r}")
    return value
