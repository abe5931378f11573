"""Neighbours: the numerals whose vectors are most similar to that of a numeral."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numerate.embed.encoder import Encoder
from numerate.embed.tokens import write_numerals
from numerate.errors import InputError
from numerate.extract.numerals import find_numerals
from numerate.options import Anchor, Readout


@dataclass(frozen=True)
class Neighbour:
    """A numeral, its cosine similarity, and the number of candidates with a closer value."""

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
    read: Readout | None = None,
    layers: Sequence[int] | None = None,
) -> list[Neighbour]:
    """Return the `top` numerals of `among` with the vectors most similar to that of a numeral.

    The most similar one is first, and a numeral is never its own neighbour. The other arguments
    are those of `embed_numerals`.
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
