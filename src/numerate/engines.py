"""Engines: where the work on a corpus runs, such as in processes of this machine.

Engines run the same functions and yield the same results in the same order. The local engine reads
the corpus once and hands blocks to its processes; workers on other machines would each read their
own part of it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from numerate.parallel import map_ordered

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a function on many items."""

    @property
    def part_bytes(self) -> int | None:
        """The size of the parts that workers read by themselves; None if they are given blocks."""

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result]]:
        """Yield each item with the result of the function, in order; both must be picklable."""


@dataclass(frozen=True)
class LocalEngine:
    """Runs functions in `workers` processes of this machine."""

    workers: int = 1
    part_bytes: None = None

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result]]:
        """Yield each item with the result of the function, in order."""
        return map_ordered(function, items, workers=self.workers)
