"""Examples: from templates to the rows that `MagnitudeLoss` learns from.

An example has a few sentences of like meaning, each in several versions that differ only in their
numbers, and some texts to keep. Its label has, for each version, the logarithms of its numbers, and
for each sentence (numbers aside) and each text to keep the vector of the teacher: the encoder as it
was before tuning.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from numerate.extract.quantity_forms import write_quantity
from numerate.options import Domain, QuantityForm
from numerate.tune.templates import MOST_SLOTS, NEUTRAL, Template, TuneTexts

Vectors = npt.NDArray[np.float32]

N_SENTENCES, N_VERSIONS, N_KEPT = 3, 6, 2  # of an example
_NEIGHBOURS = 8  # a sentence is compared with some of as many that are most like it
_PAIRS = 0.2  # share of the examples whose sentences have two numbers to replace
_LACKING = 0.4  # share of the versions of two numbers that lack one
_WIDTHS = tuple(math.log(width) for width in (1.6, 10, 10, 10_000, 10**10))
_LARGEST = math.log(10**12)
_SAME = 0.1  # share of versions that repeat a number in another form
_FORMS: dict[Domain, dict[QuantityForm, float]] = {
    "integers": {"digits": 0.5, "commas": 0.5},
    "reals": {"digits": 0.5, "commas": 0.5},
    "quantities": {
        "digits": 0.35,
        "commas": 0.35,
        "word": 0.2,
        "smaller-word": 0.05,
        "suffix": 0.05,
    },
}


@dataclass(frozen=True)
class Pool:
    """Texts with their vectors by the teacher: templates (numbers aside), pairs and kept texts.

    `neighbours` has, for each template, the indices of those that are most like it.
    """

    texts: TuneTexts
    templates: Vectors
    neighbours: npt.NDArray[np.intp]
    pairs: Vectors
    kept: Vectors
    domain: Domain


def make_pool(texts: TuneTexts, vectors: Vectors, domain: Domain) -> Pool:
    """Return texts with the teacher's vectors of `texts.without_numbers`."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(lengths, np.float32(1e-12))
    n_templates, n_pairs = len(texts.templates), len(texts.pairs)
    templates, pairs, kept = np.split(unit, [n_templates, n_templates + n_pairs])
    return Pool(texts, templates, find_neighbours(templates), pairs, kept, domain)


def find_neighbours(vectors: Vectors, most: int = _NEIGHBOURS) -> npt.NDArray[np.intp]:
    """Return the indices of the rows that are most similar to each row, without itself."""
    most = max(0, min(most, len(vectors) - 1))
    found = np.empty((len(vectors), most), np.intp)
    for start in range(0, len(vectors), 1024):
        cosine = vectors[start : start + 1024] @ vectors.T
        rows = np.arange(len(cosine))
        cosine[rows, start + rows] = -np.inf
        found[start : start + 1024] = np.argsort(-cosine, kind="stable")[:, :most]
    return found


def draw_examples(pool: Pool, n_examples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield examples as rows: a column for each text, and a label.

    Columns are `version_1` and so on, sentence by sentence, then `kept_1` and so on. The label has
    a row for each sentence and each kept text: the logarithms of the numbers of its versions (two
    for each; NaN where there is none), then the vector of the teacher.
    """
    for index in range(n_examples):
        rng = np.random.default_rng([seed, 0xE8A, index])
        chosen, vectors = _draw_sentences(pool, rng)
        texts, magnitudes = [], []
        window = _draw_window(rng)
        for template in chosen:
            versions, logs = _draw_versions(template, window, pool.domain, rng)
            texts += versions
            magnitudes.append(logs.ravel())
        kept = rng.integers(len(pool.texts.kept), size=N_KEPT)
        nothing = np.full((N_KEPT, magnitudes[0].size), np.nan)
        label = np.hstack([[*magnitudes, *nothing], np.vstack([vectors, pool.kept[kept]])])
        row = {f"version_{n}": text for n, text in enumerate(texts, 1)}
        row |= {f"kept_{n}": pool.texts.kept[index] for n, index in enumerate(kept, 1)}
        yield {**row, "label": label.astype(np.float32)}


def _draw_sentences(pool: Pool, rng: np.random.Generator) -> tuple[list[Template], Vectors]:
    """Return a template and some of its neighbours, or any templates of two numbers."""
    if len(pool.pairs) >= N_SENTENCES and rng.random() < _PAIRS:
        chosen = rng.choice(len(pool.pairs), N_SENTENCES, replace=False)
        return [pool.texts.pairs[place] for place in chosen], pool.pairs[chosen]
    first = int(rng.integers(len(pool.templates)))
    others = rng.permutation(pool.neighbours[first])[: N_SENTENCES - 1]
    chosen = np.resize([first, *others], N_SENTENCES)  # again, where there are too few
    return [pool.texts.templates[place] for place in chosen], pool.templates[chosen]


def _draw_window(rng: np.random.Generator) -> tuple[float, float]:
    """Return an interval of the logarithmic scale, from very narrow to ten decades."""
    width = float(rng.choice(_WIDTHS))
    low = (_LARGEST - width) * float(rng.random()) ** 2  # small numbers are more frequent
    return low, low + width


def _draw_versions(
    template: Template, window: tuple[float, float], domain: Domain, rng: np.random.Generator
) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return versions of a sentence, and the logarithms of their numbers.

    The first slot has numbers from the window; a second one has a window of its own, or the same.
    Of two numbers some versions lack one: like a query, which asks for the other.
    """
    n_slots = len(template.slots)
    logs = np.full((N_VERSIONS, MOST_SLOTS), np.nan)
    written = np.full((N_VERSIONS, n_slots), NEUTRAL, object)
    for slot in range(n_slots):
        if slot and rng.random() < 0.5:
            window = _draw_window(rng)
        values, texts = _draw_numbers(window, domain, rng)
        logs[:, slot], written[:, slot] = np.log(values), texts
    if n_slots > 1:
        lacks = np.flatnonzero(rng.random(N_VERSIONS) < _LACKING)
        places = lacks, rng.integers(n_slots, size=len(lacks))
        logs[places], written[places] = np.nan, NEUTRAL
    return [template.fill(row) for row in written.tolist()], logs


def _draw_numbers(
    window: tuple[float, float], domain: Domain, rng: np.random.Generator
) -> tuple[list[float], list[str]]:
    """Return numbers from a window of the logarithmic scale, and how they are written."""
    forms = list(_FORMS[domain])
    shares = list(_FORMS[domain].values())
    values: list[float] = []
    written = []
    for _ in range(N_VERSIONS):
        form = forms[rng.choice(len(forms), p=shares)]
        if values and rng.random() < _SAME:
            value = values[int(rng.integers(len(values)))]
        else:
            value = _round(math.exp(rng.uniform(*window)), form, domain, rng)
        values.append(value)
        written.append(write_quantity(value, form))
    return values, written


def _round(value: float, form: str, domain: Domain, rng: np.random.Generator) -> float:
    """Return a number as people would write it: whole, or with a few digits that count."""
    if form in ("digits", "commas"):
        if value < 100 and domain != "integers" and rng.random() < 0.3:
            return round(value, 1)
        if value < 10**5 or rng.random() < 0.5:
            return float(max(1, round(value)))
    digits = int(rng.integers(2, 5))
    return float(max(1, float(f"{value:.{digits - 1}e}")))
