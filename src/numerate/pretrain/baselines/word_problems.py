"""Math word problems with their numbers, solution trees and answers, read from a file.

The file is a CSV in the format of MAWPS (the numbers of a question are `number0`, `number1`; the
equation is in prefix form) or a JSON file in that of MathQA (formulas are nested calls).
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from numerate.errors import InputError

OPERATORS = ("+", "-", "*", "/", "^")
_CALLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "^"}
_COLUMNS = ("Question", "Numbers", "Equation", "Answer")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+")
_SYMBOL = re.compile(r"\s*([\w.#-]+|[(),|])")
_STEP = re.compile(r"(\w+)\(([^()]*)\)")


class Pair(NamedTuple):
    """Two numbers of a problem, by index, and their relation in the solution tree.

    `distance` is the number of edges between them, `operator` that of their lowest common
    operation; None if it is not one of the five `OPERATORS`.
    """

    first: int
    second: int
    distance: int
    operator: str | None


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The text of a problem, the spans and values of its numbers, and its solution."""

    text: str
    spans: tuple[tuple[int, int], ...]
    values: tuple[float, ...]
    pairs: tuple[Pair, ...]
    answer: float | None


@dataclass(frozen=True)
class Node:
    """An operation in a solution tree.

    Each of `parts` is a Node, the index of a number in the text, or None for a constant.
    """

    operator: str
    parts: tuple["Node | int | None", ...]


Tree = Node | int | None
_Path = tuple[tuple[str, int], ...]


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
        missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise InputError(f"{path}: must have a column {missing[0]}, got {rows.fieldnames}")
        for index, row in enumerate(rows, 2):
            try:
                yield _make_problem(row)
            except (ValueError, TypeError, AttributeError) as error:
                raise InputError(f"{path}, row {index}: {error}") from None


def _make_problem(row: Mapping[str, str]) -> Problem:
    values = tuple(float(word) for word in row["Numbers"].split())
    parts = re.split(r"number(\d+)", row["Question"])
    text = parts[0]
    spans: dict[int, tuple[int, int]] = {}
    for name, after in zip(parts[1::2], parts[2::2], strict=True):
        if int(name) >= len(values):
            raise ValueError(f"number{name} has no value among {len(values)}")
        start = len(text)
        text += _write(values[int(name)])
        spans.setdefault(int(name), (start, len(text)))
        text += after
    kept = {name: place for place, name in enumerate(sorted(spans, key=lambda n: spans[n]))}
    pairs = find_pairs(parse_prefix(row["Equation"], kept))
    return Problem(
        text=text,
        spans=tuple(spans[name] for name in kept),
        values=tuple(values[name] for name in kept),
        pairs=pairs,
        answer=float(row["Answer"]),
    )


def _write(value: float) -> str:
    """Return a value as text with at most four decimals."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def parse_prefix(equation: str, places: Mapping[int, int]) -> Tree:
    """Return the tree of an equation in prefix form.

    `places` maps the numbers of the equation to their indices in the text.

    >>> parse_prefix("* number0 + number1 2.0", {0: 0, 1: 1})
    Node(operator='*', parts=(0, Node(operator='+', parts=(1, None))))
    """
    words = iter(equation.split())

    def parse() -> Tree:
        word = next(words, None)
        if word is None:
            raise ValueError(f"the equation ends too early: {equation!r}")
        if word in OPERATORS:
            return Node(word, (parse(), parse()))
        if word.startswith("number"):
            return places.get(int(word.removeprefix("number")))
        float(word)
        return None

    tree = parse()
    if next(words, None) is not None:
        raise ValueError(f"the equation continues after its end: {equation!r}")
    return tree


def _read_json(path: Path) -> Iterator[Problem]:
    try:
        rows = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(rows, list):
        raise InputError(f"{path}: must be a list of problems, got {type(rows).__name__}")
    for index, row in enumerate(rows, 1):
        try:
            yield _make_called_problem(row)
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}, problem {index}: {error}") from None
        except KeyError as error:
            raise InputError(f"{path}, problem {index}: has no field {error}") from None


def _make_called_problem(row: Mapping[str, Any]) -> Problem:
    text = row["Problem"]
    found = list(_NUMBER.finditer(text))
    if "annotated_formula" in row:
        tree = parse_calls(row["annotated_formula"], len(found))
    else:
        tree = parse_steps(row["linear_formula"], len(found))
    return Problem(
        text=text,
        spans=tuple(match.span() for match in found),
        values=tuple(_value(match[0]) for match in found),
        pairs=find_pairs(tree),
        answer=_find_option(row.get("options", ""), row.get("correct", "")),
    )


def _find_option(options: str, correct: str) -> float | None:
    """Return the value of the correct option of `a ) 38 , b ) 27.5 , …`; None if not a number."""
    chosen = re.search(rf"\b{re.escape(correct)} \)([^)]*)", options) if correct else None
    number = _NUMBER.search(chosen[1]) if chosen else None
    return _value(number[0]) if number else None


def _value(word: str) -> float:
    return float(word.replace(",", ""))


def parse_calls(formula: str, n_numbers: int) -> Tree:
    """Return the tree of a formula of nested calls.

    A number with an index that the text does not have is a constant.

    >>> parse_calls("divide(add(n0, n1), const_2)", 2)
    Node(operator='/', parts=(Node(operator='+', parts=(0, 1)), None))
    """
    symbols = _SYMBOL.findall(formula)
    if "".join(symbols) != "".join(formula.split()):
        raise ValueError(f"the formula cannot be read: {formula!r}")
    place = 0

    def parse() -> Tree:
        nonlocal place
        name = symbols[place]
        place += 1
        if place >= len(symbols) or symbols[place] != "(":
            return _leaf(name, n_numbers)
        parts: list[Tree] = []
        while symbols[place] != ")":
            place += 1
            parts.append(parse())
        place += 1
        return Node(_CALLS.get(name, name), tuple(parts))

    try:
        tree = parse()
    except IndexError:
        raise ValueError(f"the formula ends too early: {formula!r}") from None
    if place != len(symbols):
        raise ValueError(f"the formula continues after its end: {formula!r}")
    return tree


def parse_steps(formula: str, n_numbers: int) -> Tree:
    """Return the tree of a formula of steps; a step may use the results of those before it.

    >>> parse_steps("add(n0,n1)|divide(#0,const_2)|", 2)
    Node(operator='/', parts=(Node(operator='+', parts=(0, 1)), None))
    """
    results: list[Tree] = []
    for step in filter(None, (part.strip() for part in formula.split("|"))):
        match = _STEP.fullmatch(step)
        if not match:
            raise ValueError(f"the step cannot be read: {step!r}")
        names = [name.strip() for name in match[2].split(",")]
        if any(name.startswith("#") and int(name[1:]) >= len(results) for name in names):
            raise ValueError(f"the step uses a result before it is computed: {step!r}")
        parts = (
            results[int(name[1:])] if name.startswith("#") else _leaf(name, n_numbers)
            for name in names
        )
        results.append(Node(_CALLS.get(match[1], match[1]), tuple(parts)))
    if not results:
        raise ValueError("the formula is empty")
    return results[-1]


def _leaf(name: str, n_numbers: int) -> int | None:
    """Return the index of a number, or None for a constant."""
    match = re.fullmatch(r"n(\d+)", name)
    return int(match[1]) if match and int(match[1]) < n_numbers else None


def find_pairs(tree: Tree) -> tuple[Pair, ...]:
    """Return the pairs of all numbers in a tree.

    If a number occurs several times, its occurrence nearest to the other number counts; ties go to
    the left.

    >>> find_pairs(Node("*", (0, Node("+", (1, 2)))))[1:]  # doctest: +NORMALIZE_WHITESPACE
    (Pair(first=0, second=2, distance=3, operator='*'),
     Pair(first=1, second=2, distance=2, operator='+'))
    """
    paths: dict[int, list[_Path]] = {}
    for leaf, path in _walk(tree, ()):
        paths.setdefault(leaf, []).append(path)
    return tuple(
        min(
            (_meet(first, second, a, b) for a in paths[first] for b in paths[second]),
            key=lambda pair: pair.distance,
        )
        for first, second in combinations(sorted(paths), 2)
    )


def _walk(tree: Tree, path: _Path) -> Iterator[tuple[int, _Path]]:
    """Yield every number of a tree with its path: operators and the indices of their parts."""
    if isinstance(tree, int):
        yield tree, path
    elif isinstance(tree, Node):
        for place, part in enumerate(tree.parts):
            yield from _walk(part, (*path, (tree.operator, place)))


def _meet(first: int, second: int, a: _Path, b: _Path) -> Pair:
    common = next(i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    operator = a[common][0]
    distance = len(a) + len(b) - 2 * common
    return Pair(first, second, distance, operator if operator in OPERATORS else None)
