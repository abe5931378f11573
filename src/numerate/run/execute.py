"""Execute: plan the steps of a config and run them in order; finished steps are skipped."""

from collections.abc import Callable
from pathlib import Path

from numerate.engines import Engine, LocalEngine
from numerate.errors import InputError
from numerate.files import write_json
from numerate.layout import RunContext, RunLayout
from numerate.locks import hold_folder
from numerate.report.figures.draw import draw_curve
from numerate.run.config import Config
from numerate.run.stages import STAGES
from numerate.steps import Step, find_state, find_states, run_step
from numerate.work import State


def run_config(
    config: Config,
    root: Path,
    *,
    workers: int,
    engine: Engine | None = None,
    quiet: bool = False,
    report: Callable[[Step, State, float], object] | None = None,
) -> Path:
    """Run all stages of a config into a folder, and return the path of the page.

    Finished steps with the same settings and inputs are kept. Before the first one is run, all that
    are to be run are checked: a name with a mistake in it costs no training. After each step
    `report` is called with it, the state it was in and the seconds it took. The engine runs extract
    and prime; by default it is a local one with `workers` processes.
    """
    with hold_folder(root):
        return _run_steps(
            config,
            root,
            plan_run(config, root, workers=workers, engine=engine, quiet=quiet),
            report,
        )


def _run_steps(
    config: Config,
    root: Path,
    steps: list[Step],
    report: Callable[[Step, State, float], object] | None,
) -> Path:
    for step, state in zip(steps, find_states(steps, root), strict=True):
        if state != "done":
            step.check()
    layout = RunLayout(root)
    document = {"format": "numerate-config", "version": 1, **config.model_dump(mode="json")}
    names = ["/".join(filter(None, (step.stage, step.name))) for step in steps]
    write_json(layout.config, {**document, "steps": names})
    try:
        for step in steps:
            state = find_state(step, root)
            seconds = 0.0 if state == "done" else run_step(step, root)
            if report:
                report(step, state, seconds)
    except InputError:
        if [*root.iterdir()] == [layout.config]:  # no step has made anything
            layout.config.unlink()
        raise
    return layout.page


def plan_run(
    config: Config,
    root: Path,
    *,
    workers: int = 1,
    engine: Engine | None = None,
    quiet: bool = True,
) -> list[Step]:
    """Return the steps of a run in the order in which they depend on each other."""
    engine = engine or LocalEngine(workers)
    run = RunContext(
        RunLayout(root),
        workers,
        quiet,
        draw_curve,
        engine=engine,
        trust_remote_code=config.trust_remote_code,
    )
    steps: list[Step] = []
    for stage in STAGES:
        steps += stage(config, run, tuple(steps))
    return steps
