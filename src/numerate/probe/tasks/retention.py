"""Retention: what a sentence encoder still knows of words, on sets that MTEB names and scores.

`STSBenchmark` and `SICK-R` by the rank correlation of cosines with the similarity that people gave,
`SciFact` by the normalized discounted cumulative gain of the first ten documents. `SciFact-part`
has fewer documents, and so higher figures: the judged ones and 1,500 others, the same for everyone.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from numerate.probe.statistics import Floats, correlate_ranks, unit_rows
from numerate.probe.tasks.benchmark_files import ScoredPairs, SearchSet
from numerate.probe.tasks.similarity import Embed, Search

_OTHERS, _TOP = 1500, 10
_DIGIT = re.compile(r"[0-9]")


def score_pairs(embed: Embed, pairs: ScoredPairs) -> dict[str, float]:
    """Return `cosine_spearman` of all pairs, and of the pairs with a digit if there are any."""
    vectors = unit_rows(embed([*pairs.first, *pairs.second]))
    first, second = vectors[: len(pairs.first)], vectors[len(pairs.first) :]
    cosines, scores = (first * second).sum(axis=1), np.array(pairs.scores)
    found = {"cosine_spearman": correlate_ranks(cosines, scores)}
    has_digit = np.array([bool(_DIGIT.search(a + b)) for a, b in _zip(pairs)])
    if np.unique(scores[has_digit]).size > 1:
        of_digits = correlate_ranks(cosines[has_digit], scores[has_digit])
        found["cosine_spearman with digits"] = of_digits
    return found


def _zip(pairs: ScoredPairs) -> Iterable[tuple[str, str]]:
    return zip(pairs.first, pairs.second, strict=True)


def score_search(search: Search, asked: SearchSet) -> dict[str, float]:
    """Return `ndcg_at_10`, the mean over the queries."""
    ids = list(asked.documents)
    found = search(list(asked.queries.values()), list(asked.documents.values()))
    gains = [
        rate_ranking(rank_documents(row, ids), asked.judged[query])
        for query, row in zip(asked.queries, found, strict=True)
    ]
    return {"ndcg_at_10": float(np.mean(gains))}


def rank_documents(similarities: Floats, ids: Sequence[str]) -> list[str]:
    """Return the ids of the ten most similar documents, the most similar first."""
    order = np.argsort(-similarities, kind="stable")[:_TOP]
    return [ids[place] for place in order]


def rate_ranking(ranked: Sequence[str], relevance: Mapping[str, float]) -> float:
    """Return nDCG@10: the discounted relevance found, divided by that of the best ranking.

    >>> round(rate_ranking(["b", "a"], {"a": 1}), 4)  # 1 / log2(3)
    0.6309
    """
    gained = [relevance.get(name, 0.0) for name in ranked[:_TOP]]
    best = sorted(relevance.values(), reverse=True)[:_TOP]
    return _discount(gained) / _discount(best) if any(best) else 0.0


def _discount(gains: Sequence[float]) -> float:
    places = np.arange(2, len(gains) + 2)
    return float(np.sum(np.array(gains) / np.log2(places)))


def take_part(asked: SearchSet) -> SearchSet:
    """Return a set with its judged documents and 1,500 others, which do not depend on a seed."""
    judged = {name for relevance in asked.judged.values() for name in relevance}
    others = [name for name in asked.documents if name not in judged]
    chosen = np.random.default_rng(0).permutation(len(others))[:_OTHERS]
    kept = judged | {others[place] for place in chosen}
    documents = {name: text for name, text in asked.documents.items() if name in kept}
    return SearchSet(documents, asked.queries, asked.judged)
