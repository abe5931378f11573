"""Controls: vectors of numerals that are computed by rule, without a model.

They give bounds (`oracle`, `angle`, `value`, `random`), encode only the written form (`digits`,
`chars`, `prefix`), or are fixed encodings of numbers that others have proposed:

- DICE (Sundararaman et al. 2020), in two dimensions: the angle is proportional to the value;
- FoNE (Zhou et al. 2025): cosine and sine for each digit place;
- xVal (Golkar et al. 2023): one direction, scaled by the value.
"""

import zlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from numerate.extract.numerals import LARGEST, find_numerals
from numerate.probe.tasks.amounts import read_amounts

Matrix = npt.NDArray[np.floating]
Reads = Literal["integers", "written", "values"]
"""Which numbers of a text a control reads: `1.82 billion` is none, 1.82, or 1,820,000,000."""
_DIGITS, _BUCKETS, _PREFIX_BUCKETS, _WIDTH = 11, 512, 1024, 384


def embed_oracle(numerals: Sequence[float]) -> Matrix:
    """Return ln n + 1, the target of the probes."""
    return np.log(np.array(numerals, np.float64))[:, None] + 1


def embed_angle(numerals: Sequence[float]) -> Matrix:
    """Return (cos θ, sin θ), with θ from 0 to π/2 in proportion to ln n.

    The oracle of tasks that compare cosines: they fall with |ln a - ln b|.
    """
    angle = np.pi / 2 * np.log(np.array(numerals, np.float64)) / np.log(LARGEST)
    return np.stack((np.cos(angle), np.sin(angle)), axis=1)


def embed_value(numerals: Sequence[float]) -> Matrix:
    """Return n."""
    return np.array(numerals, np.float64)[:, None]


def embed_random(numerals: Sequence[int]) -> Matrix:
    """Return noise that depends on the numeral only."""
    rows = [np.random.default_rng(n).standard_normal(_WIDTH) for n in numerals]
    return np.array(rows, np.float32)


def embed_digits(numerals: Sequence[int]) -> Matrix:
    """Return a one-hot code of the character at each place from the right; a blank if none."""
    written = np.array([list(f"{n:>{_DIGITS}}") for n in numerals])
    alphabet = np.array(list("0123456789 "))
    vectors: Matrix = (written[:, :, None] == alphabet).reshape(len(written), -1).astype(np.float32)
    return vectors


def embed_chars(numerals: Sequence[int]) -> Matrix:
    """Return counts of character 1- to 3-grams, with marks for both ends, hashed into buckets."""
    vectors = np.zeros((len(numerals), _BUCKETS), np.float32)
    for row, numeral in enumerate(numerals):
        text = f"^{numeral}$"
        for size in (1, 2, 3):
            for start in range(len(text) - size + 1):
                run = text[start : start + size].encode()
                vectors[row, zlib.crc32(run) % _BUCKETS] += 1
    return vectors


def embed_prefix(numerals: Sequence[float]) -> Matrix:
    """Return the number of digits as an angle, and a small part for each prefix, hashed.

    The string rule: the cosine is highest for the same number of digits, and then grows with the
    length of the longest common prefix; otherwise it falls with the difference of the lengths.
    Digits behind a point lengthen the prefix, but not the number.
    """
    vectors = np.zeros((len(numerals), 2 + _PREFIX_BUCKETS), np.float32)
    for row, numeral in enumerate(map(str, numerals)):
        length = len(numeral.partition(".")[0])
        angle = np.pi / 2 * length / _DIGITS
        vectors[row, :2] = np.cos(angle), np.sin(angle)
        for end in range(1, len(numeral) + 1):
            prefix = f"{length} {numeral[:end]}".encode()
            vectors[row, 2 + zlib.crc32(prefix) % _PREFIX_BUCKETS] = 0.1 / len(numeral) ** 0.5
    return vectors


def embed_dice(numerals: Sequence[int]) -> Matrix:
    """Return (cos θ, sin θ) with θ = π·n / 10^10: the angle between two numbers is their distance.

    These are the two dimensions that DICE starts from. Further dimensions would add powers of the
    sine, which are only rounding errors for numbers far below 10^10.
    """
    angle = np.pi * np.array(numerals, np.float64) / LARGEST
    return np.stack((np.cos(angle), np.sin(angle)), axis=1)


def embed_fone(numerals: Sequence[int]) -> Matrix:
    """Return cosine and sine of 2π·n / 10^k for k from 1 (the last digit) to 11."""
    periods = 10 ** np.arange(1, _DIGITS + 1, dtype=np.int64)
    turns = np.array(numerals, np.int64)[:, None] % periods / periods
    circles = np.stack((np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)), axis=2)
    return circles.reshape(len(circles), -1)


def embed_xval(numerals: Sequence[int]) -> Matrix:
    """Return one fixed direction of 384 coordinates, scaled by 5·n / 10^10.

    As in xVal, the values themselves are scaled into ±5, not their logarithms. Double precision
    keeps small numbers apart, which half precision does not.
    """
    direction = np.random.default_rng(0).standard_normal(_WIDTH)
    scaled = 5 * np.array(numerals, np.float64) / LARGEST
    return np.outer(scaled, direction / np.linalg.norm(direction))


def read_numbers(text: str, reads: Reads) -> list[float]:
    """Return the positive numbers of a text.

    >>> [read_numbers("$1.82 billion to 7", reads) for reads in ("integers", "written", "values")]
    [[7], [1.82, 7], [1820000000.0, 7]]
    """
    if reads == "integers":
        return [numeral.value for numeral in find_numerals(text)]
    found = read_amounts(text)
    values = [amount.value if reads == "values" else amount.written for amount in found]
    return [value for value in values if value > 0]


CONTROL_READS: dict[str, Reads] = {
    "control:oracle": "values",
    "control:angle": "values",
    "control:value": "values",
    "control:prefix": "written",
}
CONTROLS: dict[str, Callable[[Sequence[Any]], Matrix]] = {
    "control:oracle": embed_oracle,
    "control:angle": embed_angle,
    "control:value": embed_value,
    "control:random": embed_random,
    "control:digits": embed_digits,
    "control:chars": embed_chars,
    "control:prefix": embed_prefix,
    "control:dice": embed_dice,
    "control:fone": embed_fone,
    "control:xval": embed_xval,
}
