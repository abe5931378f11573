import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.probe.controls import CONTROLS

NUMERALS = st.integers(1, 10**10)


@pytest.mark.parametrize(
    ("name", "vectors"),
    [
        ("control:value", [[7], [1999]]),
        ("control:oracle", [[1 + np.log(7)], [1 + np.log(1999)]]),
    ],
)
def test_controls_are_what_they_say(name, vectors):
    np.testing.assert_allclose(CONTROLS[name]([7, 1999]), vectors)


def test_digits_are_ones_at_their_place_from_the_right():
    [vector] = CONTROLS["control:digits"]([1999]).reshape(1, 11, 11)
    assert vector.argmax(axis=1).tolist() == [10] * 7 + [1, 9, 9, 9]
    assert vector.sum() == 11


def test_random_vectors_depend_on_the_numeral_alone():
    first, again = (CONTROLS["control:random"](numerals) for numerals in ([5, 7], [9, 5]))
    np.testing.assert_array_equal(first[0], again[1])
    assert not np.allclose(first[0], first[1])


def test_characters_are_counted_with_the_ends():
    same, other, longer = CONTROLS["control:chars"]([1212, 2121, 12121])
    assert same.sum() == 6 + 5 + 4
    assert longer.sum() == 7 + 6 + 5
    assert not (same == other).all()


@given(NUMERALS, NUMERALS)
def test_the_angle_between_two_numbers_is_their_distance_in_dice(first, second):
    [[x1, y1], [x2, y2]] = CONTROLS["control:dice"]([first, second]).tolist()
    crossed, along = x1 * y2 - y1 * x2, x1 * x2 + y1 * y2
    expected = math.pi * (second - first) / 10**10
    assert math.atan2(crossed, along) == pytest.approx(expected, abs=1e-15)
    assert math.hypot(x1, y1) == pytest.approx(1)


def test_neighbours_of_any_size_differ_in_dice():
    vectors = CONTROLS["control:dice"]([1, 2, 10**10 - 1, 10**10])
    assert vectors[1, 1] == pytest.approx(2 * vectors[0, 1], rel=1e-12)
    assert len(np.unique(vectors, axis=0)) == 4


@given(NUMERALS)
def test_every_digit_can_be_read_off_fone(numeral):
    [vector] = CONTROLS["control:fone"]([numeral])
    assert vector.shape == (22,)
    circles = vector.reshape(11, 2).tolist()
    for place, (cosine, sine) in enumerate(circles, 1):
        turn = float(Fraction(numeral, 10**place) % 1)
        assert cosine == pytest.approx(math.cos(2 * math.pi * turn), abs=1e-9)
        assert sine == pytest.approx(math.sin(2 * math.pi * turn), abs=1e-9)
    digits, last = "", 0
    for place, (cosine, sine) in enumerate(circles, 1):
        part = math.atan2(sine, cosine) / (2 * math.pi) % 1 * 10  # the digit, and what it follows
        digit = round(part - last / 10 ** (place - 1)) % 10
        digits, last = f"{digit}{digits}", digit * 10 ** (place - 1) + last
    assert int(digits) == numeral


@given(NUMERALS, NUMERALS)
def test_xval_is_one_direction_as_long_as_the_value(first, second):
    vectors = CONTROLS["control:xval"]([first, second, 10**10])
    assert vectors.shape == (3, 384)
    lengths = np.sqrt((vectors**2).sum(axis=1))
    np.testing.assert_allclose(lengths, [first / 2e9, second / 2e9, 5], rtol=1e-12)
    np.testing.assert_allclose(vectors / lengths[:, None], [vectors[2] / 5] * 3, rtol=1e-12)


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_knows_every_numeral_and_depends_on_nothing_else(name):
    numerals = [1, 7, 1999, 10**10]
    together = CONTROLS[name](numerals)
    assert np.isfinite(together).all()
    assert together.any(axis=1).all()
    for numeral, vector in zip(numerals, together, strict=True):
        np.testing.assert_array_equal(CONTROLS[name]([numeral])[0], vector)


def cosines(name, numerals):
    vectors = CONTROLS[name](numerals).astype(float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors @ vectors.T).tolist()


@given(NUMERALS, NUMERALS)
def test_the_angle_between_two_numbers_is_the_logarithm_of_their_ratio(first, second):
    [[x1, y1], [x2, y2]] = CONTROLS["control:angle"]([first, second]).tolist()
    expected = math.log(second / first) * math.pi / 2 / math.log(10**10)
    assert math.atan2(x1 * y2 - y1 * x2, x1 * x2 + y1 * y2) == pytest.approx(expected, abs=1e-12)


def test_prefixes_count_only_with_the_same_number_of_digits():
    row = cosines("control:prefix", [1999, 1998, 1945, 1234, 5000, 199, 19990, 1, 10**10])[0]
    assert row[0] == pytest.approx(1)
    same, other, longer, shorter = row[1:5], row[5:7], row[7], row[8]
    assert same == sorted(same, reverse=True)
    assert len(set(np.round(same, 9))) == 4
    assert other[0] == pytest.approx(other[1])
    assert min(same) > other[0] > longer > shorter
    steps = np.diff(same)
    np.testing.assert_allclose(steps, steps[0])  # a digit more is always worth the same


def test_prefixes_seldom_share_a_bucket():
    numerals = np.random.default_rng(0).integers(10**5, 10**6, 300).tolist()
    found = np.array(cosines("control:prefix", numerals))
    shared = [
        [next((i for i, (x, y) in enumerate(zip(str(a), str(b), strict=True)) if x != y), 6)
         for b in numerals]
        for a in numerals
    ]  # fmt: skip
    expected = (1 + 0.01 * np.array(shared) / 6) / 1.01
    assert (np.abs(found - expected) < 1e-6).mean() > 0.9
