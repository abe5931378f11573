"""Finds numerals: text goes in, the value and position of each numeral come out.

A *numeral* is a complete number in ASCII digits (`1999`, `12,345`, WikiText's `12 @,@ 345`), never
a part of a number (`3.14`, `1.2.3`, `12,3456`) or of a word (`1990s`, `B52`, `1999年`: letters are
those of all scripts), and never one of more than 400 characters. Spaces separate numerals, thin
ones (`12 345`) too. The domain `integers` has the paper's positive integers up to ten billion;
`reals` adds zero, decimals, signs and exponents; `quantities` adds factors (`1.82 billion`) and
numbers in words, up to 10^15.

NumPy finds all runs of digits and accepts at once those whose neighbours are harmless, which are
most. A regular expression then reads the others, next to a letter, a dot or a comma. Both work on
UTF-8 bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

import numpy as np
import numpy.typing as npt

from numerate.extract.characters import (
    IN_WORD,
    character_before,
    is_letter,
    touches_after,
    touches_before,
)
from numerate.extract.factors import MAY_BEGIN_FACTOR, Factor, read_factor
from numerate.extract.number_words import read_number_words
from numerate.options import Domain, check_option

LARGEST = 10**10
# A double holds all whole numbers up to this one, and the sums of money that people write about.
LARGEST_OF: dict[Domain, int] = {"integers": LARGEST, "reals": LARGEST, "quantities": 10**15}

_MOST_CHARACTERS = 400  # of a number; longer runs of digits are data of another kind
# The longest possible number: digits joined by dots and commas (also as WikiText writes them), with
# an optional exponent. The quantifiers are possessive, so that a long run of digits is read once.
_NUMBER = re.compile(
    rb"\d++(?:(?:[.,]| @[.,]@ )\d++)*+(?:[eE](?:[+-]|\xe2\x88\x92)?\d++)?", re.ASCII
)
_GROUPED = rb"[1-9]\d{0,2}(?:(?:,| @,@ )\d{3})+"
_INTEGER = re.compile(rb"[1-9]\d*|" + _GROUPED)
_REAL = re.compile(
    rb"(?:(?:0|[1-9]\d*|" + _GROUPED + rb")(?:(?:\.| @\.@ )\d+)?|\.\d+)"
    rb"(?:[eE](?:[+-]|\xe2\x88\x92)?\d+)?"
)
_SIGNS = {b"-": -1, b"+": 1, "\N{MINUS SIGN}".encode(): -1}
# What may precede a sign: the start of a word, but not a digit and a space (`5 -10` is a range).
_BEFORE_SIGN = re.compile(rb"(?:\A|(?<!\d)(?: |\xc2\xa0)|[\t\r\n\v\f(\[{<>=~|,;:\"'])\Z")
# What joins the two numbers of a range, with the currency sign of the second.
_CURRENCY = r"(?:\$|\xc2[\xa2-\xa5]|\xe2\x82[\xa0-\xbf])?"
_DASH = r"(?:-|\xe2\x80[\x93\x94])"
_RANGE = re.compile(rf"(?:{_DASH}| {_DASH} | @-@ | to | or ){_CURRENCY}".encode())
_AND = re.compile(rf" and {_CURRENCY}".encode())
_BETWEEN = re.compile(rf"(?i:between ){_CURRENCY}\Z".encode())


@dataclass(frozen=True, slots=True)
class Numeral:
    """A numeral in a text: its value and its position, `text[start:end]`."""

    value: int | float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The numerals in UTF-8 bytes, in order, as arrays of values and of byte offsets."""

    values: npt.NDArray[np.number]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


def find_numerals(text: str, domain: Domain = "integers") -> list[Numeral]:
    """Return the numerals of a text from left to right.

    >>> find_numerals("In 1999 some 12,345 people paid $3.50.")
    [Numeral(value=1999, start=3, end=7), Numeral(value=12345, start=13, end=19)]
    >>> [numeral.value for numeral in find_numerals("from -4 to 3.5e2", "reals")]
    [-4, 350]
    >>> find_numerals("a debt of $1.82 billion", "quantities")
    [Numeral(value=1820000000, start=11, end=23)]
    """
    data = text.encode("utf-8", "surrogatepass")
    scan = scan_numerals(data, domain)
    starts, ends = to_characters(data, scan.starts), to_characters(data, scan.ends)
    values = [as_number(value) for value in scan.values.tolist()]
    return [Numeral(*row) for row in zip(values, starts.tolist(), ends.tolist(), strict=True)]


def scan_numerals(data: bytes, domain: Domain = "integers") -> Scan:
    """Return the numerals in UTF-8 bytes; no numeral extends over a line break."""
    check_option("domain", domain, Domain)
    starts, ends, is_plain = _find_runs(data, domain)
    places = zip(starts[is_plain].tolist(), ends[is_plain].tolist(), strict=True)
    plain = [(int(data[start:end]), start, end, 0) for start, end in places]
    rest = starts[~is_plain].tolist()
    words = read_number_words(data) if domain == "quantities" else ()
    read = _read_integers if domain == "integers" else partial(_read_reals, domain=domain)
    other = [*read(data, rest), *words]
    columns = list(zip(*plain, *other, strict=True)) or [(), (), (), ()]
    values = np.array(columns[0], dtype=np.int64 if domain == "integers" else np.float64)
    found_starts, found_ends, exponents = np.array(columns[1:], dtype=np.int64)
    order = np.argsort(found_starts, kind="stable")  # merges two sorted runs in one pass
    scan = Scan(values[order], found_starts[order], found_ends[order])
    if domain == "quantities":
        _share_factors(data, scan, exponents[order])
    return scan


def _share_factors(data: bytes, scan: Scan, exponents: npt.NDArray[np.int64]) -> None:
    """Multiply the first number of each range by the factor of its second: `1-2 million`.

    `exponents` has the exponent of the factor of each numeral, or 0.
    """
    for second in np.flatnonzero(exponents).tolist():
        first, exponent = second - 1, int(exponents[second])
        if second and not exponents[first]:
            small, large = scan.values[first], scan.values[second]
            ends = int(scan.starts[first]), int(scan.ends[first]), int(scan.starts[second])
            if 0 < small < large / 10.0**exponent and _is_range(data, *ends):
                scan.values[first] = float(Decimal(repr(float(small))).scaleb(exponent))


def _is_range(data: bytes, start: int, end: int, second: int) -> bool:
    """Return whether two numbers are a range: `1-2`, `$1 to $2`, `1 or 2`, `between 1 and 2`."""
    gap = data[end:second]
    if _AND.fullmatch(gap):
        return bool(_BETWEEN.search(data[max(0, start - 12) : start]))
    return bool(_RANGE.fullmatch(gap))


def as_number(value: float) -> int | float:
    """Return a whole value as an int, so that `3.0` and `3` are the same numeral."""
    return int(value) if value == int(value) else value


def to_characters(data: bytes, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Convert byte offsets into UTF-8 data to offsets into the decoded text."""
    if not len(offsets) or data.isascii():
        return offsets
    # The character offset is the number of characters that start before the byte.
    is_first = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    return np.concatenate(([0], np.cumsum(is_first)))[offsets]


def _find_runs(
    data: bytes, domain: Domain
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return the starts and ends of all runs of ASCII digits, and a mask of the plain ones.

    A plain run is certainly a numeral: at most ten digits, no leading zero, and next to it no
    letter, no sign, no `@`, and no dot or comma except one that ends a clause; for quantities, no
    beginning of a factor either.
    """
    codes = np.frombuffer(data, np.uint8)
    places = np.flatnonzero((codes - np.uint8(48)) < 10)
    if not len(places):
        return places, places, places.astype(bool)
    is_break = np.diff(places) > 1
    starts = places[np.concatenate(([True], is_break))]
    ends = places[np.concatenate((is_break, [True]))] + 1

    def near(offsets: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        inside = (offsets >= 0) & (offsets < len(codes))
        return np.where(inside, codes[np.clip(offsets, 0, len(codes) - 1)], np.uint8(32))

    after, second = near(ends), near(ends + 1)
    ends_clause = _STOP[after] & ~_DIGIT[second]
    is_plain = (
        (ends - starts <= 10)
        & (codes[starts] != ord("0"))
        & _CLEAR[near(starts - 1)]
        & (near(starts - 2) != ord("@"))
        & (_CLEAR[after] | ends_clause)
        & (second != ord("@"))
    )
    if domain == "quantities":
        is_plain &= ~(_RAISES[near(starts - 1)] | _RAISES[after])
        is_plain &= (after != ord(" ")) | ~MAY_BEGIN_FACTOR[second, near(ends + 2)]
    return starts, ends, is_plain


def _free_numbers(
    data: bytes, starts: list[int], domain: Domain
) -> Iterator[tuple[int, bytes, Factor]]:
    """Yield start and bytes of each number that touches no letter, digit or underscore.

    The end is that of its factor, which only quantities have.
    """
    done = 0  # where the last number ended: a run of digits before that was a part of it
    for start in starts:
        found = _NUMBER.match(data, start) if start >= done else None
        if found:
            done = found.end()
            factor = read_factor(data, start, done) if domain == "quantities" else Factor(0, done)
            done = factor.end
            is_long = found.end() - start > _MOST_CHARACTERS
            if not (is_long or touches_before(data, start) or touches_after(data, done)):
                yield start, found[0], factor


def _read_integers(data: bytes, starts: list[int]) -> Iterator[tuple[int, int, int, int]]:
    for start, number, (_, end, _) in _free_numbers(data, starts, "integers"):
        if not (number.isdigit() and number[0] != 48):
            if not _INTEGER.fullmatch(number):
                continue
            number = plain_number(number)
        if len(number) <= 11 and _leading_dot(data, start) is None:
            value = int(number)
            if value <= LARGEST:
                yield value, start, end, 0


def _read_reals(
    data: bytes, starts: list[int], domain: Domain
) -> Iterator[tuple[float, int, int, int]]:
    """Yield value, start and end of each numeral, and the exponent that a range shares, or 0."""
    for start, number, (exponent, end, of_range) in _free_numbers(data, starts, domain):
        dot = _leading_dot(data, start)
        if dot is not None:
            start, number = dot, b"." + number
            if touches_before(data, dot):
                continue
        if not _REAL.fullmatch(number):
            continue
        sign, start = _sign_before(data, start)
        plain = plain_number(number).replace(b"\xe2\x88\x92", b"-")
        if exponent:
            mantissa, _, power = plain.lower().partition(b"e")
            plain = b"%be%d" % (mantissa, int(power or 0) + exponent)
        value = sign * float(plain)
        if abs(value) <= LARGEST_OF[domain]:
            yield value, start, end, exponent if of_range else 0


def plain_number(number: bytes) -> bytes:
    """Return a number without thousands separators and with a plain dot as decimal point."""
    return number.replace(b" @,@ ", b"").replace(b" @.@ ", b".").replace(b",", b"")


def _leading_dot(data: bytes, start: int) -> int | None:
    """Return the offset of the dot in `.5`; None without one, or if it ends a word or ellipsis."""
    dot = start - 1
    if start == 0 or data[dot] != ord("."):
        return None
    before = character_before(data, dot)
    return None if before == b"." or is_letter(before) else dot


def _sign_before(data: bytes, start: int) -> tuple[int, int]:
    """Return the sign of a number (1 or -1), and where the number starts with its sign."""
    character = character_before(data, start)
    sign_start = start - len(character)
    if character in _SIGNS and _BEFORE_SIGN.search(data[max(0, sign_start - 3) : sign_start]):
        return _SIGNS[character], sign_start
    return 1, start


_STOP = np.isin(np.arange(256), list(b".,"))
_DIGIT = np.isin(np.arange(256), list(b"0123456789"))
# ASCII characters that are no part of a word or number, and no sign
_CLEAR = np.array([code < 128 and not IN_WORD[code % 128] for code in range(256)])
_CLEAR &= ~np.isin(np.arange(256), list(b".,+-"))
_RAISES = np.isin(np.arange(256), list(b"^*{"))
