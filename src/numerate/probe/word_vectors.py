"""Word vectors: the vectors of numerals from a file in the text format of GloVe or word2vec.

A line holds a word and its coordinates, separated by blanks; in word2vec's format the first line
holds the number of words and the width. The file, which may be compressed, is read as a stream, and
only the rows of the numerals asked for are kept. Numerals are looked up without separators:
`12345`. A numeral that the file lacks gets a vector of zeros, so that all systems answer the same
questions.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.sources import Block, read_source

_MOST_WIDE = 100_000
Rows = npt.NDArray[np.float32]
_NUMERAL_LINE = re.compile(rb"^([1-9][0-9]{0,10})[ \t]([^\n]*)$", re.MULTILINE)


@dataclass(frozen=True)
class WordVectors:
    """A file of word vectors, the width of its vectors, and whether its first line is a header."""

    path: Path
    width: int
    has_header: bool

    @property
    def fingerprint(self) -> str:
        """The SHA-256 digest of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def embed_numerals(self, numerals: Sequence[int]) -> Rows:
        """Return a row for each numeral: its first vector in the file, or zeros."""
        vectors = np.zeros((len(numerals), self.width), np.float32)
        places = {str(numeral).encode(): row for row, numeral in enumerate(numerals)}
        for block in _read_blocks(self.path):
            for found in _NUMERAL_LINE.finditer(block.data):
                is_header = self.has_header and block.first == 1 and found.start() == 0
                if found[1] in places and not is_header:
                    row = places.pop(found[1])
                    vectors[row] = self._read_row(found[2], block.place(found.start()))
        return vectors

    def _read_row(self, numbers: bytes, place: str) -> Rows:
        try:
            row = _parse_row(numbers.split())
        except ValueError:
            row = np.zeros(0, np.float32)
        if row.shape != (self.width,) or not np.isfinite(row).all():
            raise InputError(f"{place}: must be a word and {self.width} numbers; is it damaged?")
        return row


def open_word_vectors(name: str) -> WordVectors:
    """Return the word vectors of a file; its first line decides the format and the width."""
    path = Path(name)
    if not path.is_file():
        what = "a folder, not a file" if path.is_dir() else "no such file"
        raise InputError(f"{name}: {what}; name word vectors in GloVe's or word2vec's text format")
    first = next(_read_blocks(path), Block(source=name, data=b"")).data.partition(b"\n")[0]
    _, *numbers = first.split() or [b""]
    header = re.fullmatch(rb"[0-9]+ ([1-9][0-9]*)\s*", first)
    if header:
        return WordVectors(path, _check_width(name, header[1]), has_header=True)
    try:
        _parse_row(numbers)
    except ValueError:
        numbers = []
    if not numbers:
        raise InputError(f"{name}, line 1: must be a word and its numbers, or how many of each")
    return WordVectors(path, len(numbers), has_header=False)


def _parse_row(numbers: Sequence[bytes]) -> Rows:
    with np.errstate(over="ignore"):  # what overflows is refused where the row is needed
        return np.array(numbers, np.float32)


def _check_width(name: str, digits: bytes) -> int:
    if len(digits) > 6 or int(digits) > _MOST_WIDE:
        said = digits[:20].decode()
        raise InputError(
            f"{name}, line 1: vectors must have at most {_MOST_WIDE:,} numbers, got {said}"
        )
    return int(digits)


def _read_blocks(path: Path) -> Iterator[Block]:
    """Yield blocks of whole lines; in published files some words are not valid UTF-8."""
    return read_source(str(path), field="", errors="replace")
