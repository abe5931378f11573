"""One source of text, read as a stream: a file, an archive, records, a hub dataset.

A source is read in *blocks* of a few megabytes, cut where no numeral can be, so that memory does
not grow with the corpus, nor with its longest line. A document is a line of a text file, or a
record of a JSON Lines, Parquet or hub dataset. What follows works on a block's UTF-8 bytes.
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
from typing import Any, cast

from numerate.errors import InputError, first_line
from numerate.options import Errors

if sys.version_info >= (3, 14):  # pragma: no cover
    from compression import zstd
else:
    from backports import zstd

Read = Callable[[int], bytes]

BLOCK_BYTES = 4 << 20
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".zst": zstd.open}
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstd.ZstdError)
# Where a long line may be cut: between words or numbers or, without spaces, between two letters
# (but not in a marker such as <ANC>). Neither a numeral, nor what decides whether digits are one,
# reaches across.
_CUTS = (
    re.compile(rb"(?<=\s)(?=[A-Za-z\xc2-\xf4])|(?<=\d\s)(?=\d)"),
    re.compile(rb"(?<=[A-Za-z\x80-\xff])(?<!<[A-Z])(?<!<[A-Z]{2})(?=[A-Za-z\xc2-\xf4])"),
)


@dataclass(frozen=True)
class Block:
    """A stretch of a corpus.

    `bounds` are the ends of the records in `data`, which follow each other with a newline between;
    None for text, whose documents are its lines. `first` is the number of the first line or record,
    `whole` tells whether nothing of it but white space came before, `position` how many bytes of
    the corpus are read by now.
    """

    source: str
    data: bytes
    first: int = 1
    bounds: tuple[int, ...] | None = None
    whole: bool = True
    position: int = 0

    @property
    def documents(self) -> int:
        """How many documents start here: records, or lines with something on them."""
        if self.bounds is not None:
            return len(self.bounds)
        lines = self.data.split(b"\n")[0 if self.whole else 1 :]
        return sum(1 for line in lines if line and not line.isspace())

    def place(self, offset: int) -> str:
        """Return where a byte offset is, for a message: file and line, or file and record."""
        if self.bounds is not None:
            return f"{self.source}, record {self.first + sum(end < offset for end in self.bounds)}"
        return f"{self.source}, line {self.first + self.data.count(10, 0, offset)}"


def block_texts(texts: Iterable[str], *, source: str = "text") -> Iterator[Block]:
    """Yield documents held in memory, each a record, as blocks."""
    return _gather(((number, text, 0) for number, text in enumerate(texts, 1)), source)


def read_source(name: str, field: str, errors: Errors) -> Iterator[Block]:
    """Yield the blocks of one source; positions count from its own beginning."""
    if name.startswith("hf:"):
        return _gather(_hub_records(name, field), name)
    if name.startswith("almanac:"):
        from numerate.extract.almanac import write_almanac

        return _gather(((i, text, 0) for i, text in enumerate(write_almanac(_seed(name)), 1)), name)
    if name == "-":
        # read1 gives what is there: in a pipe, a line goes on as soon as it has come
        stdin = cast(io.BufferedReader, sys.stdin.buffer)
        return _read_text(stdin.read1, lambda: 0, "standard input", errors)
    suffixes = [suffix for suffix in Path(name).suffixes if suffix not in _OPENERS]
    kind = suffixes[-1] if suffixes else ""
    if kind == ".parquet":
        return _gather(_parquet_records(name, field), name)
    return _read_file(name, kind in (".jsonl", ".ndjson"), field, errors)


def _seed(name: str) -> int:
    seed = name.removeprefix("almanac:") or "0"
    if not seed.isdecimal():
        raise InputError(f"{name}: the almanac's seed must be a whole number, as in almanac:7")
    return int(seed)


def _read_file(name: str, is_json: bool, field: str, errors: Errors) -> Iterator[Block]:
    """Blocks of a text or JSON Lines file, unpacked on the way."""
    with Path(name).open("rb") as raw:
        opener = _OPENERS.get(Path(name).suffix)
        stream = opener(raw) if opener else raw
        blocks = _read_text(stream.read, raw.tell, name, errors)
        yield from _gather(_json_records(blocks, field), name) if is_json else blocks


def _read_text(read: Read, tell: Callable[[], int], name: str, errors: Errors) -> Iterator[Block]:
    """Blocks of a stream of text; `tell` says how far we are in the file below it."""
    rest, line, whole = b"", 1, True
    while True:
        chunk = _read_chunk(read, name)
        data = rest + chunk
        cut = _last_cut(data) if chunk else len(data)
        if cut:
            text = _as_utf8(data[:cut], errors, name, line)
            yield Block(name, text, line, whole=whole, position=tell())
            line += text.count(b"\n")
            _, newline, last = text.rpartition(b"\n")
            whole = (whole or bool(newline)) and not last.strip()
        rest = data[cut:]
        if not chunk:
            return


def _read_chunk(read: Read, name: str) -> bytes:
    try:
        return read(BLOCK_BYTES)
    except _DAMAGED as error:
        raise InputError(
            f"{name}: damaged or cut off, cannot be unpacked to its end ({error}); fetch it again"
        ) from None


def _last_cut(data: bytes) -> int:
    """Where to end a block: behind its last line or, if that is too long, where no numeral is."""
    cut = data.rfind(b"\n") + 1
    if cut or len(data) < BLOCK_BYTES:
        return cut
    for pattern in _CUTS:
        for found in pattern.finditer(data, 2):
            cut = found.start()
        if cut:
            break
    return cut


def _as_utf8(data: bytes, errors: Errors, name: str, line: int) -> bytes:
    """The data if it is UTF-8; with errors="replace", what is not becomes U+FFFD."""
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


def _gather(records: Iterable[tuple[int, str, int]], source: str) -> Iterator[Block]:
    """Blocks of records, each given with its number and the position reached with it."""
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
    return Block(source, b"\n".join(texts), first, bounds, position=position)


def _json_records(blocks: Iterable[Block], field: str) -> Iterator[tuple[int, str, int]]:
    rest = b""
    number = 1
    for block in blocks:
        *lines, rest = (rest + block.data).split(b"\n")
        for line in lines:
            if line.strip():
                yield (
                    number,
                    _json_text(line, field, f"{block.source}, line {number}"),
                    block.position,
                )
            number += 1
    if rest.strip():
        yield number, _json_text(rest, field, f"{block.source}, line {number}"), block.position


def _json_text(line: bytes, field: str, place: str) -> str:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: not valid JSON ({error})") from None
    if not isinstance(record, dict):
        raise InputError(f"{place}: a JSON object was expected, got {type(record).__name__}")
    return _field_text(record, field, place)


def _field_text(record: dict[str, Any], field: str, place: str) -> str:
    text = record.get(field)
    if isinstance(text, str):
        return text
    if field in record:
        raise InputError(f"{place}: field {field!r} must be text, got {type(text).__name__}")
    fields = ", ".join(map(repr, record)) or "none"
    raise InputError(f"{place}: no field {field!r}; its fields are {fields}; choose with --field")


def _parquet_records(name: str, field: str) -> Iterator[tuple[int, str, int]]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError(f"{name}: Parquet needs pyarrow: pip install 'numerate[data]'") from None
    try:
        with parquet.ParquetFile(name) as file:
            if field not in file.schema_arrow.names:
                _field_text(dict.fromkeys(file.schema_arrow.names), field, name)
            number, size, rows = 0, Path(name).stat().st_size, max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=1024, columns=[field]):
                for record in batch.to_pylist():
                    number += 1
                    text = _field_text(record, field, f"{name}, record {number}")
                    yield number, text, size * number // rows
    except (arrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{name}: cannot be read as Parquet ({error})") from None


def _hub_records(name: str, field: str) -> Iterator[tuple[int, str, int]]:
    try:
        from datasets import load_dataset
    except ImportError:
        raise InputError(f"{name}: hub datasets need: pip install 'numerate[data]'") from None
    repo, config, split = parse_hub_name(name)
    try:
        dataset = load_dataset(repo, config, split=split, streaming=True)
        for number, record in enumerate(dataset, 1):
            yield number, _field_text(record, field, f"{name}, record {number}"), 0
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: the dataset cannot be loaded ({first_line(error)})") from None


def parse_hub_name(name: str) -> tuple[str, str | None, str]:
    """Return repository, config and split of `hf:REPO[/CONFIG][:SPLIT]`; the split is train.

    >>> parse_hub_name("hf:Salesforce/wikitext/wikitext-103-raw-v1:test")
    ('Salesforce/wikitext', 'wikitext-103-raw-v1', 'test')
    """
    path, _, split = name.removeprefix("hf:").partition(":")
    owner, *rest = path.split("/", 2)
    if not owner or not all(rest):
        raise InputError(f"{name}: a hub dataset is written hf:OWNER/NAME[/CONFIG][:SPLIT]")
    return "/".join([owner, *rest[:1]]), rest[1] if len(rest) > 1 else None, split or "train"
