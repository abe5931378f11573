"""The output of `numerate probe`: the settings, tables of scores and of paired differences."""

from collections.abc import Callable, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from numerate.probe.protocols import TREE_DEPTH, Protocol
from numerate.report.formats import MISSING
from numerate.report.tables import Grid, TableCell


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


def show_scores(grids: Sequence[Grid]) -> RenderableType:
    """Return tables of scores: means and 95 % intervals over seeds, the best of a column bold."""
    return Group(*map(_score_table, grids))


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
        cells = [_add_interval(write(cell), cell) if cell else Text(MISSING) for cell in row.cells]
        table.add_row(Text(row.system), *cells)
    return table


def _score_cell(cell: TableCell) -> Text:
    return Text(f"{cell.summary.mean:.4f}", style="bold" if cell.mark == "best" else "")


def show_differences(grids: Sequence[Grid], system: str) -> RenderableType:
    """Return tables of differences from one system; a star marks intervals that exclude zero."""
    tables = [
        _fill_table(grid, f"{grid.title}, difference to {system}", _difference_cell)
        for grid in grids
    ]
    note = "* the 95 % interval of the paired difference over seeds excludes zero"
    return Group(*tables, Text(note, style="dim"))


def _difference_cell(cell: TableCell) -> Text:
    mean = cell.summary.mean
    star = "*" if abs(mean) > cell.summary.half else ""  # never for a single seed
    return Text(f"{mean:+.4f}{star}")


def _add_interval(text: Text, cell: TableCell) -> Text:
    if cell.summary.n_seeds == 1:
        return text
    return text.append(f"\n±{cell.summary.half:.4f}", style="dim")
