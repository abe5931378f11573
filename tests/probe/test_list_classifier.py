from dataclasses import replace

import numpy as np
import pytest
import torch

from numerate.probe.list_classifier import Scorer, StackedLstm, classify_lists, find_places
from numerate.probe.protocols import LAPTOP, PAPER, STRICT


def test_the_papers_classifier_has_the_papers_size():
    """Four LSTMs of 1536 on vectors of 768: 4 gates with input, state and two biases each."""
    model = StackedLstm(768, 1536, 4)
    first = 4 * 1536 * (768 + 1536 + 2)
    others = 3 * 4 * 1536 * (1536 + 1536 + 2)
    assert sum(p.numel() for p in model.parameters()) == first + others + 5 * 1536 + 5
    assert (PAPER.lists.layers, PAPER.lists.width) == (4, 2)


def test_places_are_those_of_the_extremes():
    lists = np.array([[3, 9, 1, 4, 5], [7, 2, 8, 6, 1]])
    assert find_places(lists, "list-maximum").tolist() == [1, 2]
    assert find_places(lists, "list-minimum").tolist() == [2, 4]


def test_a_scorer_does_not_care_where_in_the_list_a_vector_stands():
    torch.manual_seed(0)
    model, vectors = Scorer(8, 16, 2), torch.randn(3, 5, 8)
    order = torch.tensor([4, 0, 3, 1, 2])
    torch.testing.assert_close(model(vectors)[:, order], model(vectors[:, order]))


def make_parts(n_train=720):
    rng = np.random.default_rng(0)
    parts = [
        rng.permuted(np.tile(np.arange(1, 1000), (n, 1)), axis=1)[:, :5] for n in (n_train, 80, 200)
    ]
    vectors = [torch.from_numpy(np.log(part)[..., None]) for part in parts]
    return parts, vectors


@pytest.mark.parametrize("task", ["list-maximum", "list-minimum"])
def test_a_scorer_learns_to_compare_one_coordinate(task):
    parts, vectors = make_parts()
    places = [find_places(part, task) for part in parts]
    answers = classify_lists(
        (vectors[0], places[0]), (vectors[1], places[1]), vectors[2], LAPTOP.lists, seed=0
    )
    assert (answers == places[2]).mean() > 0.99


def test_stacked_lstms_learn_it_too():
    probe = replace(STRICT.lists, width=32, layers=1, epochs=60, learning_rate=1e-2)
    parts, vectors = make_parts()
    places = [find_places(part, "list-maximum") for part in parts]
    answers = classify_lists(
        (vectors[0], places[0]), (vectors[1], places[1]), vectors[2], probe, seed=0
    )
    assert (answers == places[2]).mean() > 0.7


def test_sigmoids_answer_with_the_first_above_a_half_or_the_first_of_all():
    """With a learning rate of 0 the answers follow from the first weights alone."""
    probe = replace(PAPER.lists, layers=1, epochs=1, learning_rate=0.0)
    vectors = torch.randn(40, 5, 6, generator=torch.Generator().manual_seed(0))
    places = np.zeros(40, np.int64)
    answers = classify_lists((vectors, places), (vectors, places), vectors, probe, seed=19)
    torch.manual_seed(19)
    outputs = StackedLstm(6, 12, 1)(vectors).sigmoid().detach().numpy()
    assert any((row <= 0.5).all() for row in outputs)
    assert answers.tolist() == [np.argmax(row > 0.5) for row in outputs]


def test_the_same_seed_answers_the_same_and_leaves_others_alone():
    parts, vectors = make_parts(200)
    places = [find_places(part, "list-maximum") for part in parts]
    probe = replace(LAPTOP.lists, epochs=3)
    torch.manual_seed(11)
    before = torch.random.get_rng_state()
    first, again = (
        classify_lists((vectors[0], places[0]), (vectors[1], places[1]), vectors[2], probe, seed=5)
        for _ in range(2)
    )
    assert first.tolist() == again.tolist()
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_epoch_is_chosen_on_the_validation_part():
    """A validation part that asks for the smallest prefers an epoch before the largest is found."""
    parts, vectors = make_parts()
    largest = [find_places(part, "list-maximum") for part in parts]
    probe = replace(LAPTOP.lists, epochs=60, learning_rate=3e-4)
    accuracy = {}
    for choose in (True, False):
        answers = classify_lists(
            (vectors[0], largest[0]),
            (vectors[1], find_places(parts[1], "list-minimum")),
            vectors[2],
            replace(probe, choose_epoch=choose),
            seed=0,
        )
        accuracy[choose] = (answers == largest[2]).mean()
    assert accuracy[False] > 0.9 > accuracy[True]
