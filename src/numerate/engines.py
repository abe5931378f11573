"""Engines: where the work on a corpus runs, in processes of this machine or in tasks of Ray.

Both run the same functions and yield the same results in the same order. The local engine reads the
corpus once and hands blocks to its processes. Tasks of Ray may run on other machines: each of them
reads its own part of the corpus, and Ray runs it again elsewhere if its process or machine dies.
"""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from numerate.errors import InputError, first_line, needs_extra
from numerate.parallel import keep_order, map_ordered

Item = TypeVar("Item")
Result = TypeVar("Result")
_PART_BYTES = 64 << 20
_STORE_BYTES = 256 << 20  # of a Ray that we start: results are counts and entries of manifests
_ANSWER_SECONDS = 60  # in which a cluster has to answer


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


@dataclass(frozen=True)
class RayEngine:
    """Runs functions as tasks of Ray.

    Args:
        address: The address of a cluster, such as `auto` or `ray://host:10001`. Without it, the Ray
            that this process is connected to is used; if there is none, a local one starts with the
            work and stops with it.
        workers: The processors of a Ray that starts with the work.
        part_bytes: The size of the parts of a corpus, each of which is a task.
    """

    address: str | None = None
    workers: int = 1
    part_bytes: int = _PART_BYTES

    def __post_init__(self) -> None:
        with needs_extra("--engine ray", "ray"):
            import ray  # noqa: F401

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result]]:
        """Yield each item with the result of the function, in order."""
        import ray

        with self._connect(ray):
            shared, task = ray.put(function), ray.remote(_call)

            def submit(item: Item) -> Future[Result]:
                future: Future[Result] = task.remote(shared, item).future()
                return future

            # Twice as many tasks as processors: none of them waits, and a cluster that grows by
            # demand has a reason to.
            most = lambda: 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))  # noqa: E731
            try:
                yield from keep_order(submit, items, most)
            except ray.exceptions.RayTaskError as error:
                raise _explain(error.cause) from None

    @contextmanager
    def _connect(self, ray: Any) -> Iterator[None]:  # noqa: ANN401
        """Connect to Ray unless this process is connected, and disconnect when the work is done."""
        if ray.is_initialized():
            yield
            return
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self.address:
                _check_answer(self.address)
                ray.init(self.address, **quiet)
            else:
                ray.init(
                    "local",
                    num_cpus=self.workers,
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    _system_config={"worker_niceness": os.nice(0)},  # 15 by default
                    **quiet,
                )
        except Exception as error:  # Ray raises no class of its own where it cannot start
            where = self.address or "local"
            raise InputError(f"ray: cannot start at {where!r} ({first_line(error)})") from None
        try:
            yield
        finally:
            ray.shutdown()


def _check_answer(address: str) -> None:
    """Raise `OSError` if nobody answers at `host:port`, where Ray would try for five minutes."""
    place = urlsplit(address if "://" in address else f"//{address}")
    if place.hostname and place.port:  # else a name, such as `auto`
        socket.create_connection((place.hostname, place.port), _ANSWER_SECONDS).close()


def _call(function: Callable[[Item], Result], item: Item) -> Result:
    """Run a function on an item, in a process of Ray."""
    return function(item)


def _explain(cause: Exception) -> Exception:
    """Return the error of a task as the local engine would raise it."""
    if isinstance(cause, OSError):
        return InputError(
            f"{first_line(cause)}; with Ray, corpus and output must be on storage that all "
            "machines reach by the same path"
        )
    return cause
