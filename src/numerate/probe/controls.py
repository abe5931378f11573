"""Controls: vectors of numerals by rule, without a model, to read every result against.

Floor and ceiling (`oracle`, `value`, `random`), the written form alone (`digits`, `chars`), and the
fixed encodings of numbers that others have proposed:

- DICE (Sundararaman et al. 2020), in its two dimensions: the angle follows the value;
- FoNE (Zhou et al. 2025): a circle for each digit place;
- xVal (Golkar et al. 2023): one direction, scaled by the value.
"""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from numerate.extract.numerals import LARGEST

Matrix = npt.NDArray[np.floating]
_DIGITS, _BUCKETS, _WIDTH = 11, 512, 384


def embed_oracle(numerals: Sequence[int]) -> Matrix:
    """Return ln n + 1, what probes are to find."""
    return np.log(np.array(numerals, np.float64))[:, None] + 1


def embed_value(numerals: Sequence[int]) -> Matrix:
    """Return n."""
    return np.array(numerals, np.float64)[:, None]


def embed_random(numerals: Sequence[int]) -> Matrix:
    """Return noise, the same for the same numeral."""
    rows = [np.random.default_rng(n).standard_normal(_WIDTH) for n in numerals]
    return np.array(rows, np.float32)


def embed_digits(numerals: Sequence[int]) -> Matrix:
    """Return a one for each digit at its place from the right, or for there being none."""
    written = np.array([list(f"{n:>{_DIGITS}}") for n in numerals])
    alphabet = np.array(list("0123456789 "))
    vectors: Matrix = (written[:, :, None] == alphabet).reshape(len(written), -1).astype(np.float32)
    return vectors


def embed_chars(numerals: Sequence[int]) -> Matrix:
    """Return counts of runs of one to three characters, the ends included, hashed into buckets."""
    vectors = np.zeros((len(numerals), _BUCKETS), np.float32)
    for row, numeral in enumerate(numerals):
        text = f"^{numeral}$"
        for size in (1, 2, 3):
            for start in range(len(text) - size + 1):
                run = text[start : start + size].encode()
                vectors[row, zlib.crc32(run) % _BUCKETS] += 1
    return vectors


def embed_dice(numerals: Sequence[int]) -> Matrix:
    """Return (cos θ, sin θ) with θ = π·n / 10^10: the angle of two numbers is their distance.

    In the two dimensions that DICE starts from. More of them, in a random basis, would add powers
    of the sine, which are nothing but rounding for numbers far below 10^10.
    """
    angle = np.pi * np.array(numerals, np.float64) / LARGEST
    return np.stack((np.cos(angle), np.sin(angle)), axis=1)


def embed_fone(numerals: Sequence[int]) -> Matrix:
    """Return cosine and sine of 2π·n / 10^k for k from 1, the last digit, to 11."""
    periods = 10 ** np.arange(1, _DIGITS + 1, dtype=np.int64)
    turns = np.array(numerals, np.int64)[:, None] % periods / periods
    circles = np.stack((np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)), axis=2)
    return circles.reshape(len(circles), -1)


def embed_xval(numerals: Sequence[int]) -> Matrix:
    """Return one fixed direction of 384 coordinates, scaled by 5·n / 10^10.

    As in xVal the values themselves are brought within ±5, not their logarithms; in double
    precision, where the half precision of some implementations would lose all small numbers.
    """
    direction = np.random.default_rng(0).standard_normal(_WIDTH)
    scaled = 5 * np.array(numerals, np.float64) / LARGEST
    return np.outer(scaled, direction / np.linalg.norm(direction))


CONTROLS: dict[str, Callable[[Sequence[int]], Matrix]] = {
    "control:oracle": embed_oracle,
    "control:value": embed_value,
    "control:random": embed_random,
    "control:digits": embed_digits,
    "control:chars": embed_chars,
    "control:dice": embed_dice,
    "control:fone": embed_fone,
    "control:xval": embed_xval,
}
