import re

import numpy as np
import pytest

from numerate.extract.numerals import find_numerals
from numerate.extract.ranges import PROBE_RANGES
from numerate.probe.tasks.amounts import read_amounts
from numerate.probe.tasks.sentence_tasks import (
    draw_amount_pools,
    draw_distances,
    draw_numbers,
    draw_pools,
    read_sentences,
    score_distances,
    score_paraphrases,
    score_pools,
)
from numerate.probe.tasks.similarity import search_by

NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|"
    "million|first|second|third|half"
)
WORDS = re.compile(r"[a-z']+")


def by_value(texts):
    """An oracle for distance: a point on a circle by the logarithm of the number."""
    numbers = [read_amounts(text)[0].value for text in texts]
    angles = np.log(numbers) / np.log(1e10) * np.pi / 2
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def by_subject_and_value(texts):
    """An oracle for retrieval: which subject's template it is, then the number."""
    templates = {
        re.escape(text).replace(r"\{n\}", r"[0-9,.]+(?: [bmrt]\w+)?"): place
        for place, subject in enumerate(read_sentences()["subjects"])
        for text in [*subject["ask"], *subject["tell"]]
    }
    subjects = np.zeros((len(texts), len(read_sentences()["subjects"])))
    for row, text in enumerate(texts):
        [place] = {p for pattern, p in templates.items() if re.fullmatch(pattern, text)}
        subjects[row, place] = 1
    return np.hstack([3 * subjects, by_value(texts)])


def by_chance(texts):
    seeds = [sum(ord(c) * 31**i for i, c in enumerate(text)) for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=64) for seed in seeds])


def by_words(texts):
    vectors = np.zeros((len(texts), 4096))
    for row, text in enumerate(texts):
        for word in WORDS.findall(text.lower()):
            vectors[row, sum(ord(c) * 31**i for i, c in enumerate(word)) % 4096] += 1
    return vectors


def test_the_templates_have_one_place_for_a_number_and_no_number_of_their_own():
    sentences = read_sentences()
    texts = [t for s in sentences["subjects"] for t in [*s["ask"], *s["tell"]]]
    assert len(sentences["subjects"]) >= 50
    assert all(min(len(s["ask"]), len(s["tell"])) >= 3 for s in sentences["subjects"])
    assert len(set(texts)) == len(texts)
    frames = [t for frame in sentences["frames"] for t in frame["tell"]]
    assert not [t for t in [*texts, *frames] if re.search(rf"\b(?:{NUMBER_WORDS})\b", t.lower())]
    for text in texts:
        assert text.count("{n}") == 1
        assert [n.value for n in find_numerals(text.replace("{n}", "12,345"))] == [12345]
        assert not re.search(r"\d", text)
    paraphrases = [t for row in sentences["paraphrases"] for t in row.values()]
    assert len(sentences["paraphrases"]) >= 80
    assert len(set(paraphrases)) == len(paraphrases)
    assert not any(re.search(r"\d", text) for text in paraphrases)


@pytest.mark.parametrize("name", PROBE_RANGES)
def test_the_second_number_of_a_triple_is_the_nearer_one(name):
    bounds = PROBE_RANGES[name]
    drawn = draw_distances(bounds, np.random.default_rng(0))
    assert ((drawn.values >= bounds[0]) & (drawn.values < bounds[1])).all()
    logs = np.log(drawn.values)
    assert (abs(logs[..., 0] - logs[..., 1]) <= abs(logs[..., 0] - logs[..., 2])).all()
    for text, value in zip(drawn.texts.ravel(), drawn.values.ravel(), strict=True):
        assert [n.value for n in find_numerals(str(text))] == [value]


@pytest.mark.parametrize("name", PROBE_RANGES)
def test_no_document_has_the_number_asked_for_and_one_is_the_nearest(name):
    pools = draw_pools(PROBE_RANGES[name], np.random.default_rng(0))
    for pool in pools:
        numbers = np.vectorize(lambda text: find_numerals(str(text))[0].value)
        there, asked = numbers(pool.documents), numbers(pool.queries)
        assert len(np.unique(there)) == there.shape[1]
        assert not np.isin(asked, there).any()
        gaps = np.abs(np.log(asked)[..., None] - np.log(there[0]))
        chosen = np.take_along_axis(gaps, pool.nearest[..., None], axis=-1)[..., 0]
        np.testing.assert_array_equal(chosen, gaps.min(axis=-1))


def test_every_magnitude_is_drawn_alike():
    numbers = draw_numbers((1, 10**10 + 1), 4000, np.random.default_rng(0))
    digits = np.bincount([len(str(number)) for number in numbers])[5:11]  # none runs short
    assert len(set(numbers)) == 4000
    assert digits.min() > 0.8 * digits.max()


@pytest.mark.parametrize("name", PROBE_RANGES)
def test_an_oracle_is_right_and_chance_is_chance(name):
    bounds = PROBE_RANGES[name]
    drawn = draw_distances(bounds, np.random.default_rng(1))
    oracle, chance = score_distances(by_value, drawn), score_distances(by_chance, drawn)
    assert oracle["spearman"] > 0.999
    assert oracle["closer"] == 1
    assert abs(chance["spearman"]) < 0.15
    assert 0.4 < chance["closer"] < 0.6
    pools = draw_pools(bounds, np.random.default_rng(1))
    assert score_pools(search_by(by_subject_and_value), pools) == {
        "first": 1,
        "subject": 1,
        "nearest": 1,
    }
    chance = score_pools(search_by(by_chance), pools)
    assert chance["first"] < 0.12
    assert 0.1 < chance["subject"] < 0.3
    assert 0.1 < chance["nearest"] < 0.3


def test_words_alone_find_subjects_but_no_numbers():
    pools = draw_pools(PROBE_RANGES["all"], np.random.default_rng(0))
    scores = score_pools(search_by(by_words), pools)
    assert scores["subject"] > 0.6
    assert scores["nearest"] < 0.3


def test_a_tie_is_half_right():
    drawn = draw_distances((1, 100), np.random.default_rng(0))
    scores = score_distances(lambda texts: np.ones((len(texts), 2)), drawn)
    assert scores == {"spearman": 0, "closer": 0.5}


def test_paraphrases_need_more_than_words_and_more_than_chance():
    assert score_paraphrases(by_chance)["first"] < 0.1
    assert score_paraphrases(by_words)["first"] < 0.2


def test_a_paraphrase_is_not_compared_with_its_own_variation():
    rows = read_sentences()["paraphrases"]
    place = {text: i for i, row in enumerate(rows) for text in row.values()}
    scores = score_paraphrases(lambda texts: np.eye(len(rows))[[place[t] for t in texts]])
    assert scores == {"first": 1}


def test_amounts_are_written_in_another_way_by_queries_than_by_documents():
    pools = draw_amount_pools(np.random.default_rng(0))
    for pool in pools:
        there = [[read_amounts(str(t))[0] for t in row] for row in pool.documents]
        asked = [[read_amounts(str(t))[0] for t in row] for row in pool.queries]
        assert all(amount.has_scale for row in [*there, *asked] for amount in row)
        assert all(1 <= amount.written < 1000 for row in there for amount in row)
        assert not any(1 <= amount.written < 1000 for row in asked for amount in row)
        logs = np.log([amount.value for amount in there[0]])
        gaps = np.abs(np.log([[a.value for a in row] for row in asked])[..., None] - logs)
        np.testing.assert_array_equal(pool.nearest, gaps.argmin(axis=-1))
    found = score_pools(search_by(by_subject_and_value), pools)
    assert found == {"first": 1, "subject": 1, "nearest": 1}
