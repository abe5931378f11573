"""The output of `numerate probe`: the settings, tables of scores and of paired differences."""

from collections.abc import Callable, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from numerate.probe.protocols import TREE_DEPTH, Protocol
from numerate.probe.scores import Score
from numerate.probe.statistics import Summary
from numerate.report.paper import find_paper_scores
from numerate.report.tables.comparisons import Gain
from numerate.report.tables.formats import ADDS
from numerate.report.tables.grid import Grid, TableCell, tabulate_differences, tabulate_scores
from numerate.report.tables.notes import describe_grid, describe_repeats, find_repeats
from numerate.report.tables.numbers import MISSING, format_interval, format_mean


def show_protocol(protocol: Protocol, notes: Iterable[str]) -> RenderableType:
    """Return the settings of a protocol, followed by notes such as cells that were left out."""
    lists = protocol.lists
    unit = "times the vector's width" if lists.kind == "lstm" else "units"
    lines = [
        f"Protocol {protocol.name}: {protocol.split} are split 80/20; {protocol.n_train} pairs or "
        f"lists of each range to train, {protocol.n_test} pairs or {protocol.n_test_lists} lists "
        f"to test, {protocol.close_share:.0%} of lists close",
        f"decoding, addition: XGBoost, {protocol.trees} trees of depth {TREE_DEPTH} at "
        f"{protocol.learning_rate:g}, {protocol.wide_bins} quantiles of each coordinate of a wide "
        "input; ridge beside it",
        f"lists: {lists.kind}, {lists.layers} layers of {lists.width:g} {unit}, {lists.outputs}, "
        f"{lists.epochs} epochs, batch {lists.batch}, rate {lists.learning_rate:g}; epoch "
        + ("chosen on a validation part" if lists.choose_epoch else "the last"),
        *notes,
    ]
    return Group(*map(Text, lines))


def show_results(scores: Sequence[Score], *, compare: bool, against: str | None) -> RenderableType:
    """Return tables of scores, with the paper's or with differences from a system if asked for."""
    beside = find_paper_scores(scores) if compare else []
    shown = [show_scores(tabulate_scores([*scores, *beside]))]
    if against is not None:
        shown.append(show_differences(tabulate_differences(scores, against), against))
    return Group(*shown)


def show_scores(grids: Sequence[Grid]) -> RenderableType:
    """Return tables of scores with what training adds, and a note on how to read the first one."""
    notes = [Text(describe_grid(grid), style="dim") for grid in grids[:1]]
    return Group(*map(_score_table, grids), *notes)


def _score_table(grid: Grid) -> Table:
    better = "less is better" if grid.columns[0].low_is_good else "more is better"
    return _fill_table(grid, f"{grid.title} ({better})", _score_cell)


def _fill_table(grid: Grid, title: str, write: Callable[[TableCell], Text]) -> Table:
    """Return a table with a column for each range, narrow enough for all of them."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("system", overflow="fold")
    for column in grid.columns:
        table.add_column(Text(column.range), justify="right", min_width=8)
    for row in grid.rows:
        cells = [
            _add_interval(write(cell), cell.summary) if cell else Text(MISSING)
            for cell in row.cells
        ]
        table.add_row(Text(row.system), *cells)
        if row.gains:
            table.add_row(Text(f"  {ADDS}", style="italic"), *map(_gain_cell, row.gains))
    return table


def _score_cell(cell: TableCell) -> Text:
    style = {"best": "bold", "close": "underline", "": ""}[cell.mark]
    return Text(format_mean(cell.summary), style=style)


def _gain_cell(gain: Gain | None) -> Text:
    if gain is None:
        return Text(MISSING)
    text = _add_interval(Text(format_mean(gain.difference, signed=True)), gain.difference)
    return text.append(f"\n{gain.effect}", style="bold") if gain.effect else text


def show_differences(grids: Sequence[Grid], system: str) -> RenderableType:
    """Return tables of differences from one system; a star marks intervals that exclude zero."""
    tables = [
        _fill_table(grid, f"{grid.title}, difference to {system}", _difference_cell)
        for grid in grids
    ]
    repeats = dict.fromkeys(describe_repeats(find_repeats(grid)) for grid in grids)
    note = f"* the 95 % interval of the paired difference excludes zero ({'; '.join(repeats)})"
    return Group(*tables, Text(note, style="dim"))


def _difference_cell(cell: TableCell) -> Text:
    star = "*" if cell.summary.sign else ""  # never for a single seed
    return Text(f"{format_mean(cell.summary, signed=True)}{star}")


def _add_interval(text: Text, summary: Summary) -> Text:
    """Add the interval of a mean in lines of its own, which keeps columns narrow."""
    interval = format_interval(summary).strip().replace("± ", "±").replace(" to ", " to\n")
    return text.append(f"\n{interval}", style="dim") if interval else text
