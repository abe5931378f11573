"""The domain `quantities`: every case is decided by hand from the rules in docs/stages.md."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.extract.numerals import find_numerals, scan_numerals
from numerate.fit.anchors import AnchorSet
from numerate.prime.text import find_primed, prime_text, prime_texts, unprime_text

ANCHORS = AnchorSet("ln", tuple(range(-300, 400, 3)), domain="quantities", width=3)
PIECES = (
    "1 2 12 1.82 1,820 10 0 one two three ten twenty fifty five hundred thousand million billion "
    "crore lakh millions a half and to or between point of quarter percent third first "
    "k K m mn bn tn M B t $ € % x × ^ ** ^6 ⁶ 10^6 {6} - – / , . ( )"
)
PIECES = PIECES.split()
ANY_TEXT = st.one_of(
    st.lists(st.sampled_from([*PIECES, " ", " ", " ", "\n", "\u00a0"]), max_size=14).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=10).map(" ".join),
    st.text(max_size=40),
)


def read(text):
    return [(text[n.start : n.end], n.value) for n in find_numerals(text, "quantities")]


CASES = {
    # factor words
    "1.82 billion": [("1.82 billion", 1_820_000_000)],
    "$1.82 billion": [("1.82 billion", 1_820_000_000)],
    "$1,820 million": [("1,820 million", 1_820_000_000)],
    "1.1 million": [("1.1 million", 1_100_000)],
    "52.4 Million": [("52.4 Million", 52_400_000)],
    "5 MILLION": [("5 MILLION", 5_000_000)],
    "21 thousand": [("21 thousand", 21_000)],
    "1.8 trillion": [("1.8 trillion", 1.8e12)],
    "$100 trillion": [("100 trillion", 10**14)],
    "1,000 trillion": [("1,000 trillion", 10**15)],
    "1,001 trillion": [],  # above the bound
    "5 lakh": [("5 lakh", 500_000)],
    "5 lakhs": [("5 lakhs", 500_000)],
    "10 crore": [("10 crore", 10**8)],
    "₹2.5 crores": [("2.5 crores", 25_000_000)],
    "2 lakh crore": [("2 lakh crore", 2 * 10**12)],
    "5 thousand million": [("5 thousand million", 5 * 10**9)],
    "10 millions": [("10 millions", 10**7)],
    "5\u00a0million": [("5\u00a0million", 5_000_000)],
    "5-million-year-old": [("5-million", 5_000_000)],
    "a 3 million-dollar house": [("3 million", 3_000_000)],
    "5 @-@ million": [("5 @-@ million", 5_000_000)],
    "1 @.@ 5 million": [("1 @.@ 5 million", 1_500_000)],
    "-1.5 million": [("-1.5 million", -1_500_000)],
    "0.5 million": [("0.5 million", 500_000)],
    ".5 million": [(".5 million", 500_000)],
    "1.5e3 million": [("1.5e3 million", 1.5e9)],
    "5 millionaires": [("5", 5)],
    "5 millionth": [("5", 5)],
    "5 thousandfold": [("5", 5)],
    "5  million": [("5", 5)],  # two spaces
    "5\nmillion": [("5", 5)],
    "5million": [],  # as 5km
    "1/2 million": [("1", 1), ("2", 2)],
    "1:5 million": [("1", 1), ("5 million", 5_000_000)],
    "5 hundred": [("5", 5)],
    "1,23 million": [],  # no number
    "007 million": [],
    "millions": [],
    "several million": [],
    "tens of thousands": [],
    "the millions of 1999": [("1999", 1999)],
    "in 1999 the million": [("1999", 1999)],
    # suffixes
    "3.5k": [("3.5k", 3_500)],
    "3.5K": [("3.5K", 3_500)],
    "5k run": [("5k", 5_000)],  # metres
    "5 k": [("5", 5)],
    "300 K": [("300", 300)],  # kelvins
    "$300 K": [("300 K", 300_000)],
    "1.82bn": [("1.82bn", 1_820_000_000)],
    "1.82 bn": [("1.82 bn", 1_820_000_000)],
    "$1.82BN": [("1.82BN", 1_820_000_000)],
    "1.82BN": [],
    "5mn": [("5mn", 5_000_000)],
    "5 mln": [("5 mln", 5_000_000)],
    "5 mio": [("5 mio", 5_000_000)],
    "2tn": [("2tn", 2 * 10**12)],
    "5 Mn": [("5", 5)],  # manganese
    "3 m long": [("3", 3)],
    "3m": [],
    "3 M": [("3", 3)],
    "$3m": [("3m", 3_000_000)],
    "€3.5m": [("3.5m", 3_500_000)],
    "€3.5M": [("3.5M", 3_500_000)],
    "€3.5 m": [("3.5 m", 3_500_000)],
    "£ 1.2m": [("1.2m", 1_200_000)],
    "US$300m": [("300m", 300_000_000)],
    "$4b": [("4b", 4 * 10**9)],
    "$1.8T": [("1.8T", 1.8e12)],
    "₹5 cr": [("5 cr", 50_000_000)],
    "5 cr": [("5", 5)],
    "$5m-a-year": [("5m", 5_000_000)],
    "$5 t-shirt": [("5", 5)],
    "$5 mug": [("5", 5)],
    "£5m²": [],
    "B52": [],
    "C-123K": [],
    "5km": [],
    "5G": [],
    "5m.": [],
    "$5m.": [("5m", 5_000_000)],
    "16th": [],
    # powers of ten
    "1.8 x 10^6": [("1.8 x 10^6", 1_800_000)],
    "1.8 × 10⁶": [("1.8 × 10⁶", 1_800_000)],
    "1.8×10⁶": [("1.8×10⁶", 1_800_000)],
    "1.8 x 10**6": [("1.8 x 10**6", 1_800_000)],
    "1.8*10^6": [("1.8*10^6", 1_800_000)],
    "1.8 · 10^{6}": [("1.8 · 10^{6}", 1_800_000)],
    r"$1.8\times 10^{6}$": [(r"1.8\times 10^{6}", 1_800_000)],
    "5 x 10^-3": [("5 x 10^-3", 0.005)],
    "5 × 10⁻³": [("5 × 10⁻³", 0.005)],
    "10^6": [("10^6", 1_000_000)],
    "10⁶": [("10⁶", 1_000_000)],
    "10^0": [("10^0", 1)],
    "10^16": [],  # above the bound
    "2^10": [("2", 2), ("10", 10)],
    "5²": [],
    "3 x 10 m": [("3", 3), ("10", 10)],
    "10^6.5": [("10", 10), ("6.5", 6.5)],
    # percent is a unit, as everywhere
    "5%": [("5", 5)],
    "5 percent": [("5", 5)],
    "five percent": [("five", 5)],
    "one percent": [("one", 1)],
    "One per cent": [("One", 1)],
    # numbers in words
    "two million": [("two million", 2_000_000)],
    "Two Million": [("Two Million", 2_000_000)],
    "twenty-five": [("twenty-five", 25)],
    "twenty five": [("twenty five", 25)],
    "twenty @-@ five": [("twenty @-@ five", 25)],
    "ninety-nine": [("ninety-nine", 99)],
    "Part two": [("two", 2)],  # as Part 2
    "one of them": [],
    "no one": [],
    "one-on-one": [],
    "one million": [("one million", 1_000_000)],
    "zero": [],
    "a hundred": [("a hundred", 100)],
    "a million": [("a million", 1_000_000)],
    "an hundred": [],
    "hundred": [],
    "a few hundred": [],
    "a hundred and one": [("a hundred and one", 101)],
    "one hundred twenty": [("one hundred twenty", 120)],
    "two hundred and fifty thousand": [("two hundred and fifty thousand", 250_000)],
    "two million three hundred thousand": [("two million three hundred thousand", 2_300_000)],
    "fifteen hundred": [("fifteen hundred", 1_500)],
    "two thousand and five": [("two thousand and five", 2_005)],
    "two lakh crore": [("two lakh crore", 2 * 10**12)],
    "five crores": [("five crores", 50_000_000)],
    "half a million": [("half a million", 500_000)],
    "half a dozen": [],
    "two and a half million": [("two and a half million", 2_500_000)],
    "two and a half": [("two and a half", 2.5)],
    "a million and a half": [],
    "a quarter of a million": [],
    "two point five million": [],
    "two thirds": [],
    "two-thirds": [],
    "twenty-first": [],
    "two hundredths": [],
    "ten seconds": [("ten", 10)],
    "five-year": [("five", 5)],
    "two months": [("two", 2)],
    "nineteen ninety-nine": [],
    "nine eleven": [],
    "one two three": [],
    "two and three": [("two", 2), ("three", 3)],
    "one million and two million": [("one million", 10**6), ("two million", 2 * 10**6)],
    "twofold often sixties tenth money": [],
    "deux millions": [],
    "tené éten ten_": [],
    "ten": [("ten", 10)],
    # ranges
    "$1-2 million": [("1", 1_000_000), ("2 million", 2_000_000)],
    "$1–$2 million": [("1", 1_000_000), ("2 million", 2_000_000)],
    "12.8–13.0 million": [("12.8", 12_800_000), ("13.0 million", 13_000_000)],
    "1.1 to 2 billion": [("1.1", 1.1e9), ("2 billion", 2e9)],
    "5-10k": [("5", 5_000), ("10k", 10_000)],
    "£5m-£10m": [("5m", 5_000_000), ("10m", 10_000_000)],
    "between 5 and 10 million": [("5", 5_000_000), ("10 million", 10_000_000)],
    "these 5 and 10 million": [("5", 5), ("10 million", 10_000_000)],
    "two to three million": [("two", 2_000_000), ("three million", 3_000_000)],
    "two or three hundred": [("two", 200), ("three hundred", 300)],
    "in 2004-5 million": [("2004", 2004), ("5 million", 5_000_000)],
    "900 thousand to 2 million": [("900 thousand", 900_000), ("2 million", 2_000_000)],
    "5, 10 million": [("5", 5), ("10 million", 10_000_000)],
    "5 to 10^6": [("5", 5), ("10^6", 1_000_000)],
}


@pytest.mark.parametrize("text", CASES)
def test_a_quantity_is_what_the_rules_say(text):
    assert read(text) == CASES[text]


@pytest.mark.parametrize("text", CASES)
def test_what_surrounds_a_quantity_does_not_change_it(text):
    assert read(f"It is, {text}, was said.") == CASES[text]


def test_there_is_one_value_to_a_quantity_however_it_is_written():
    ways = "$1.82 billion; $1,820 million; $1.82bn; 1820000000; 1.82 x 10^9; 1,820,000 thousand"
    assert {value for _, value in read(ways)} == {1_820_000_000}


@given(
    st.decimals(0, 999, places=3, allow_nan=False),
    st.sampled_from([("thousand", 3), ("million", 6), ("billion", 9), ("trillion", 12)]),
)
def test_a_factor_multiplies_exactly(number, factor):
    word, exponent = factor
    [found] = find_numerals(f"{number} {word}", "quantities")
    assert found.value == float(number.scaleb(exponent))


@given(ANY_TEXT)
def test_spans_are_in_order_and_apart(text):
    found = find_numerals(text, "quantities")
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(n.start < n.end and abs(n.value) <= 10**15 for n in found)
    assert all("\n" not in text[n.start : n.end] for n in found)


@given(ANY_TEXT)
def test_priming_is_undone_and_read_back(text):
    primed = prime_text(text, ANCHORS)
    assert unprime_text(primed.text) == text
    spans, values = find_primed(primed.text, "quantities")
    assert spans == list(primed.spans)
    assert values == [n.value for n in find_numerals(text, "quantities")]


@given(st.lists(ANY_TEXT, min_size=1, max_size=4))
def test_texts_are_primed_together_as_alone(texts):
    assert prime_texts(texts, ANCHORS) == [prime_text(text, ANCHORS) for text in texts]


@given(st.text(st.sampled_from("0123456789.,@  -–+eE_ai()%$\n"), max_size=40))
def test_text_without_factors_has_the_numerals_of_reals(text):
    # Numbers above 10^10 are quantities only.
    text = re.sub(r"\d{8,}", "77", text)
    found = [n for n in find_numerals(text, "quantities") if abs(n.value) <= 10**10]
    assert found == find_numerals(text, "reals")


def test_an_anchor_stands_behind_the_whole_quantity():
    text = "The debt of $1-2 million, or two lakh, is 5% of €1.82bn."
    primed = prime_text(
        text, AnchorSet("log10", tuple(range(16)), domain="quantities"), marker="exp"
    )
    assert primed.text == (
        "The debt of $1 <EXP> 6-2 million <EXP> 6, or two lakh <EXP> 5, is 5 <EXP> 0% of €1.82bn "
        "<EXP> 9."
    )


def test_digits_removes_separators_and_keeps_words():
    primed = prime_text("1,820 million, twenty-five", ANCHORS, numeral_form="digits")
    assert re.sub(r" <ANC> \d+", "", primed.text) == "1820 million, twenty-five"
    assert find_primed(primed.text, "quantities")[1] == [1_820_000_000, 25]


def test_a_very_long_line_is_read_in_one_pass():
    text = "two " * 100_000 + "x " + "5 million " * 5_000 + "twenty-" * 100_000
    assert len(scan_numerals(text.encode(), "quantities").values) == 5_000
