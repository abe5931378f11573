"""Arguments that commands share, and how the text of an argument is read."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from numerate.errors import InputError
from numerate.options import Anchor, Errors, Precision

if TYPE_CHECKING:
    from rich.console import RenderableType

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no tables.")]
Field = Annotated[str, typer.Option(help="The field of a record that holds its text.")]
OnErrors = Annotated[Errors, typer.Option(help="What to do with bytes that are not UTF-8.")]
MaxTokens = Annotated[
    int | None, typer.Option(help="Train on so many tokens instead.", show_default=False)
]
MaxMinutes = Annotated[
    float | None, typer.Option(help="Train for so long instead.", show_default=False)
]
Accumulate = Annotated[int, typer.Option(help="Batches to a step.")]
LearningRate = Annotated[float, typer.Option(help="At its highest.")]
Dropout = Annotated[float, typer.Option(help="In place of the base model's.")]
Compute = Annotated[Precision, typer.Option(help="auto: bf16 where the machine is fast at it.")]
CheckpointMinutes = Annotated[float, typer.Option(help="Minutes between checkpoints.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a run stopped.")]

_MOST = 1_000_000


def print_shown(renderable: "RenderableType", quiet: bool) -> None:
    """Print what a command has to show."""
    from rich.console import Console

    if not quiet:
        Console().print(renderable)


def parse_sizes(text: str) -> list[int]:
    """Return the sizes of a list such as `10,100,1000`."""
    sizes = [part.strip() for part in text.split(",")]
    if not all(size.isdecimal() and int(size) for size in sizes):
        raise InputError(f"sweep must be whole numbers such as 10,100,1000, got {text!r}")
    return [int(size) for size in sizes]


def parse_among(text: str | None, numeral: str) -> list[int]:
    """Return the numerals that a range (`1900:2100`, `1:1000:10`) or a list (`1,10,100`) names.

    Without one they are some 400 around the numeral, from a tenth to ten times as much.

    >>> parse_among("1:10:3,100", "5")
    [1, 4, 7, 10, 100]
    """
    if text is None:
        import numpy as np

        from numerate.extract.numerals import LARGEST, find_numerals

        found = find_numerals(numeral)
        middle = found[0].value if found else 1
        spread = np.exp(np.linspace(np.log(middle / 10), np.log(middle * 10), 401))
        return sorted({int(value) for value in np.clip(spread.round(), 1, LARGEST)})
    try:
        parts = [[int(bound) for bound in part.split(":")] for part in text.split(",")]
        ranges = [range(*_bounds(*part)) for part in parts]
    except (TypeError, ValueError):
        raise InputError(
            f"among must be like 1900:2100, 1:1000:10 or 1,10,100, got {text!r}"
        ) from None
    if sum(map(len, ranges)) > _MOST:
        raise InputError(f"among must name at most {_MOST:,} numerals; give a step, 1:1000000:100")
    return [value for part in ranges for value in part]


def _bounds(first: int, last: int | None = None, step: int = 1) -> tuple[int, int, int]:
    """Both ends of a range belong to it."""
    if step < 1:
        raise ValueError("a step must be at least 1")
    return first, (first if last is None else last) + 1, step


def parse_layers(text: str | None) -> list[int] | None:
    """Return the layers that a list such as `-4,-3,-2,-1` names.

    >>> parse_layers("-2,-1")
    [-2, -1]
    """
    try:
        return None if text is None else [int(layer) for layer in text.split(",")]
    except ValueError:
        raise InputError(f"layers must be like -1 or -4,-3,-2,-1, got {text!r}") from None


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file, or of standard input for `-`, that are not blank."""
    data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}") from None
    return [line for line in map(str.strip, text.splitlines()) if line]


def parse_anchors(text: str) -> tuple[Anchor, ...]:
    """Return what a list such as `visible,masked` names.

    >>> parse_anchors("visible,masked")
    ('visible', 'masked')
    """
    known: dict[str, Anchor] = {anchor: anchor for anchor in get_args(Anchor)}
    for name in text.split(","):
        if name not in known:
            raise InputError(f"anchor must be among {', '.join(known)}, got {name!r}")
    return tuple(known[name] for name in text.split(","))
