"""Math word problems with their numbers, solution trees and answers, read from a file.

The file is a CSV in the format of MAWPS (the numbers of a question are `number0`, `number1`; the
equation is in prefix form) or a JSON file in that of MathQA (formulas are nested calls).
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numerate.errors import InputError
from numerate.pretrain.baselines.solution_trees import (
    Pair,
    find_pairs,
    parse_calls,
    parse_prefix,
    parse_steps,
    read_number,
)

_COLUMNS = ("Question", "Numbers", "Equation", "Answer")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The text of a problem, the spans and values of its numbers, and its solution."""

    text: str
    spans: tuple[tuple[int, int], ...]
    values: tuple[float, ...]
    pairs: tuple[Pair, ...]
    answer: float | None


def read_problems(path: Path) -> list[Problem]:
    """Return the problems of a .csv or .json file; InputError names the row that is wrong."""
    readers = {".csv": _read_csv, ".json": _read_json}
    if path.suffix not in readers:
        raise InputError(f"{path}: problems must be a .csv or .json file")
    try:
        return list(readers[path.suffix](path))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file of problems") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None


def _read_csv(path: Path) -> Iterator[Problem]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        found = rows.fieldnames or ()
        missing = [name for name in _COLUMNS if name not in found]
        if missing:
            columns = ", ".join(found) or "none"
            raise InputError(f"{path}: must have a column {missing[0]}; its columns are {columns}")
        for index, row in enumerate(rows, 2):
            with _naming(f"{path}, row {index}"):
                yield _make_problem(row)


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Name the place of a problem that the enclosed block cannot read."""
    try:
        yield
    except RecursionError:
        raise InputError(f"{place}: the solution is nested too deep") from None
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None


def _make_problem(row: Mapping[str | None, object]) -> Problem:
    question, numbers, equation, answer = (_read_text(row, name) for name in _COLUMNS)
    values = tuple(read_number(word, "Numbers must be like 8 2.5") for word in numbers.split())
    parts = re.split(r"number(\d+)", question)
    text = parts[0]
    spans: dict[int, tuple[int, int]] = {}
    for name, after in zip(parts[1::2], parts[2::2], strict=True):
        if int(name) >= len(values):
            raise InputError(f"number{name} has no value among {len(values)}")
        start = len(text)
        text += _write(values[int(name)])
        spans.setdefault(int(name), (start, len(text)))
        text += after
    kept = {name: place for place, name in enumerate(sorted(spans, key=lambda n: spans[n]))}
    pairs = find_pairs(parse_prefix(equation, kept))
    return Problem(
        text=text,
        spans=tuple(spans[name] for name in kept),
        values=tuple(values[name] for name in kept),
        pairs=pairs,
        answer=read_number(answer, "Answer must be a number"),
    )


def _read_text(row: Mapping[Any, object], name: str) -> str:
    """Return the text in a field of a problem."""
    text = row.get(name)
    if text is None:
        raise InputError(f"has no field {name!r}")
    if not isinstance(text, str):
        raise InputError(f"{name} must be text, got {text!r:.40}")
    return text


def _write(value: float) -> str:
    """Return a value as text with at most four decimals."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _read_json(path: Path) -> Iterator[Problem]:
    try:
        rows = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(rows, list):
        raise InputError(f"{path}: must be a list of problems, got {type(rows).__name__}")
    for index, row in enumerate(rows, 1):
        with _naming(f"{path}, problem {index}"):
            yield _make_called_problem(row)


def _make_called_problem(row: object) -> Problem:
    if not isinstance(row, dict):
        raise InputError(f"a problem must be an object, got {type(row).__name__}")
    text = _read_text(row, "Problem")
    found = list(_NUMBER.finditer(text))
    if "annotated_formula" in row:
        tree = parse_calls(_read_text(row, "annotated_formula"), len(found))
    else:
        tree = parse_steps(_read_text(row, "linear_formula"), len(found))
    chosen = [_read_text({name: "", **row}, name) for name in ("options", "correct")]
    return Problem(
        text=text,
        spans=tuple(match.span() for match in found),
        values=tuple(_value(match[0]) for match in found),
        pairs=find_pairs(tree),
        answer=_find_option(*chosen),
    )


def _find_option(options: str, correct: str) -> float | None:
    """Return the value of the correct option of `a ) 38 , b ) 27.5 , …`; None if not a number."""
    chosen = re.search(rf"\b{re.escape(correct)} \)([^)]*)", options) if correct else None
    number = _NUMBER.search(chosen[1]) if chosen else None
    return _value(number[0]) if number else None


def _value(word: str) -> float:
    return float(word.replace(",", ""))
