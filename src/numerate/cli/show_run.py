"""Tables that run and demo print: the finished steps, the plan, and the results."""

from collections.abc import Iterator
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from numerate.cli.arguments import path_line
from numerate.cli.show import start_table
from numerate.cli.show_probe import show_scores
from numerate.progress import format_seconds
from numerate.report.figures.neighbour_charts import tabulate_neighbours
from numerate.report.paper import find_paper_scores
from numerate.report.run_folder import RunFiles, read_run
from numerate.report.search_examples import make_searches
from numerate.report.tables.grid import tabulate_scores
from numerate.report.write import choose_headline
from numerate.run.config import Config
from numerate.run.execute import plan_run
from numerate.steps import Step, find_states
from numerate.work import State

_PLANS: dict[State, str] = {
    "done": "done",
    "changed": "again: changed",
    "unfinished": "continues",
    "new": "to do",
}
_SEARCHES = 1  # of the queries to look at; the page has all
_HEADLINES = {("decoding", "log-rmse"), ("list-maximum", "accuracy")}


def show_step(step: Step, state: State, seconds: float) -> RenderableType:
    """Return a line about a finished step."""
    if state == "done":
        return Text(f"{step.title}: done already", style="dim")
    line = Text(step.title, style="bold")
    return line.append(f": {format_seconds(seconds)}", style="")


def show_plan(config: Config, root: Path, workers: int) -> RenderableType:
    """Return the steps of a run, and how long each may take on this machine."""
    table = start_table(f"{config.name} in {root}", "step", "state", right=("expected",))
    steps = plan_run(config, root, workers=workers)
    states = find_states(steps, root)
    expected: list[float | None] = []
    for step, state in zip(steps, states, strict=True):
        seconds = 0.0 if state == "done" else step.estimate()
        cell = "unknown" if seconds is None else format_seconds(seconds) if seconds else ""
        table.add_row(Text(step.title), _PLANS[state], cell)
        expected.append(seconds)
    if set(states) == {"done"}:
        return Group(table, Text("All is done."))
    total = sum(seconds or 0.0 for seconds in expected)
    unknown = None in expected
    more = (
        "; not in it are datasets of the hub before extract, and tasks on texts" if unknown else ""
    )
    return Group(table, Text(f"About {format_seconds(total)} with {workers} processes{more}"))


def show_result(root: Path, page: Path, *, compare: str) -> RenderableType:
    """Return the main tables of a run, the cells that were left out, and the path of its page."""
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
    more = path_line(f"All tables are in {page.parent / 'tables'}", "dim")
    notes = [Text(note, style="dim") for note in run.notes]
    return Group(
        _show_neighbours(run),
        tables,
        *_show_searches(run),
        Text(f"{headline.title}.", style="bold"),
        Text(f"{headline.detail}\n"),
        *notes,
        more,
        path_line(f"The page is {page}", "bold"),
    )


def _show_neighbours(run: RunFiles) -> RenderableType:
    """Return a table of the numbers most like a few examples, or nothing if the run has none."""
    header, rows = tabulate_neighbours(run.diagnostics)
    if not rows:
        return Text()
    several = f" (first of {run.n_trainings} trainings)" if run.n_trainings > 1 else ""
    title = f"Which numbers are most like it?{several}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for name in header:
        table.add_column(Text(name))
    for row in rows:
        table.add_row(*(Text(cell.replace("  ", "\n")) for cell in row))
    return table


def _show_searches(run: RunFiles) -> Iterator[RenderableType]:
    """Yield what each sentence encoder finds for a few queries."""
    for example in make_searches(run.diagnostics)[:_SEARCHES]:
        yield Text(f"Searched for: {example.query}", style="bold")
        for system, texts in example.found.items():
            yield Text(f"  found by {system}:")
            yield from (Text(f"    {text}", style="dim") for text in texts)
        yield Text()
