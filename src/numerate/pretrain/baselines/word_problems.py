"""Problems: math word problems with their numbers, solution trees and answers, from a file.

Two kinds of files are read: CSV like that of MAWPS, with the numbers of a question as `number0`,
`number1` and an equation in prefix form, and JSON like MathQA's, with formulas of nested calls.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
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
    """Two numbers of a problem, by their place in it, and how they meet in its solution.

    `distance` counts the edges of the tree between them, `operator` is where their ways meet; None
    if that is none of the five.
    """

    first: int
    second: int
    distance: int
    operator: str | None


@dataclass(frozen=True)
class Problem:
    """A problem as text, where its numbers stand in it, their values, and the solution."""

    text: str
    spans: tuple[tuple[int, int], ...]
    values: tuple[float, ...]
    pairs: tuple[Pair, ...]
    answer: float | None


@dataclass(frozen=True)
class Node:
    """An operation of a solution on others, on numbers by their place, and on constants (None)."""

    operator: str
    parts: tuple["Node | int | None", ...]


Tree = Node | int | None
_Path = tuple[tuple[str, int], ...]


def read_problems(path: Path) -> list[Problem]:
    """Return the problems of a .csv or .json file; what cannot be read is told with its row."""
    readers: dict[str, Callable[[Path], Iterator[Problem]]] = {
        ".csv": _read_csv,
        ".json": _read_json,
    }
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
        for number, row in enumerate(rows, 2):
            try:
                yield _make_problem(row)
            except (ValueError, TypeError, AttributeError) as error:
                raise InputError(f"{path}, row {number}: {error}") from None


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
        text,
        tuple(spans[name] for name in kept),
        tuple(values[name] for name in kept),
        pairs,
        float(row["Answer"]),
    )


def _write(value: float) -> str:
    """A value as a problem has it: whole, or with up to four decimals."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def parse_prefix(equation: str, places: Mapping[int, int]) -> Tree:
    """Return the tree of an equation in prefix form; `places` are those of the numbers in the text.

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
        raise ValueError(f"the equation goes on after its end: {equation!r}")
    return tree


def _read_json(path: Path) -> Iterator[Problem]:
    try:
        rows = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(rows, list):
        raise InputError(f"{path}: must be a list of problems, got {type(rows).__name__}")
    for number, row in enumerate(rows, 1):
        try:
            yield _make_called_problem(row)
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}, problem {number}: {error}") from None
        except KeyError as error:
            raise InputError(f"{path}, problem {number}: has no field {error}") from None


def _make_called_problem(row: Mapping[str, Any]) -> Problem:
    text = row["Problem"]
    found = list(_NUMBER.finditer(text))
    if "annotated_formula" in row:
        tree = parse_calls(row["annotated_formula"], len(found))
    else:
        tree = parse_steps(row["linear_formula"], len(found))
    return Problem(
        text,
        tuple(match.span() for match in found),
        tuple(_value(match[0]) for match in found),
        find_pairs(tree),
        _find_option(row.get("options", ""), row.get("correct", "")),
    )


def _find_option(options: str, correct: str) -> float | None:
    """The value of the right one of `a ) 38 , b ) 27.5 , …`; None if it is no number."""
    chosen = re.search(rf"\b{re.escape(correct)} \)([^)]*)", options) if correct else None
    number = _NUMBER.search(chosen[1]) if chosen else None
    return _value(number[0]) if number else None


def _value(word: str) -> float:
    return float(word.replace(",", ""))


def parse_calls(formula: str, n_numbers: int) -> Tree:
    """Return the tree of a formula of nested calls; a number beyond those of the text is constant.

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
        raise ValueError(f"the formula goes on after its end: {formula!r}")
    return tree


def parse_steps(formula: str, n_numbers: int) -> Tree:
    """Return the tree of a formula of steps, each of which may use the results of those before.

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
            raise ValueError(f"the step uses a result that is not there yet: {step!r}")
        parts = (
            results[int(name[1:])] if name.startswith("#") else _leaf(name, n_numbers)
            for name in names
        )
        results.append(Node(_CALLS.get(match[1], match[1]), tuple(parts)))
    if not results:
        raise ValueError("the formula is empty")
    return results[-1]


def _leaf(name: str, n_numbers: int) -> int | None:
    """The place of a number, or None for a constant."""
    match = re.fullmatch(r"n(\d+)", name)
    return int(match[1]) if match and int(match[1]) < n_numbers else None


def find_pairs(tree: Tree) -> tuple[Pair, ...]:
    """Return how any two numbers meet in a tree.

    Of a number that is there twice it is where they are nearest, and at a tie the left one.

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
    """Every number of a tree with the way to it: operators, and which of their parts to take."""
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
