"""The questions of the GenBERT recipe: six kinds of questions about numbers, with answers.

The kinds, their shares and their numbers follow Geva, Gupta and Berant (2020); the wording is our
own. An example depends on the seed and its index alone, so the stream can resume anywhere. Numbers,
dates and sets of percentages of training questions never occur in validation questions.
"""

import tomllib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from numerate.extract.ranges import find_gap_numerals
from numerate.files import read_data

Split = Literal["train", "dev"]
KINDS = ("sum", "list", "words", "dates", "span", "share")
NUMBER_LIMIT = 20_000  # whole parts are below it
_DEV_SHARE = 5  # one in five numbers is for validation
_FIRST, _LAST = date(1100, 1, 1).toordinal(), date(2100, 1, 1).toordinal()
# Probabilities of none, one and two decimals; half of all numbers are always whole.
_DECIMALS = (0.2, 0.4, 0.4)
_CENT = Decimal("0.01")


class Example(NamedTuple):
    """A question, its answer and its kind."""

    question: str
    answer: str
    kind: str


@dataclass(frozen=True)
class NumericalData:
    """The examples of a split; `data[index]` is always the same for a seed.

    With `hold_out_gaps`, an example is drawn again as long as it has a numeral in a gap.
    """

    split: Split
    seed: int = 42
    hold_out_gaps: bool = False

    def __getitem__(self, index: int) -> Example:
        """Return an example; the kinds alternate."""
        kind = KINDS[index % len(KINDS)]
        rng = np.random.default_rng([self.seed, self.split == "dev", index])
        draw = _Draw(rng, self.split, self.seed)
        while True:
            question, answer = _MAKERS[kind](draw)
            if not (self.hold_out_gaps and find_gap_numerals(f"{question} ; {answer}")):
                return Example(question, answer, kind)


def write_number(value: Decimal) -> str:
    """Return a number as text with at most two decimals and no trailing zeros.

    >>> [write_number(Decimal(text)) for text in ("12.50", "-100", "0.005")]
    ['12.5', '-100', '0.01']
    """
    text = f"{value.quantize(_CENT, ROUND_HALF_UP):f}"
    text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@dataclass(frozen=True)
class _Draw:
    """Draws the random parts of one example from its split."""

    rng: np.random.Generator
    split: Split
    seed: int

    def pick(self, choices: list[str]) -> str:
        return choices[int(self.rng.integers(len(choices)))]

    def pick_some(self, choices: list[str], count: int) -> list[str]:
        return [choices[place] for place in self.rng.choice(len(choices), count, replace=False)]

    def count(self, least: int, most: int) -> int:
        return int(self.rng.integers(least, most + 1))

    def number(self) -> Decimal:
        """Return a number whose whole part belongs to the split."""
        pool = _split_range(self.split, 0, NUMBER_LIMIT, self.seed)
        whole = int(pool[self.rng.integers(len(pool))])
        decimals = int(self.rng.choice(3, p=_DECIMALS)) if self.rng.random() < 0.5 else 0
        return whole + Decimal(int(self.rng.integers(10**decimals))).scaleb(-decimals)

    def numbers(self, count: int) -> list[Decimal]:
        """Return different numbers."""
        found: dict[Decimal, None] = {}
        while len(found) < count:
            found[self.number()] = None
        return list(found)

    def gap(self) -> int:
        """Return the maximum number of days between two consecutive dates."""
        return 30 if self.rng.random() < 0.5 else 150

    def days(self, count: int, unit: str, most: int) -> list[date]:
        """Return dates of the split, each at most `most` units after the one before."""
        days: list[date] = []
        while len(days) < count:
            near = self._later(days[-1], unit, most) if days else [self._day(unit)]
            days = [*days, near[int(self.rng.integers(len(near)))]] if near else []
        return days

    def _day(self, unit: str) -> date:
        pool = _split_range(self.split, _FIRST, _LAST, self.seed)
        while True:
            day = date.fromordinal(int(pool[self.rng.integers(len(pool))]))
            if unit == "days" or day.day <= 28:  # every month has such a day
                return day

    def _later(self, day: date, unit: str, most: int) -> list[date]:
        """Return the dates of the split that are at most `most` units after a date."""
        days = (_MOVES[unit](day, n) for n in range(1, most + 1))
        owned = _owned_days(self.split, self.seed)
        return [d for d in days if d.toordinal() < _LAST and owned[d.toordinal() - _FIRST]]


@cache
def _split_range(split: Split, start: int, stop: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the whole numbers of a range that belong to a split, sorted."""
    order = np.random.default_rng([seed, start, stop]).permutation(np.arange(start, stop))
    n_dev = len(order) // _DEV_SHARE
    return np.sort(order[:n_dev] if split == "dev" else order[n_dev:])


@cache
def _owned_days(split: Split, seed: int) -> npt.NDArray[np.bool_]:
    """Return flags for the days that belong to a split, from the first day on."""
    owned = np.zeros(_LAST - _FIRST, bool)
    owned[_split_range(split, _FIRST, _LAST, seed) - _FIRST] = True
    return owned


@cache
def _words() -> dict[str, dict[str, Any]]:
    return tomllib.loads(read_data("numerical.toml"))


def _make_sum(draw: _Draw) -> tuple[str, str]:
    """Ask for a signed sum of two to four numbers."""
    numbers = [draw.number() for _ in range(draw.count(2, 4))]
    signs = [draw.pick(["+", "-"]) for _ in numbers]
    terms = [f"{sign} {write_number(n)}" for sign, n in zip(signs, numbers, strict=True)]
    value = sum(n if sign == "+" else -n for sign, n in zip(signs, numbers, strict=True))
    written = " ".join(terms).removeprefix("+ ")
    template = draw.pick(_words()["sum"]["templates"])
    return template.format(sum=written), write_number(Decimal(value))


def _make_list(draw: _Draw) -> tuple[str, str]:
    """Ask for the largest, the smallest or the average of two to four numbers."""
    words = _words()["list"]
    numbers = [draw.number() for _ in range(draw.count(2, 4))]
    asked = draw.pick(["most", "least", "average"])
    value = {
        "most": max(numbers),
        "least": min(numbers),
        "average": sum(numbers, Decimal()) / len(numbers),
    }[asked]
    question = draw.pick(words["templates"]).format(
        which=draw.pick(words[asked]), list=_join([write_number(n) for n in numbers], "and")
    )
    return question, write_number(value)


def _make_words(draw: _Draw) -> tuple[str, str]:
    """Ask which of two to four words has the largest or the smallest number."""
    words = _words()["words"]
    names = draw.pick_some(words["names"], draw.count(2, 4))
    numbers = draw.numbers(len(names))
    asked = draw.pick(["most", "least"])
    value = max(numbers) if asked == "most" else min(numbers)
    pairs = [f"{name} {write_number(n)}" for name, n in zip(names, numbers, strict=True)]
    question = draw.pick(words["templates"]).format(
        which=draw.pick(words[asked]), pairs=" , ".join(pairs)
    )
    return question, names[numbers.index(value)]


def _make_dates(draw: _Draw) -> tuple[str, str]:
    """Ask for the most or the least recent of two to four dates, in one of two formats."""
    words = _words()["dates"]
    days = draw.days(draw.count(2, 4), "days", draw.gap())
    write = _write_day_first if draw.rng.random() < 0.5 else _write_month_first
    asked = draw.pick(["most", "least"])
    shown = [days[place] for place in draw.rng.permutation(len(days))]
    question = draw.pick(words["templates"]).format(
        which=draw.pick(words[asked]), dates=" ; ".join(map(write, shown))
    )
    return question, write(days[-1] if asked == "most" else days[0])


def _make_span(draw: _Draw) -> tuple[str, str]:
    """Ask for the number of days, months or years between two dates; it is always whole."""
    unit = draw.pick(list(_MOVES))
    most = {"days": draw.gap(), "months": 60, "years": 100}[unit]
    first, second = draw.days(2, unit, most)
    months = 12 * (second.year - first.year) + second.month - first.month
    value = {"days": (second - first).days, "months": months, "years": months // 12}[unit]
    write = _write_day_first if draw.rng.random() < 0.5 else _write_month_first
    template = draw.pick(_words()["span"]["templates"])
    return template.format(unit=unit, first=write(first), second=write(second)), str(value)


def _make_share(draw: _Draw) -> tuple[str, str]:
    """Ask for the percentage of some of three to five parts, or of all others."""
    words = _words()["share"]
    names = draw.pick_some(words["names"], draw.count(3, 5))
    percents = _draw_percents(draw, len(names))
    asked = draw.pick_some(names, draw.count(1, min(3, len(names) - 1)))
    inside = sum(p for name, p in zip(names, percents, strict=True) if name in asked)
    is_part = draw.rng.random() < 0.5
    which = draw.pick(words["is_part" if is_part else "is_rest"])
    parts = [f"{p} % {name}" for name, p in zip(names, percents, strict=True)]
    question = draw.pick(words["templates"]).format(
        parts=" , ".join(parts), which=which.format(names=_join(asked, "or"))
    )
    return question, str(inside if is_part else 100 - inside)


def _draw_percents(draw: _Draw, count: int) -> list[int]:
    """Return whole percentages with sum 100; a set of them belongs to one split, in any order."""
    while True:
        cuts = np.sort(draw.rng.choice(np.arange(1, 100), count - 1, replace=False))
        percents = np.diff(np.concatenate(([0], cuts, [100]))).tolist()
        key = f"{draw.seed} {sorted(percents)}".encode()
        if (zlib.crc32(key) % _DEV_SHARE == 0) == (draw.split == "dev"):
            return [int(percent) for percent in percents]


def _add_months(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    return day.replace(year=day.year + years, month=month + 1)


def _write_day_first(day: date) -> str:
    return f"{day.day} {_words()['dates']['months'][day.month - 1]} {day.year}"


def _write_month_first(day: date) -> str:
    return f"{_words()['dates']['months'][day.month - 1]} {day.day} , {day.year}"


def _join(parts: list[str], word: str) -> str:
    """Join the parts of a list as in a sentence."""
    return f" {word} ".join(filter(None, (" , ".join(parts[:-1]), parts[-1])))


_MOVES: dict[str, Callable[[date, int], date]] = {
    "days": lambda day, n: day + timedelta(days=n),
    "months": _add_months,
    "years": lambda day, n: _add_months(day, 12 * n),
}
_MAKERS: dict[str, Callable[[_Draw], tuple[str, str]]] = {
    "sum": _make_sum,
    "list": _make_list,
    "words": _make_words,
    "dates": _make_dates,
    "span": _make_span,
    "share": _make_share,
}
