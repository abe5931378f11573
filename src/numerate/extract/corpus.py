"""A corpus: the names of files, folders and datasets go in, one stream of blocks comes out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from numerate.errors import InputError, check_strings
from numerate.extract.sources import Block, read_source
from numerate.extract.storage import find_status, list_files
from numerate.options import Errors, check_option


@dataclass(frozen=True)
class Corpus:
    """Named sources of text; files are known to exist, and are read by `blocks`."""

    sources: tuple[str, ...]
    field: str = "text"
    errors: Errors = "strict"

    def __post_init__(self) -> None:
        check_option("errors", self.errors, Errors)

    @property
    def size(self) -> int | None:
        """The size of its files on disk in bytes; None if a source is no file."""
        if any(is_stream(name) for name in self.sources):
            return None
        return sum(find_status(name).size for name in self.sources)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of all sources, in order."""
        before = 0  # bytes of the sources already read
        for name in self.sources:
            for block in read_source(name, self.field, self.errors):
                yield replace(block, position=before + block.position)
            before += 0 if is_stream(name) else find_status(name).size


def open_corpus(names: Sequence[str], *, field: str = "text", errors: Errors = "strict") -> Corpus:
    """Return a corpus of files, folders and datasets; a folder stands for its files, sorted.

    Args:
        names: Text files (plain, .gz, .xz, .zst), .jsonl or .parquet files, folders of them, all
            on this machine or at a URL (`s3://`, `gs://`), `-` for standard input,
            `hf:REPO[/CONFIG][:SPLIT]`, or `almanac:[SEED]`.
        field: The field of a record that holds its text.
        errors: `strict` refuses bytes that are not UTF-8, `replace` puts U+FFFD in their place.
    """
    check_strings("names", names)
    if not names:
        raise InputError("names must hold at least one file, folder or dataset, got none")
    sources = [source for name in names for source in _expand(name)]
    return Corpus(tuple(sources), field, errors)


def is_stream(name: str) -> bool:
    """Return whether a source is not a file: standard input, a hub dataset or the almanac."""
    return name == "-" or name.startswith(("hf:", "almanac:"))


def _expand(name: str) -> list[str]:
    """Return the sources that a name stands for: itself, or the files of a folder."""
    return [name] if is_stream(name) else list_files(name)
