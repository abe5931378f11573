"""Generates the embedded corpus, an almanac, so that the demo needs no download.

Input: a seed. Output: some 350,000 words of English prose with plausible numerals of every
magnitude from 1 to 10^10, enough to count numerals, fit anchors, pre-train a small BERT and probe
it. It stands in for the paper's corpora. The sentences are in ``data/almanac.toml``, the
quantities, names and real facts in ``data/almanac_facts.toml``; this module draws facts and fills
them into sentences.

A *fact* is drawn once per article from its *spec*, which is one of

- a number: ``8849``;
- a list of templates, one of which is picked and filled: ``["{start}{end}", "New {start}{end}"]``;
- the name of another spec: ``"year"``;
- an operation on numbers and other facts: ``"log 90 1900"``, ``"difference died born"``.

In a sentence, ``{people:n}`` is the fact ``people`` in the form ``n``, ``{town2}`` is a second
draw of ``town``, and ``[a|b]`` is one of two or more wordings.
"""

import math
import random
import re
import tomllib
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

from numerate.files import read_data

_T = TypeVar("_T")
_Value: TypeAlias = int | str
_Spec: TypeAlias = int | str | list[str]

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_WORDINGS = re.compile(r"\[([^]|]*(?:\|[^]|]*)+)\]")
_VOWEL = re.compile(r"[aeiou]|8|1[18](?!\d)", re.IGNORECASE)  # an oak, an 8, an 11,000, a 110
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def write_almanac(seed: int = 0) -> Iterator[str]:
    """Yield the documents of the almanac, each a paragraph of 3 to 9 sentences on one subject.

    The same seed gives the same text on every platform. Another seed changes the numbers, the names
    and the order of the sentences; the real facts stay.

    >>> next(write_almanac(seed=1)) == next(write_almanac(seed=1))
    True
    """
    subjects, facts = _load("almanac.toml"), _load("almanac_facts.toml")
    rng = random.Random(seed)
    queue = [
        (subject, turn) for subject in subjects.values() for turn in range(subject["articles"])
    ]
    for subject, turn in _shuffled(queue, rng):
        yield _write_article(subject, _Facts(_specs(subject, turn, facts, rng), rng), rng)


@cache
def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(read_data(name))


class _Facts(dict[str, _Value]):
    """The facts of one article, each drawn when first looked up."""

    def __init__(self, specs: Mapping[str, _Spec], rng: random.Random) -> None:
        super().__init__()
        self._specs = specs
        self._rng = rng

    def __missing__(self, name: str) -> _Value:
        spec = self._specs[name if name in self._specs else name.rstrip("23456789")]
        value = self._draw(spec)
        for _ in range(9):  # avoid a road "from Thornby to Thornby"
            if isinstance(value, int) or value not in self.values():
                break
            value = self._draw(spec)
        self[name] = value
        return value

    def _draw(self, spec: _Spec) -> _Value:
        if isinstance(spec, int):
            return spec
        if isinstance(spec, list):  # with facts of its own, since two towns may end alike
            return _Facts(self._specs, self._rng).fill(_pick(spec, self._rng))
        operation, *arguments = spec.split()
        if not arguments:
            return self._draw(self._specs[operation])
        numbers = [self._number(argument) for argument in arguments]
        if operation in _DRAWS:
            return _DRAWS[operation](self._rng.random(), *numbers)
        return _DERIVATIONS[operation](*numbers)

    def _number(self, argument: str) -> int:
        return int(argument) if argument.lstrip("-").isdigit() else int(self[argument])

    def fill(self, template: str) -> str:
        """Return a template with one of its wordings chosen and its slots filled."""
        chosen = _WORDINGS.sub(lambda match: _pick(match[1].split("|"), self._rng), template)
        return _SLOT.sub(lambda match: self._form(match[1], match[2]), chosen)

    def _form(self, name: str, form: str | None) -> str:
        value = self[name]
        if form is None or (form == "n" and int(value) < 10_000 and not self["grouped"]):
            return str(value)
        return _FORMS[form](value)


def _specs(
    subject: Mapping[str, Any], turn: int, facts: Mapping[str, Any], rng: random.Random
) -> Mapping[str, _Spec]:
    """Return the specs of an article: its records first, then its subject's, then the common ones.

    The article of a given turn is about one record of its table; `{name2}` and `{name3}` are two
    others.
    """
    records: dict[str, _Spec] = {}
    if "records" in subject:
        table = facts[subject["records"]]
        first = table[turn % len(table)]
        others = [record for record in _shuffled(table, rng) if record is not first]
        for suffix, record in zip(("", "2", "3"), (first, *others), strict=False):
            for key, value in record.items():
                records[key + suffix] = [value] if isinstance(value, str) else value
    return ChainMap(records, subject["facts"], facts["quantities"], facts["words"])


def _write_article(subject: Mapping[str, Any], facts: _Facts, rng: random.Random) -> str:
    """Return an opening, a part of the body and perhaps a close: 3 to 9 sentences."""
    close = [_pick(subject["close"], rng)] if "close" in subject and rng.random() < 0.5 else []
    body = _shuffled(subject["body"], rng)[: 2 + int(rng.random() * (7 - len(close)))]
    if subject.get("order") == "as written":
        body.sort(key=subject["body"].index)
    sentences = [facts.fill(text) for text in (_pick(subject["open"], rng), *body, *close)]
    return " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)


# Only `random()` is documented to give the same numbers in every version of Python, so that all
# draws are made from it, not from `choice` or `shuffle`.


def _pick(items: Sequence[_T], rng: random.Random) -> _T:
    return items[int(rng.random() * len(items))]


def _shuffled(items: Sequence[_T], rng: random.Random) -> list[_T]:
    return sorted(items, key=lambda _: rng.random())


def _draw_log(unit: float, low: int, high: int, n_digits: int = 10) -> int:
    """Return a log-uniform number from low to high with at most n_digits significant digits.

    The draw is linear between doublings of low, since C libraries differ in the last bit of `pow`,
    but not of sums and products.
    """
    mantissa, exponent = math.frexp(high / low)
    power = unit * (exponent + 2 * mantissa - 2)
    doublings = int(power)
    value = round(math.ldexp(low * (1 + power - doublings), doublings))
    return round(value, min(0, n_digits - len(str(value))))


_DRAWS: Mapping[str, Callable[..., int]] = {  # arguments: a number in [0, 1), then the spec's
    "uniform": lambda unit, low, high: low + int(unit * (high - low + 1)),
    "log": _draw_log,
    "after": lambda unit, value, low, high: value + low + int(unit * (high - low + 1)),
    "scale": lambda unit, value, low, high: round(value * (low + unit * (high - low)) / 100),
}
_DERIVATIONS: Mapping[str, Callable[..., int]] = {
    "sum": lambda *parts: sum(parts),
    "difference": lambda whole, part: whole - part,
    "distance": lambda one, other: abs(one - other),
    "product": lambda one, other: one * other,
    "ratio": lambda whole, part: round(whole / part),
    "root": math.isqrt,
    "percent": lambda part, whole: round(100 * part / whole),
    "less": lambda price, percent: round(price * (100 - percent) / 100),
}
_FORMS: Mapping[str, Callable[[Any], str]] = {
    "n": lambda value: f"{value:,}",
    "a": lambda value: f"{'an' if _VOWEL.match(str(value)) else 'a'} {value}",
    "lower": lambda value: value.lower(),
    "s": lambda value: "" if value == 1 else "s",
    "ordinal": lambda value: (
        f"{value}{'th' if value % 100 // 10 == 1 else _ENDINGS.get(value % 10, 'th')}"
    ),
    "tenths": lambda value: f"{value // 10:,}.{value % 10}",
    "hundredths": lambda value: f"{value // 100:,}.{value % 100:02}",
    "clock": lambda minutes: f"{minutes // 60}:{minutes % 60:02}",
    "decade": lambda year: f"{year // 10}0s",
    "short": lambda year: f"{year % 100:02}",
}
