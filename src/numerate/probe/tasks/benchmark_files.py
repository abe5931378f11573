"""Benchmark sets: read from a folder of files, or from the hub by their names there.

The files may be compressed with xz. Nothing of them is part of this package.
"""

import csv
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numerate.errors import InputError, first_line, needs_extra

FACTBOOK = "factbook-fields.jsonl"
_Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of sentences with the similarity that people gave them."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class SearchSet:
    """Documents and queries by id, and the judged documents of each query with their relevance."""

    documents: Mapping[str, str]
    queries: Mapping[str, str]
    judged: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Field:
    """A field of the Factbook for one place."""

    place: str
    field: str
    text: str


@dataclass(frozen=True)
class Benchmarks:
    """The benchmark sets of a folder; without one, those of the hub."""

    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.folder is not None and not self.folder.is_dir():
            raise InputError(f"--benchmarks must be a folder, got {self.folder}")

    def read_stsb(self) -> ScoredPairs:
        """Return the test part of the STS benchmark."""
        if self.folder is None:
            return _as_pairs(_load_hub("mteb/stsbenchmark-sts"), "sentence1", "sentence2", "score")
        rows = csv.DictReader(self._read_lines("stsb-test.csv"), ("first", "second", "score"))
        return _as_pairs(rows, "first", "second", "score")

    def read_sick(self) -> ScoredPairs:
        """Return SICK with relatedness: the test part of a folder, all pairs of the hub."""
        if self.folder is None:
            return _as_pairs(_load_hub("mteb/sickr-sts"), "sentence1", "sentence2", "score")
        lines = self._read_lines("sick-test.tsv")
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return _as_pairs(rows, "sentence_A", "sentence_B", "relatedness_score")

    def read_scifact(self) -> SearchSet:
        """Return SciFact in BEIR's form: title and abstract, and the queries of the test part."""
        name = "mteb/scifact"
        documents: _Rows
        if self.folder is None:
            documents = _load_hub(name, "corpus", split="corpus")
            queries: _Rows = _load_hub(name, "queries", split="queries")
            judged: _Rows = _load_hub(name, "default")
        else:
            documents = self._read_json("scifact-corpus.jsonl")
            queries = self._read_json("scifact-queries.jsonl")
            judged = csv.DictReader(self._read_lines("scifact-qrels-test.tsv"), delimiter="\t")
        return _as_search(documents, queries, judged)

    def read_factbook(self) -> list[Field]:
        """Return the fields of the Factbook, which the hub does not have."""
        if self.folder is None:
            raise InputError(f"factbook needs --benchmarks: a folder with {FACTBOOK}.xz")
        return [Field(row["place"], row["field"], row["text"]) for row in self._read_json(FACTBOOK)]

    def _read_json(self, name: str) -> Iterator[dict[str, Any]]:
        return map(json.loads, self._read_lines(name))

    def _read_lines(self, name: str) -> Iterator[str]:
        """Yield the lines of a file, compressed or not."""
        folder = self.folder or Path()
        plain, packed = folder / name, folder / f"{name}.xz"
        if packed.is_file():
            with lzma.open(packed, "rt", encoding="utf-8", newline="") as file:
                yield from file
        elif plain.is_file():
            with plain.open(encoding="utf-8", newline="") as file:
                yield from file
        else:
            raise InputError(f"--benchmarks must be a folder with {name}[.xz], got {folder}")


def _load_hub(name: str, config: str | None = None, *, split: str = "test") -> _Rows:
    with needs_extra(f"{name}: a dataset of the hub", "data"):
        from datasets import load_dataset
    try:
        rows: _Rows = load_dataset(name, config, split=split)
    except (OSError, ValueError) as error:
        reason = first_line(error)
        raise InputError(
            f"{name}: the dataset cannot be loaded ({reason}); give a folder with --benchmarks"
        ) from None
    return rows


def _as_pairs(rows: _Rows, first: str, second: str, score: str) -> ScoredPairs:
    columns = [(row[first], row[second], float(row[score])) for row in rows]
    firsts, seconds, scores = zip(*columns, strict=True)
    return ScoredPairs(firsts, seconds, scores)


def _as_search(documents: _Rows, queries: _Rows, judged: _Rows) -> SearchSet:
    relevance: dict[str, dict[str, float]] = {}
    for row in judged:
        of_query = relevance.setdefault(str(row["query-id"]), {})
        of_query[str(row["corpus-id"])] = float(row["score"])
    return SearchSet(
        {str(row["_id"]): f"{row['title']} {row['text']}".strip() for row in documents},
        {str(row["_id"]): row["text"] for row in queries if str(row["_id"]) in relevance},
        relevance,
    )
