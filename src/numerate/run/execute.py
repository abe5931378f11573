"""Execute: plan the steps of a config and run them in order; finished steps are skipped."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numerate.files import write_json
from numerate.layout import RunContext, RunLayout
from numerate.run.config import Config
from numerate.run.stages import STAGES
from numerate.steps import State, Step, find_state, run_step


def run_config(
    config: Config,
    root: Path,
    *,
    workers: int,
    quiet: bool = False,
    report: Callable[[Step, State, float], object] | None = None,
) -> Path:
    """Run all stages of a config into a folder, and return the path of the page.

    Args:
        config: What to run.
        root: The folder; finished steps with the same settings and inputs are kept.
        workers: The number of processes.
        quiet: Whether to hide progress bars.
        report: Called after each step, with the state it was in and the seconds it took.
    """
    steps = plan_run(config, root, workers=workers, quiet=quiet)
    layout = RunLayout(root)
    write_json(layout.config, describe_config(config, steps))
    for step in steps:
        state = find_state(step, root)
        seconds = 0.0 if state == "done" else run_step(step, root)
        if report:
            report(step, state, seconds)
    return layout.page


def describe_config(config: Config, steps: Sequence[Step]) -> dict[str, Any]:
    """Return the content of `config.json`: all settings, and the folders of the steps."""
    document = {"format": "numerate-config", "version": 1, **config.model_dump(mode="json")}
    return {**document, "steps": ["/".join(filter(None, (s.stage, s.name))) for s in steps]}


def plan_run(config: Config, root: Path, *, workers: int = 1, quiet: bool = True) -> list[Step]:
    """Return the steps of a run in the order in which they depend on each other."""
    run = RunContext(RunLayout(root), workers, quiet, _draw_curve)
    steps: list[Step] = []
    for stage in STAGES:
        steps += stage(config, run, tuple(steps))
    return steps


def _draw_curve(folder: Path) -> None:
    from numerate.pretrain.train import read_curve
    from numerate.report.draw import draw_curve

    draw_curve(read_curve(folder), folder / "curve.png")
