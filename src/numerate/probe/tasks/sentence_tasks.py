"""Sentence tasks: probes of sentence vectors, with sentences from templates of this project.

Four tasks, none of which trains anything. *Distance*: for sentences that differ only in a number,
does the cosine distance grow with the distance of the numbers? *Retrieval*: does a query find the
document with the right subject and the nearest number first? *Amounts*: the same, with documents
that say `1.82 billion` and queries that say `1,820 million`. *Paraphrases*: does a sentence without
numbers find its paraphrase first? Numbers are near if |ln a - ln b| is small.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from numerate.probe.statistics import correlate_ranks, unit_rows
from numerate.probe.tasks.amounts import write_amount
from numerate.probe.tasks.similarity import Embed, Search

_TRIPLES = 8  # per template
_POOLS, _POOL_SUBJECTS, _POOL_NUMBERS, _POOL_QUERIES = 16, 5, 5, 4
_AMOUNT_EXPONENTS = 6, 13
Draw = Callable[..., Sequence[float]]
Write = Callable[[float], str]


@dataclass(frozen=True)
class Distances:
    """Triples of sentences that differ only in a number; the second is nearer to the first.

    `texts` and `values` have the shape (templates, triples, 3).
    """

    texts: npt.NDArray[np.str_]
    values: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pool:
    """Documents on a few subjects with a few numbers each, and queries for them.

    `documents` has the shape (subjects, numbers), `queries` and `nearest` (subjects, queries);
    `nearest` is the index of the number that a query should find.
    """

    documents: npt.NDArray[np.str_]
    queries: npt.NDArray[np.str_]
    nearest: npt.NDArray[np.intp]


def draw_distances(bounds: tuple[float, float], rng: np.random.Generator) -> Distances:
    """Return triples of sentences with numbers from a range, with one template per subject."""
    templates = [str(rng.choice(subject["tell"])) for subject in read_sentences()["subjects"]]
    values = np.array([[draw_numbers(bounds, 3, rng) for _ in range(_TRIPLES)] for _ in templates])
    logs = np.log(values)
    swap = np.abs(logs[..., 0] - logs[..., 1]) > np.abs(logs[..., 0] - logs[..., 2])
    values[swap] = values[swap][:, [0, 2, 1]]
    texts = [
        [[_fill(template, _write_number(value)) for value in row] for row in rows]
        for template, rows in zip(templates, values.tolist(), strict=True)
    ]
    return Distances(np.array(texts), values)


def draw_pools(bounds: tuple[float, float], rng: np.random.Generator) -> list[Pool]:
    """Return pools of documents and queries with numbers from a range."""
    draw = partial(draw_numbers, bounds)
    return [_draw_pool(draw, (_write_number, _write_number), rng) for _ in range(_POOLS)]


def draw_amount_pools(rng: np.random.Generator) -> list[Pool]:
    """Return pools with amounts from a million to ten trillion, written in different ways.

    Documents have the largest scale word that fits, `1.82 billion`, and queries the next smaller
    one, `1,820 million`.
    """
    forms = partial(write_amount, form="scaled"), partial(write_amount, form="shifted")
    return [_draw_pool(_draw_amounts, forms, rng) for _ in range(_POOLS)]


def _draw_pool(draw: Draw, forms: tuple[Write, Write], rng: np.random.Generator) -> Pool:
    """Return a pool; `forms` write the numbers of documents and of queries."""
    subjects: list[Any] = read_sentences()["subjects"]
    chosen = [subjects[i] for i in rng.choice(len(subjects), _POOL_SUBJECTS, replace=False)]
    numbers = draw(_POOL_NUMBERS, rng)
    tells = [str(rng.choice(subject["tell"])) for subject in chosen]
    documents = [[_fill(tell, forms[0](number)) for number in numbers] for tell in tells]
    queries, nearest = [], []
    for subject in chosen:
        asked = [draw(1, rng, avoid=numbers)[0] for _ in range(_POOL_QUERIES)]
        queries.append([_fill(str(rng.choice(subject["ask"])), forms[1](n)) for n in asked])
        gaps = np.abs(np.log(asked)[:, None] - np.log(numbers))
        nearest.append(gaps.argmin(axis=1))
    return Pool(np.array(documents), np.array(queries), np.array(nearest))


def _draw_amounts(
    size: int, rng: np.random.Generator, *, avoid: Sequence[float] = ()
) -> list[float]:
    """Return distinct amounts with three digits, drawn uniformly on the logarithmic scale."""
    drawn: dict[float, None] = {}
    while len(drawn) < size:
        amount = float(f"{10 ** rng.uniform(*_AMOUNT_EXPONENTS):.3g}")
        if amount not in avoid:
            drawn[amount] = None
    return list(drawn)


def draw_numbers(
    bounds: tuple[float, float], size: int, rng: np.random.Generator, *, avoid: Sequence[int] = ()
) -> list[int]:
    """Return distinct integers of a range, drawn uniformly on the logarithmic scale."""
    low, high = np.log(bounds[0]), np.log(bounds[1])
    drawn: dict[int, None] = {}
    while len(drawn) < size:
        number = int(np.exp(rng.uniform(low, high)))
        if bounds[0] <= number < bounds[1] and number not in avoid:
            drawn[number] = None
    return list(drawn)


def score_distances(embed: Embed, drawn: Distances) -> dict[str, float]:
    """Return how well cosine distances follow the distances of the numbers.

    `spearman` is the rank correlation within each template, averaged over templates. `closer` is
    how often the sentence with the nearer number has the higher cosine (chance: 0.5; ties count
    half).
    """
    vectors = unit_rows(embed(drawn.texts.ravel().tolist())).reshape(*drawn.texts.shape, -1)
    cosine = np.einsum("stw,stkw->stk", vectors[:, :, 0], vectors[:, :, 1:])
    logs = np.log(drawn.values)
    gaps = np.abs(logs[..., :1] - logs[..., 1:])
    ranks = [
        correlate_ranks(-close.ravel(), gap.ravel())
        for close, gap in zip(cosine, gaps, strict=True)
    ]
    difference = cosine[..., 0] - cosine[..., 1]
    decided = gaps[..., 0] != gaps[..., 1]
    right = np.where(difference == 0, 0.5, difference > 0)
    return {"spearman": float(np.mean(ranks)), "closer": float(right[decided].mean())}


def score_pools(search: Search, pools: Sequence[Pool]) -> dict[str, float]:
    """Return how often queries find the right document.

    `first`: the right subject with the nearest number ranks first of all documents (chance: 0.04).
    `subject`: a document on the right subject ranks first (0.2). `nearest`: the nearest number
    ranks first among the documents on the right subject (0.2).
    """
    rows = []
    for pool in pools:
        n_subjects, n_numbers = pool.documents.shape
        similar = search(pool.queries.ravel().tolist(), pool.documents.ravel().tolist())
        found = similar.reshape(*pool.queries.shape, n_subjects, n_numbers)
        subject = np.arange(n_subjects)[:, None]
        best = found.reshape(*pool.queries.shape, -1).argmax(axis=-1)
        own = found[subject, np.arange(pool.queries.shape[1]), subject]
        is_first = best == subject * n_numbers + pool.nearest
        rows.append([is_first, best // n_numbers == subject, own.argmax(axis=-1) == pool.nearest])
    means = np.mean(rows, axis=(0, 2, 3))
    return dict(zip(("first", "subject", "nearest"), means.tolist(), strict=True))


def score_paraphrases(embed: Embed) -> dict[str, float]:
    """Return how well ordinary sentence similarity works, on sentences without numbers.

    `first` is how often the paraphrase of a sentence ranks first among the paraphrases, sentences
    and variations of all others (chance: 0.004). The sentence's own variation, which has nearly the
    same words but another meaning, is left out: no encoder of this kind separates the two.
    """
    rows: list[Mapping[str, str]] = read_sentences()["paraphrases"]
    kinds = ("same", "sentence", "other")
    vectors = unit_rows(embed([row[kind] for kind in kinds for row in rows]))
    n_rows = len(rows)
    cosine = vectors[n_rows : 2 * n_rows] @ vectors.T
    own = np.arange(n_rows)
    cosine[own, own + n_rows] = cosine[own, own + 2 * n_rows] = -1
    return {"first": float((cosine.argmax(axis=1) == own).mean())}


def _fill(template: str, number: str) -> str:
    return template.replace("{n}", number)


def _write_number(number: float) -> str:
    return f"{number:,}"


@cache
def read_sentences() -> dict[str, Any]:
    """Return the templates of this project: `subjects`, `frames` and `paraphrases`."""
    data = resources.files("numerate").joinpath("data", "sentences.toml").read_text("utf-8")
    return tomllib.loads(data)
