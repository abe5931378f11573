"""Factors behind a number: `million` in `1.82 million`, `bn` in `$1.82bn`, `x 10^6`.

Only the domain `quantities` reads them. A factor is a power of ten, so that the value of a quantity
is exact: `1.1 million` is read as `1.1e6`. The rules are in `docs/stages.md`.
"""

import re
import unicodedata
from typing import NamedTuple

import numpy as np

from numerate.extract.characters import character_before, touches_after

WORDS = {"thousand": 3, "lakh": 5, "million": 6, "crore": 7, "billion": 9, "trillion": 12}
SUFFIXES = {"k": 3, "mn": 6, "mln": 6, "mio": 6, "bn": 9, "tn": 12}
_MONEY = {**SUFFIXES, "m": 6, "b": 9, "t": 12, "cr": 7}  # only behind a currency sign
SPACE = rb"(?: |\xc2\xa0|\xe2\x80\xaf)"  # plain, no-break, narrow no-break


class Factor(NamedTuple):
    """A power of ten behind a number, and where it ends; the exponent is 0 if there is none.

    `of_range` says whether it also belongs to the first number of a range, as in `1-2 million`.
    """

    exponent: int
    end: int
    of_range: bool = True


def _any_of(words: dict[str, int]) -> bytes:
    return "|".join(sorted(words, key=len, reverse=True)).encode()


WORD = rb"(?i:(?:(?:thousand|lakh) )?(?:" + _any_of(WORDS) + rb")s?)"
_WORD = re.compile(rb"(?:" + SPACE + rb"|-| @-@ )(" + WORD + rb")")
_SUFFIX = re.compile(rb"([kK])|" + SPACE + rb"?(mn|mln|mio|bn|tn)")
_SUFFIX_OF_MONEY = re.compile(SPACE + rb"?((?i:" + _any_of(_MONEY) + rb"))(?!-(?<= .-)[a-zA-Z])")
_SIGN = rb"(?:[-+]|\xe2\x88\x92)?"
_RAISED = rb"(?:\xe2\x81[\xba\xbb])?(?:\xe2\x81[\xb0\xb4-\xb9]|\xc2[\xb9\xb2\xb3]){1,2}"
_EXPONENT = (
    rb"(?:\^\{(" + _SIGN + rb"\d{1,2})\}|(?:\^|\*\*)(" + _SIGN + rb"\d{1,2})|(" + _RAISED + rb"))"
    rb"(?![.,]?\d)"
)
_TIMES = rb"(?:[x*]|\xc3\x97|\xc2\xb7|\xe2\x8b\x85|\\times)"
_TEN = re.compile(_EXPONENT)
_POWER = re.compile(SPACE + rb"?" + _TIMES + SPACE + rb"?10" + _EXPONENT)
# The two bytes behind a number and a space that may begin a factor, such as `mi`.
MAY_BEGIN_FACTOR = np.zeros((256, 256), bool)
for _first in (*WORDS, *SUFFIXES, *_MONEY):
    for _name in (_first, _first.upper(), _first.title()):
        MAY_BEGIN_FACTOR[ord(_name[0]), ord(_name[1]) if _name[1:] else slice(None)] = True
MAY_BEGIN_FACTOR[list(b"x*\xc3\xc2\xe2\\")] = True
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--")


def read_factor(data: bytes, start: int, end: int) -> Factor:
    """Return the factor behind the number `data[start:end]`; none behind a part of a fraction."""
    if data[start - 1 : start] == b"/":
        return Factor(0, end)
    power = _TEN.match(data, end) if data[start:end] == b"10" else None
    if power and not touches_after(data, power.end()):  # 10^6 is 10 times 10^5
        return Factor(_read_exponent(power) - 1, power.end(), of_range=False)
    power = _POWER.match(data, end)
    if power and not touches_after(data, power.end()):
        return Factor(_read_exponent(power), power.end())
    word = _WORD.match(data, end)
    if word and not touches_after(data, word.end()):
        return Factor(add_exponents(word[1]), word.end())
    pattern = _SUFFIX_OF_MONEY if _follows_currency(data, start) else _SUFFIX
    suffix = pattern.match(data, end)
    if suffix and not (touches_after(data, suffix.end()) or _is_name(data, start)):
        name = suffix[suffix.lastindex or 0].decode().lower()
        return Factor(_MONEY[name], suffix.end())
    return Factor(0, end)


def add_exponents(words: bytes) -> int:
    """Return the exponent of factors in words: 6 for `million`, 12 for `lakh crore`."""
    return sum(WORDS[word.removesuffix("s")] for word in words.decode().lower().split())


def _read_exponent(power: re.Match[bytes]) -> int:
    return int((power[1] or power[2] or power[3]).decode().translate(_PLAIN))


def _follows_currency(data: bytes, start: int) -> bool:
    """Return whether a currency sign, and at most a space, stands before a number."""
    place = start - 1 if data[start - 1 : start] == b" " else start
    before = character_before(data, place).decode("utf-8", "surrogatepass")
    return before != "" and unicodedata.category(before) == "Sc"


def _is_name(data: bytes, start: int) -> bool:
    """Return whether a hyphen joins a number to a letter before it, as in `C-123K`."""
    return data[start - 1 : start] == b"-" and data[start - 2 : start - 1].isalpha()
