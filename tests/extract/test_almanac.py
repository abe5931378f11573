import hashlib
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from numerate.extract import almanac
from numerate.extract.almanac import write_almanac

NUMERAL = re.compile(r"(?<!\w)(?<!\d[.,])(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)(?!\w|[.,]\d)")
N = r"([\d,]*\d)"
YEARS = range(1066, 2026)
FACTS = almanac._load("almanac_facts.toml")
SUBJECTS = almanac._load("almanac.toml")


def value(numeral: str) -> int:
    return int(numeral.replace(",", ""))


def sentences(document: str) -> list[str]:
    return re.split(r"(?<=[.!?]) (?=[A-Z])", document)


def templates(subject: Mapping[str, Any]) -> list[str]:
    return [*subject["open"], *subject["body"], *subject.get("close", [])]


def facts_of(subject: Mapping[str, Any], turn: int) -> almanac._Facts:
    rng = random.Random(turn)
    return almanac._Facts(almanac._specs(subject, turn, FACTS, rng), rng)


@pytest.fixture(scope="module")
def documents() -> list[str]:
    return list(write_almanac(seed=0))


@pytest.fixture(scope="module")
def text(documents: list[str]) -> str:
    return "\n".join(documents)


@pytest.fixture(scope="module")
def numerals(text: str) -> list[str]:
    return NUMERAL.findall(text)


@pytest.fixture(scope="module")
def values(numerals: list[str]) -> list[int]:
    return [value(numeral) for numeral in numerals]


def test_the_same_seed_gives_the_same_text_in_processes_that_hash_differently(text: str) -> None:
    code = "from numerate.extract.almanac import write_almanac as w; import hashlib, sys\n"
    code += "sys.stdout.write(hashlib.sha256('\\n'.join(w(0)).encode()).hexdigest())"
    environment = {**os.environ, "PYTHONHASHSEED": "123"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == hashlib.sha256(text.encode()).hexdigest()


def test_another_seed_gives_another_text_and_no_state_is_kept(documents: list[str]) -> None:
    assert next(write_almanac(seed=1)) != documents[0]
    assert next(write_almanac(seed=0)) == documents[0]


def test_the_almanac_is_large_enough_to_train_on(documents: list[str], values: list[int]) -> None:
    assert 300_000 <= sum(len(document.split()) for document in documents) <= 420_000
    assert 20_000 <= len(values) <= 42_000


def test_a_document_is_one_paragraph_of_3_to_9_sentences(documents: list[str]) -> None:
    assert all(document == document.strip() != "" for document in documents)
    assert not any("\n" in document for document in documents)
    assert {len(sentences(document)) for document in documents} == set(range(3, 10))
    assert len(set(documents)) > 0.99 * len(documents)


def test_at_least_a_quarter_of_the_sentences_hold_no_number(documents: list[str]) -> None:
    every = [sentence for document in documents for sentence in sentences(document)]
    assert sum(not re.search(r"\d", sentence) for sentence in every) >= len(every) / 4


def test_every_power_of_ten_up_to_ten_billion_is_populated(values: list[int]) -> None:
    assert max(values) <= 10**10
    counts = Counter(len(str(value)) for value in values)
    assert all(counts[digits] >= 200 for digits in range(1, 11))


def test_four_in_ten_numerals_have_four_digits_and_a_third_of_these_are_no_years(
    numerals: list[str],
) -> None:
    four = [numeral for numeral in numerals if len(numeral.replace(",", "")) == 4]
    assert 0.38 <= len(four) / len(numerals) <= 0.46
    no_years = [numeral for numeral in four if "," in numeral or int(numeral) not in YEARS]
    assert len(no_years) >= len(four) / 3


@pytest.mark.parametrize(
    ("low", "high", "distinct"),
    [(1, 100, 100), (100, 999, 700), (1000, 9999, 3000), (10_001, 10**10, 3000)],
)
def test_ranges_are_well_covered(values: list[int], low: int, high: int, distinct: int) -> None:
    assert len({value for value in values if low <= value <= high}) >= distinct


def test_numerals_above_ten_thousand_are_roughly_log_uniform(values: list[int]) -> None:
    counts = Counter(len(str(value)) for value in values if value > 10_000)
    assert all(0.07 <= counts[digits] / counts.total() <= 0.30 for digits in range(5, 11))


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b\d{1,3},\d{3}\b",
        r"\b[2-9]\d{3} (?:people|men|metres|km|kg)\b",
        r"\b\d{4}–\d{4}\b",
        r"\b\d{4}–\d\d\b",
        r"\b\d{4}-\d\d\b",
        r" \d-\d ",
        r"\$\d+",
        r"£\d,\d{3}\b",
        r"\b\d+%",
        r"\b\d+\.\d+ ",
        r"\b\d+(?:st|nd|rd|th)\b",
        r"\b\d{3}0s\b",
        r"(?:number|Account|Meter number) \d{5,}\b",
        r"\b\d{3}/\d\d\b",
        r"-\d+\.\d °C",
    ],
)
def test_the_notations_of_real_prose_appear(text: str, pattern: str) -> None:
    assert len(re.findall(pattern, text)) >= 10


@pytest.mark.parametrize(
    ("pattern", "low", "high"),
    [
        (rf"(?<![\d.,]){N}(?:%| per cent)", 1, 100),
        (rf"{N} metres above the sea", 1, 8849),
        (rf"village of [^.]*? had {N} inhabitants", 100, 1999),
        (rf"city on the \w+, with a population of {N}", 100_000, 5_000_000),
        (rf"The budget for \d+ was {N} crowns", 10**9, 10**10),
        (rf"goalkeeper \w+ made {N} saves", 10, 99),
        (rf"\bIn {N}(?:,| the)", 1066, 2025),
        (rf"(?:opened|founded|built|published) in {N}[., ]", 1066, 2025),
        (rf"\b{N} (?:January|March|May|July|August|October|December)\b", 1, 31),
        (rf"\b{N} (?:April|June|September|November)\b", 1, 30),
        (rf"\b{N} February\b", 1, 28),
        (r"(?<![\d:])(\d{1,2}):\d\d(?![\d,])", 1, 23),
        (r"(?<![\d:])\d{1,2}:(\d\d)(?![\d,])", 0, 59),
        (rf"\baged {N}", 12, 100),
        (rf"atomic number {N}\b", 1, 118),
    ],
)
def test_numbers_fit_what_they_count(text: str, pattern: str, low: int, high: int) -> None:
    found = [value(numeral) for numeral in re.findall(pattern, text)]
    assert len(found) >= 10
    assert low <= min(found) <= max(found) <= high


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_sentence_can_be_filled_and_every_draw_stays_within_its_bounds(name: str) -> None:
    subject = SUBJECTS[name]
    for turn in range(20):
        facts = facts_of(subject, turn)
        for template in templates(subject):
            assert not re.search(r"[{}\[\]|]", facts.fill(template))
        specs = {fact: facts._specs[fact] for fact in facts if fact in facts._specs}
        for fact, spec in specs.items():
            if isinstance(spec, str) and spec.split()[0] in ("uniform", "log"):
                low, high = (facts._number(bound) for bound in spec.split()[1:3])
                assert low <= facts._number(fact) <= high


CONSISTENT = [
    (
        rf"lived from {N} to {N} and died aged {N}",
        lambda born, died, age: died - born == age,
    ),
    (
        rf"(?:rose|grew|raised) from £?{N}(?: tonnes)?(?: in \d+)? to £?{N}",
        lambda before, after: before < after,
    ),
    (
        rf"{N} women and {N} men[\w ]*, {N} (?:people|runners) in all",
        lambda women, men, people: women + men == people,
    ),
    (
        rf"With {N} people on {N} square kilometres, it has {N} inhabitants per",
        lambda people, area, density: density == round(people / area),
    ),
    (
        rf"At a discount of {N}%, the [\w ]+ that had cost £{N} is sold for £{N}",
        lambda percent, price, sale: 100 * sale == price * (100 - percent),
    ),
    (
        rf"On the blackboard {N} and {N} were added, which makes {N}",
        lambda one, other, both: one + other == both,
    ),
    (
        rf"Multiplied by {N}, the number {N} gives {N}",
        lambda one, other, product: one * other == product,
    ),
    (
        rf"Of the sales of £{N}, £{N} came from the home market and £{N} from abroad",
        lambda sales, home, abroad: sales == home + abroad,
    ),
    (
        rf"{N} points from {N} matches: {N} wins, {N} draws and {N} losses",
        lambda points, played, wins, draws, losses: (
            points == 3 * wins + draws and played == wins + draws + losses
        ),
    ),
]


@pytest.mark.parametrize(("pattern", "holds"), CONSISTENT)
def test_numbers_named_together_agree(text: str, pattern: str, holds: Any) -> None:
    found = re.findall(pattern, text)
    assert len(found) >= 10
    assert all(holds(*map(value, numerals)) for numerals in found)


def test_the_subjects_and_their_sentences_are_many() -> None:
    assert len(SUBJECTS) >= 12
    assert sum(len(templates(subject)) for subject in SUBJECTS.values()) >= 150
    assert all(len(subject["body"]) >= 8 for subject in SUBJECTS.values())


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<![\w.,:-])0(?![\w.,])",  # nothing is counted that is not there
        r"(?<![\d.,:])\b1 (?:people|years|days|men|women|books|weeks|times)\b",
        r"\b(?:[Aa] [aeio]|[Aa]n [b-df-gj-np-tv-z])",
        r" [,.;]|  |\.\.|[{}\[\]|<>]",
        r"(?:^|\. )[a-z]",
        r"\b(\w{3,}) \1\b",
    ],
)
def test_the_english_is_clean(text: str, pattern: str) -> None:
    assert re.search(pattern, text, re.MULTILINE) is None


@pytest.mark.parametrize(
    ("number", "form", "written"),
    [
        (1, "ordinal", "1st"),
        (12, "ordinal", "12th"),
        (22, "ordinal", "22nd"),
        (113, "ordinal", "113th"),
        (35, "tenths", "3.5"),
        (405, "hundredths", "4.05"),
        (605, "clock", "10:05"),
        (1987, "decade", "1980s"),
        (1907, "short", "07"),
        (11_000, "n", "11,000"),
        (8, "a", "an 8"),
        (110, "a", "a 110"),
        ("engineer", "a", "an engineer"),
        ("poet", "a", "a poet"),
    ],
)
def test_forms_write_what_they_say(number: int | str, form: str, written: str) -> None:
    assert almanac._FORMS[form](number) == written


def test_an_article_writes_its_four_digit_quantities_in_one_way() -> None:
    for grouped, written in ((0, "1234 and 12,345"), (1, "1,234 and 12,345")):
        specs = {"grouped": grouped, "one": 1234, "other": 12_345}
        assert almanac._Facts(specs, random.Random(0)).fill("{one:n} and {other:n}") == written


def test_real_facts_are_in_order() -> None:
    assert all(record["height"] <= 8849 for record in FACTS["mountains"])
    assert all(record["year"] in YEARS for record in FACTS["events"])
    distances = [record["distance"] for record in FACTS["planets"]]
    assert distances == sorted(distances)
    for table, key in (("countries", "country"), ("elements", "atomic"), ("rivers", "river")):
        assert len({record[key] for record in FACTS[table]}) == len(FACTS[table])
