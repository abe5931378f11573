"""Shuffled anchors, a control: every numeral is trained with the anchor of another number.

What a model gains from such a training does not come from what anchors say. A numeral has the same
wrong anchor wherever it occurs, so that the labels can be learned by heart as well as true ones.
"""

import math
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from numerate.extract.numerals import LARGEST
from numerate.fit.anchors import AnchorSet, rescale, restore

Magnitudes = npt.NDArray[np.float32]
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: it spreads near numbers apart


def shuffle_magnitudes(magnitudes: npt.ArrayLike) -> Magnitudes:
    """Return for each magnitude that of another number from 1 to 10^10; NaN stays NaN.

    >>> same, other, nothing = shuffle_magnitudes([5.0, 5.5, math.nan])
    >>> bool(same == shuffle_magnitudes([5.0])[0]), bool(same != other), bool(np.isnan(nothing))
    (True, True, True)
    """
    plain = np.asarray(magnitudes, np.float32)
    share = (plain.view(np.uint32).astype(np.uint64) * _MIX).astype(np.float64) / 2.0**64
    return np.where(np.isnan(plain), plain, 1 + math.log(LARGEST) * share).astype(np.float32)


@dataclass(frozen=True)
class ShuffledAnchors(AnchorSet):
    """Anchors that give every numeral the anchor of another number."""

    def locate(self, values: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the index of the anchor of another number, and whether it is to its left."""
        magnitudes = rescale(values, "ln", 1.0).astype(np.float32)
        return super().locate(restore(shuffle_magnitudes(magnitudes), "ln", 1.0))


def shuffle_anchors(anchors: AnchorSet) -> ShuffledAnchors:
    """Return the same anchors, shuffled over the numerals."""
    return ShuffledAnchors(
        **{field.name: getattr(anchors, field.name) for field in fields(anchors)}
    )
