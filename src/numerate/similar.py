"""Similar: which numerals a model takes for neighbours of a numeral, to look at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numerate.choices import Anchor, Readout
from numerate.embed import Encoder
from numerate.errors import InputError
from numerate.inputs import write_numerals
from numerate.numerals import LARGEST, find_numerals

_MOST = 1_000_000


@dataclass(frozen=True)
class Neighbour:
    """A numeral, its cosine with the one asked about, and how many are nearer to that in value."""

    numeral: str
    cosine: float
    nearer: int


def find_similar(
    encoder: Encoder,
    numeral: object,
    among: Sequence[int],
    *,
    top: int = 10,
    anchor: Anchor | None = None,
    read: Readout = "all",
    layers: Sequence[int] | None = None,
) -> list[Neighbour]:
    """Return the numerals whose vectors are most like that of a numeral, the most alike first.

    Args:
        encoder: The model.
        numeral: The one to ask about; it is not among its own neighbours.
        among: Which numerals to choose from.
        top: How many to return.
        anchor: As for `Encoder.embed_numerals`.
        read: As there.
        layers: As there.
    """
    [asked] = write_numerals([numeral], encoder.domain)
    value = find_numerals(asked, encoder.domain)[0].value
    others = [other for other in dict.fromkeys(among) if other != value]
    if not others:
        raise InputError(f"among must hold numerals other than {asked}")
    vectors = encoder.embed_numerals(
        [asked, *others], anchor=anchor, read=read, layers=layers
    ).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = vectors[1:] @ vectors[0]
    gaps = np.abs(np.log(others) - np.log(value))
    nearer = np.searchsorted(np.sort(gaps), gaps)
    order = np.argsort(-cosine, kind="stable")[:top]
    return [Neighbour(str(others[i]), float(cosine[i]), int(nearer[i])) for i in order]


def parse_among(text: str | None, numeral: str) -> list[int]:
    """Return the numerals that a range (`1900:2100`, `1:1000:10`) or a list (`1,10,100`) names.

    Without one they are some 400 around the numeral, from a tenth to ten times as much.

    >>> parse_among("1:10:3,100", "5")
    [1, 4, 7, 10, 100]
    """
    if text is None:
        found = find_numerals(numeral)
        middle = found[0].value if found else 1
        spread = np.exp(np.linspace(np.log(middle / 10), np.log(middle * 10), 401))
        return sorted({int(value) for value in np.clip(spread.round(), 1, LARGEST)})
    try:
        parts = [[int(bound) for bound in part.split(":")] for part in text.split(",")]
        ranges = [range(*_bounds(*part)) for part in parts]
    except (TypeError, ValueError):
        raise InputError(
            f"among must be like 1900:2100, 1:1000:10 or 1,10,100, got {text!r}"
        ) from None
    if sum(map(len, ranges)) > _MOST:
        raise InputError(f"among must name at most {_MOST:,} numerals; give a step, 1:1000000:100")
    return [value for part in ranges for value in part]


def _bounds(first: int, last: int | None = None, step: int = 1) -> tuple[int, int, int]:
    """Both ends of a range belong to it."""
    if step < 1:
        raise ValueError("a step must be at least 1")
    return first, (first if last is None else last) + 1, step
