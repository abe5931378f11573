"""Parallel work: `map_ordered` over several processes; the number of cores; torchrun's rank."""

import ctypes
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from threading import Thread
from typing import TypeVar

from numerate.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int], object]
"""A function to call with the amount of work done so far."""
_PR_SET_PDEATHSIG = 1  # of prctl(2)


def ignore_progress(done: int) -> None:
    """Do nothing: the default of a `progress` parameter."""


def map_ordered(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int = 1,
    start: str | None = None,
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with the result of the function, in order, from `workers` processes.

    Items are drawn as needed: at most three per worker are in memory. No more processes are started
    than there are items. With more than one worker, function and items must be picklable. `start`
    is how processes start, if not in the platform's default way; use `spawn` once torch has started
    threads, which a forked process would lack.
    """
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    remaining = iter(items)
    first = list(islice(remaining, workers)) if workers > 1 else []
    if len(first) > 1:
        yield from _map_in_processes(function, first, remaining, get_context(start))
    else:
        for item in chain(first, remaining):
            yield item, function(item)


def _map_in_processes(
    function: Callable[[Item], Result],
    first: list[Item],
    remaining: Iterator[Item],
    context: BaseContext,
) -> Iterator[tuple[Item, Result]]:
    """Yield items with their results, from as many processes as there are first items."""
    workers, items = len(first), chain(first, remaining)
    with ProcessPoolExecutor(workers, context, _die_with_parent) as pool:
        yield from keep_order(lambda item: pool.submit(function, item), items, lambda: 2 * workers)


def keep_order(
    submit: Callable[[Item], Future[Result]], items: Iterable[Item], most: Callable[[], int]
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with the result of its future, in order; at most `most()` are under way."""
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for item in items:
            waiting.append((item, submit(item)))
            if len(waiting) >= most():
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    finally:
        for _, future in waiting:
            future.cancel()


def _die_with_parent() -> None:
    """End a worker when its parent is killed; it would wait for work forever otherwise.

    Linux does it at once, however busy the machine is: a worker shares the locks of its parent.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = parent_process()
    if parent is not None:
        watch = Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True)
        watch.start()


def process_rank() -> int:
    """Return the rank of this process under `torchrun`; 0 without it."""
    return int(os.environ.get("RANK", "0"))


def count_cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
