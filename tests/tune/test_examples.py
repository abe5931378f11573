import re
from collections import Counter

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
    return TuneTexts(
        tuple((one, one.cut(0, 3, 1)) for one in ones),
        tuple((two, two.cut(0, 3, 1), two.cut(1, 1, 1)) for two in twos),
        ("to keep", "this too"),
    )


@pytest.fixture(scope="module")
def pool():
    texts = make_texts()
    vectors = np.random.default_rng(0).normal(size=(len(texts.without_numbers), WIDTH))
    return make_pool(texts, vectors.astype(np.float32), "quantities")


def test_unrelated_texts_have_the_mean_cosine_of_all_pairs(pool):
    vectors = pool.ones[:, 0]
    assert np.isclose(pool.unrelated, (vectors @ vectors.T).mean())


def read_row(row):
    versions = [row[f"version_{n}"] for n in range(1, N_SENTENCES * N_VERSIONS + 1)]
    logs = row["label"][:, :-WIDTH].reshape(-1, N_VERSIONS, 2)
    return np.array(versions).reshape(N_SENTENCES, N_VERSIONS), logs


SHIFTS = {"more than ": 1, "over ": 1, "at least ": 1, "above ": 1}
SHIFTS |= {"less than ": -1, "under ": -1, "at most ": -1, "below ": -1}


def read_logs(text):
    """The logarithms of the numbers of a text, by its words alone."""
    found = find_numerals(text, "quantities")
    before = [text[: numeral.start] for numeral in found]
    shifts = [sum(n for word, n in SHIFTS.items() if part.endswith(word)) for part in before]
    return np.log([numeral.value for numeral in found]) + shifts


def test_the_label_has_the_logarithms_of_the_numbers_in_the_text(pool):
    kinds = Counter()
    for row in draw_examples(pool, 200, seed=3):
        versions, logs = read_row(row)
        assert logs.shape == (N_SENTENCES + N_KEPT, N_VERSIONS, 2)
        assert np.isnan(logs[N_SENTENCES:]).all()
        for text, found in zip(versions.ravel(), logs[:N_SENTENCES].reshape(-1, 2), strict=True):
            np.testing.assert_allclose(found[~np.isnan(found)], read_logs(text), atol=1e-5)
            # The second number of a pair stands in the second place, in its phrase too.
            wanted = ["parts" in text, "metres" in text]
            assert (~np.isnan(found)).tolist() == wanted
            kinds[("whole" if text.startswith("The") else "phrase", *wanted)] += 1
            kinds["bound"] += any(word in text for word in SHIFTS)
            kinds["year"] += bool(re.search(r"(?<![\d.,])(1[5-9]|20)\d\d(?![\d.,]*\d)", text))
    n_texts = 200 * N_SENTENCES * N_VERSIONS
    assert 0.1 < kinds["bound"] / n_texts < 0.3
    assert not kinds["year"]  # 1,990 has its comma
    # A fifth of the examples have two numbers, half of the others a phrase.
    assert 0.04 < kinds["whole", True, True] / n_texts < 0.1
    assert kinds["whole", True, True] == kinds["phrase", False, True]
    phrases = kinds["phrase", True, False] - kinds["phrase", False, True]
    assert 0.1 < phrases / n_texts < 0.17


def test_the_label_has_the_teachers_vectors(pool):
    vectors_of = {
        template.text: vector
        for families, vectors in ((pool.texts.ones, pool.ones), (pool.texts.pairs, pool.pairs))
        for family, own in zip(families, vectors, strict=True)
        for template, vector in zip(family, own, strict=True)
    }

    def find_vector(version):
        """The vector of the template that has the words of a version."""
        words = [word for word in version.split() if word.isalpha() and len(word) < 6]
        [found] = {
            tuple(vector)
            for text, vector in vectors_of.items()
            if text.split()[0] == words[0] and text.split()[1] == words[1]
        }
        return found

    for row in draw_examples(pool, 20, seed=0):
        versions, _ = read_row(row)
        for sentence, vector in zip(versions[:, 0], row["label"][:, -WIDTH:], strict=False):
            if sentence.startswith("The"):
                assert tuple(vector) == find_vector(sentence)
            elif sentence.endswith("parts of"):  # the first phrase of a pair
                assert any((vector == own[1]).all() for own in pool.pairs)
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
        vectors = np.ones((len(pool.texts.without_numbers), WIDTH), np.float32)
        pool_of = make_pool(pool.texts, vectors, domain)
        return " ".join(
            text for row in draw_examples(pool_of, 60, 0) for text in read_row(row)[0].ravel()
        )

    assert " million" in all_text("quantities")
    assert "bn" in all_text("quantities")
    assert re.search(r"\d\.\d", all_text("reals"))
    assert re.search(r"\b0\.\d", all_text("reals"))
    assert not re.search(r"\d\.\d|million|bn", all_text("integers"))


def test_neighbours_are_the_most_similar_others():
    vectors = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], np.float32)
    assert find_neighbours(vectors, 1).tolist() == [[1], [0], [3], [2]]
    assert find_neighbours(vectors[:1], 3).shape == (1, 0)
