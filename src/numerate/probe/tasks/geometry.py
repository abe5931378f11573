"""Geometry: are the vectors of near numbers near? No probe is trained.

Numbers are near if |ln a - ln b| is small. Cosines and distances of vectors are compared with this
nearness: over pairs of numerals, over the most similar of many candidates, and over sentences that
differ in one number only.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice

import numpy as np

from numerate.extract.almanac import write_almanac
from numerate.extract.numerals import find_numerals
from numerate.extract.ranges import Values, draw_spread
from numerate.probe.controls import Matrix
from numerate.probe.samples import Sample, take_some
from numerate.probe.statistics import Floats, correlate_ranks, unit_rows
from numerate.probe.tasks.similarity import Embed

LookUp = Callable[[Values], Matrix]
"""From an array of numerals to their vectors, with one more axis."""
Bounds = tuple[float, float]
_MOST_ASKED, _MOST_CANDIDATES, _N_NEAREST = 400, 1000, 10
_N_SENTENCES, _MOST_WRITTEN, _N_PASSAGES = 8, 40, 500
_DECIMALS = 12  # what is equal must not differ in the last bit, since ranks show it
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def draw_geometry(numerals: Values, bounds: Bounds, rng: np.random.Generator) -> Sample:
    """Return some of the numerals as `test`, and candidates for their neighbours as `train`.

    The candidates keep the random order in which they are drawn, which breaks ties between them.
    """
    asked = take_some(numerals, _MOST_ASKED, rng)
    candidates = draw_spread(bounds, rng)[:_MOST_CANDIDATES]
    return Sample(candidates[:, None], candidates[:0, None], asked[:, None])


def score_geometry(sample: Sample, look_up: LookUp) -> dict[str, float]:
    """Return how well cosines, distances and neighbours follow the values of the numerals.

    `neighbour factor` is the geometric mean of the factors between numerals and their ten most
    similar candidates, by cosine.
    """
    asked, candidates = sample.test.ravel(), sample.train.ravel()
    vectors = look_up(asked).astype(np.float64)
    nearest = find_nearest(asked, vectors, candidates, look_up(candidates))
    gaps = np.abs(np.log(nearest) - np.log(asked)[:, None])
    return {
        "cosine spearman": correlate_with_values(_find_cosines(vectors, vectors), asked),
        "distance spearman": correlate_with_values(-_find_distances(vectors), asked),
        "neighbour factor": float(np.exp(gaps.mean())),
    }


def correlate_with_values(similarity: Floats, values: Values) -> float:
    """Return the rank correlation of a matrix of similarities with -|ln a - ln b|, over pairs.

    >>> correlate_with_values(np.array([[1, 0.9, 0.5], [0.9, 1, 0.7], [0.5, 0.7, 1]]), [1, 2, 8])
    1.0
    """
    logs = np.log(np.asarray(values, np.float64))
    first, second = np.triu_indices(len(logs), 1)
    near = -np.abs(logs[first] - logs[second])
    return correlate_ranks(*np.round((similarity[first, second], near), _DECIMALS))


def find_nearest(
    asked: Values, vectors: Matrix, candidates: Values, candidate_vectors: Matrix
) -> Values:
    """Return the ten candidates with the highest cosine for each numeral, the highest first.

    A numeral is not its own neighbour. Of equal cosines the first candidate counts.
    """
    cosines = _find_cosines(vectors, candidate_vectors)
    cosines[asked[:, None] == candidates] = -np.inf
    order = np.argsort(-cosines, axis=1, kind="stable")
    most = min(_N_NEAREST, int(np.isfinite(cosines).sum(axis=1).min()))
    nearest: Values = candidates[order[:, :most]]
    return nearest


def score_in_sentences(embed: Embed, numerals: Values, seed: int) -> dict[str, float]:
    """Return the rank correlation for some of the numerals, written into real sentences.

    Only sentences that differ in their number alone are compared. The correlation is the mean over
    the sentences, which depend on the seed.
    """
    rng = np.random.default_rng(seed)
    written = take_some(numerals, _MOST_WRITTEN, rng)
    frames = _list_frames()
    chosen = [frames[i] for i in rng.choice(len(frames), _N_SENTENCES, replace=False)]
    texts = [f"{before}{n:,}{after}" for before, after in chosen for n in written.tolist()]
    vectors = np.asarray(embed(texts), np.float64).reshape(_N_SENTENCES, len(written), -1)
    found = [correlate_with_values(_find_cosines(rows, rows), written) for rows in vectors]
    return {"sentence spearman": float(np.mean(found))}


def _find_cosines(vectors: Matrix, others: Matrix) -> Floats:
    return np.round(unit_rows(vectors) @ unit_rows(others).T, _DECIMALS)


def _find_distances(vectors: Matrix) -> Floats:
    from scipy.spatial.distance import pdist, squareform

    distances: Floats = squareform(pdist(vectors))
    return distances


@cache
def _list_frames() -> Sequence[tuple[str, str]]:
    """Return what stands before and after the only number in sentences of the almanac."""
    sentences = (text for page in write_almanac() for text in _SENTENCE_END.split(page))
    return list(islice(filter(None, map(_cut_numeral, sentences)), _N_PASSAGES))


def _cut_numeral(sentence: str) -> tuple[str, str] | None:
    """Return the parts around the numeral of a sentence; None if there are more or other digits."""
    numerals = find_numerals(sentence)
    if len(numerals) != 1:
        return None
    before, after = sentence[: numerals[0].start], sentence[numerals[0].end :]
    return None if any(map(str.isdigit, before + after)) else (before, after)
