"""Any text: what is primed are its numerals, and undoing gives back every byte."""

import re

from hypothesis import given
from hypothesis import strategies as st

from numerate.extract.counts import extract_counts
from numerate.extract.numerals import find_numerals
from numerate.fit.anchors import AnchorSet
from numerate.prime.text import find_primed, prime_texts, unprime_text
from tests.fuzz.effort import count_cases, fuzz

MARKER = re.compile("<(?:ANC|LA|RA|EXP)>")
TEXTS = 40  # of an example
PARTS = st.sampled_from(
    [
        *("1999", "12,345", "12 @,@ 345", "3.14", ".5", "1,23", "007", "0", "10", "1e5", "1.5e-3"),
        *("-5", "−7", "+8", "9" * 11, "10,000,000,000", "1.2.3", "1990s", "B52", "1/2", "12:30"),
        *(
            "$1.82 billion",
            "3.5k",
            "1.8 x 10^6",
            "two million",
            "1-2 million",
            "5²",
            "½",
            "٣",
            "５",
        ),
        *(" ", " ", "\n", "\t", "\u00a0", "\u2009", "\u202f", "\u2028", "\x00", "\ufeff", "\ud800"),
        *(".", ",", "...", "-", "–", "@", " @-@ ", "_", "%", "$", "°", "年", "é", "e\u0301", "नि"),
        *("<", ">", "<AN", "C>", "<ANC", "LA>", "a", "B", "word", " and ", " to ", "\U0001f600"),
    ]
)
LISTS = st.lists(
    st.lists(PARTS, max_size=12).map("".join).filter(lambda text: not MARKER.search(text)),
    min_size=TEXTS,
    max_size=TEXTS,
)
DOMAINS = st.sampled_from(["integers", "reals", "quantities"])


@fuzz(10, 1_000_000 // TEXTS)
@given(LISTS, DOMAINS)
def test_texts(texts, domain):
    count_cases(len(texts))
    anchors = AnchorSet("ln", (-50, 0, 30, 86, 100, 150), domain=domain)
    n_found = 0
    for text, primed in zip(texts, prime_texts(texts, anchors), strict=True):
        assert unprime_text(primed.text) == text
        numerals = find_numerals(text, domain)
        assert [text[row.start : row.end] for row in numerals] == [
            primed.text[slice(*row.numeral)] for row in primed.spans
        ]
        spans, values = find_primed(primed.text, domain)
        assert spans == list(primed.spans)
        assert values == [row.value for row in numerals]
        n_found += len(numerals)
    if n_found:
        plain = [text.replace("\ud800", "") for text in texts]  # records of UTF-8
        expected = sum(len(find_numerals(text, domain)) for text in plain)
        assert extract_counts(plain, domain=domain).numerals == expected
