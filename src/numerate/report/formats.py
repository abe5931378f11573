"""Formats: a table of scores as Markdown, LaTeX and HTML, and HTML from templates in `data/`."""

from typing import TYPE_CHECKING

from numerate.errors import needs_extra
from numerate.markdown import escape_markdown, format_table, join_lines
from numerate.report.charts import Systems
from numerate.report.tables import Grid, RowKind, TableCell

if TYPE_CHECKING:
    from markupsafe import Markup

MISSING = "–"
KIND_TITLES: dict[RowKind, str] = {
    "probed": "",
    "given": "controls that are given the number",
    "paper": "as the paper reports",
}
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''"},
        **{"[": "{[}", "]": "{]}", "*": "{*}", "–": "--", "†": r"\dag{}"},
    }
)


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX shows as it is; a character that its fonts may lack becomes `?`.

    >>> escape_latex("50 % of x_1 ∈ C")
    '50 \\% of x\\_1 ? C'
    """
    plain = "".join(c if c.isascii() or c in "–†±²äöüßéèà" else "?" for c in join_lines(text))
    return plain.translate(_LATEX).replace("±", r"$\pm$").replace("²", r"\textsuperscript{2}")


def to_markdown(grid: Grid) -> str:
    """Return a grid as a Markdown table with its title and its note."""
    heads = [
        escape_markdown(f"{column.task.removeprefix('list-')} {column.range}")
        for column in grid.columns
    ]
    lines = []
    for kind, rows in grid.kinds:
        if KIND_TITLES[kind]:
            lines.append([f"*{KIND_TITLES[kind]}*", *[""] * len(heads)])
        lines += [[escape_markdown(row.label), *map(_markdown_cell, row.cells)] for row in rows]
    table = format_table(["system", *heads], lines, right=True)
    note = f"{'; '.join(title for title, _ in grid.groups)}. {grid.note('marked with †')}"
    return f"**{escape_markdown(grid.title)}**\n\n{table}\n{escape_markdown(note)}\n"


def _markdown_cell(cell: TableCell | None) -> str:
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
        if KIND_TITLES[kind]:
            lines.append(
                rf"\multicolumn{{{len(heads) + 1}}}{{l}}{{\emph{{{KIND_TITLES[kind]}}}}} \\"
            )
        lines += [
            " & ".join([escape_latex(row.label), *map(_latex_cell, row.cells)]) + r" \\"
            for row in rows
        ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table*}", ""])


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
    value = f"{cell.summary.mean:.4f}"
    marked = {"best": rf"\textbf{{{value}}}", "close": rf"\underline{{{value}}}"}
    return marked.get(cell.mark, value) + _interval(cell, r" {{\scriptsize $\pm$ {:.4f}}}")


def to_html(grid: Grid, systems: Systems, *, with_note: bool = False) -> "Markup":
    """Return a grid as an HTML table, with its note below if asked for."""
    return render_template(
        "table.html.j2",
        grid=grid,
        systems=systems,
        kind_titles=KIND_TITLES,
        missing=MISSING,
        note=grid.note() if with_note else "",
    )


def _interval(cell: TableCell, form: str) -> str:
    return "" if cell.summary.n_seeds == 1 else form.format(cell.summary.half)


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
