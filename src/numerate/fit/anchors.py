"""Anchors and their scales: `rescale`, `restore` and `AnchorSet`, the product of fit.

A value n has a position on a scale: on `linear`, n itself; on `ln`, resolution * (ln n + 1), which
for 1999 and the paper's resolution of 10 is 86; on `log10`, the exponent of scientific notation,
which for 1999 is 3.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError, first_line
from numerate.files import read_json, write_json
from numerate.fit.mixture import Floats
from numerate.options import Domain, Scale, check_option

FORMAT = "numerate-anchors"
RESOLUTION = 10.0
_RESOLUTIONS = 1e-6, 1e6  # the least and the most
_MOST_WIDTH, _LARGEST = 20, 10**15
# All powers of ten that a double can hold: looking an exponent up is exact, a logarithm is not.
_POWERS = np.array([float(f"1e{exponent}") for exponent in range(-323, 309)])


def check_resolution(resolution: float) -> None:
    """Refuse a resolution of the ln scale that is coarser or finer than any use."""
    least, most = _RESOLUTIONS
    if not least <= resolution <= most:
        raise InputError(f"resolution must be from {least:g} to {most:g}, got {resolution:g}")


def rescale(values: npt.ArrayLike, scale: Scale = "ln", resolution: float = RESOLUTION) -> Floats:
    """Return the positions of values on a scale.

    The ln scale is linear from 0 to 1, where the logarithm would go to minus infinity, and
    symmetric about 0. The log10 scale has no sign, and 0 has the exponent 0.

    >>> rescale([1999, 1, 0.5, -1999], "ln").round(3).tolist()
    [86.004, 10.0, 5.0, -86.004]
    >>> rescale([1999, 1, 0.5, -1999], "log10").tolist()
    [3.0, 0.0, -1.0, 3.0]
    """
    check_option("scale", scale, Scale)
    plain = np.asarray(values, dtype=np.float64)
    if scale == "linear":
        return plain
    size = np.abs(plain)
    if scale == "log10":
        exponents = np.searchsorted(_POWERS, size, side="right") - 324.0
        return np.where(size > 0, exponents, 0.0)
    steps = np.where(size > 1, np.log(np.maximum(size, 1)) + 1, size)
    return np.copysign(resolution * steps, plain)


def restore(
    positions: npt.ArrayLike, scale: Scale = "ln", resolution: float = RESOLUTION
) -> Floats:
    """Return the values at positions on a scale, the inverse of `rescale`.

    An exponent gives its power of ten, the smallest value with this exponent.
    """
    check_option("scale", scale, Scale)
    plain = np.asarray(positions, dtype=np.float64)
    if scale == "linear":
        return plain
    if scale == "log10":
        return np.power(10.0, plain)
    size = np.abs(plain) / resolution
    return np.copysign(np.where(size > 1, np.exp(size - 1), size), plain)


@dataclass(frozen=True)
class AnchorSet:
    """The anchors of a corpus: their positions on a scale, strictly increasing.

    The resolution is in units per e-fold of the ln scale. `fit` tells people how well the mixture
    fits; equality ignores it. `width` is the least number of digits to write an anchor with: with
    3, 86 is written `086`.
    """

    scale: Scale
    values: tuple[int, ...]
    _: KW_ONLY
    resolution: float = RESOLUTION
    domain: Domain = "integers"
    fit: Mapping[str, Any] = field(default_factory=dict, compare=False)
    width: int = 1

    def __post_init__(self) -> None:
        check_option("scale", self.scale, Scale)
        check_option("domain", self.domain, Domain)
        check_resolution(self.resolution)
        if not 1 <= self.width <= _MOST_WIDTH:
            raise InputError(f"width must be from 1 to {_MOST_WIDTH}, got {self.width}")
        if not isinstance(self.fit, Mapping):
            raise InputError(f"fit must be an object, got {self.fit!r:.40}")
        if not self.values or list(self.values) != sorted(set(self.values)):
            raise InputError(
                f"values must be non-empty and strictly increasing, got {self.values[:5]}"
            )
        if max(map(abs, self.values)) > _LARGEST:
            raise InputError(
                f"values must be within 10^15, got {self.values[0]} to {self.values[-1]}"
            )

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The anchors as they are written in primed text.

        >>> AnchorSet("ln", (86, 118), width=3).texts
        ('086', '118')
        """
        return tuple(f"{value:0{self.width}}" for value in self.values)

    @cached_property
    def _midpoints(self) -> Floats:
        anchors = np.array(self.values, dtype=np.float64)
        return (anchors[1:] + anchors[:-1]) / 2

    def locate(self, values: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the index of each value's nearest anchor, and a mask: the anchor is to its left.

        Distances are measured on the scale of the anchors; a tie goes to the smaller anchor. As in
        the paper's scripts, a position on the ln scale is rounded before its side is decided.
        """
        positions = rescale(values, self.scale, self.resolution)
        index = np.searchsorted(self._midpoints, positions)
        rounded = np.rint(positions) if self.scale == "ln" else positions
        return index, rounded > np.array(self.values)[index]

    def nearest(self, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the nearest anchor of each value.

        >>> AnchorSet("linear", (5, 10, 20)).nearest([1, 15, 16]).tolist()
        [5, 10, 20]
        """
        return np.array(self.values)[self.locate(values)[0]]

    def describe(self) -> dict[str, Any]:
        """Return the anchors as a JSON document, without `fit`."""
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
        """Return the anchors in a JSON document; error messages name its `place`."""
        try:
            return cls(
                document["scale"],
                tuple(_whole(value) for value in document["values"]),
                resolution=float(document.get("resolution", RESOLUTION)),
                domain=document.get("domain", "integers"),
                fit=document.get("fit", {}),
                width=_whole(document.get("width", 1)),
            )
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise InputError(
                f"{place}: damaged anchors ({first_line(error)}); run 'numerate fit'"
            ) from None

    @classmethod
    def load(cls, path: Path) -> "AnchorSet":
        """Read `anchors.json`."""
        return cls.read(read_json(path, FORMAT, made_by="numerate fit"), path)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"values and width must be whole numbers, got {value!r}")
    return value
