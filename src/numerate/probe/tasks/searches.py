"""Searches to look at: a few queries with a number, and the texts that an encoder finds first.

The texts are this project's own: one sentence on each subject, with twenty numbers from 1 to 10^10.
They show what the scores of the sentence tasks mean; they are not a score.
"""

from functools import cache

import numpy as np

from numerate.probe.tasks.amounts import write_amount
from numerate.probe.tasks.sentence_tasks import read_sentences
from numerate.probe.tasks.similarity import Search

_ASKED = {  # subjects, and what their queries ask for
    "newsletter": "416,000",
    "bridge": "1,200",
    "revenue": "1,820 million",
    "daily dose": "75",
    "museum visitors": "more than 30,000",
}
_NUMBERS, _DECADES, _TOP = 20, 10, 5


@cache
def draw_searches() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return queries and documents, the same ones every time."""
    rng = np.random.default_rng(0)
    subjects = read_sentences()["subjects"]
    first = {subject["name"]: subject["ask"][0] for subject in subjects}
    queries = tuple(first[name].replace("{n}", number) for name, number in _ASKED.items())
    exponents = (np.arange(_NUMBERS) + rng.random((len(subjects), _NUMBERS))) * _DECADES / _NUMBERS
    documents = [
        subject["tell"][0].replace("{n}", write_amount(round(float(f"{number:.3g}")), "scaled"))
        for subject, numbers in zip(subjects, 10**exponents, strict=True)
        for number in numbers
    ]
    return queries, tuple(documents)


def search_examples(search: Search) -> dict[str, tuple[str, ...]]:
    """Return the five documents that are found first, by query."""
    queries, documents = draw_searches()
    found = np.argsort(-search(queries, documents), axis=1, kind="stable")[:, :_TOP]
    return {
        query: tuple(documents[place] for place in row)
        for query, row in zip(queries, found.tolist(), strict=True)
    }
