import math

import numpy as np
import pytest
import torch

from numerate.fit.anchors import AnchorSet
from numerate.pretrain.batches import make_rows
from numerate.pretrain.objectives import ObjectiveHeads, geometry_loss, pool_anchors
from numerate.pretrain.rehearsal import Rehearsal
from numerate.pretrain.shuffle import shuffle_anchors, shuffle_magnitudes

LN = AnchorSet("ln", tuple(range(10, 241)), width=3)
NONE = math.nan


def test_a_vector_is_the_sum_of_four_layers_averaged_over_the_tokens_of_an_anchor():
    """Two anchors of two tokens and of one; the fifth layer from the top is not read."""
    layers = [torch.full((1, 5, 2), 1000.0)]
    layers += [scale * torch.arange(5.0).reshape(1, 5, 1).expand(1, 5, 2) for scale in (1, 2, 3, 4)]
    magnitudes = torch.tensor([[NONE, 3.0, 3.0, NONE, 7.0]])
    vectors, found = pool_anchors(layers, magnitudes)
    assert vectors.tolist() == [[15.0, 15.0], [40.0, 40.0]]  # 10 * (1 + 2) / 2, and 10 * 4
    assert found.tolist() == [3.0, 7.0]


def test_anchors_at_the_ends_of_two_rows_are_not_one():
    magnitudes = torch.tensor([[NONE, 2.0], [2.0, NONE]])
    vectors, found = pool_anchors([torch.ones(2, 2, 3)] * 4, magnitudes)
    assert (vectors.shape, found.tolist()) == ((2, 3), [2.0, 2.0])


def test_geometry_asks_for_less_alike_vectors_the_farther_numbers_are():
    """The kernel at ln 10^10 / 2, by hand: half of it linear, half logarithmic."""
    far = math.log(10**10)
    kernel = 1 - 0.5 * 0.5 - 0.5 * math.log1p(far / 2 / 0.05) / math.log1p(far / 0.05)
    vectors = torch.tensor([[1.0, 0.0], [kernel, math.sqrt(1 - kernel**2)]])
    assert float(geometry_loss(vectors, torch.tensor([1.0, 1 + far / 2]))) == pytest.approx(0)
    assert float(geometry_loss(vectors, torch.tensor([1.0, 1.0]))) == pytest.approx(
        (1 - kernel) ** 2, rel=1e-4
    )
    assert float(geometry_loss(vectors[:1], torch.tensor([1.0]))) == 0


@pytest.mark.parametrize("objective", ["smooth", "value", "geometry"])
def test_every_objective_can_be_learned(objective):
    """Vectors that are trained freely come to have nearly the least loss that there is."""
    torch.manual_seed(0)
    magnitudes = torch.linspace(1, 24, 24)
    vectors = torch.nn.Parameter(torch.randn(24, 16))
    heads = ObjectiveHeads((objective,), 16, LN)
    optimizer = torch.optim.Adam([vectors, *heads.parameters()], 0.05)
    first = float(heads(vectors, magnitudes).detach())
    for _ in range(300):
        loss = heads(vectors, magnitudes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    least = 1.5 if objective == "smooth" else 0.0  # the entropy of its targets
    assert float(loss.detach()) - least < 0.1 * (first - least)


def test_the_smooth_target_prefers_near_anchors_to_far_ones():
    """The loss of a certain answer grows with its distance from the numeral."""
    heads = ObjectiveHeads(("smooth",), 2, LN)
    losses = []
    for answer in (86, 87, 120):
        layer = heads.layers["smooth"]
        with torch.no_grad():
            layer.weight.zero_()
            layer.bias.fill_(-10)
            layer.bias[answer - 10] = 0
        losses.append(float(heads(torch.ones(1, 2), torch.tensor([8.6]))))
    assert losses == sorted(losses)
    assert losses[0] < losses[2]


def test_shuffled_anchors_are_those_of_other_numbers_and_always_the_same():
    values = np.arange(1, 2001)
    shuffled = shuffle_anchors(LN)
    index, _ = shuffled.locate(values)
    true, _ = LN.locate(values)
    assert (index == shuffled.locate(values)[0]).all()
    assert (index == true).mean() < 0.05
    assert abs(np.corrcoef(index, true)[0, 1]) < 0.1
    # what tokens say agrees with what objectives on the magnitude are given
    magnitudes = shuffle_magnitudes((np.log(values) + 1).astype(np.float32))
    assert (LN.locate(np.exp(magnitudes.astype(float) - 1))[0] == index).mean() > 0.99


def test_a_batch_of_rehearsed_numerals_has_small_and_large_ones():
    """Sequences that are not mixed share a step with others of their length."""
    lengths = np.random.default_rng(0).integers(8, 18, 2000)
    spreads = {}
    for mixed in (False, True):
        flags = np.full(len(lengths), mixed)
        rows = make_rows(lengths, 128, 1, np.random.default_rng(0), mixed=flags)
        assert all(len(row) * lengths[row].max() <= 128 for row in rows)
        assert {int(i) for row in rows for i in row} == set(range(2000))
        spreads[mixed] = np.mean([np.ptp(lengths[row]) for row in rows])
    assert spreads[False] < 1
    assert spreads[True] > 5


def test_numerals_that_are_rehearsed_alone_have_texts_of_their_own():
    texts = Rehearsal(LN, "anc", alone=True).draw_texts(np.random.default_rng(0))
    assert all(next(texts).count("<ANC>") == 1 for _ in range(50))
