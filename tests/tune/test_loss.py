import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from numerate.tune.loss import (
    compare_versions,
    embed_by_length,
    lower_others,
    measure_aside,
    nearness,
)

NAN = math.nan


def cosines_by_hand(student, logs, teacher, example, unrelated):
    """The terms, pair by pair and text by text."""
    n_sentences, n_versions = student.shape[:2]
    texts = [(s, v) for s in range(n_sentences) for v in range(n_versions)]

    def is_one(s):
        return all(math.isnan(log) for log in logs[s, :, 1])

    def distance(a, b):
        gaps = [abs(x - y) for x, y in zip(logs[a], logs[b], strict=True)]
        return sum(gap for gap in gaps if not math.isnan(gap))

    def shares(a, b):
        return not all(math.isnan(x - y) for x, y in zip(logs[a], logs[b], strict=True))

    def cosine(one, other):
        return (float(one @ other) - unrelated) / (1 - unrelated)

    def near(far):
        farthest = math.log(1e10)
        fall = 0.3 * math.log1p(far / 0.05) / math.log1p(farthest / 0.05) + 0.7 * far / farthest
        return 1 - 0.7 * fall

    squares = weights = 0.0
    for a, b in itertools.permutations(texts, 2):
        of_one = is_one(a[0]) and is_one(b[0])
        if shares(a, b) and (of_one or example[a[0]] == example[b[0]]):
            weight = 1.0 if example[a[0]] == example[b[0]] else 0.1
            far = distance(a, b)
            if far > 0:
                weight *= 1 + 4 * math.exp(-far / 0.35)
            kernel = near(far) - 0.2 * (1 - math.exp(-far / 0.05))
            wanted = cosine(teacher[a[0]], teacher[b[0]]) * kernel
            squares += weight * (cosine(student[a], student[b]) - wanted) ** 2
            weights += weight
    orders, correlations, right = [], [], []
    for first, second in itertools.product(range(n_sentences), repeat=2):
        pairs = []
        for a in ((first, v) for v in range(n_versions)):
            others = [(second, v) for v in range(n_versions)]
            others = [b for b in others if a != b and shares(a, b)]
            if example[first] != example[second] or not others:
                continue
            found = np.array([cosine(student[a], student[b]) / 0.04 for b in others])
            wanted = np.array([-4 * math.log1p(distance(a, b) / 0.5) for b in others])
            p, q = (np.exp(x - x.max()) / np.exp(x - x.max()).sum() for x in (wanted, found))
            orders.append(float((p * np.log(p / q)).sum()))
            right.append(wanted[found.argmax()] == wanted.max())
            pairs += [(cosine(student[a], student[b]), near(distance(a, b))) for b in others]
        if pairs:
            correlations.append(np.corrcoef(np.transpose(pairs))[0, 1])
    found = {"cosine": squares / weights, "order": np.mean(orders)}
    found["correlation"] = 1 - np.mean(correlations)
    return found, right


@pytest.mark.parametrize("unrelated", [0.0, 0.3])
def test_terms_are_those_of_a_slow_reference(unrelated):
    rng = np.random.default_rng(0)
    student = normalize(torch.tensor(rng.normal(size=(6, 4, 8))), dim=-1)
    teacher = normalize(torch.tensor(rng.normal(size=(6, 8))), dim=-1)
    logs = torch.tensor(rng.uniform(0, 2, size=(6, 4, 2)))
    logs[:4, :, 1] = NAN  # one sentence has two numbers, and two phrases
    logs[5, :, 0] = NAN
    example = torch.tensor([0, 0, 1, 1, 1, 1])
    logs[3, 1, 1] = 0.5
    terms, is_right = compare_versions(student, logs, teacher, example, unrelated)
    wanted, right = cosines_by_hand(student, logs, teacher, example, unrelated)
    assert terms.keys() == wanted.keys()
    for name, value in wanted.items():
        assert math.isclose(float(terms[name]), value, rel_tol=1e-6), name
    assert is_right.tolist() == right


def test_what_numbers_add_is_measured_by_how_it_ranks_other_texts():
    rng = np.random.default_rng(0)
    texts = rng.normal(size=(50, 8)) * np.linspace(0, 2, 8) + 1
    student = normalize(torch.tensor(rng.normal(size=(3, 4, 8))), dim=-1)
    teacher = normalize(torch.tensor(rng.normal(size=(3, 1, 8))), dim=-1)
    covariance = torch.tensor(np.cov(texts.T, bias=True))
    of_numbers = [
        np.var(texts @ (version - (version @ own) * own))
        for versions, own in zip(student.numpy(), teacher[:, 0].numpy(), strict=True)
        for version in versions
    ]
    wanted = np.mean(of_numbers) / np.mean([np.var(texts @ own) for own in teacher[:, 0].numpy()])
    assert math.isclose(float(measure_aside(student, teacher, covariance)), wanted, rel_tol=1e-9)
    own = torch.eye(8)[7:].double().view(1, 1, 8)
    aside = own * 0.8 + torch.eye(8)[0] * 0.6  # texts do not differ in the first direction
    assert float(measure_aside(aside, own, covariance)) < 1e-9


def test_vectors_that_are_what_is_wanted_cost_nothing():
    logs = torch.tensor([[[0.0, NAN], [3.0, NAN], [9.0, NAN]]])
    distances = (logs[0, :, 0].unsqueeze(1) - logs[0, :, 0]).abs()
    values, basis = torch.linalg.eigh(lower_others(distances).double())
    student = (basis * values.clamp_min(0).sqrt()).unsqueeze(0)  # whose products are the kernel
    terms, is_right = compare_versions(
        student, logs.double(), torch.ones(1, 1).double(), torch.tensor([0])
    )
    assert float(terms["cosine"]) < 1e-12
    assert float(terms["correlation"]) < 1e-6
    assert is_right.all()


def test_nearness_falls_with_the_distance():
    values = nearness(torch.tensor([0.0, 0.01, 0.1, 1.0, 10.0]))
    assert values[0] == 1
    assert (values.diff() < 0).all()


class Averaging(torch.nn.Module):
    """An encoder whose vector is the mean of the ids, and of their squares."""

    def forward(self, features):
        assert set(features) == {"input_ids", "attention_mask", "prompt_length"}
        self.widths = [*getattr(self, "widths", []), features["input_ids"].shape[1]]
        mask = features["attention_mask"].float()
        ids = features["input_ids"].float()
        mean = torch.stack([ids * mask, ids**2 * mask]).sum(dim=-1) / mask.sum(dim=-1)
        return {"sentence_embedding": mean.T}


def test_texts_of_like_length_are_embedded_together_and_come_back_in_order():
    rng = np.random.default_rng(1)
    lengths = [[3, 40, 4], [41, 5, 3]]
    columns = []
    for row in lengths:
        ids = torch.zeros(3, max(row), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for place, length in enumerate(row):
            ids[place, :length] = torch.tensor(rng.integers(1, 9, length))
            mask[place, :length] = 1
        columns.append({"input_ids": ids, "attention_mask": mask, "prompt_length": 0})
    model = Averaging()
    together = embed_by_length(model, columns)
    assert model.widths == [41, 5, 3]
    alone = torch.stack([normalize(model(c)["sentence_embedding"], dim=-1) for c in columns])
    torch.testing.assert_close(together, alone)
