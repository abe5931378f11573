"""Objectives: what pre-training asks of the vector at the place of a hidden anchor.

That is where a masked anchor stands, or the marker behind which a causal model says the anchor.

The paper asks for the tokens of the anchor. That says little about magnitude: 119 and 120 are as
different to the loss as 119 and 7. The objectives here use the magnitude ln n + 1 of the numeral
itself, and can be added to the paper's, or take its place:

- `smooth`: predict the anchor among all anchors; the target is a kernel over the anchors, so that
  the next anchor is nearly right;
- `value`: predict the magnitude by a linear layer;
- `geometry`: let the cosine of two vectors fall with the distance of their magnitudes.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import cross_entropy, normalize, smooth_l1_loss
from torch.nn.utils.rnn import pad_sequence

from numerate.extract.numerals import LARGEST
from numerate.fit.anchors import AnchorSet, rescale, restore
from numerate.options import LmKind, Objective
from numerate.pretrain.masking import place_magnitudes
from numerate.pretrain.sequences import TokenSequence

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SUMMED_LAYERS = 4  # the vectors that probes and embeddings read are sums of the last four layers
_NEAR = 0.05  # the distance in ln below which cosines change most
_KERNEL_WIDTH = 0.1  # of the smooth target, in ln: the step between anchors at a resolution of 10
_VALUE_SCALE = 3.0  # brings ln n, up to 23, to the size that a linear layer starts with
_VALUE_WEIGHT = 5.0
_LINEAR = 0.5  # share of the kernel that falls with the distance itself
_FARTHEST = math.log(LARGEST)


def pad_magnitudes(
    sequences: Iterable[TokenSequence], is_labelled: torch.Tensor, kind: LmKind = "masked"
) -> torch.Tensor:
    """Return the magnitudes where vectors stand for the numbers of anchors, NaN elsewhere.

    These are the tokens of masked anchors, or for a causal model the tokens before the anchors.
    `is_labelled`, the positions with labels, and the result have the shape (sequences, tokens).
    """
    rows = [torch.tensor(place_magnitudes(one.magnitudes, kind)) for one in sequences]
    padded = pad_sequence(rows, batch_first=True, padding_value=math.nan)
    return padded.where(is_labelled, math.nan)


def pool_anchors(
    hidden_states: Sequence[torch.Tensor], magnitudes: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the vector at the place of each hidden anchor, and the magnitude of its numeral.

    A vector is the sum of the last four layers, averaged over the positions of the anchor: what
    `read="anchor"` reads. `magnitudes` has the shape (sequences, tokens).
    """
    states = torch.stack([layer.float() for layer in hidden_states[-SUMMED_LAYERS:]]).sum(dim=0)
    is_anchor = ~magnitudes.isnan()
    is_start = is_anchor & ~torch.nn.functional.pad(is_anchor, (1, 0))[:, :-1]
    index = is_start.flatten().cumsum(0)[is_anchor.flatten()] - 1
    n_anchors = int(is_start.sum())
    sizes = torch.bincount(index, minlength=n_anchors).unsqueeze(1)
    sums = states.new_zeros(n_anchors, states.shape[-1]).index_add(0, index, states[is_anchor])
    return sums / sizes, magnitudes[is_start]


class ObjectiveHeads(torch.nn.Module):
    """The losses of the objectives beside the paper's, with the layers that they train."""

    def __init__(self, objectives: Sequence[Objective], width: int, anchors: AnchorSet) -> None:
        super().__init__()
        losses: dict[Objective, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
            "smooth": self._smooth,
            "value": self._value,
            "geometry": geometry_loss,
        }
        self._losses = [losses[name] for name in objectives if name in losses]
        self._scale = torch.nn.LayerNorm(width, elementwise_affine=False)
        values = restore(anchors.values, anchors.scale, anchors.resolution)
        places = torch.from_numpy(rescale(values, "ln", 1.0)).float()
        self.register_buffer("places", places, persistent=False)
        sizes: dict[Objective, int] = {"smooth": len(places), "value": 1}
        self.layers = torch.nn.ModuleDict(
            {
                name: torch.nn.Linear(width, size)
                for name, size in sizes.items()
                if name in objectives
            }
        )

    def forward(self, vectors: torch.Tensor, magnitudes: torch.Tensor) -> torch.Tensor:
        """Return the sum of the losses for vectors of shape (numerals, width)."""
        total = vectors.new_zeros(())
        for loss in self._losses:
            total = total + loss(vectors, magnitudes)
        return total

    def _smooth(self, vectors: torch.Tensor, magnitudes: torch.Tensor) -> torch.Tensor:
        places: Any = self.places
        distances = (magnitudes.unsqueeze(1) - places) / _KERNEL_WIDTH
        target = torch.softmax(-(distances**2) / 2, dim=1)
        return cross_entropy(self.layers["smooth"](self._scale(vectors)), target)

    def predict(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the magnitudes that the objective `value` predicts."""
        found: torch.Tensor = self.layers["value"](self._scale(vectors)).squeeze(1)
        return found * _VALUE_SCALE + _FARTHEST / 2

    def _value(self, vectors: torch.Tensor, magnitudes: torch.Tensor) -> torch.Tensor:
        beta = 0.02 * _VALUE_SCALE  # below this distance in ln, the loss is quadratic
        loss = smooth_l1_loss(self.predict(vectors), magnitudes, beta=beta)
        return loss * _VALUE_WEIGHT / _VALUE_SCALE


def geometry_loss(vectors: torch.Tensor, magnitudes: torch.Tensor) -> torch.Tensor:
    """Return the mean squared difference between cosines and the kernel of nearness.

    The kernel is 1 for the same magnitude and 0 for 1 and 10^10. In between one half of it falls
    with the distance and the other with the logarithm of the distance, so that near numbers are
    told apart as well as far ones.

    >>> vectors = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> round(float(geometry_loss(vectors, torch.tensor([1.0, 1.0 + math.log(1e10)]))), 6)
    0.0
    >>> round(float(geometry_loss(vectors, torch.tensor([5.0, 5.0]))), 6)
    1.0
    """
    unit = normalize(vectors, dim=1)
    distances = (magnitudes.unsqueeze(1) - magnitudes).abs()
    near = torch.log1p(distances / _NEAR) / math.log1p(_FARTHEST / _NEAR)
    kernel = 1 - _LINEAR * distances / _FARTHEST - (1 - _LINEAR) * near
    off_diagonal = ~torch.eye(len(unit), dtype=torch.bool, device=unit.device)
    if len(unit) < 2:  # one number has no neighbour
        return vectors.sum() * 0
    return (unit @ unit.T - kernel)[off_diagonal].square().mean()


def add_heads(
    model: "PreTrainedModel", objectives: Sequence[Objective], anchors: AnchorSet
) -> ObjectiveHeads:
    """Add the heads to a model, so that they are trained and checkpointed with it."""
    heads = ObjectiveHeads(objectives, int(model.config.hidden_size), anchors)
    model.add_module(_NAME, heads)
    return heads


def remove_heads(model: "PreTrainedModel") -> None:
    """Remove the heads of a trained model, which nobody needs any more."""
    if hasattr(model, _NAME):
        delattr(model, _NAME)


_NAME = "numerate_heads"
