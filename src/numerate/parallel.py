"""Parallel work: items through a function in several processes, in order; cores and ranks."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import TypeVar

from numerate.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_ordered(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int = 1,
    start: str | None = None,
) -> Iterator[tuple[Item, Result]]:
    """Yield every item with what a function makes of it, in order, from `workers` processes.

    At most two items per worker are in memory at a time. With more than one worker, function and
    items must be such that can be pickled. `start` is how processes are started, if not in the
    system's way: after torch has used its threads, `spawn`.
    """
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    if workers == 1:
        for item in items:
            yield item, function(item)
        return
    context = get_context(start)
    with ProcessPoolExecutor(workers, context, _die_with_parent) as pool:
        waiting: deque[tuple[Item, Future[Result]]] = deque()
        try:
            for item in items:
                waiting.append((item, pool.submit(function, item)))
                if len(waiting) >= 2 * workers:
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


def _die_with_parent() -> None:
    """Let a worker end when the process that started it is killed, rather than wait for ever."""
    parent = parent_process()
    if parent is not None:
        watch = Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True)
        watch.start()


def process_rank() -> int:
    """Return the number of this process among those that `torchrun` started together."""
    return int(os.environ.get("RANK", "0"))


def count_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
