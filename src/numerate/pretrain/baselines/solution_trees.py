"""Solution trees of math word problems: formulas as text go in, the relations of numbers come out.

A formula is an equation in prefix form (MAWPS), or nested calls or steps (MathQA).
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from numerate.errors import InputError

OPERATORS = ("+", "-", "*", "/", "^")
_CALLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "^"}
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


@dataclass(frozen=True)
class Node:
    """An operation in a solution tree.

    Each of `parts` is a Node, the index of a number in the text, or None for a constant.
    """

    operator: str
    parts: tuple["Node | int | None", ...]


Tree = Node | int | None
_Path = tuple[tuple[str, int], ...]


def read_number(word: str, rule: str) -> float:
    """Return a finite number; the rule says what is expected in its place."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{rule}, got {word!r:.40}")
    return value


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
            raise InputError(f"the equation ends too early: {equation!r}")
        if word in OPERATORS:
            return Node(word, (parse(), parse()))
        if named := re.fullmatch(r"number(\d+)", word):
            return places.get(int(named[1]))
        read_number(word, "Equation must be in prefix form like - number0 2.5")
        return None

    tree = parse()
    if next(words, None) is not None:
        raise InputError(f"the equation continues after its end: {equation!r}")
    return tree


def parse_calls(formula: str, n_numbers: int) -> Tree:
    """Return the tree of a formula of nested calls.

    A number with an index that the text does not have is a constant.

    >>> parse_calls("divide(add(n0, n1), const_2)", 2)
    Node(operator='/', parts=(Node(operator='+', parts=(0, 1)), None))
    """
    symbols = _SYMBOL.findall(formula)
    if "".join(symbols) != "".join(formula.split()):
        raise InputError(f"the formula cannot be read: {formula!r}")
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
        raise InputError(f"the formula ends too early: {formula!r}") from None
    if place != len(symbols):
        raise InputError(f"the formula continues after its end: {formula!r}")
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
            raise InputError(f"the step cannot be read: {step!r}")
        known = {f"#{place}": result for place, result in enumerate(results)}
        names = [name.strip() for name in match[2].split(",")]
        if any(name.startswith("#") and name not in known for name in names):
            raise InputError(f"the step uses a result before it is computed: {step!r}")
        parts = (known[name] if name in known else _leaf(name, n_numbers) for name in names)
        results.append(Node(_CALLS.get(match[1], match[1]), tuple(parts)))
    if not results:
        raise InputError("the formula is empty")
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
