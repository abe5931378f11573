"""Search examples: a query with a number, and what each sentence encoder of a run finds first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numerate.markdown import escape_markdown, format_table
from numerate.probe.diagnostics import Diagnostics
from numerate.report.tables.formats import render_template

SEARCH_TITLE = "A query with a number: what is found first"


@dataclass(frozen=True)
class SearchExample:
    """A query, and by system the texts that are found, the most similar first."""

    query: str
    found: Mapping[str, tuple[str, ...]]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The texts of all systems, from the most similar ones on."""
        return list(zip(*self.found.values(), strict=True))


def make_searches(diagnostics: Sequence[Diagnostics]) -> list[SearchExample]:
    """Return the queries of the sentence encoders of a run; none if it has no such encoder."""
    of_systems = {one.system: one.searches for one in diagnostics if one.searches}
    queries = dict.fromkeys(query for searches in of_systems.values() for query in searches)
    return [
        SearchExample(
            query,
            {system: found[query] for system, found in of_systems.items() if query in found},
        )
        for query in queries
    ]


def describe_searches(examples: Sequence[SearchExample]) -> str:
    """Return what is searched."""
    n_systems = len(examples[0].found)
    return (
        f"{len(examples)} queries, and the texts that each of {n_systems} sentence encoders finds "
        "first among sentences of our own on many subjects, with twenty numbers from 1 to 10^10 "
        "each. Examples to look at, not a score."
    )


def searches_to_html(examples: Sequence[SearchExample]) -> str:
    """Return the examples as HTML."""
    return render_template("searches.html.j2", examples=examples)


def searches_to_markdown(examples: Sequence[SearchExample]) -> str:
    """Return the examples as Markdown: for each query a table with a column for each system."""
    return "\n".join(
        f"**{escape_markdown(example.query)}**\n\n"
        + format_table(
            [escape_markdown(system) for system in example.found],
            [[*map(escape_markdown, row)] for row in example.rows],
        )
        for example in examples
    )
