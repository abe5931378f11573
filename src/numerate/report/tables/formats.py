"""Formats: a table of scores as Markdown, LaTeX and HTML, and HTML from templates in `data/`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from numerate.errors import needs_extra
from numerate.extract.ranges import ALL
from numerate.markdown import escape_markdown, format_table, join_lines
from numerate.models.labels import SystemLabel
from numerate.report.figures.charts import Systems
from numerate.report.tables.grid import Grid, RowKind, TableCell
from numerate.report.tables.notes import describe_grid
from numerate.report.tables.numbers import MISSING, format_gain, format_interval, format_mean

if TYPE_CHECKING:
    from markupsafe import Markup

ADDS = "training adds"
KIND_TITLES: dict[RowKind, str] = {
    "probed": "",
    "rule": "controls: a rule, no model",
    "given": "controls that are given the number",
    "paper": "as the paper reports",
}
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''"},
        **{"[": "{[}", "]": "{]}", "*": "{*}", "–": "--", "†": r"\dag{}"},
        **{"±": r"$\pm$", "−": "$-$", "²": r"\textsuperscript{2}"},
    }
)


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX shows as it is; a character that its fonts may lack becomes `?`.

    >>> escape_latex("50 % of x_1 ∈ C")
    '50 \\% of x\\_1 ? C'
    """
    plain = "".join(c if c.isascii() or c in "–−†±²äöüßéèà" else "?" for c in join_lines(text))
    return plain.translate(_LATEX)


def to_markdown(grid: Grid) -> str:
    """Return a grid as a Markdown table with its title and its note."""
    heads = [escape_markdown(name) for name in _name_columns(grid)]
    lines = []
    for kind, rows in grid.kinds:
        if KIND_TITLES[kind]:
            lines.append([f"*{KIND_TITLES[kind]}*", *[""] * len(heads)])
        for row in rows:
            lines.append([escape_markdown(row.label), *map(_markdown_cell, row.cells)])
            if row.gains:
                lines.append([f"*{ADDS}*", *map(format_gain, row.gains)])
    table = format_table(["system", *heads], lines, right=True)
    note = f"{'; '.join(title for title, _ in grid.groups)}. {describe_grid(grid, 'marked with †')}"
    return f"**{escape_markdown(grid.title)}**\n\n{table}\n{escape_markdown(note)}\n"


def _name_columns(grid: Grid) -> list[str]:
    """Return a short name of each column.

    Metrics are in it if a task has several, ranges if there is more than that of all numbers.
    """
    several = len(grid.groups) > len({column.task for column in grid.columns})
    tasks = [c.title if several else c.task.removeprefix("list-") for c in grid.columns]
    if all(column.range == ALL for column in grid.columns):
        return tasks
    return [f"{task} {c.range}" for task, c in zip(tasks, grid.columns, strict=True)]


def _markdown_cell(cell: TableCell | None) -> str:
    if cell is None:
        return MISSING
    value = format_mean(cell.summary)
    value = {"best": f"**{value}**", "close": f"{value}†", "": value}[cell.mark]
    return f"{value}{format_interval(cell.summary)}"


def to_latex(grid: Grid) -> str:
    """Return a grid as a LaTeX table for the packages booktabs and graphicx."""
    groups = [rf"\multicolumn{{{n}}}{{c}}{{{escape_latex(title)}}}" for title, n in grid.groups]
    heads = [escape_latex(column.range) for column in grid.columns]
    lines = [
        r"% needs \usepackage{booktabs} and \usepackage{graphicx}",
        r"\begin{table*}",
        r"\centering",
        rf"\caption{{{escape_latex(grid.title)}. {escape_latex(describe_grid(grid))}}}",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
        r"\toprule",
        " & ".join(["", *groups]) + r" \\",
        _latex_rules(grid),
        " & ".join(["system", *heads]) + r" \\",
    ]
    for kind, rows in grid.kinds:
        lines.append(r"\midrule")
        if KIND_TITLES[kind]:
            lines.append(
                rf"\multicolumn{{{len(heads) + 1}}}{{l}}{{\emph{{{KIND_TITLES[kind]}}}}} \\"
            )
        for row in rows:
            lines.append(_latex_row(escape_latex(row.label), map(_latex_cell, row.cells)))
            if row.gains:
                gains = (escape_latex(format_gain(gain)) for gain in row.gains)
                lines.append(_latex_row(rf"\quad\emph{{{ADDS}}}", gains))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table*}", ""])


def _latex_row(label: str, cells: Iterable[str]) -> str:
    return " & ".join([label, *cells]) + r" \\"


def _latex_rules(grid: Grid) -> str:
    """Return a rule under each group of columns."""
    rules, start = [], 2
    for _, n_columns in grid.groups:
        rules.append(rf"\cmidrule(lr){{{start}-{start + n_columns - 1}}}")
        start += n_columns
    return " ".join(rules)


def _latex_cell(cell: TableCell | None) -> str:
    if cell is None:
        return "--"
    value = escape_latex(format_mean(cell.summary))
    marked = {"best": rf"\textbf{{{value}}}", "close": rf"\underline{{{value}}}"}
    interval = escape_latex(format_interval(cell.summary))
    return marked.get(cell.mark, value) + (rf" {{\scriptsize {interval}}}" if interval else "")


def to_html(grid: Grid, systems: Systems, *, with_note: bool = False) -> "Markup":
    """Return a grid as an HTML table, with its note below if asked for."""
    return render_template(
        "table.html.j2",
        grid=grid,
        systems=systems,
        kind_titles=KIND_TITLES,
        missing=MISSING,
        adds=ADDS,
        format_mean=format_mean,
        format_interval=format_interval,
        format_gain=format_gain,
        find_pair=_find_pair,
        note=describe_grid(grid) if with_note else "",
    )


def _find_pair(twin: str, systems: Systems) -> list[int]:
    """Return the indices of a twin and of its trained system."""
    pair = (twin, str(SystemLabel.parse(twin).trained))
    return [systems.index(name) for name in pair if name in systems.names]


def render_template(name: str, **values: object) -> "Markup":
    """Return a template with its values, as HTML that other templates do not escape again."""
    with needs_extra("the page", "report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    environment = Environment(
        loader=PackageLoader("numerate", "data"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return Markup(environment.get_template(name).render(values))
