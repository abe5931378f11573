"""The loss that teaches a sentence encoder how large numbers are: `MagnitudeLoss`.

It asks that the cosine of two sentences be the cosine of their meaning, numbers aside, times a
kernel of how near their numbers are. The meaning is what the teacher, the encoder as it was, makes
of the sentences without their numbers. Five terms:

- `cosine`: the squared difference between cosines and that product, in which the kernel falls at
  once where numbers differ at all: to a reader, 13 dead and 16 dead are two events. Pairs of such
  near numbers are few, and weigh more;
- `order`: among the versions of a sentence, the nearest are those with the nearest numbers;
- `correlation`: the cosines of all pairs of versions rise and fall with the kernel, those of far
  numbers too, which `order` hardly sees, and alike for small numbers and for large ones;
- `aside`: what a number adds to a vector lies aside from what tells texts apart, so that a query
  with a number finds the texts that it would find without;
- `keep`: texts to keep have the vectors of the teacher.

Cosines are taken on the teacher's own scale, where 0 is that of unrelated texts: for some encoders
it is 0.02, for others 0.75.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import log_softmax, normalize, pad, softmax

from numerate.tune.examples import Vectors
from numerate.tune.templates import MOST_SLOTS

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEPTH = 0.7  # how far the kernel falls, from the same number to one that is ten decades away
_OTHERS = 0.2  # how far the cosines that are wanted fall from the same number to any other
_LOGARITHMIC = 0.3  # share of its fall that is logarithmic, the rest is linear
_NEAR = 0.05  # the distance in ln below which the kernel changes most
_FARTHEST = math.log(10**10)
_TEMPERATURE = 0.04  # of cosines, where versions of a sentence are put in order
_SPREAD, _STEEPNESS = 0.5, 4.0  # of their distances in ln
WEIGHTS = {"cosine": 5.0, "order": 1.0, "correlation": 3.0, "aside": 0.6, "keep": 2.0}
_UNRELATED = 0.1  # the weight of pairs of sentences from different examples
_MORE_FOR_NEAR, _STILL_NEAR = 4.0, 0.35  # such pairs are few; how much more they weigh, up to where
_BATCH_TOKENS = 1024  # of texts that go through the model together
_LIKE = 0.75  # the shortest of them has at least this share of the longest's tokens


def nearness(distances: torch.Tensor) -> torch.Tensor:
    """Return the kernel of distances in ln: 1 for the same number, less the farther it is.

    A part of the fall is logarithmic, which tells near numbers apart, and most of it is linear,
    which tells far ones apart.

    >>> [round(float(near), 3) for near in nearness(torch.tensor([0.0, 0.05, math.log(1e10)]))]
    [1.0, 0.975, 0.3]
    """
    logarithmic = torch.log1p(distances / _NEAR) / math.log1p(_FARTHEST / _NEAR)
    linear = distances / _FARTHEST
    return 1 - DEPTH * (_LOGARITHMIC * logarithmic + (1 - _LOGARITHMIC) * linear)


def lower_others(distances: torch.Tensor) -> torch.Tensor:
    """Return the kernel, lower for all numbers but the same one.

    >>> [round(float(near), 3) for near in lower_others(torch.tensor([0.0, 0.5, math.log(1e10)]))]
    [1.0, 0.707, 0.1]
    """
    return nearness(distances) + _OTHERS * torch.expm1(-distances / _NEAR)


class MagnitudeLoss(torch.nn.Module):
    """A loss for the trainer of sentence-transformers, on the examples that `draw_examples` yields.

    Args:
        model: The sentence encoder to train.
        unrelated: The mean cosine of unrelated texts by the teacher, `Pool.unrelated`.
        covariance: How the teacher's vectors of texts differ, `Pool.covariance`, shape (width,
            width). By default they differ in all directions alike.

    Attributes:
        n_asked: How many times the last batch asked for the nearest of a sentence's versions.
        n_right: How often the version with the nearest number was nearest.
    """

    covariance: torch.Tensor

    def __init__(
        self,
        model: "SentenceTransformer",
        unrelated: float = 0.0,
        covariance: Vectors | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.unrelated = unrelated
        alike = torch.eye(model.get_embedding_dimension() or 1)
        found = alike if covariance is None else torch.from_numpy(covariance)
        self.register_buffer("covariance", found, persistent=False)
        self.n_asked = self.n_right = 0

    def forward(
        self, sentence_features: Iterable[dict[str, Any]], labels: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the terms of the loss.

        `labels` has the shape (examples, sentences and kept texts, numbers of all versions and
        width of the vectors).
        """
        features = list(sentence_features)
        vectors = embed_by_length(self.model, features)
        width = vectors.shape[-1]
        teacher, magnitudes = labels[..., -width:], labels[..., :-width]
        is_kept = magnitudes[0].isnan().all(dim=-1)
        n_kept, n_sentences = int(is_kept.sum()), int((~is_kept).sum())
        n_versions = magnitudes.shape[-1] // MOST_SLOTS
        kept, versions = vectors[len(features) - n_kept :], vectors[: len(features) - n_kept]
        numbers = magnitudes[:, ~is_kept].reshape(-1, n_versions, MOST_SLOTS)
        student = versions.transpose(0, 1).reshape(-1, n_versions, width)
        example = torch.arange(len(labels), device=labels.device).repeat_interleave(n_sentences)
        terms, is_right = compare_versions(
            student, numbers, teacher[:, ~is_kept].flatten(0, 1), example, self.unrelated
        )
        self.n_asked, self.n_right = len(is_right), int(is_right.sum())
        terms["aside"] = measure_aside(
            student, teacher[:, ~is_kept].reshape(-1, 1, width), self.covariance.to(student)
        )
        cosine = (kept.transpose(0, 1) * teacher[:, is_kept]).sum(dim=-1).mean()
        terms["keep"] = 1 - _rescale(cosine, self.unrelated)
        return {name: WEIGHTS[name] * term for name, term in terms.items()}


def compare_versions(
    student: torch.Tensor,
    numbers: torch.Tensor,
    teacher: torch.Tensor,
    example: torch.Tensor,
    unrelated: float = 0.0,
) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Return the terms on versions, and whether each nearest version was found.

    Args:
        student: Unit vectors of all versions, shape (sentences, versions, width).
        numbers: The logarithms of their numbers, shape (sentences, versions, places); NaN for
            none. Numbers in the same place are compared, within an example and between sentences
            that have one number each.
        teacher: Unit vectors of the sentences, numbers aside, shape (sentences, width).
        example: The example that each sentence belongs to.
        unrelated: The cosine that counts as 0.
    """
    n_sentences, n_versions = student.shape[:2]
    flat = student.flatten(0, 1)
    cosine = _rescale(flat @ flat.T, unrelated)
    logs = numbers.flatten(0, 1)
    # Summed over the places where both have a number.
    gaps = (logs.unsqueeze(1) - logs).abs()
    distances = gaps.nansum(dim=-1)

    meaning = _repeat(_rescale(teacher @ teacher.T, unrelated), n_versions)
    has_one = numbers[..., 1].isnan().all(dim=1)
    related = example.unsqueeze(1) == example
    weights = torch.where(related, 1.0, _UNRELATED) * (related | (has_one & has_one.unsqueeze(1)))
    is_self = torch.eye(len(flat), dtype=torch.bool, device=flat.device)
    is_left_out = is_self | gaps.isnan().all(dim=-1)
    weights = _repeat(weights, n_versions).masked_fill(is_left_out, 0)
    weights = weights * (1 + _MORE_FOR_NEAR * (distances > 0) * (-distances / _STILL_NEAR).exp())
    squares = (cosine - meaning * lower_others(distances)).square()
    blocks = [
        part.view(n_sentences, n_versions, n_sentences, n_versions).transpose(1, 2)[related]
        for part in (cosine, distances, is_left_out)
    ]
    order, is_right = _compare_orders(*_drop_empty(*(block.flatten(0, 1) for block in blocks)))
    cosines, apart, nowhere = _drop_empty(*(block.flatten(1) for block in blocks))
    terms = {
        "cosine": (weights * squares).sum() / weights.sum(),
        "order": order.mean(),
        "correlation": 1 - _correlate(cosines, nearness(apart), nowhere).mean(),
    }
    return terms, is_right


def measure_aside(
    student: torch.Tensor, teacher: torch.Tensor, covariance: torch.Tensor
) -> torch.Tensor:
    """Return how much of what ranks other texts by their cosine with a version is its number.

    It is the variance of the cosines with what numbers add to the teacher's vector, divided by that
    of the cosines with this vector.

    Args:
        student: Unit vectors of all versions, shape (sentences, versions, width).
        teacher: Unit vectors of the sentences, numbers aside, shape (sentences, 1, width).
        covariance: Of the vectors of other texts, shape (width, width).
    """
    added = student - (student * teacher).sum(dim=-1, keepdim=True) * teacher
    found, meant = (((part @ covariance) * part).sum(dim=-1).mean() for part in (added, teacher))
    return found / meant.clamp_min(1e-12)


def _rescale(cosine: torch.Tensor, unrelated: float) -> torch.Tensor:
    """Return cosines on a scale where unrelated texts have 0."""
    return (cosine - unrelated) / (1 - unrelated)


def _repeat(pairs: torch.Tensor, n_versions: int) -> torch.Tensor:
    """Repeat a matrix over sentences for their versions."""
    return pairs.repeat_interleave(n_versions, 0).repeat_interleave(n_versions, 1)


def _drop_empty(
    values: torch.Tensor, distances: torch.Tensor, is_left_out: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the rows that have something to compare."""
    is_asked = ~is_left_out.all(dim=-1)
    return values[is_asked], distances[is_asked], is_left_out[is_asked]


def _compare_orders(
    cosine: torch.Tensor, distances: torch.Tensor, is_left_out: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return how the softmax over the versions of a sentence differs from that of nearness.

    It is the Kullback-Leibler divergence; with it, whether the nearest version has the nearest
    number. Arguments have a row for each text and sentence, with its versions as columns.
    """
    nothing = -1e4
    found = log_softmax((cosine / _TEMPERATURE).masked_fill(is_left_out, nothing), dim=-1)
    nearer = -_STEEPNESS * torch.log1p(distances / _SPREAD)
    wanted = softmax(nearer.masked_fill(is_left_out, nothing), dim=-1)
    divergence = (wanted * (wanted.clamp_min(1e-12).log() - found)).sum(dim=-1)
    first = wanted.gather(1, found.argmax(dim=1, keepdim=True)).squeeze(1)
    return divergence, first == wanted.amax(dim=1)


def _correlate(
    values: torch.Tensor, others: torch.Tensor, is_left_out: torch.Tensor
) -> torch.Tensor:
    """Return Pearson's correlation of each row of values with that of others."""

    def centre(rows: torch.Tensor) -> torch.Tensor:
        means = rows.masked_fill(is_left_out, 0).sum(dim=-1, keepdim=True) / n_values
        return normalize((rows - means).masked_fill(is_left_out, 0), dim=-1, eps=1e-4)

    n_values = (~is_left_out).sum(dim=-1, keepdim=True)
    return (centre(values) * centre(others)).sum(dim=-1)


def embed_by_length(model: torch.nn.Module, columns: list[dict[str, Any]]) -> torch.Tensor:
    """Return the unit vectors of all texts, shape (columns, texts of a column, width).

    Texts of like length go through the model together, so that little is padded. Padding is on the
    right.
    """
    first = columns[0]
    tensors = [
        name for name, value in first.items() if isinstance(value, torch.Tensor) and value.dim() > 1
    ]
    longest = max(column["attention_mask"].shape[1] for column in columns)
    rows = {
        name: torch.cat(
            [pad(column[name], (0, longest - column[name].shape[1])) for column in columns]
        )
        for name in tensors
    }
    lengths = rows["attention_mask"].sum(dim=1)
    others = {name: value for name, value in first.items() if name not in tensors}
    parts = []
    batches = cut_by_length(lengths.tolist())
    for chosen in batches:
        end = int(lengths[chosen[0]])
        part = {name: value[chosen, :end] for name, value in rows.items()}
        parts.append(model({**others, **part})["sentence_embedding"])
    order = torch.tensor([index for chosen in batches for index in chosen])
    vectors = torch.cat(parts)[order.argsort()]
    return normalize(vectors, dim=-1).view(len(columns), -1, vectors.shape[-1])


def cut_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Return the indices of texts in batches of like length, the longest first.

    >>> cut_by_length([10, 200, 9, 190, 8, 4])
    [[1, 3], [0, 2, 4], [5]]
    """
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        longest = lengths[batches[-1][0]] if batches else 0
        fits = batches and longest * (len(batches[-1]) + 1) <= _BATCH_TOKENS
        if fits and lengths[index] >= _LIKE * longest:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
