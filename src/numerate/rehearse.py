"""Rehearsal: bare numerals from the whole domain with their anchors, `48213 <ANC> 118`.

The paper trains on a corpus alone, which holds few of the large numerals. Rehearsal draws numerals
log-uniformly, so that a model meets all of the number line; what a probe will test is held out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from numerate.choices import Marker
from numerate.errors import InputError
from numerate.extract import Counts
from numerate.fit import AnchorSet
from numerate.numerals import LARGEST, find_numerals
from numerate.prime import prime_text
from numerate.sample import Values, list_outside

NUMERALS_PER_TEXT = 8


@dataclass(frozen=True)
class Rehearsal:
    """What to rehearse: anchors, marker, and the numerals never to draw, in increasing order."""

    anchors: AnchorSet
    marker: Marker
    held_out: Values = field(default_factory=lambda: np.zeros(0, np.int64))

    def draw_texts(self, rng: np.random.Generator) -> Iterator[str]:
        """Yield for ever primed texts of one to eight numerals each, as many of each length."""
        while True:
            values = self.draw_values(int(rng.integers(1, NUMERALS_PER_TEXT + 1)), rng)
            text = " ".join(map(str, values))
            yield prime_text(text, self.anchors, marker=self.marker).text

    def draw_values(self, n_values: int, rng: np.random.Generator) -> list[int]:
        """Return integers from 1 to 10^10, uniform in their logarithm, none of them held out."""
        values: list[int] = []
        while len(values) < n_values:
            value = round(LARGEST ** float(rng.random()))
            place = np.searchsorted(self.held_out, value)
            if value not in self.held_out[place : place + 1]:
                values.append(value)
        return values


def read_held_out(path: Path) -> Values:
    """Return the numerals of a text file, or those that may be asked out-of-domain of counts.

    Counts end in .json; all that a probe of any seed could ask is held out.
    """
    if path.suffix == ".json":
        return list_outside(Counts.load(path))
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text ({error})") from None
    values = np.unique(np.array([int(numeral.value) for numeral in find_numerals(text)], np.int64))
    if not len(values):
        raise InputError(f"{path}: holds no numerals to hold out; write one to a line")
    return values
