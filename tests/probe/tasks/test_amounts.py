import numpy as np
import pytest

from numerate.probe.tasks.amounts import read_amounts, write_amount


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("$1.82 billion", [1.82e9]),
        ("1,820 million and 12", [1.82e9, 12]),
        ("0.428 Billion", [4.28e8]),
        ("3 thousandths", [3]),
        ("2 trillion in 1999", [2e12, 1999]),
        ("no number, a million", []),
    ],
)
def test_scale_words_multiply_the_number_before_them(text, values):
    assert [amount.value for amount in read_amounts(text)] == values


def test_the_position_has_the_scale_word():
    [amount] = read_amounts("about $1.82 billion a year")
    assert "about $1.82 billion a year"[amount.start : amount.end] == "1.82 billion"
    assert amount.has_scale
    assert amount.written == 1.82


@pytest.mark.parametrize("form", ["scaled", "shifted"])
def test_what_is_written_is_read_again(form):
    for value in 10 ** np.random.default_rng(0).uniform(-2, 14, 200):
        rounded = float(f"{value:.3g}")
        [amount] = read_amounts(write_amount(rounded, form))
        assert amount.value == pytest.approx(rounded, rel=1e-12)
