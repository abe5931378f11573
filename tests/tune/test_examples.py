import re

import numpy as np
import pytest

from numerate.extract.numerals import find_numerals
from numerate.tune.examples import (
    N_KEPT,
    N_SENTENCES,
    N_VERSIONS,
    draw_examples,
    find_neighbours,
    make_pool,
)
from numerate.tune.templates import Template, TuneTexts

WIDTH = 4


def make_template(text):
    return Template(text, tuple(find_numerals(text)))


def make_texts():
    ones = [make_template(f"The {word} one has 9 parts.") for word in "abcdef"]
    twos = [make_template(f"The {word} pair has 8 parts of 9 metres.") for word in "uvw"]
    return TuneTexts(tuple(ones), tuple(twos), ("to keep", "this too"))


@pytest.fixture(scope="module")
def pool():
    texts = make_texts()
    vectors = np.random.default_rng(0).normal(size=(len(texts.without_numbers), WIDTH))
    return make_pool(texts, vectors.astype(np.float32), "quantities")


def read_row(row):
    versions = [row[f"version_{n}"] for n in range(1, N_SENTENCES * N_VERSIONS + 1)]
    logs = row["label"][:, :-WIDTH].reshape(-1, N_VERSIONS, 2)
    return np.array(versions).reshape(N_SENTENCES, N_VERSIONS), logs


def test_the_label_has_the_logarithms_of_the_numbers_in_the_text(pool):
    pairs = lacking = 0
    for row in draw_examples(pool, 200, seed=3):
        versions, logs = read_row(row)
        assert logs.shape == (N_SENTENCES + N_KEPT, N_VERSIONS, 2)
        assert np.isnan(logs[N_SENTENCES:]).all()
        for text, found in zip(versions.ravel(), logs[:N_SENTENCES].reshape(-1, 2), strict=True):
            values = [numeral.value for numeral in find_numerals(text, "quantities")]
            pairs += len(values) == 2
            lacking += "pair" in text and len(values) == 1
            np.testing.assert_allclose(found[~np.isnan(found)], np.log(values), atol=1e-5)
            if "some parts" in text:  # the first number is lacking
                assert np.isnan(found).tolist() == [True, False]
    assert 200 < pairs < 1500  # some of the examples, not all of them
    assert 0.3 < lacking / (pairs + lacking) < 0.5


def test_the_label_has_the_teachers_vectors(pool):
    by_sentence = {
        template.text[:8]: vector
        for part, vectors in (
            (pool.texts.templates, pool.templates),
            (pool.texts.pairs, pool.pairs),
        )
        for template, vector in zip(part, vectors, strict=True)
    }
    for row in draw_examples(pool, 20, seed=0):
        versions, _ = read_row(row)
        for sentence, vector in zip(versions[:, 0], row["label"][:, -WIDTH:], strict=False):
            np.testing.assert_array_equal(vector, by_sentence[sentence[:8]])
        kept = [pool.texts.kept.index(row[f"kept_{n}"]) for n in range(1, N_KEPT + 1)]
        np.testing.assert_array_equal(row["label"][N_SENTENCES:, -WIDTH:], pool.kept[kept])


def test_examples_depend_on_their_seed_alone(pool):
    first, again, other = (
        [row["version_1"] for row in draw_examples(pool, 5, seed)] for seed in (1, 1, 2)
    )
    assert first == again != other
    longer = [row["version_1"] for row in draw_examples(pool, 9, 1)]
    assert longer[:5] == first


def test_numbers_are_written_in_the_forms_of_the_domain(pool):
    def all_text(domain):
        pool_of = make_pool(pool.texts, np.vstack([pool.templates, pool.pairs, pool.kept]), domain)
        return " ".join(
            text for row in draw_examples(pool_of, 60, 0) for text in read_row(row)[0].ravel()
        )

    assert " million" in all_text("quantities")
    assert "bn" in all_text("quantities")
    assert re.search(r"\d\.\d", all_text("reals"))
    assert not re.search(r"\d\.\d|million|bn", all_text("integers"))


def test_neighbours_are_the_most_similar_others():
    vectors = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], np.float32)
    assert find_neighbours(vectors, 1).tolist() == [[1], [0], [3], [2]]
    assert find_neighbours(vectors[:1], 3).shape == (1, 0)
