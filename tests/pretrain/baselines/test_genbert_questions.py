import re
from collections import Counter
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from numerate.pretrain.baselines.genbert_questions import KINDS, NUMBER_LIMIT, NumericalData

N = 3000
NUMBER = r"\d+(?:\.\d+)?"
MONTHS = "january february march april may june july august september october november december"
DAY = re.compile(
    rf"(\d+) ({MONTHS.replace(' ', '|')}) (\d+)|({MONTHS.replace(' ', '|')}) (\d+) , (\d+)"
)


@pytest.fixture(scope="module")
def examples():
    return {split: [NumericalData(split, 7)[i] for i in range(N)] for split in ("train", "dev")}


# The answers again, from the words of the question alone


def numbers_in(text):
    return [Fraction(number) for number in re.findall(NUMBER, text)]


def days_in(text):
    days = []
    for match in DAY.finditer(text):
        day, month, year = (match[1], match[2], match[3]) if match[1] else match.group(5, 4, 6)
        days.append((date(int(year), MONTHS.split().index(month) + 1, int(day)), match[0]))
    return days


def rounded(value):
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return Fraction(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))


def answer_sum(question):
    total = Fraction(0)
    for sign, number in re.findall(rf"([+-] )?({NUMBER})", question):
        total += -Fraction(number) if sign == "- " else Fraction(number)
    return total


def answer_list(question):
    numbers = numbers_in(question)
    if re.search("average|mean", question):
        return rounded(sum(numbers) / len(numbers))
    if re.search("largest|highest|greatest|biggest|longest|heaviest|maximum", question):
        return max(numbers)
    assert re.search("smallest|lowest|shortest|lightest|slightest|minimum", question)
    return min(numbers)


def answer_words(question):
    pairs = [(Fraction(n), word) for word, n in re.findall(rf"(\w+) ({NUMBER})", question)]
    assert len({number for number, _ in pairs}) == len(pairs) >= 2
    is_most = re.search("the most|largest|highest|greatest", question)
    assert is_most or re.search("fewest|smallest|lowest|least", question)
    return (max(pairs) if is_most else min(pairs))[1]


def answer_dates(question):
    days = sorted(days_in(question))
    assert len({day for day, _ in days}) == len(days) >= 2
    is_least = re.search("earliest|least recent|first", question)
    assert is_least or re.search("latest|most recent|last", question)
    return days[0 if is_least else -1][1]


def answer_span(question):
    (first, _), (second, _) = days_in(question)
    if "days" in question:
        return Fraction((second - first).days)
    assert first.day == second.day
    months = 0
    year, month = first.year, first.month
    while (year, month) != (second.year, second.month):
        year, month, months = (
            (year + 1, 1, months + 1) if month == 12 else (year, month + 1, months + 1)
        )
    if "years" in question:
        assert months % 12 == 0
        return Fraction(months, 12)
    return Fraction(months)


def answer_share(question):
    parts = dict(reversed(pair) for pair in re.findall(r"(\d+) % (\w+)", question))
    assert sum(map(int, parts.values())) == 100
    rest = re.search("not|anything but", question)
    asked = re.split(r"percent (?:is (?:not|anything but)|is|belongs to) ", question)[1]
    names = re.findall(r"\w+", asked.replace(" or ", " "))
    inside = sum(int(parts[name]) for name in names)
    return Fraction(100 - inside if rest else inside)


ANSWERS = {
    "sum": answer_sum,
    "list": answer_list,
    "words": answer_words,
    "dates": answer_dates,
    "span": answer_span,
    "share": answer_share,
}


@pytest.mark.parametrize("split", ["train", "dev"])
def test_the_answer_of_every_example_is_the_one_that_its_question_asks_for(split, examples):
    for question, answer, kind in examples[split]:
        expected = ANSWERS[kind](question)
        assert (answer if isinstance(expected, str) else Fraction(answer)) == expected, question


def test_the_six_kinds_come_in_equal_shares(examples):
    for rows in examples.values():
        assert Counter(row.kind for row in rows) == dict.fromkeys(KINDS, N // 6)


def test_numbers_of_training_and_validation_are_disjoint(examples):
    seen = {}
    for split, rows in examples.items():
        wholes = {
            int(number)
            for question, _, kind in rows
            if kind in ("sum", "list", "words")
            for number in numbers_in(question)
        }
        days = {
            day for row in rows if row.kind in ("dates", "span") for day, _ in days_in(row.question)
        }
        percents = {
            tuple(sorted(re.findall(r"(\d+) %", row.question)))
            for row in rows
            if row.kind == "share"
        }
        seen[split] = wholes, days, percents
        assert max(wholes) < NUMBER_LIMIT
    for train, dev in zip(*seen.values(), strict=True):
        assert train
        assert dev
        assert not train & dev


def test_about_a_fifth_of_the_numbers_is_for_validation():
    from numerate.pretrain.baselines.genbert_questions import _split_range

    train, dev = (
        set(_split_range(split, 0, NUMBER_LIMIT, 7).tolist()) for split in ("train", "dev")
    )
    assert len(dev) == NUMBER_LIMIT // 5
    assert train | dev == set(range(NUMBER_LIMIT))


def test_decimals_have_their_shares(examples):
    written = re.findall(NUMBER, " ".join(r.question for r in examples["train"] if r.kind == "sum"))
    places = Counter(len(number.partition(".")[2]) for number in written)
    share = {n: count / len(written) for n, count in places.items()}
    # A half may have any: of them a fifth none, two fifths one, two fifths two; but 0s are dropped.
    assert share[2] == pytest.approx(0.5 * 0.4 * 0.9, abs=0.03)
    assert share[1] == pytest.approx(0.5 * 0.4 * (0.9 + 0.09), abs=0.03)


def test_an_example_depends_on_seed_split_and_number_alone(examples):
    again = NumericalData("train", 7)
    assert [again[i] for i in (1999, 5, 0)] == [examples["train"][i] for i in (1999, 5, 0)]
    other = [NumericalData("train", 8)[i] for i in range(60)]
    assert sum(a == b for a, b in zip(other, examples["train"], strict=False)) < 5
    assert len(set(examples["train"])) > 0.99 * N


def test_gaps_between_dates_are_at_most_150_days(examples):
    for question, _, kind in examples["dev"]:
        if kind == "dates":
            days = sorted(day for day, _ in days_in(question))
            assert 2 <= len(days) <= 4
            assert all(1 <= (b - a).days <= 150 for a, b in pairwise(days))


def test_questions_and_answers_can_be_without_numbers_in_gaps(examples):
    def has_gap(example):
        whole_parts = re.findall(r"(?<![\d.])\d+", f"{example.question} {example.answer}")
        return any(len(part) > 1 and part[0] == "3" for part in whole_parts)

    for split in ("train", "dev"):
        assert np.mean([has_gap(example) for example in examples[split]]) > 0.2
        data = NumericalData(split, 7, hold_out_gaps=True)
        chosen = [data[index] for index in range(600)]
        assert not any(map(has_gap, chosen))
        assert [example.kind for example in chosen] == [*KINDS] * 100
        for index, example in enumerate(examples[split][:600]):
            assert has_gap(example) or chosen[index] == example
