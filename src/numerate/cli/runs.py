"""The command line's part on whole runs: run, report and demo."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from numerate.cli.arguments import Quiet, print_shown
from numerate.errors import InputError

if TYPE_CHECKING:
    from numerate.run.config import Config

Workers = Annotated[
    int | None,
    typer.Option(help="Processes at a time; one for each processor unless said.", min=1),
]


def run(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="A TOML file, or demo, laptop or paper.")
    ],
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE in place of the file's, such as fit.components=200."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder to write; runs/NAME unless said.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run, and for how long.")
    ] = False,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Run all stages of a config; what is done is skipped, what was cut off goes on."""
    from numerate.run.config import load_config

    read = load_config(config, changes or [])
    _run(read, out or Path("runs") / read.name, dry_run=dry_run, workers=workers, quiet=quiet)


def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="What run has written.")],
    compare: Annotated[
        str | None, typer.Option(help="paper: its figures beside the others.")
    ] = None,
    examples: Annotated[
        Literal["own", "corpus"], typer.Option(help="Where the sentences shown come from.")
    ] = "own",
    quiet: Quiet = False,
) -> None:
    """Write tables, figures and a page of what a run has found."""
    from rich.text import Text

    from numerate.report.write import write_report

    if compare not in (None, "paper"):
        raise InputError(f"--compare must be paper, got {compare!r}")
    page = write_report(folder, compare=compare, examples=examples)
    print_shown(Text(f"The page is {page}"), quiet)


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("runs/demo"),
    base: Annotated[
        str | None, typer.Option(help="Another base model: a folder, or a name on the hub.")
    ] = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Run all stages on the embedded corpus and a small BERT, within minutes."""
    from numerate.run.config import load_config

    changes = [f"base={base}"] if base else []
    _run(load_config("demo", changes), out, dry_run=False, workers=workers, quiet=quiet)


def _run(config: "Config", root: Path, *, dry_run: bool, workers: int | None, quiet: bool) -> None:
    from numerate.cli.show_run import show_plan, show_result, show_step
    from numerate.parallel import count_cores

    workers = workers or count_cores()
    if dry_run:
        print_shown(show_plan(config, root, workers), quiet)
        return
    from numerate.run.execute import run_config

    page = run_config(
        config,
        root,
        workers=workers,
        quiet=quiet,
        report=lambda step, state, seconds: print_shown(show_step(step, state, seconds), quiet),
    )
    print_shown(show_result(root, page, compare=config.report.compare), quiet)
