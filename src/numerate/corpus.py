"""Corpora: names of files, folders and datasets become one stream of blocks, worked on in order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import TypeVar

from numerate.choices import Errors
from numerate.errors import InputError
from numerate.sources import Block, read_source

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Corpus:
    """Named sources of text, checked to exist; reading them is left to `blocks`."""

    sources: tuple[str, ...]
    field: str = "text"
    errors: Errors = "strict"

    @property
    def size(self) -> int | None:
        """The bytes of its files, as they are on disk; None if something else is among them."""
        if any(is_stream(name) for name in self.sources):
            return None
        return sum(Path(name).stat().st_size for name in self.sources)

    def blocks(self) -> Iterator[Block]:
        """Yield the corpus from beginning to end."""
        before = 0
        for name in self.sources:
            for block in read_source(name, self.field, self.errors):
                yield replace(block, position=before + block.position)
            before += 0 if is_stream(name) else Path(name).stat().st_size


def open_corpus(names: Sequence[str], *, field: str = "text", errors: Errors = "strict") -> Corpus:
    """Return the corpus that the names stand for; folders become the files in them, sorted.

    Args:
        names: Text files (plain, .gz, .xz, .zst), .jsonl or .parquet files, folders of them, `-`
            for standard input, `hf:REPO[/CONFIG][:SPLIT]`, or `almanac:[SEED]`.
        field: The field of a record that holds its text.
        errors: What to do with bytes that are not UTF-8.
    """
    if not names:
        raise InputError("corpus must name at least one file, folder or dataset, got none")
    sources = [source for name in names for source in _expand(name)]
    return Corpus(tuple(sources), field, errors)


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


def is_stream(name: str) -> bool:
    """Return whether a source is no file: standard input, a hub dataset or the almanac."""
    return name == "-" or name.startswith(("hf:", "almanac:"))


def _expand(name: str) -> list[str]:
    """The sources behind a name: itself, or the files of a folder."""
    if is_stream(name):
        return [name]
    path = Path(name)
    if not path.exists():
        raise InputError(f"{name}: no such file or folder")
    if path.is_file():
        return [name]
    visible = (file for file in path.rglob("*") if not _is_hidden(file.relative_to(path)))
    files = sorted(str(file) for file in visible if file.is_file())
    if not files:
        raise InputError(f"{name}: a folder without files")
    return files


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
