from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from numerate.errors import InputError
from numerate.extract.numerals import find_numerals
from numerate.extract.quantity_forms import write_quantity
from numerate.options import QuantityForm

FORMS = get_args(QuantityForm)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (5, ["5", "5", "5", "5", "5"]),
        (0.25, ["0.25"] * 5),
        (1_234, ["1234", "1,234", "1.234 thousand", "1,234", "1.234k"]),
        (52_400_000, ["52400000", "52,400,000", "52.4 million", "52,400 thousand", "52.4mn"]),
        (10**9, ["1000000000", "1,000,000,000", "1 billion", "1,000 million", "1bn"]),
        (
            -1.82e12,
            ["-1820000000000", "-1,820,000,000,000", "-1.82 trillion", "-1,820 billion", "-1.82tn"],
        ),
    ],
)
def test_a_value_is_written_as_people_write_it(value, written):
    assert [write_quantity(value, form) for form in FORMS] == written


@given(
    st.one_of(
        st.integers(-(10**15), 10**15),
        st.floats(-1e15, 1e15),
        st.builds(
            lambda digits, zeros: digits * 10**zeros, st.integers(1, 9999), st.integers(0, 11)
        ),
    ),
    st.sampled_from(FORMS),
)
@example(10**15, "word")
@example(-0.0, "suffix")
def test_what_is_written_is_read_back_as_the_same_value(value, form):
    text = write_quantity(value, form)
    assert [(n.value, n.start, n.end) for n in find_numerals(text, "quantities")] == [
        (value, 0, len(text))
    ]


@pytest.mark.parametrize("value", [1.1e15, -(10**16), float("nan"), float("inf")])
def test_a_value_beyond_the_bound_is_refused(value):
    with pytest.raises(InputError, match=r"value must be within ±10\^15, got"):
        write_quantity(value, "word")


def test_a_form_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="form must be one of digits, commas, word, smaller-word"):
        write_quantity(5, "words")
