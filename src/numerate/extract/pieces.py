"""Pieces of a corpus, one for each call of a worker, in the order of the corpus.

The local engine hands on a block that it has read. A worker of Ray, perhaps on another machine, is
told where its piece is, and reads it by itself.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from numerate.errors import InputError, needs_extra
from numerate.extract.corpus import Corpus, is_stream
from numerate.extract.sources import Block, find_kind, is_compressed, read_source
from numerate.extract.storage import Span, find_status, make_absolute, open_file
from numerate.options import Errors


@dataclass(frozen=True)
class Piece:
    """Blocks of one source; `position` counts the bytes of the corpus up to their end.

    `name` is different for every piece, with `{}` for the number of a block in it.
    """

    name: str
    source: str
    position: int
    blocks: Iterable[Block]


@dataclass(frozen=True)
class Part:
    """The blocks of a part of a source, or of all of it; they are read whenever it is iterated."""

    source: str
    field: str
    errors: Errors
    span: Span | None = None

    def __iter__(self) -> Iterator[Block]:
        return read_source(self.source, self.field, self.errors, self.span)


def cut_corpus(corpus: Corpus, part_bytes: int | None) -> Iterator[Piece]:
    """Yield the pieces of a corpus: its blocks, or parts of its files of about `part_bytes`.

    Compressed files, hub datasets and the almanac are parts as a whole.
    """
    if part_bytes is None:
        yield from number_blocks(corpus.blocks())
        return
    if "-" in corpus.sources:
        raise InputError("'-' is read by this process alone; name a file, or take --engine local")
    number = before = 0
    for source in corpus.sources:
        size = 0 if is_stream(source) else find_status(source).size
        spans = list(_cut_source(source, size, part_bytes))
        for done, span in enumerate(spans, 1):
            location = source if is_stream(source) else make_absolute(source)
            part = Part(location, corpus.field, corpus.errors, span)
            position = before + size * done // len(spans)
            yield Piece(f"part-{number:05d}-{{:05d}}", source, position, part)
            number += 1
        before += size


def number_blocks(blocks: Iterable[Block]) -> Iterator[Piece]:
    """Yield every block as a piece."""
    for number, block in enumerate(blocks):
        yield Piece(f"shard-{number:05d}", block.source, block.position, (block,))


def _cut_source(source: str, size: int, part_bytes: int) -> Iterator[Span | None]:
    """Yield the spans of the parts of a source, in order; None if it is one part."""
    if is_stream(source) or is_compressed(source) or size <= part_bytes:
        yield None
    elif find_kind(source) == "parquet":
        yield from _cut_parquet(source, part_bytes)
    else:
        for start in range(0, size, part_bytes):
            yield start, min(start + part_bytes, size)


def _cut_parquet(source: str, part_bytes: int) -> Iterator[Span]:
    """Yield the spans of row groups that have about `part_bytes` together."""
    with needs_extra(f"{source}: Parquet", "data"):
        from pyarrow.parquet import read_metadata
    with open_file(source) as file:
        metadata = read_metadata(file)
    first = size = 0
    for group in range(metadata.num_row_groups):
        size += metadata.row_group(group).total_byte_size
        if size >= part_bytes or group == metadata.num_row_groups - 1:
            yield first, group + 1
            first, size = group + 1, 0
