import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from numerate.errors import InputError
from numerate.extract.numerals import find_numerals, scan_numerals

TRICKY = st.text(st.sampled_from("0123456789..,,@@  -–−+eE_axé०²ि\n()$"), max_size=40)
WIKITEXT = st.lists(
    st.sampled_from(["12", "345", "1999", "007", " @,@ ", " @.@ ", " ", ",", ".", "x", "-"]),
    max_size=12,
).map("".join)
ANY_TEXT = st.one_of(st.text(max_size=60), TRICKY, WIKITEXT)


def read_slowly(text):
    """Every integer numeral as (value, start, end), character by character, from design's words."""

    def is_letter(character):
        return character.isalpha() or unicodedata.category(character).startswith("M")

    def is_glue(character):
        return is_letter(character) or character.isalnum() or character == "_"

    def at(index):
        return text[index] if 0 <= index < len(text) else " "

    def skip_digits(index):
        while at(index) in "0123456789":
            index += 1
        return index

    found, index = [], 0
    while index < len(text):
        if text[index] not in "0123456789":
            index += 1
            continue
        start = index
        index = skip_digits(index)
        groups, separators = [text[start:index]], []
        while True:
            for separator in (".", ",", " @.@ ", " @,@ "):
                after = index + len(separator)
                if text.startswith(separator, index) and at(after) in "0123456789":
                    index = skip_digits(after)
                    groups.append(text[after:index])
                    separators.append(separator.strip(" @"))
                    break
            else:
                break
        has_exponent = False
        if at(index) in "eE":
            after = index + 1 + (at(index + 1) in "+-−")
            if at(after) in "0123456789":
                has_exponent, index = True, skip_digits(after)
        after_dot = at(start - 1) == "." and not (is_letter(at(start - 2)) or at(start - 2) == ".")
        is_grouped = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        if (
            not is_glue(at(start - 1))
            and not is_glue(at(index))
            and not after_dot
            and not has_exponent
            and "." not in separators
            and (is_grouped or len(groups) == 1)
            and groups[0][0] != "0"
        ):
            digits = "".join(groups)
            if len(digits) <= 11 and int(digits) <= 10**10:
                found.append((int(digits), start, index))
    return found


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1999", [1999]),
        ("12,345", [12345]),
        ("12 @,@ 345", [12345]),
        ("1,234,567,890", [1234567890]),
        ("10000000000 and 10,000,000,000", [10**10, 10**10]),
        ("10000000001 and 123456789012345678901234567890", []),
        ("0 007 0,123", []),
        ("1990s 16th B52 3D x86_64 5km", []),
        ("1990-1995 1990–95", [1990, 1995, 1990, 95]),
        ("1/2 12:30", [1, 2, 12, 30]),
        ("$5 5% (5) -5 +5", [5, 5, 5, 5, 5]),
        ("It was 5. Then 5, or 5", [5, 5, 5]),
        ("3.14 .5 3 @.@ 14 1.2.3 192.168.0.1 1,23 12,3456 12,345.6", []),
        ("12 @,@ 34 and 12 @,@ 345 @.@ 6", []),
        ("No.5 1999.Then", [5, 1999]),
        ("wait...5 and 1865..1903", [5, 1865, 1903]),
        ("1.5e-3 1e5 2E+7", []),
        ("12 @-@ 34", [12, 34]),
        ("नि5 5नि é5 5é 漢5 5漢 5º 5² ٣5", []),
        ("5° 5′ «5» 5–6 \ufeff5\u00a05", [5, 5, 5, 5, 6, 5, 5]),
        ("５ ٣ ③", []),
        # Any space separates numerals, a thin one too: nothing but commas joins thousands.
        ("12\u2009345 12\u202f345 12\u00a0345", [12, 345, 12, 345, 12, 345]),
        ("1999年 5月 第3回 1999 年", [1999]),  # letters of any script make a word
    ],
)
def test_integers_are_those_of_the_design(text, values):
    assert [numeral.value for numeral in find_numerals(text)] == values


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            "3.14 .5 3 @.@ 14 1,234.5",
            {"3.14": 3.14, ".5": 0.5, "3 @.@ 14": 3.14, "1,234.5": 1234.5},
        ),
        ("1.5e-3 2E4 1e−2", {"1.5e-3": 0.0015, "2E4": 20000, "1e−2": 0.01}),
        ("0 and 1.0", {"0": 0, "1.0": 1}),
        ("was -5 (−7) =-8 x, -9.5", {"-5": -5, "−7": -7, "-8": -8, "-9.5": -9.5}),
        ("5-10 a-6 7 -8 3–4", {"5": 5, "10": 10, "6": 6, "7": 7, "8": 8, "3": 3, "4": 4}),
        ("5\n-10", {"5": 5, "-10": -10}),
        ("1.2.3 12,34 007 1e999 20000000000", {}),
    ],
)
def test_reals_add_decimals_signs_and_exponents(text, written):
    found = find_numerals(text, "reals")
    assert {text[numeral.start : numeral.end]: numeral.value for numeral in found} == written


def test_an_unknown_domain_is_refused():
    with pytest.raises(
        InputError, match="domain must be one of integers, reals, quantities, got 'naturals'"
    ):
        find_numerals("5", "naturals")


@given(ANY_TEXT)
@example("x_.5 é.5 ².5")
def test_integers_are_those_that_a_slow_reading_finds(text):
    found = [(numeral.value, numeral.start, numeral.end) for numeral in find_numerals(text)]
    assert found == read_slowly(text)


@given(st.lists(ANY_TEXT, max_size=5))
def test_lines_can_be_read_apart_or_together(texts):
    lines = [text.replace("\n", " ") for text in texts]
    for domain in ("integers", "reals", "quantities"):
        apart = [numeral.value for line in lines for numeral in find_numerals(line, domain)]
        together = [numeral.value for numeral in find_numerals("\n".join(lines), domain)]
        assert apart == together


@given(ANY_TEXT)
def test_an_integer_is_a_real_unless_a_sign_is_before_it(text):
    reals = {numeral.end: abs(numeral.value) for numeral in find_numerals(text, "reals")}
    assert all(reals.get(numeral.end) == numeral.value for numeral in find_numerals(text))


def test_a_very_long_line_is_read_in_one_pass():
    text = "1,2" * 200_000 + " 1999 " + "9" * 1_000_000 + " x" * 1_000_000 + " 42"
    assert [numeral.value for numeral in find_numerals(text)] == [1999, 42]


def test_a_lone_surrogate_is_text_like_any_other():
    assert [n.start for n in find_numerals("\ud800 5 \udfff")] == [2]


def test_a_scan_gives_byte_offsets():
    scan = scan_numerals("é 5–6".encode())
    np.testing.assert_array_equal(scan.starts, [3, 7])
    np.testing.assert_array_equal(scan.ends, [4, 8])


@pytest.mark.parametrize("domain", ["integers", "reals", "quantities"])
def test_a_number_of_hundreds_of_characters_is_none(domain):
    for text in (
        "9" * 10_000,
        f"1e{'9' * 5000} million",
        "1,000" + ",000" * 500,
        f"0.{'3' * 9999}",
    ):
        assert [row.value for row in find_numerals(f"of {text} and 5", domain)] == [5]
