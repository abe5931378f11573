import numpy as np
import pytest

from numerate import InputError, load
from numerate.cli.arguments import parse_among
from numerate.embed.neighbours import find_similar


class Ruler:
    """An encoder that knows the size of numbers, to check the order in which they come back."""

    domain = "integers"

    def embed_numerals(self, numerals, **reading):
        angles = np.log([float(str(n).replace(",", "")) for n in numerals]) / 30
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_the_nearest_come_first_and_the_numeral_itself_is_left_out():
    found = find_similar(Ruler(), "1,000", [1, 900, 1000, 1001, 5000, 1001], top=3)
    assert [row.numeral for row in found] == ["1001", "900", "5000"]
    assert [row.nearer for row in found] == [0, 1, 2]
    assert found[0].cosine > found[1].cosine > found[2].cosine


def test_a_real_encoder_is_asked_with_its_settings(anchored_models):
    encoder = load(str(anchored_models()))
    found = find_similar(encoder, 1999, range(1, 50), top=5, anchor="masked", read="anchor")
    assert len(found) == 5
    vectors = encoder.embed_numerals([1999, int(found[0].numeral)], anchor="masked", read="anchor")
    cosine = vectors[0] @ vectors[1] / np.linalg.norm(vectors[0]) / np.linalg.norm(vectors[1])
    assert found[0].cosine == pytest.approx(cosine, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "numerals"),
    [("3:6", [3, 4, 5, 6]), ("1:10:4", [1, 5, 9]), ("7", [7]), ("1,10,2:3", [1, 10, 2, 3])],
)
def test_ranges_hold_both_ends(text, numerals):
    assert parse_among(text, "5") == numerals


def test_without_a_range_it_is_a_tenth_to_ten_times():
    around = parse_among(None, "1,000")
    assert (around[0], around[-1]) == (100, 10_000)
    assert parse_among(None, "2")[0] == 1


@pytest.mark.parametrize("text", ["a:b", "1:2:3:4", "", "1:5:0", "1:10:-1"])
def test_a_range_that_cannot_be_read_is_one_line(text):
    with pytest.raises(InputError, match="among must be like 1900:2100"):
        parse_among(text, "5")


def test_a_range_beyond_all_measure_is_refused():
    with pytest.raises(InputError, match="at most 1,000,000"):
        parse_among("1:10000000000", "5")


def test_a_numeral_has_no_neighbours_but_others():
    with pytest.raises(InputError, match="among must hold numerals other than 5"):
        find_similar(Ruler(), 5, [5])
