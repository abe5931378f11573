import numpy as np
import pytest

from numerate.extract.numerals import find_numerals
from numerate.extract.ranges import PROBE_RANGES, draw_spread
from numerate.probe.controls import CONTROLS
from numerate.probe.samples import Sample
from numerate.probe.systems import ControlSystem
from numerate.probe.tasks.geometry import (
    correlate_with_values,
    draw_geometry,
    find_nearest,
    score_geometry,
    score_in_sentences,
)

POWERS = 2 ** np.arange(21)


def make_sample(asked, candidates):
    return Sample(*(np.array(part, np.int64)[:, None] for part in (candidates, [], asked)))


def look_up(name):
    return lambda numerals: CONTROLS[f"control:{name}"](numerals.tolist())


def test_angles_get_everything_right():
    scores = score_geometry(make_sample([2**10, 3 * 2**10], POWERS), look_up("angle"))
    log3 = np.log2(3)  # nearest to 2^10 are 2^5 to 2^15, to 3 * 2^10 they are 2^7 to 2^16
    away = [1, 2, 3, 4, 5] * 2 + [abs(10 + log3 - power) for power in range(7, 17)]
    assert scores["neighbour factor"] == pytest.approx(2 ** np.mean(away))
    scores = score_geometry(
        make_sample([1, 3, 17, 90, 1234, 70_001, 10**6, 10**10], POWERS), look_up("angle")
    )
    assert scores["cosine spearman"] == pytest.approx(1)
    assert scores["distance spearman"] == pytest.approx(1)


def test_one_coordinate_has_distances_but_no_cosines():
    scores = score_geometry(make_sample([3, 50, 700, 9000], POWERS), look_up("oracle"))
    assert scores["distance spearman"] == pytest.approx(1)
    assert scores["cosine spearman"] == 0
    # All cosines are 1, so that the first ten candidates count: 2^0 to 2^9.
    asked = np.log2([3, 50, 700, 9000])
    expected = 2 ** np.mean(np.abs(asked[:, None] - np.arange(10)))
    assert scores["neighbour factor"] == pytest.approx(expected)


def test_noise_follows_no_value():
    sample = make_sample(np.arange(1, 400), np.arange(1, 400))
    scores = score_geometry(sample, look_up("random"))
    assert abs(scores["cosine spearman"]) < 0.05
    assert abs(scores["distance spearman"]) < 0.05
    assert scores["neighbour factor"] > 2


def test_the_order_of_similarities_can_be_the_wrong_one():
    far_is_similar = np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]], float)
    assert correlate_with_values(far_is_similar, [1, 2, 8]) == -1


def test_a_numeral_is_not_its_own_neighbour():
    vectors = np.array([[1.0, 0], [0.9, 0.1], [0, 1]])
    nearest = find_nearest(np.array([5]), vectors[:1], np.array([5, 7, 9]), vectors)
    assert nearest.tolist() == [[7, 9]]


@pytest.mark.parametrize("name", PROBE_RANGES)
def test_candidates_are_spread_over_the_logarithms_of_a_range(name):
    low, high = PROBE_RANGES[name]
    numerals = np.arange(int(low), int(low) + 1000)
    sample = draw_geometry(numerals, (low, high), np.random.default_rng(0))
    candidates = sample.train.ravel()
    assert len(sample.test) == 400
    assert np.isin(sample.test, numerals).all()
    assert len(np.unique(candidates)) == len(candidates) >= min(1000, high - low - 5)
    assert candidates.min() >= low
    assert candidates.max() < high
    if high - low > 10_000:
        share = (np.log(candidates) - np.log(low)) / (np.log(high) - np.log(low))
        parts = np.histogram(share, 4, (0, 1))[0]
        assert parts[1:].min() > 200  # the first part of "all" has few integers
        assert parts[0] > 100


def test_the_same_seed_draws_the_same():
    first, again, other = (
        draw_spread((1, 10**10), np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert first[:100].tolist() != other[:100].tolist()


def test_sentences_differ_in_one_number_only():
    texts = []

    def embed(given):
        texts.extend(given)
        return ControlSystem("a", CONTROLS["control:angle"]).embed_texts(given)

    numerals = np.unique(np.geomspace(1, 10**10, 300).astype(np.int64))
    assert score_in_sentences(embed, numerals, 0)["sentence spearman"] == pytest.approx(1)
    assert len(texts) == len(set(texts)) == 8 * 40
    rows = [texts[start : start + 40] for start in range(0, 320, 40)]
    written = [[find_numerals(text)[0] for text in row] for row in rows]
    assert all([n.value for n in row] == [n.value for n in written[0]] for row in written)
    for row, found in zip(rows, written, strict=True):
        frames = {(text[: n.start], text[n.end :]) for text, n in zip(row, found, strict=True)}
        [(before, after)] = frames
        assert len(before + after) > 10
        assert not any(map(str.isdigit, before + after))


def test_sentences_that_ignore_their_number_follow_no_value():
    scores = score_in_sentences(lambda texts: np.ones((len(texts), 3)), np.arange(1, 100), 0)
    assert scores == {"sentence spearman": 0.0}
