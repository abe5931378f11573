"""Progress bars: on a terminal, with rate and time left; nowhere else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

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
