"""Examples: from templates to the rows that `MagnitudeLoss` learns from.

An example has a few sentences of like meaning, each in several versions that differ only in their
numbers, and some texts to keep. A sentence may be a phrase: the words around a number of another
one. Numbers stand in one of two places; those in the same place are compared. `more than X` counts
as a number that is larger than X by a factor of e.

The label has, for each version, the logarithms of its numbers, and for each sentence (numbers
aside) and each text to keep the vector of the teacher: the encoder as it was before tuning.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from numerate.extract.number_words import spell_number
from numerate.extract.quantity_forms import write_quantity
from numerate.models.bounds import BOUNDS
from numerate.models.no_amounts import YEARS
from numerate.options import Domain, QuantityForm
from numerate.tune.templates import MOST_SLOTS, Template, TuneTexts

Vectors = npt.NDArray[np.float32]

N_SENTENCES, N_VERSIONS, N_KEPT = 3, 6, 1  # of an example
_NEIGHBOURS = 8  # a sentence is compared with some of as many that are most like it
_PAIRS = 0.2  # share of the examples whose sentence has two numbers to replace
_PHRASES = 0.5  # share of the other examples with a phrase
_WIDTHS = tuple(math.log(width) for width in (1.6, 10, 10_000, 10**10, 10**10))
_SMALLEST, _LARGEST = math.log(0.01), math.log(10**14)
_FRACTIONS = 0.1  # share of the windows that begin below 1, unless numbers are integers
_SAME = 0.1  # share of versions that repeat a number in another form
_SPELLED = 0.1  # share of the small numbers that are written in words
_LARGE = 10**6  # from here on, people write words
_FORMS: dict[QuantityForm, tuple[float, float]] = {  # shares of small and large numbers
    "digits": (0.45, 0.25),
    "commas": (0.45, 0.25),
    "word": (0.05, 0.3),
    "smaller-word": (0.0, 0.1),
    "suffix": (0.05, 0.1),
}
_WORDS = {"": 0.0, "about ": 0.0, "nearly ": 0.0}
_WORDS |= {f"{word} ": shift for word, shift in BOUNDS.items()}
_WORD_SHARES = [0.7, *[0.03] * 10]


@dataclass(frozen=True)
class Pool:
    """Texts with their vectors by the teacher, numbers aside.

    `ones` and `pairs` have the shape (families, templates of a family, width). `neighbours` has,
    for each sentence with one slot, the indices of those that are most like it.
    """

    texts: TuneTexts
    ones: Vectors
    neighbours: npt.NDArray[np.intp]
    pairs: Vectors
    kept: Vectors
    domain: Domain

    @property
    def unrelated(self) -> float:
        """The mean cosine of two texts at random."""
        return float(np.square(self.ones[:, 0].mean(axis=0)).sum())

    @property
    def covariance(self) -> Vectors:
        """The covariance of the vectors of sentences and texts to keep, shape (width, width)."""
        vectors = np.concatenate([self.ones[:, 0], self.kept])
        centred = vectors - vectors.mean(axis=0)
        covariance: Vectors = centred.T @ centred / len(centred)
        return covariance


def make_pool(texts: TuneTexts, vectors: Vectors, domain: Domain) -> Pool:
    """Return texts with the teacher's vectors of `texts.without_numbers`."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(lengths, np.float32(1e-12))
    n_ones = 2 * len(texts.ones)
    ones, pairs, kept = np.split(unit, [n_ones, n_ones + 3 * len(texts.pairs)])
    ones, pairs = (
        part.reshape(-1, size, vectors.shape[1]) for part, size in ((ones, 2), (pairs, 3))
    )
    return Pool(texts, ones, find_neighbours(ones[:, 0]), pairs, kept, domain)


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
        sentences, vectors = _draw_sentences(pool, rng)
        window = _draw_window(pool.domain, rng)
        other = window if rng.random() < 0.5 else _draw_window(pool.domain, rng)
        texts, magnitudes = [], []
        for template, places in sentences:
            windows = {place: (window, other)[place] for place in places}
            versions, logs = _draw_versions(template, windows, pool.domain, rng)
            texts += versions
            magnitudes.append(logs.ravel())
        kept = rng.integers(len(pool.texts.kept), size=N_KEPT)
        nothing = np.full((N_KEPT, magnitudes[0].size), np.nan)
        label = np.hstack([[*magnitudes, *nothing], np.vstack([vectors, pool.kept[kept]])])
        row = {f"version_{n}": text for n, text in enumerate(texts, 1)}
        row |= {f"kept_{n}": pool.texts.kept[index] for n, index in enumerate(kept, 1)}
        yield {**row, "label": label.astype(np.float32)}


def _draw_sentences(
    pool: Pool, rng: np.random.Generator
) -> tuple[list[tuple[Template, tuple[int, ...]]], Vectors]:
    """Return sentences, with the places of their slots, and their vectors.

    They are a sentence of two numbers with its two phrases; or a sentence of one number and two
    that are like it, of which one may be its own phrase.
    """
    if len(pool.pairs) and rng.random() < _PAIRS:
        chosen = int(rng.integers(len(pool.pairs)))
        whole, first, second = pool.texts.pairs[chosen]
        return [(whole, (0, 1)), (first, (0,)), (second, (1,))], pool.pairs[chosen]
    first_one = int(rng.integers(len(pool.ones)))
    others = rng.permutation(pool.neighbours[first_one])[: N_SENTENCES - 1]
    ones = np.resize([first_one, *others], N_SENTENCES)  # again, where there are too few
    members = np.zeros(N_SENTENCES, np.intp)
    if rng.random() < _PHRASES:
        ones[-1], members[-1] = first_one, 1
    templates = (pool.texts.ones[one][member] for one, member in zip(ones, members, strict=True))
    return [(template, (0,)) for template in templates], pool.ones[ones, members]


def _draw_window(domain: Domain, rng: np.random.Generator) -> tuple[float, float]:
    """Return an interval of the logarithmic scale, from very narrow to ten decades."""
    width = float(rng.choice(_WIDTHS))
    if domain != "integers" and rng.random() < _FRACTIONS:
        low = float(rng.uniform(_SMALLEST, 0))
    else:
        low = (_LARGEST - width) * float(rng.random()) ** 2  # small numbers are more frequent
    return low, low + width


def _draw_versions(
    template: Template,
    windows: Mapping[int, tuple[float, float]],
    domain: Domain,
    rng: np.random.Generator,
) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return versions of a sentence, and the logarithms of their numbers in each place.

    `windows` has the places of the slots, and from where their numbers are drawn.
    """
    logs = np.full((N_VERSIONS, MOST_SLOTS), np.nan)
    written, words = [], []
    for (place, window), slot in zip(windows.items(), template.slots, strict=True):
        values, texts = _draw_numbers(window, domain, rng)
        around = template.text[: slot.start][-1:] + template.text[slot.end :][:1]
        if domain == "quantities" and not around.strip():
            texts = [_spell_some(*number, rng) for number in zip(values, texts, strict=True)]
        before = rng.choice([*_WORDS], N_VERSIONS, p=_WORD_SHARES).tolist()
        logs[:, place] = np.log(values) + [_WORDS[word] for word in before]
        written.append(texts)
        words.append(before)
    rows = zip(zip(*written, strict=True), zip(*words, strict=True), strict=True)
    return [template.fill(*row) for row in rows], logs


def _draw_numbers(
    window: tuple[float, float], domain: Domain, rng: np.random.Generator
) -> tuple[list[float], list[str]]:
    """Return numbers from a window of the logarithmic scale, and how they are written."""
    values: list[float] = []
    written = []
    for _ in range(N_VERSIONS):
        # Many near the ends, so that many pairs are far apart.
        drawn = math.exp(window[0] + rng.beta(0.5, 0.5) * (window[1] - window[0]))
        form = _draw_form(drawn, domain, rng)
        if values and rng.random() < _SAME:
            value = values[int(rng.integers(len(values)))]
        else:
            value = _round(drawn, form, domain, rng)
        values.append(value)
        # Without a comma it might be a year.
        may_be_year = form == "digits" and value in YEARS
        written.append(write_quantity(value, "commas" if may_be_year else form))
    return values, written


def _spell_some(value: float, written: str, rng: np.random.Generator) -> str:
    """Return the word for a number now and then, otherwise what is written."""
    return (spell_number(value) if rng.random() < _SPELLED else None) or written


def _draw_form(value: float, domain: Domain, rng: np.random.Generator) -> QuantityForm:
    """Return how a number is written: in digits, with or without commas, or with a word."""
    if domain != "quantities":
        return "digits" if rng.random() < 0.5 else "commas"
    shares = [share[value >= _LARGE] for share in _FORMS.values()]
    return [*_FORMS][rng.choice(len(shares), p=shares)]


def _round(value: float, form: str, domain: Domain, rng: np.random.Generator) -> float:
    """Return a number as people would write it: whole, or with a few digits that count."""
    if form in ("digits", "commas") and value >= 1:
        if value < 100 and domain != "integers" and rng.random() < 0.3:
            return round(value, 1)
        if value < 10**5 or rng.random() < 0.5:
            return float(round(value))
    digits = int(rng.integers(2, 5))
    rounded = float(f"{value:.{digits - 1}e}")
    return float(max(1, round(rounded))) if domain == "integers" else rounded
