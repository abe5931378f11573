"""The commands on whole runs: run, report and demo."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from numerate.cli.arguments import (
    Compare,
    EngineOption,
    Quiet,
    RayAddress,
    Workers,
    choose_engine,
    count_workers,
    path_line,
    print_shown,
)

if TYPE_CHECKING:
    from numerate.engines import Engine
    from numerate.run.config import Config


def run(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="TOML file, or demo, laptop or paper.")
    ],
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting, such as fit.components=200; repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write.", show_default="runs/NAME")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run, and for how long.")
    ] = False,
    workers: Workers = 0,
    engine: EngineOption = "local",
    ray_address: RayAddress = None,
    quiet: Quiet = False,
) -> None:
    """Run all stages of a config; finished steps are skipped, interrupted ones continue."""
    from numerate.cli.show_run import show_plan
    from numerate.run.config import load_config

    chosen = choose_engine(engine, ray_address, workers)
    read = load_config(config, changes or [])
    root = out or Path("runs") / read.name
    if dry_run:
        print_shown(show_plan(read, root, count_workers(workers)), quiet)
    else:
        _run(read, root, workers=workers, engine=chosen, quiet=quiet)


def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder that run has written.")],
    compare: Compare = None,
    examples: Annotated[
        Literal["own", "corpus"], typer.Option(help="Source of the example sentences.")
    ] = "own",
    quiet: Quiet = False,
) -> None:
    """Write tables, figures and a page on the results of a run."""
    from numerate.report.write import write_report

    page = write_report(folder, compare=compare, examples=examples)
    print_shown(path_line(f"The page is {page}"), quiet)


def demo(
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("runs/demo"),
    base: Annotated[
        str | None,
        typer.Option(
            help="Another base model: a folder or a name on the hub.", show_default="MiniLM"
        ),
    ] = None,
    workers: Workers = 1,  # starting processes would take longer than the work of one
    quiet: Quiet = False,
) -> None:
    """Run all stages on the embedded corpus and a small BERT, within minutes."""
    from numerate.run.config import load_config

    changes = [f"base={base}"] if base else []
    engine = choose_engine("local", None, workers)
    _run(load_config("demo", changes), out, workers=workers, engine=engine, quiet=quiet)


def _run(config: "Config", root: Path, *, workers: int, engine: "Engine", quiet: bool) -> None:
    from numerate.cli.show_run import show_result, show_step
    from numerate.run.execute import run_config

    page = run_config(
        config,
        root,
        workers=count_workers(workers),
        engine=engine,
        quiet=quiet,
        report=lambda step, state, seconds: print_shown(show_step(step, state, seconds), quiet),
    )
    print_shown(show_result(root, page, compare=config.report.compare), quiet)
