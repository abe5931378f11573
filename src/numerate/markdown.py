"""Markdown: text that shows as it is, and tables."""

import re
from collections.abc import Iterable, Sequence

_ESCAPES = str.maketrans(
    {
        **{character: f"\\{character}" for character in "\\`*_[]~#!$"},
        **{"<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;"},
    }
)


def escape_markdown(text: str) -> str:
    r"""Return text in one line that Markdown shows as it is, also in a cell of a table.

    >>> escape_markdown("a|b *c* <d>")
    'a&#124;b \\*c\\* &lt;d&gt;'
    """
    return join_lines(text).translate(_ESCAPES)


def join_lines(text: str) -> str:
    r"""Return text in one line: runs of white space and control characters become one blank.

    >>> join_lines(" a\n\t b ")
    'a b'
    """
    return re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).strip()


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: bool = False) -> str:
    """Return a Markdown table; its cells are Markdown already.

    With `right`, all columns but the first are aligned to the right, as numbers are.

    >>> print(format_table(["a", "b"], [["1", ""]]), end="")
    | a | b |
    |---|---|
    | 1 | |
    """
    rule = f"|---|{('--:|' if right else '---|') * (len(head) - 1)}"
    return "\n".join([_format_row(head), rule, *map(_format_row, rows)]) + "\n"


def _format_row(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)
