"""What a run shows on the command line: its steps as they are done, its plan, its result."""

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from numerate.cli.show_probe import show_scores
from numerate.progress import tell_seconds
from numerate.report.run_folder import RunFiles, read_run
from numerate.report.system_charts import tabulate_neighbours
from numerate.report.tables import find_paper_scores, tabulate_scores
from numerate.report.write import choose_headline
from numerate.run.config import Config
from numerate.run.estimate import Estimator
from numerate.run.execute import plan_run
from numerate.run.steps import State, Step, judge_steps

_PLANS: dict[State, str] = {
    "done": "done",
    "changed": "again: changed",
    "unfinished": "goes on",
    "new": "to do",
}
_HEADLINES = {("decoding", "log-rmse"), ("list-maximum", "accuracy")}


def show_step(step: Step, state: State, seconds: float) -> RenderableType:
    """Return a line on a step that is done."""
    if state == "done":
        return Text(f"{step.title}: done already", style="dim")
    line = Text(step.title, style="bold")
    return line.append(f": {tell_seconds(seconds)}", style="")


def show_plan(config: Config, root: Path, workers: int) -> RenderableType:
    """Return what would run, and how long it may take on this machine."""
    estimator = Estimator(config, root, workers)
    table = Table(title=f"{config.name} in {root}", title_justify="left")
    for name in ("step", "state"):
        table.add_column(name)
    table.add_column("expected", justify="right")
    steps = plan_run(config, root)
    states = judge_steps(steps, root)
    expected = {
        step.title: estimator.expect(step)
        for step, state in zip(steps, states, strict=True)
        if state != "done"
    }
    for step, state in zip(steps, states, strict=True):
        seconds = expected.get(step.title, 0.0)
        cell = "unknown" if seconds is None else tell_seconds(seconds) if seconds else ""
        table.add_row(Text(step.title), _PLANS[state], cell)
    if not expected:
        return Group(table, Text("All is done."))
    total = sum(seconds or 0.0 for seconds in expected.values())
    unknown = None in expected.values()
    more = "; what is unknown can be told when extract has run" if unknown else ""
    return Group(table, Text(f"About {tell_seconds(total)} with {workers} processes{more}"))


def show_result(root: Path, page: Path, *, compare: str) -> RenderableType:
    """Return the main tables of a run, what was left out of them, and where its page is."""
    run = read_run(root)
    scores = [
        score
        for score in run.scores
        if (score.task, score.metric) in _HEADLINES and score.domain == "in"
    ]
    beside = (
        [s for s in find_paper_scores(scores) if s.domain == "in"] if compare == "paper" else []
    )
    tables = show_scores(tabulate_scores([*scores, *beside]))
    headline = choose_headline(run)
    more = Text(f"All tables are in {page.parent / 'tables'}", style="dim")
    notes = [Text(note, style="dim") for note in run.notes]
    return Group(
        _show_neighbours(run),
        tables,
        Text(f"{headline.title}.", style="bold"),
        Text(f"{headline.detail}\n"),
        *notes,
        more,
        Text(f"The page is {page}", style="bold"),
    )


def _show_neighbours(run: RunFiles) -> RenderableType:
    """The numbers that each system finds most like some examples, if the run looked for them."""
    header, rows = tabulate_neighbours(run.portraits)
    if not rows:
        return Text()
    table = Table(title="Which numbers are most like it?", title_justify="left", box=SIMPLE_HEAD)
    for name in header:
        table.add_column(Text(name))
    for row in rows:
        table.add_row(*(Text(cell.replace("  ", "\n")) for cell in row))
    return table
