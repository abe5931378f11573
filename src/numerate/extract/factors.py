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
MONEY = {**SUFFIXES, "m": 6, "b": 9, "t": 12, "cr": 7}  # only behind a currency sign
SPACE = r"(?: |\xc2\xa0|\xe2\x80\xaf)"  # plain, no-break, narrow no-break


class Factor(NamedTuple):
    """A power of ten behind a number, and where it ends; the exponent is 0 if there is none.

    `of_range` says whether it also belongs to the first number of a range, as in `1-2 million`.
    """

    exponent: int
    end: int
    of_range: bool = True


def _any_of(words: dict[str, int]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_TIMES = r"(?:[x*]|\xc3\x97|\xc2\xb7|\xe2\x8b\x85|\\times)"
_EXPONENT = r"(?:[-+]|\xe2\x88\x92)?\d{1,2}"
_RAISED = r"(?:\xe2\x81[\xba\xbb])?(?:\xe2\x81[\xb0\xb4-\xb9]|\xc2[\xb9\xb2\xb3]){1,2}"
_POWER = rf"\^\{{{_EXPONENT}\}}|(?:\^|\*\*){_EXPONENT}|{_RAISED}"
_FACTOR = re.compile(
    (
        rf"(?P<times>{SPACE}?{_TIMES}{SPACE}?10)?(?P<power>{_POWER})(?![.,]?\d)"
        rf"|(?:{SPACE}|-| @-@ )"
        rf"(?P<word>(?i:(?:(?:thousand|lakh) )?(?:{_any_of(WORDS)})s?))(?![a-zA-Z])"
        rf"|(?P<suffix>{SPACE}?(?i:{_any_of(MONEY)}))(?![a-zA-Z])"
    ).encode()
)
# The two bytes behind a number and a space that may begin a factor, such as `mi`.
MAY_BEGIN_FACTOR = np.zeros((256, 256), bool)
_NO_LETTERS = [code for code in range(256) if not chr(code).isalnum() or code > 127]
for _name in (*WORDS, *MONEY):
    for _first in (ord(_name[0]), ord(_name[0].upper())):
        _seconds = [ord(_name[1]), ord(_name[1].upper())] if _name[1:] else _NO_LETTERS
        MAY_BEGIN_FACTOR[_first, _seconds] = True
MAY_BEGIN_FACTOR[list(b"x*\xc3\xc2\xe2\\")] = True  # signs of multiplication
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--", "^*{}")


def read_factor(data: bytes, start: int, end: int) -> Factor:
    """Return the factor behind the number `data[start:end]`; none behind a part of a fraction."""
    nothing = Factor(0, end)
    found = _FACTOR.match(data, end)
    if not found or data[start - 1 : start] == b"/" or touches_after(data, found.end()):
        return nothing
    if found["power"]:
        exponent = int(found["power"].decode().translate(_PLAIN))
        if found["times"]:
            return Factor(exponent, found.end())
        if data[start:end] == b"10":  # 10^6 is 10 times 10^5
            return Factor(exponent - 1, found.end(), of_range=False)
        return nothing
    if found["word"]:
        words = found["word"].decode().lower().split()
        return Factor(sum(WORDS[word.removesuffix("s")] for word in words), found.end())
    exponent = _read_suffix(data, start, found)
    return Factor(exponent, found.end()) if exponent else nothing


def _read_suffix(data: bytes, start: int, found: re.Match[bytes]) -> int:
    """Return the exponent of a suffix, or 0 where its letters may mean something else."""
    written = found["suffix"].decode()
    name = written.strip()
    if _is_joined(data, start) or (written != name and data[found.end() : found.end() + 1] == b"-"):
        return 0
    if _follows_currency(data, start) or written in ("k", "K"):
        return MONEY[name.lower()]
    return SUFFIXES.get(name, 0) if name != "k" else 0


def _follows_currency(data: bytes, start: int) -> bool:
    """Return whether a currency sign, and at most a space, stands before a number."""
    place = start - 1 if data[start - 1 : start] == b" " else start
    before = character_before(data, place).decode("utf-8", "surrogatepass")
    return before != "" and unicodedata.category(before) == "Sc"


def _is_joined(data: bytes, start: int) -> bool:
    """Return whether a hyphen joins a number to a letter before it, as in `C-123K`."""
    return data[start - 1 : start] == b"-" and data[start - 2 : start - 1].isalpha()
