"""Progress bars, on a terminal alone, with rate and time left; and durations in words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from numerate.parallel import process_rank


class _SpeedColumn(ProgressColumn):
    """Items per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


_COLUMNS: dict[str, Callable[[], tuple[ProgressColumn, ...]]] = {
    "bytes": lambda: (DownloadColumn(), TransferSpeedColumn()),
    "items": lambda: (MofNCompleteColumn(), _SpeedColumn()),
}


@contextmanager
def show_progress(
    title: str, total: int | None, *, quiet: bool, unit: Literal["bytes", "items"] = "bytes"
) -> Iterator[Callable[[int], None]]:
    """Show a bar with rate and time left on a terminal; gives the function that moves it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        *_COLUMNS[unit](),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=hidden, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda position: progress.update(task, completed=position)


@dataclass(frozen=True)
class Status:
    """Where a run is: what a progress bar shows."""

    fraction: float
    tokens: int
    tokens_per_second: float
    loss: float
    accuracy: float
    seconds_left: float


def tell_seconds(seconds: float) -> str:
    """Return a duration as people say it.

    >>> tell_seconds(0.31), tell_seconds(75), tell_seconds(7260)
    ('0.3 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def show_training(name: str = "pretrain", *, quiet: bool) -> "Iterator[Callable[[Status], None]]":
    """Quieten transformers, and show a bar of a training run on a terminal."""
    from transformers.utils import logging

    quieten: Any = logging
    quieten.set_verbosity_error()
    quieten.disable_progress_bar()
    columns = (
        TextColumn(name),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[left]} left"),
    )
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal or process_rank() > 0
    with Progress(*columns, console=console, disable=hidden, transient=True) as progress:
        task = progress.add_task("getting ready", total=1, left="?")

        def report(status: "Status") -> None:
            minutes, seconds = divmod(round(status.seconds_left), 60)
            progress.update(
                task,
                completed=status.fraction,
                description=f"loss {status.loss:.3f}, accuracy {status.accuracy:.1%}, "
                f"{status.tokens_per_second:,.0f} tokens/s",
                left=f"{minutes}:{seconds:02}",
            )

        yield report
