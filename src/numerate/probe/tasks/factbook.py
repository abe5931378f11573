"""Factbook: real text with numbers as people write them, ordered by magnitude.

Input: fields of the CIA World Factbook (place, field, text). A text is kept if it begins with a
number and has no other: `14,236 sq km`, `$1.82 billion`. Years in brackets are cut off. A text with
the name of its place is left out, as is a field whose name has a number. *Triples*: of three texts
of a field, is the one with the nearer value the more similar? *Conditions*: does `FIELD about X`,
`FIELD more than X` or `FIELD less than X` find the texts with such values? Values are near if
|ln a - ln b| is small.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.probe.statistics import Floats, correlate_ranks, unit_rows
from numerate.probe.tasks.amounts import Amount, read_amounts, write_amount
from numerate.probe.tasks.benchmark_files import Field
from numerate.probe.tasks.similarity import Embed, Search

Form = Literal["plain", "percent", "amount"]
"""A number without and with a percent sign, and one with a scale word."""
FORMS: tuple[Form, ...] = ("plain", "percent", "amount")
_YEARS = re.compile(r"\s*\([^()]*\b(?:19|20)\d\d\b[^()]*\)")
_YEAR = re.compile(r"\s*\b(?:19|20)\d\d\b(?!,)")
_BEFORE = re.compile(r"(?:US)?\$?")
_NUMBER = re.compile(r"\d[\d.,]*")
_LONGEST, _FEWEST = 60, 30
_TEXTS, _TRIPLES = 40, 100  # of each field
_TOPICS, _QUERIES, _TOP = 30, 3, 10


@dataclass(frozen=True)
class Topic:
    """The texts of one field with different values, in increasing order of these.

    `before` and `after` are what most texts have around their number, as `$` and ` sq km`.
    """

    name: str
    texts: tuple[str, ...]
    values: Floats
    forms: npt.NDArray[np.str_]
    before: str
    after: str


@dataclass(frozen=True)
class Conditions:
    """Documents of several fields, and queries with the ten documents that each should find.

    `relevant` has the shape (queries, 10). `kinds` are about, more and less.
    """

    documents: tuple[str, ...]
    queries: tuple[str, ...]
    relevant: npt.NDArray[np.intp]
    kinds: npt.NDArray[np.str_]
    forms: npt.NDArray[np.str_]


def find_topics(fields: Iterable[Field]) -> list[Topic]:
    """Return the fields with at least 30 different values; of those of several years the fullest.

    At least half of the texts must have the same words around the number. Raises InputError if
    there is no such field.
    """
    rows: dict[str, dict[str, dict[float, tuple[str, Amount]]]] = {}
    for field in fields:
        name, text = name_field(field.field), _YEARS.sub("", field.text).strip()
        amount = _read_value(text)
        if amount and field.place not in text and not _NUMBER.search(name):
            of_years = rows.setdefault(name, {})
            of_years.setdefault(field.field, {}).setdefault(amount.value, (text, amount))
    fullest = {name: max(of_years.values(), key=len) for name, of_years in sorted(rows.items())}
    made = [_make_topic(name, found) for name, found in fullest.items() if len(found) >= _FEWEST]
    topics = [topic for topic in made if topic]
    if not topics:
        raise InputError(
            f"the Factbook must have a field with {_FEWEST} different values, got none"
        )
    return topics


def name_field(path: str) -> str:
    """Return the name of a field without its section, repeated words and the year.

    >>> name_field("Economy / Exports / Exports 2022")
    'Exports'
    >>> name_field("People and Society / Median age / male")
    'Median age, male'
    """
    parts = [_YEAR.sub("", part).strip() for part in path.split(" / ")][1:] or [path]
    kept = [
        part
        for part, after in zip(parts, [*parts[1:], ""], strict=True)
        if part.lower() not in after.lower()
    ]
    return ", ".join(kept)


def _read_value(text: str) -> Amount | None:
    """Return the number with which a text begins, if it is positive, no year, and the only one."""
    found = read_amounts(text) if len(text) <= _LONGEST else []
    if len(found) != 1 or len(_NUMBER.findall(text)) != 1:
        return None
    [amount] = found
    begins = _BEFORE.fullmatch(text[: amount.start])
    is_year = bool(_YEAR.fullmatch(text[amount.start : amount.end]))
    return amount if begins and amount.value > 0 and not is_year else None


def _make_topic(name: str, found: dict[float, tuple[str, Amount]]) -> Topic | None:
    """Return a topic, or None if its texts differ too much in their words."""
    rows = [found[value] for value in sorted(found)]
    around = [(text[: amount.start], text[amount.end :]) for text, amount in rows]
    before, after = max(sorted(set(around)), key=around.count)
    if around.count((before, after)) < len(around) / 2:
        return None
    return Topic(
        name,
        tuple(f"{name}: {text}" for text, _ in rows),
        np.array(sorted(found)),
        np.array([_find_form(text, amount) for text, amount in rows]),
        before,
        after,
    )


def _find_form(text: str, amount: Amount) -> Form:
    if amount.has_scale:
        return "amount"
    return "percent" if text[amount.end :].startswith("%") else "plain"


def score_triples(
    embed: Embed, topics: Sequence[Topic], rng: np.random.Generator
) -> dict[str, float]:
    """Return how often the text with the nearer value is the more similar one, and a correlation.

    `triples` is over all triples (chance: 0.5; ties count half), and `FORM triples` over those of
    one form: `amount` if one of the three has a scale word, `percent` if they are percentages.
    `spearman` is the rank correlation of cosine and nearness over the pairs of a field, averaged.
    """
    chosen = [np.sort(rng.permutation(len(topic.texts))[:_TEXTS]) for topic in topics]
    texts = [topic.texts[i] for topic, places in zip(topics, chosen, strict=True) for i in places]
    vectors = np.split(unit_rows(embed(texts)), np.cumsum([len(places) for places in chosen])[:-1])
    right: list[Floats] = []
    forms: list[str] = []
    ranks = []
    for topic, places, own in zip(topics, chosen, vectors, strict=True):
        cosine, logs = own @ own.T, np.log(topic.values[places])
        gaps = np.abs(logs[:, None] - logs)
        upper = np.triu_indices(len(places), 1)
        ranks.append(correlate_ranks(-cosine[upper], gaps[upper]))
        triples = np.array([rng.choice(len(places), 3, replace=False) for _ in range(_TRIPLES)])
        right.append(_compare(cosine, gaps, triples))
        forms += [_join_forms(topic.forms[places][triple]) for triple in triples]
    answers, named = np.concatenate(right), np.array(forms)
    kept = ~np.isnan(answers)
    scores = {"triples": float(answers[kept].mean())}
    for form in FORMS:
        if (kept & (named == form)).any():
            scores[f"{form} triples"] = float(answers[kept & (named == form)].mean())
    return {**scores, "spearman": float(np.mean(ranks))}


def _compare(cosine: Floats, gaps: Floats, triples: npt.NDArray[np.intp]) -> Floats:
    """Return 1, 0, or a half for a tie; NaN if both values are equally near."""
    first, second, third = triples.T
    nearer = np.sign(gaps[first, third] - gaps[first, second])
    closer = np.sign(cosine[first, second] - cosine[first, third])
    return np.where(nearer == 0, np.nan, (nearer * closer + 1) / 2)


def _join_forms(forms: npt.NDArray[np.str_]) -> str:
    return next(form for form in ("amount", "percent", "plain") if form in forms)


def draw_conditions(topics: Sequence[Topic], rng: np.random.Generator) -> Conditions:
    """Return the texts of 30 fields, and queries: three `about`, a `more than` and a `less than`.

    Exactly ten texts of the field have more, or less, than X; `about` asks for the ten nearest.
    A query writes an amount in another way than documents do: `1,820 million` for `1.82 billion`.
    """
    documents: list[str] = []
    rows = []
    for topic in [topics[place] for place in rng.permutation(len(topics))[:_TOPICS]]:
        for words, value, places in _draw_bounds(topic, rng):
            written = f"{topic.before}{write_amount(value, 'shifted')}{topic.after}"
            form = _join_forms(topic.forms[places])
            query = f"{topic.name} {words} {written}"
            rows.append((query, len(documents) + places, words.split()[0], form))
        documents += topic.texts
    queries, relevant, kinds, forms = zip(*rows, strict=True)
    order = rng.permutation(len(documents))  # else a tie would find the smallest values first
    return Conditions(
        tuple(documents[place] for place in order),
        queries,
        np.argsort(order)[np.array(relevant)],
        np.array(kinds),
        np.array(forms),
    )


def _draw_bounds(
    topic: Topic, rng: np.random.Generator
) -> Iterator[tuple[str, float, npt.NDArray[np.intp]]]:
    """Yield conditions on a field: their words, X, and the places of ten texts."""
    values, last = topic.values, len(topic.values) - _TOP
    low, high = np.log(values[[_TOP // 2, -_TOP // 2]])
    for value in np.exp(rng.uniform(low, high, _QUERIES)).tolist():
        asked = float(f"{value:.3g}")
        gaps = np.abs(np.log(values) - np.log(asked))
        yield "about", asked, np.argsort(gaps, kind="stable")[:_TOP]
    more = round_between(values[last - 1], values[last])
    yield "more than", more, np.arange(last, len(values))
    yield "less than", round_between(values[_TOP - 1], values[_TOP]), np.arange(_TOP)


def round_between(low: float, high: float) -> float:
    """Return a number between two others, near their geometric mean, with few digits.

    >>> round_between(2.0, 3.0), round_between(12.97, 12.98)
    (2.4, 12.975)
    """
    middle = float(np.sqrt(low * high))
    rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next(value for value in rounded if low < value < high)


def score_conditions(search: Search, asked: Conditions) -> dict[str, float]:
    """Return `recall_at_10`, the share of the ten right documents among the first ten.

    Also for each kind of condition (about, more, less) and for each form of numbers.
    """
    found = search(asked.queries, asked.documents)
    first = np.argsort(-found, axis=1, kind="stable")[:, :_TOP]
    recall = np.array([np.isin(*row).mean() for row in zip(asked.relevant, first, strict=True)])
    scores = {"recall_at_10": float(recall.mean())}
    for labels in (asked.kinds, asked.forms):
        for label in np.unique(labels):
            scores[f"{label} recall_at_10"] = float(recall[labels == label].mean())
    return scores
