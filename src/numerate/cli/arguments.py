"""Options that commands share, and parsers of their text."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from numerate.errors import InputError
from numerate.options import Anchor, EngineName, Errors

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from numerate.engines import Engine

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar and no tables.")]
Field = Annotated[str, typer.Option(help="Field of a record that holds its text.")]
OnErrors = Annotated[Errors, typer.Option(help="How to treat bytes that are not UTF-8.")]
Workers = Annotated[
    int, typer.Option(min=0, help="Number of processes; 0: all cores.", show_default="all cores")
]
EngineOption = Annotated[
    EngineName,
    typer.Option(help="Where extract and prime run: processes of this machine, or tasks of Ray."),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        help="Cluster of Ray, such as auto or ray://host:10001.",
        show_default="one that starts and stops with the command",
    ),
]
Compare = Annotated[
    Literal["paper"] | None, typer.Option(help="Show the results of the paper beside the others.")
]

_MOST = 1_000_000


def print_shown(renderable: "RenderableType", quiet: bool) -> None:
    """Print a table or a text, unless the command is quiet."""
    from rich.console import Console, Group

    if not quiet:
        Console().print(Group(renderable), crop=False)  # bare, a text would lose its `no_wrap`


def path_line(text: str, style: str = "") -> "Text":
    """Return a line that ends in a path, which a narrow terminal does not break."""
    from rich.text import Text

    return Text(text, style=style, no_wrap=True, overflow="ignore")


def count_workers(workers: int) -> int:
    """Return the number of processes that `--workers` asks for; 0 stands for all cores."""
    from numerate.parallel import count_cores

    return workers or count_cores()


def choose_engine(name: EngineName, address: str | None, workers: int) -> "Engine":
    """Return the engine that `--engine`, `--ray-address` and `--workers` ask for."""
    from numerate.engines import LocalEngine, RayEngine

    if name == "ray":
        return RayEngine(address, count_workers(workers))
    if address is not None:
        raise InputError(f"--ray-address is for --engine ray, got {address!r} with --engine local")
    return LocalEngine(count_workers(workers))


def parse_sizes(text: str) -> list[int]:
    """Return the sizes of a list such as `10,100,1000`."""
    sizes = [part.strip() for part in text.split(",")]
    if not all(size.isdecimal() and int(size) for size in sizes):
        raise InputError(f"sweep must be whole numbers such as 10,100,1000, got {text!r}")
    return [int(size) for size in sizes]


def parse_among(text: str | None, numeral: str) -> list[int]:
    """Return the numerals of a range (`1900:2100`, `1:1000:10`) or a list (`1,10,100`).

    Without text they are about 400, from a tenth of the numeral to ten times as much.

    >>> parse_among("1:10:3,100", "5")
    [1, 4, 7, 10, 100]
    """
    if text is None:
        import numpy as np

        from numerate.extract.numerals import LARGEST, find_numerals

        found = find_numerals(numeral, "quantities")
        middle = max(1, found[0].value) if found else 1
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
    """Return the arguments of `range` for a range that includes its last number."""
    if step < 1:
        raise ValueError("a step must be at least 1")
    return first, (first if last is None else last) + 1, step


def parse_layers(text: str | None) -> list[int] | None:
    """Return the layers of a list such as `-4,-3,-2,-1`.

    >>> parse_layers("-2,-1")
    [-2, -1]
    """
    try:
        return None if text is None else [int(layer) for layer in text.split(",")]
    except ValueError:
        raise InputError(f"layers must be like -1 or -4,-3,-2,-1, got {text!r}") from None


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file that are not blank; `-` is standard input."""
    data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}") from None
    return [line for line in map(str.strip, text.splitlines()) if line]


def parse_shown(text: str | None) -> tuple[Anchor, ...] | None:
    """Return the ways to show anchors in a list such as `visible,masked`.

    >>> parse_shown("visible,masked")
    ('visible', 'masked')
    """
    if text is None:
        return None
    known: dict[str, Anchor] = {anchor: anchor for anchor in get_args(Anchor)}
    for name in text.split(","):
        if name not in known:
            raise InputError(f"--show must be among {', '.join(known)}, got {name!r}")
    return tuple(known[name] for name in text.split(","))
