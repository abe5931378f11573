"""Reads one source of text (a file, an archive, JSON Lines, Parquet, a hub dataset) as blocks.

The first step of extract: the name of a source goes in, a stream of `Block`s comes out. A *block*
is a few megabytes of UTF-8, cut where no numeral can be, so that memory grows neither with the
corpus nor with its longest line. A *document* is a line of a text file or a record of a dataset.
"""

import gzip
import io
import json
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, cast

from numerate.errors import InputError
from numerate.extract.records import Record, field_text, read_hub, read_parquet
from numerate.extract.storage import Read, Span, open_file, read_lines
from numerate.options import Errors

if sys.version_info >= (3, 14):  # pragma: no cover
    from compression import zstd
else:
    from backports import zstd

BLOCK_BYTES = 4 << 20
_MOST_UNCUT = 16 << 20  # bytes without a place to cut; no text has so many
_MOST_RECORD = 256 << 20  # bytes of a line of JSON Lines
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".zst": zstd.open}
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstd.ZstdError)
# Where a line longer than a block may be cut, best first: behind a word with a last letter that no
# number word has (nor a word between two of them); before a word or between two numbers; in text
# without spaces, between two letters (but not inside a marker such as <ANC>). Whether
# digits are a numeral depends on the characters next to them; none of these cuts lies there.
_CUTS = (
    re.compile(rb"(?<=[A-Za-z][bcgijlpquvwz]\s)(?=[A-Za-z])"),
    re.compile(rb"(?<=\s)(?=[A-Za-z\xc2-\xf4])|(?<=\d\s)(?=\d)"),
    re.compile(rb"(?<=[A-Za-z\x80-\xff])(?<!<[A-Z])(?<!<[A-Z]{2})(?=[A-Za-z\xc2-\xf4])"),
)
_HALF = re.compile("[\ud800-\udfff]")  # of a pair; JSON can write it alone, UTF-8 cannot
_CUT_CONTEXT = 8  # bytes before a cut that these look at


@dataclass(frozen=True, kw_only=True)
class Block:
    """A contiguous part of a corpus, in UTF-8.

    `data` are lines of text, or records joined by newlines; then `bounds` has the end of each
    record. `first` is the number of the first line or record in the source, from 1. `whole` is
    False if the block starts within a line that an earlier block began. `position` counts the bytes
    of the corpus read so far.
    """

    source: str
    data: bytes
    first: int = 1
    bounds: tuple[int, ...] | None = None
    whole: bool = True
    position: int = 0

    @property
    def documents(self) -> int:
        """The number of documents that start here: records, or lines that are not blank."""
        if self.bounds is not None:
            return len(self.bounds)
        lines = self.data.split(b"\n")[0 if self.whole else 1 :]
        return sum(1 for line in lines if line and not line.isspace())

    def texts(self) -> list[str]:
        """Return the documents: all records, or the lines that are not blank.

        The first and the last line may be parts of lines that other blocks continue.
        """
        if self.bounds is None:
            lines = self.data.decode("utf-8").split("\n")
            return [line for line in lines if line and not line.isspace()]
        starts = (0, *(end + 1 for end in self.bounds[:-1]))  # one newline between records
        return [self.data[a:b].decode("utf-8") for a, b in zip(starts, self.bounds, strict=True)]

    def place(self, offset: int) -> str:
        """Return the source and the line or record of a byte offset, for an error message."""
        if self.bounds is not None:
            return f"{self.source}, record {self.first + sum(end < offset for end in self.bounds)}"
        return f"{self.source}, line {self.first + self.data.count(10, 0, offset)}"


def block_texts(texts: Iterable[str], source: str = "text") -> Iterator[Block]:
    """Yield texts in memory as blocks, each text a record."""
    return _gather(((number, text, 0) for number, text in enumerate(texts, 1)), source)


def read_source(name: str, field: str, errors: Errors, span: Span | None = None) -> Iterator[Block]:
    """Yield the blocks of one source; their positions count from its start.

    With `span`, only those of a part: the lines that start between two bytes of a file that is not
    compressed, or the row groups between two of a Parquet file.
    """
    if name.startswith("hf:"):
        return _gather(read_hub(name, field), name)
    if name.startswith("almanac:"):
        from numerate.extract.almanac import write_almanac

        return block_texts(write_almanac(_seed(name)), name)
    if name == "-":
        # read1 returns what has arrived: in a pipe, each line is processed at once
        stdin = cast(io.BufferedReader, sys.stdin.buffer)
        return _read_text(stdin.read1, lambda: 0, "standard input", errors)
    if find_kind(name) == "parquet":
        return _gather(read_parquet(name, field, span), name)
    return _read_file(name, field, errors, span)


def find_kind(name: str) -> Literal["parquet", "json", "text"]:
    """Return what a file holds, whether it is compressed or not."""
    suffixes = [suffix for suffix in Path(name).suffixes if suffix not in _OPENERS]
    kind = suffixes[-1] if suffixes else ""
    if kind == ".parquet":
        return "parquet"
    return "json" if kind in (".jsonl", ".ndjson") else "text"


def is_compressed(name: str) -> bool:
    """Return whether a file can only be read from its start."""
    return Path(name).suffix in _OPENERS


def _seed(name: str) -> int:
    seed = name.removeprefix("almanac:") or "0"
    if not seed.isdecimal():
        raise InputError(f"{name}: the almanac's seed must be a whole number, as in almanac:7")
    return int(seed)


def _read_file(name: str, field: str, errors: Errors, span: Span | None) -> Iterator[Block]:
    """Yield the blocks of a text or JSON Lines file, decompressed."""
    place = f"{name} from byte {span[0]}" if span else name  # from where lines are counted
    with open_file(name) as raw:
        opener = _OPENERS.get(Path(name).suffix)
        read = read_lines(raw, span) if span else (opener(raw) if opener else raw).read
        tell = raw.tell if raw.seekable() else lambda: 0  # a pipe has no position
        blocks = _read_text(read, tell, place, errors)
        is_json = find_kind(name) == "json"
        yield from _gather(_json_records(blocks, field, errors), place) if is_json else blocks


def _read_text(read: Read, tell: Callable[[], int], name: str, errors: Errors) -> Iterator[Block]:
    """Yield the blocks of a stream; `tell` returns the position in the (compressed) file."""
    rest, line, whole = b"", 1, True  # `rest` is read but not yielded yet: it follows the last cut
    while True:
        chunk = _read_chunk(read, name)
        data = rest + chunk
        cut = _last_cut(data, len(rest)) if chunk else len(data)
        if cut:
            text = _as_utf8(data[:cut], errors, name, line)
            yield Block(source=name, data=text, first=line, whole=whole, position=tell())
            line += text.count(b"\n")
            # The next block starts a document if this one ends in a newline, or in white space
            # that no word precedes on its line: a blank beginning belongs to no document yet.
            _, newline, last = text.rpartition(b"\n")
            whole = (whole or bool(newline)) and not last.strip()
        rest = data[cut:]
        if not chunk:
            return
        if len(rest) > _MOST_UNCUT:
            raise InputError(
                f"{name}, line {line}: more than {_MOST_UNCUT >> 20} MB in one piece, without a "
                "line end or two words; is it text?"
            )


def _read_chunk(read: Read, name: str) -> bytes:
    try:
        return read(BLOCK_BYTES)
    except _DAMAGED as error:
        raise InputError(
            f"{name}: damaged or incomplete, cannot be decompressed ({error}); download it again"
        ) from None


def _last_cut(data: bytes, known: int) -> int:
    """Return where to end a block: after its last newline, or within a line of a block's size.

    0 means nowhere yet: more has to be read. The first `known` bytes were asked for before.
    """
    cut = data.rfind(b"\n", known) + 1
    if cut or len(data) < BLOCK_BYTES:
        return cut
    start = known - _CUT_CONTEXT if known >= BLOCK_BYTES else 0
    for pattern in _CUTS:
        for found in pattern.finditer(data, start):
            cut = found.start()
        if cut:
            break
    return cut


def _as_utf8(data: bytes, errors: Errors, name: str, line: int) -> bytes:
    """Return the data as UTF-8; invalid bytes are an error, or U+FFFD with errors="replace"."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if errors == "replace":
            return data.decode("utf-8", "replace").encode()
        line += data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise InputError(
            f"{name}, line {line}, byte {column}: not UTF-8 (0x{data[error.start]:02x}); convert "
            "the file, or read it with --errors replace"
        ) from None
    return data


def _gather(records: Iterable[Record], source: str) -> Iterator[Block]:
    """Yield blocks of records, each given as (number, text, position after it)."""
    texts: list[bytes] = []
    size = first = position = 0
    for number, text, position in records:
        first = first if texts else number
        texts.append(text.encode("utf-8", "replace"))
        size += len(texts[-1]) + 1
        if size >= BLOCK_BYTES:
            yield _record_block(source, texts, first, position)
            texts, size = [], 0
    if texts:
        yield _record_block(source, texts, first, position)


def _record_block(source: str, texts: list[bytes], first: int, position: int) -> Block:
    ends = accumulate(len(text) + 1 for text in texts)
    bounds = tuple(end - 1 for end in ends)
    data = b"\n".join(texts)
    return Block(source=source, data=data, first=first, bounds=bounds, position=position)


def _json_records(blocks: Iterable[Block], field: str, errors: Errors) -> Iterator[Record]:
    rest = b""
    number = 1
    for block in blocks:
        *lines, rest = (rest + block.data).split(b"\n")
        for line in lines:
            if line.strip():
                text = _json_text(line, field, errors, f"{block.source}, line {number}")
                yield number, text, block.position
            number += 1
        if len(rest) > _MOST_RECORD:
            raise InputError(f"{block.source}, line {number}: more than {_MOST_RECORD >> 20} MB")
    if rest.strip():
        text = _json_text(rest, field, errors, f"{block.source}, line {number}")
        yield number, text, block.position


def _json_text(line: bytes, field: str, errors: Errors, place: str) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not valid JSON ({error})") from None
    if not isinstance(record, dict):
        raise InputError(f"{place}: a JSON object was expected, got {type(record).__name__}")
    text = field_text(record, field, place)
    half = _HALF.search(text)
    if half and errors == "strict":
        raise InputError(
            f"{place}: half of a character ({half[0]!a}), which is not UTF-8; mend the file, or "
            "read it with --errors replace"
        )
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text) if half else text
