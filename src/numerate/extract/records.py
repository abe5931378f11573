"""Records of datasets as texts: Parquet files and datasets of the Hugging Face hub."""

from collections.abc import Iterator
from typing import Any

from numerate.errors import InputError, first_line, needs_extra
from numerate.extract.storage import Span, find_status, open_file

Record = tuple[int, str, int]
"""The number of a record from 1, its text, and how many bytes of its file are read behind it."""


def field_text(record: dict[str, Any], field: str, place: str) -> str:
    """Return the text in a field of a record; `place` is where the record is."""
    text = record.get(field)
    if isinstance(text, str):
        return text
    if field in record:
        raise InputError(f"{place}: field {field!r} must be text, got {type(text).__name__}")
    fields = ", ".join(map(repr, record)) or "none"
    raise InputError(f"{place}: no field {field!r}; its fields are {fields}; choose with --field")


def read_parquet(name: str, field: str, span: Span | None) -> Iterator[Record]:
    """Yield the records of a Parquet file, or of its row groups in a span."""
    with needs_extra(f"{name}: Parquet", "data"):
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    try:
        with open_file(name) as raw, parquet.ParquetFile(raw) as file:
            if field not in file.schema_arrow.names:
                field_text(dict.fromkeys(file.schema_arrow.names), field, name)
            first, last = span or (0, file.num_row_groups)
            number = sum(file.metadata.row_group(group).num_rows for group in range(first))
            size, rows = find_status(name).size, max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(1024, row_groups=range(first, last), columns=[field]):
                for record in batch.to_pylist():
                    number += 1
                    text = field_text(record, field, f"{name}, record {number}")
                    yield number, text, size * number // rows
    except (arrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{name}: cannot be read as Parquet ({error})") from None


def read_hub(name: str, field: str) -> Iterator[Record]:
    """Yield the records of a dataset of the hub."""
    with needs_extra(f"{name}: a dataset of the hub", "data"):
        from datasets import load_dataset
    repo, config, split = parse_hub_name(name)
    try:
        dataset = load_dataset(repo, config, split=split, streaming=True)
        for number, record in enumerate(dataset, 1):
            yield number, field_text(record, field, f"{name}, record {number}"), 0
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: the dataset cannot be loaded ({first_line(error)})") from None


def parse_hub_name(name: str) -> tuple[str, str | None, str]:
    """Return repository, config (or None) and split of `hf:REPO[/CONFIG][:SPLIT]`.

    The default split is `train`.

    >>> parse_hub_name("hf:Salesforce/wikitext/wikitext-103-raw-v1:test")
    ('Salesforce/wikitext', 'wikitext-103-raw-v1', 'test')
    """
    path, _, split = name.removeprefix("hf:").partition(":")
    owner, *rest = path.split("/", 2)
    if not owner or not all(rest):
        raise InputError(f"{name}: a hub dataset is written hf:OWNER/NAME[/CONFIG][:SPLIT]")
    return "/".join([owner, *rest[:1]]), rest[1] if len(rest) > 1 else None, split or "train"
