"""Amounts as people write them: `1.82 billion`, `1,820 million`, read and written in one place."""

import re
from dataclasses import dataclass
from typing import Literal

from numerate.extract.numerals import find_numerals

SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALE_WORD = re.compile(rf"[ \u00a0]({'|'.join(SCALES)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Amount:
    """A number in a text: `value` counts the scale word, which `written` leaves out.

    Its text is `text[start:end]`, with the scale word.
    """

    value: float
    written: float
    start: int
    end: int

    @property
    def has_scale(self) -> bool:
        """Whether a scale word follows the number."""
        return self.value != self.written


def read_amounts(text: str) -> list[Amount]:
    """Return the numbers of a text from left to right, with their scale words.

    >>> [amount.value for amount in read_amounts("$1.82 billion for 12,000 people")]
    [1820000000.0, 12000]
    """
    found = []
    for numeral in find_numerals(text, "reals"):
        scale = _SCALE_WORD.match(text, numeral.end)
        factor = SCALES[scale[1].lower()] if scale else 1
        end = scale.end() if scale else numeral.end
        value = round(numeral.value * factor, 6) if scale else numeral.value
        found.append(Amount(value, numeral.value, numeral.start, end))
    return found


def write_amount(value: float, form: Literal["scaled", "shifted"]) -> str:
    """Return a positive amount as text.

    `scaled` writes the largest scale word that fits, and `shifted` one beside it. Below a million
    there is none.

    >>> write_amount(1.82e9, "scaled"), write_amount(1.82e9, "shifted")
    ('1.82 billion', '1,820 million')
    >>> write_amount(428e6, "shifted"), write_amount(348_000, "scaled")
    ('0.428 billion', '348,000')
    """
    if value < SCALES["million"]:
        return _write_number(value)
    words = list(SCALES)
    place = max(place for place, word in enumerate(words) if value >= SCALES[word])
    if form == "shifted":
        is_small = value < 100 * SCALES[words[place]]
        place += -1 if is_small or place == len(words) - 1 else 1
    return f"{_write_number(value / SCALES[words[place]])} {words[place]}"


def _write_number(value: float) -> str:
    """Return a number with commas and without trailing zeros behind the point."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")
