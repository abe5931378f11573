"""What probing shows on the command line: settings, tables of scores, differences in pairs."""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from numerate.probe.protocols import Protocol
from numerate.probe.scores import Summary
from numerate.report.tables import ScoreTable, is_contestant


def show_protocol(protocol: Protocol, notes: Iterable[str]) -> RenderableType:
    """Return the settings of a protocol, and what had to be left out."""
    lists = protocol.lists
    unit = "times the vector's width" if lists.kind == "lstm" else "units"
    lines = [
        f"Protocol {protocol.name}: {protocol.split} are split 80/20; {protocol.n_train} pairs or "
        f"lists to train, {protocol.n_test} to test, {protocol.close_share:.0%} of lists close",
        f"decoding, addition: XGBoost, {protocol.trees} trees of depth {protocol.depth} at "
        f"{protocol.learning_rate:g}, {protocol.wide_bins} quantiles of each coordinate of a wide "
        "input; ridge beside it",
        f"lists: {lists.kind}, {lists.layers} layers of {lists.width:g} {unit}, {lists.outputs}, "
        f"{lists.epochs} epochs, batch {lists.batch}, rate {lists.learning_rate:g}; epoch "
        + ("chosen on a validation part" if lists.choose_epoch else "the last"),
        *notes,
    ]
    return Group(*map(Text, lines))


def show_scores(tables: Sequence[ScoreTable]) -> RenderableType:
    """Return tables of scores: means and 95 % intervals over seeds, the best of a column bold.

    Controls that are told the number, and the paper's figures, stand beside and are never best.
    """
    return Group(*map(_score_table, tables))


def _score_table(scores: ScoreTable) -> Table:
    better = "less is better" if scores.low_is_good else "more is better"
    table = _start_table(scores, f"{scores.title} ({better})")
    for system, row in scores.rows.items():
        best = {name: scores.best(name) for name in scores.ranges} if is_contestant(system) else {}
        cells = [_score_cell(row.get(name), best.get(name)) for name in scores.ranges]
        table.add_row(Text(system), *cells)
    return table


def _start_table(scores: ScoreTable, title: str) -> Table:
    """A table with a column for each range, narrow enough for all of them."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("system", overflow="fold")
    for name in scores.ranges:
        table.add_column(Text(name), justify="right", min_width=8)
    return table


def _score_cell(summary: Summary | None, best: float | None) -> Text:
    if summary is None:
        return Text("–")
    cell = Text(f"{summary.mean:.4f}", style="bold" if summary.mean == best else "")
    return cell if summary.n_seeds == 1 else cell.append(f"\n±{summary.half:.4f}", style="dim")


def show_differences(tables: Sequence[ScoreTable], system: str) -> RenderableType:
    """Return how far systems are from one of them; a star where the interval excludes zero."""
    parts: list[RenderableType] = []
    for scores in tables:
        table = _start_table(scores, f"{scores.title}, difference to {system}")
        for other, row in scores.rows.items():
            cells = [_difference_cell(row.get(name)) for name in scores.ranges]
            table.add_row(Text(other), *cells)
        parts.append(table)
    note = "* the 95 % interval of the paired difference over seeds excludes zero"
    return Group(*parts, Text(note, style="dim"))


def _difference_cell(summary: Summary | None) -> Text:
    if summary is None:
        return Text("–")
    star = "*" if abs(summary.mean) > summary.half else ""  # never for a single seed
    cell = Text(f"{summary.mean:+.4f}{star}")
    return cell if summary.n_seeds == 1 else cell.append(f"\n±{summary.half:.4f}", style="dim")
