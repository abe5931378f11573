"""Markup: a grid of scores as Markdown, LaTeX and HTML, in which every name is just text."""

import re
from collections.abc import Iterable
from html import escape

from numerate.report.charts import Cast
from numerate.report.paper_tables import Cell, Grid, Kind, Row

MISSING = "–"
_KINDS: dict[Kind, str] = {
    "probed": "",
    "given": "controls that are given the number",
    "paper": "as the paper reports",
}
_MARKDOWN = str.maketrans(
    {
        **{character: f"\\{character}" for character in "\\`*_[]~#!$"},
        **{"<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;"},
    }
)
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''"},
        **{"[": "{[}", "]": "{]}", "*": "{*}", "–": "--", "†": r"\dag{}"},
    }
)


def escape_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it is, in a cell of a table too.

    >>> escape_markdown("a|b *c* <d>")
    'a&#124;b \\*c\\* &lt;d&gt;'
    """
    return _one_line(text).translate(_MARKDOWN)


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX shows as it is; what its fonts may lack becomes a question mark.

    >>> escape_latex("50 % of x_1 ∈ C")
    '50 \\% of x\\_1 ? C'
    """
    plain = "".join(c if c.isascii() or c in "–†±²äöüßéèà" else "?" for c in _one_line(text))
    return plain.translate(_LATEX).replace("±", r"$\pm$").replace("²", r"\textsuperscript{2}")


def _one_line(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).strip()


def to_markdown(grid: Grid) -> str:
    """Return a grid as a Markdown table with its title and its note."""
    heads = [f"{_short(column.task)} {column.range}" for column in grid.columns]
    lines = [
        f"**{escape_markdown(grid.title)}**",
        "",
        _markdown_row(["system", *map(escape_markdown, heads)]),
        "|:--|" + "--:|" * len(heads),
    ]
    for kind, rows in grid.kinds:
        if _KINDS[kind]:
            lines.append(_markdown_row([f"*{_KINDS[kind]}*", *[""] * len(heads)]))
        lines += [
            _markdown_row([escape_markdown(row.label), *map(_markdown_cell, row.cells)])
            for row in rows
        ]
    metrics = "; ".join(title for title, _ in grid.groups)
    return "\n".join(
        [*lines, "", f"{escape_markdown(metrics)}. {escape_markdown(grid.note('with a †'))}", ""]
    )


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell | None) -> str:
    if cell is None:
        return MISSING
    value = f"{cell.summary.mean:.4f}"
    value = {"best": f"**{value}**", "close": f"{value}†", "": value}[cell.mark]
    return f"{value}{_interval(cell, ' ±{:.4f}')}"


def to_latex(grid: Grid) -> str:
    """Return a grid as a LaTeX table for the packages booktabs and graphicx."""
    groups = [rf"\multicolumn{{{n}}}{{c}}{{{escape_latex(title)}}}" for title, n in grid.groups]
    heads = [escape_latex(column.range) for column in grid.columns]
    lines = [
        r"% needs \usepackage{booktabs} and \usepackage{graphicx}",
        r"\begin{table*}",
        r"\centering",
        rf"\caption{{{escape_latex(grid.title)}. {escape_latex(grid.note())}}}",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
        r"\toprule",
        " & ".join(["", *groups]) + r" \\",
        _latex_rules(grid),
        " & ".join(["system", *heads]) + r" \\",
    ]
    for kind, rows in grid.kinds:
        lines.append(r"\midrule")
        if _KINDS[kind]:
            lines.append(rf"\multicolumn{{{len(heads) + 1}}}{{l}}{{\emph{{{_KINDS[kind]}}}}} \\")
        lines += map(_latex_row, rows)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table*}", ""])


def _latex_rules(grid: Grid) -> str:
    """A rule under each group of columns."""
    rules, start = [], 2
    for _, n_columns in grid.groups:
        rules.append(rf"\cmidrule(lr){{{start}-{start + n_columns - 1}}}")
        start += n_columns
    return " ".join(rules)


def _latex_row(row: Row) -> str:
    return " & ".join([escape_latex(row.label), *map(_latex_cell, row.cells)]) + r" \\"


def _latex_cell(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    value = f"{cell.summary.mean:.4f}"
    value = {"best": rf"\textbf{{{value}}}", "close": rf"\underline{{{value}}}", "": value}[
        cell.mark
    ]
    return value + _interval(cell, r" {{\scriptsize $\pm$ {:.4f}}}")


def to_html(grid: Grid, cast: Cast) -> str:
    """Return a grid as an HTML table without scripts, styles or the note.

    Args:
        grid: The table.
        cast: The systems of the page, by whose numbers rows are switched on and off.
    """
    groups = "".join(
        f'<th colspan="{n}" scope="colgroup">{escape(title)}</th>' for title, n in grid.groups
    )
    starts = _group_starts(grid)
    heads = "".join(
        _html_head(column.range, "edge" if index in starts else "")
        for index, column in enumerate(grid.columns)
    )
    bodies = "\n".join(
        f'<tbody class="{kind}">\n{_html_kind(kind, len(grid.columns) + 1)}'
        + "\n".join(_html_row(row, cast, starts) for row in rows)
        + "\n</tbody>"
        for kind, rows in grid.kinds
    )
    return (
        f"<table>\n<caption>{escape(grid.title)}</caption>\n"
        f"<thead>\n<tr><td></td>{groups}</tr>\n<tr>{_html_head('system', '')}{heads}</tr>\n"
        f"</thead>\n{bodies}\n</table>\n"
    )


def _group_starts(grid: Grid) -> set[int]:
    titles = [column.title for column in grid.columns]
    return {titles.index(title) for title in titles}


def _html_head(name: str, css: str) -> str:
    return f'<th scope="col" class="{css}"><button type="button">{escape(name)}</button></th>'


def _html_kind(kind: Kind, width: int) -> str:
    """The line above rows of a kind, if they are not the plain ones."""
    if not _KINDS[kind]:
        return ""
    return f'<tr class="kind"><th colspan="{width}"><span>{_KINDS[kind]}</span></th></tr>\n'


def _html_row(row: Row, cast: Cast, starts: set[int]) -> str:
    switch = ""
    if row.system in cast.names:
        switch = f' data-systems="{cast.number(row.system)}" data-slot="{cast.slot(row.system)}"'
    cells = "".join(
        _html_cell(cell, "edge" if index in starts else "") for index, cell in enumerate(row.cells)
    )
    return f'<tr{switch}><th scope="row">{escape(row.label)}</th>{cells}</tr>'


def _html_cell(cell: Cell | None, edge: str) -> str:
    if cell is None:
        return f'<td class="{edge}">{MISSING}</td>'
    css = f"{edge} {cell.mark}".strip()
    value = f"{cell.summary.mean:.4f}"
    value = {"best": f"<b>{value}</b>", "close": f"<u>{value}</u>", "": value}[cell.mark]
    interval = _interval(cell, " <small>±{:.4f}</small>")
    return f'<td class="{css}" data-value="{cell.summary.mean!r}">{value}{interval}</td>'


def _interval(cell: Cell, form: str) -> str:
    return "" if cell.summary.n_seeds == 1 else form.format(cell.summary.half)


def _short(task: str) -> str:
    return {"list-maximum": "maximum", "list-minimum": "minimum"}.get(task, task)
