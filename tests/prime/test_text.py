from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.errors import InputError
from numerate.extract.counts import extract_counts
from numerate.extract.numerals import find_numerals
from numerate.fit.anchors import AnchorSet
from numerate.prime.text import find_primed, prime_text, unprime_text

LINEAR = AnchorSet("linear", (10, 2000, 5_000_000))
LN = AnchorSet("ln", tuple(range(10, 241)))
WIDE = AnchorSet("ln", tuple(range(10, 241)), width=3)
EXPONENTS = AnchorSet("log10", tuple(range(11)))
REAL_EXPONENTS = AnchorSet("log10", tuple(range(-30, 11)), domain="reals")
WAYS = st.sampled_from(
    [
        (anchors, marker)
        for anchors in (
            LINEAR,
            LN,
            WIDE,
            AnchorSet("ln", (-50, 0, 30, 86), domain="reals"),
            AnchorSet("ln", (-50, 0, 30, 86), domain="quantities"),
        )
        for marker in ("anc", "lr")
    ]
    + [(EXPONENTS, "exp"), (REAL_EXPONENTS, "exp")]
)
ANY_TEXT = st.one_of(
    st.text(max_size=60),
    st.text(st.sampled_from("0123456789.,@ -eE_é<>ANCLRXP\n"), max_size=40),
)
holds_no_marker = ANY_TEXT.filter(
    lambda text: not any(m in text for m in ("<ANC>", "<LA>", "<RA>", "<EXP>"))
)


@pytest.mark.parametrize(
    ("anchors", "marker", "primed"),
    [
        (LINEAR, "anc", "1999 <ANC> 2000"),
        (LINEAR, "lr", "1999 <RA> 2000"),
        (LN, "anc", "1999 <ANC> 86"),
        (LN, "lr", "1999 <RA> 86"),
        (AnchorSet("linear", (1990,)), "lr", "1999 <LA> 1990"),
    ],
)
def test_the_four_variants_are_the_papers(anchors, marker, primed):
    assert prime_text("1999", anchors, marker=marker).text == primed


def test_anchors_of_a_width_are_as_long_as_each_other():
    primed = prime_text("1999 or 1,000,000", WIDE).text
    assert primed == "1999 <ANC> 086 or 1,000,000 <ANC> 148"


@given(st.integers(1, 10**10))
def test_an_exponent_is_one_less_than_the_digits(value):
    primed = prime_text(str(value), EXPONENTS, marker="exp").text
    assert primed == f"{value} <EXP> {len(str(value)) - 1}"


@given(st.floats(-1e10, 1e10).filter(lambda value: abs(value) >= 1e-30))
def test_an_exponent_is_that_of_scientific_notation(value):
    text = repr(value)
    expected = Decimal(text).adjusted()
    assert prime_text(text, REAL_EXPONENTS, marker="exp").text == f"{text} <EXP> {expected}"


def test_exponents_are_written_beside_every_form_of_a_numeral():
    primed = prime_text("1999, 12,345 and 1 @,@ 000.", EXPONENTS, marker="exp")
    assert primed.text == "1999 <EXP> 3, 12,345 <EXP> 4 and 1 @,@ 000 <EXP> 3."
    assert find_primed(primed.text)[0] == list(primed.spans)


@pytest.mark.parametrize(
    ("anchors", "marker", "message"),
    [
        (LN, "exp", "marker must be anc or lr for anchors on the ln scale, got 'exp'"),
        (LINEAR, "exp", "marker must be anc or lr for anchors on the linear scale, got 'exp'"),
        (EXPONENTS, "anc", "marker must be exp for anchors on the log10 scale, got 'anc'"),
        (LN, "ANC", "marker must be anc or lr for anchors on the ln scale, got 'ANC'"),
    ],
)
def test_a_marker_goes_with_its_scale(anchors, marker, message):
    with pytest.raises(InputError, match=message):
        prime_text("1999", anchors, marker=marker)


def test_a_numeral_form_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="numeral_form must be one of as-is, digits, got 'digit'"):
        prime_text("1999", LN, numeral_form="digit")


def test_an_anchor_is_never_primed_again():
    # The paper's scripts made `4 <ANC> 5 <ANC> 5 of 5 ...` of this.
    anchors = AnchorSet("linear", (5,))
    assert prime_text("4 of 5 (4).", anchors).text == "4 <ANC> 5 of 5 <ANC> 5 (4 <ANC> 5)."


@given(holds_no_marker, WAYS)
def test_undoing_gives_back_the_text(text, way):
    anchors, marker = way
    primed = prime_text(text, anchors, marker=marker)
    assert unprime_text(primed.text) == text


@given(holds_no_marker, WAYS)
def test_what_is_primed_are_the_numerals_in_order(text, way):
    anchors, marker = way
    primed, shift = prime_text(text, anchors, marker=marker), 0
    numerals = find_numerals(text, anchors.domain)
    assert len(primed.spans) == len(numerals)
    for numeral, span in zip(numerals, primed.spans, strict=True):
        assert span.numeral == (numeral.start + shift, numeral.end + shift)
        anchor = primed.text[slice(*span.anchor)]
        assert int(anchor) == anchors.nearest([numeral.value])[0]
        assert len(anchor) >= anchors.width
        token = primed.text[slice(*span.marker)]
        assert token in {"anc": ["<ANC>"], "lr": ["<LA>", "<RA>"], "exp": ["<EXP>"]}[marker]
        assert span.numeral[1] + 1 == span.marker[0]
        assert span.marker[1] + 1 == span.anchor[0]
        shift += len(f" {token} {anchor}")


def test_numerals_can_be_written_as_digits():
    text = "12,345 and 12 @,@ 345 and 1,2"
    primed = prime_text(text, LN, numeral_form="digits")
    assert primed.text == "12345 <ANC> 104 and 12345 <ANC> 104 and 1,2"
    assert [primed.text[slice(*span.numeral)] for span in primed.spans] == ["12345", "12345"]
    reals = AnchorSet("linear", (-1234, 3), domain="reals")
    primed = prime_text("−1,234 @.@ 5 and 3 @.@ 14", reals, numeral_form="digits")
    assert primed.text == "−1234.5 <ANC> -1234 and 3.14 <ANC> 3"


def test_text_that_is_primed_already_is_refused():
    primed = prime_text("in 1999", LN).text
    with pytest.raises(InputError, match="must not hold a marker, got one at character 8"):
        prime_text(primed, LN, marker="lr")


@pytest.mark.parametrize(
    "text", ["<ANC> 5", "x <ANC> 5", "5 <ANC>", "5 <ANC> x", "5<LA> 7", "<EXP> 3"]
)
def test_undoing_what_priming_did_not_write_is_refused(text):
    with pytest.raises(InputError, match="a marker without numeral or anchor"):
        unprime_text(text)


def test_text_without_numerals_stays_as_it_is():
    assert prime_text("", LN) == ("", ())
    assert prime_text("none at all", LN) == ("none at all", ())


@pytest.mark.parametrize("domain", ["integers", "reals", "quantities"])
def test_the_numeral_before_a_marker_is_found_beside_any_other_sign(domain):
    """Dots and commas between two numerals belong to neither; a leading dot belongs to `.5`."""
    anchors = AnchorSet("ln", tuple(range(-240, 241)), domain=domain)
    for text in (
        "of 1...3",
        "1,,5 or 1.,5",
        "7, 8. 9",
        "No.5",
        "1990–95",
        "1,990 1.5e-3 .5",
        "-.25",
    ):
        primed = prime_text(text, anchors)
        found = [primed.text[slice(*span.numeral)] for span in find_primed(primed.text, domain)[0]]
        expected = [text[row.start : row.end] for row in find_numerals(text, domain)]
        assert found == expected


def test_an_unknown_form_of_numerals_is_refused_and_so_is_a_single_text():
    with pytest.raises(InputError, match="numeral_form must be one of as-is, digits, got 'digit'"):
        prime_text("in 1999", AnchorSet("ln", (86,)), numeral_form="digit")
    with pytest.raises(InputError, match="corpus must be a list of strings"):
        extract_counts("in 1999 there were 5")
