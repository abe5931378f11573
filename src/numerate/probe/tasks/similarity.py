"""What a task asks of a system: vectors of texts, or how similar documents are to queries.

A system that has vectors needs nothing else: the similarity is then the cosine.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from numerate.probe.statistics import Floats, unit_rows

Embed = Callable[[Sequence[str]], npt.NDArray[Any]]
"""From texts to vectors, a row for each."""
Search = Callable[[Sequence[str], Sequence[str]], Floats]
"""From queries and documents to similarities, a row for each query, a column for each document."""


def search_by(embed: Embed, embed_documents: Embed | None = None) -> Search:
    """Return a search by the cosine of vectors; documents may be embedded in a way of their own."""

    def search(queries: Sequence[str], documents: Sequence[str]) -> Floats:
        found = unit_rows((embed_documents or embed)(documents))
        similarities: Floats = unit_rows(embed(queries)) @ found.T
        return similarities

    return search
