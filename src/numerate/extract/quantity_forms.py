"""Writes a value in the ways people write it: `1820000000`, `1.82 billion`, `1.82bn`.

A value goes in, text that the domain `quantities` reads as exactly that value comes out.
"""

from decimal import Decimal

from numerate.errors import InputError
from numerate.extract.numerals import LARGEST_OF
from numerate.options import QuantityForm, check_option

_STEPS = {3: ("thousand", "k"), 6: ("million", "mn"), 9: ("billion", "bn"), 12: ("trillion", "tn")}


def write_quantity(value: float, form: QuantityForm) -> str:
    """Return a value within ±10^15 as text.

    A value that is too small for a factor is written with commas.

    >>> [write_quantity(1_820_000_000, form) for form in ("digits", "commas", "word")]
    ['1820000000', '1,820,000,000', '1.82 billion']
    >>> [write_quantity(1_820_000_000, form) for form in ("smaller-word", "suffix")]
    ['1,820 million', '1.82bn']
    """
    check_option("form", form, QuantityForm)
    if not abs(value) <= LARGEST_OF["quantities"]:
        raise InputError(f"value must be within ±10^15, got {value}")
    exact = Decimal(repr(value))
    if form == "digits":
        return _write_decimal(exact, "")
    # 1.82 billion is 10^9.26: nine is the largest multiple of three below its exponent
    step = 0 if form == "commas" else min(12, exact.adjusted() // 3 * 3)
    if form == "smaller-word":
        step -= 3
    if exact == 0 or step < 3:
        return _write_decimal(exact, ",")
    word, suffix = _STEPS[step]
    mantissa = _write_decimal(exact.scaleb(-step), ",")
    return f"{mantissa}{suffix}" if form == "suffix" else f"{mantissa} {word}"


def _write_decimal(number: Decimal, separator: str) -> str:
    """Return a number without an exponent and without zeros at the end of its decimals."""
    text = format(number, f"{separator}f")
    return text.rstrip("0").rstrip(".") if "." in text else text
