"""Progress bars, which only a terminal shows, and durations in words."""

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


@contextmanager
def show_progress(
    title: str, total: int | None, *, quiet: bool, unit: Literal["bytes", "items"] = "bytes"
) -> Iterator[Callable[[int], None]]:
    """Show a bar with speed and time left; the value is the function that sets its position."""
    counted: list[ProgressColumn] = [DownloadColumn(), TransferSpeedColumn()]
    if unit == "items":
        counted = [MofNCompleteColumn(), _SpeedColumn()]
    columns = (TextColumn("{task.description}"), BarColumn(), *counted, TimeRemainingColumn())
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=hidden, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda position: progress.update(task, completed=position)


@dataclass(frozen=True, kw_only=True)
class Status:
    """The progress of a training, as its bar shows it."""

    fraction: float
    tokens: int
    tokens_per_second: float
    loss: float
    accuracy: float
    seconds_left: float


Report = Callable[[Status], object]
"""A function to call with the status of a training, after every batch."""


def ignore_status(status: Status) -> None:
    """Do nothing: the default of a `report` parameter."""


def format_seconds(seconds: float) -> str:
    """Return a duration as people say it.

    >>> format_seconds(0.31), format_seconds(75), format_seconds(7260)
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
def quiet_transformers() -> Iterator[None]:
    """Turn off the progress bars of transformers and its messages below errors, then restore."""
    from transformers.utils import logging

    library: Any = logging
    verbosity, had_bar = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity_error()
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(verbosity)
        if had_bar:
            library.enable_progress_bar()


@contextmanager
def show_training(name: str = "pretrain", *, quiet: bool) -> Iterator[Report]:
    """Show a bar of a training on a terminal, without the messages and bars of transformers."""
    columns = (
        TextColumn(name),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[left]} left"),
    )
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal or process_rank() > 0
    bar = Progress(*columns, console=console, disable=hidden, transient=True)
    with quiet_transformers(), bar as progress:
        task = progress.add_task("getting ready", total=1, left="?")

        def report(status: Status) -> None:
            minutes, seconds = divmod(round(status.seconds_left), 60)
            progress.update(
                task,
                completed=status.fraction,
                description=f"loss {status.loss:.3f}, accuracy {status.accuracy:.1%}, "
                f"{status.tokens_per_second:,.0f} tokens/s",
                left=f"{minutes}:{seconds:02}",
            )

        yield report
