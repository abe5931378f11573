"""Language models in use: the head only where there are labels, and without gradients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from numerate.options import LmKind

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NO_CACHE: dict[LmKind, dict[str, bool]] = {"masked": {}, "causal": {"use_cache": False}}
"""The arguments by which a model of a kind keeps no states for tokens that it will not generate."""


@contextmanager
def evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Inside this context, a model is not in training mode and computes no gradients."""
    was_training = model.training
    model.train(False)
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(was_training)


class LabelledHead:
    """Makes a language model compute its head only at chosen positions.

    The head takes most of the time of a small model, nearly all of it for tokens without a label. A
    hook after the encoder passes on the hidden states of the chosen positions alone.
    """

    def __init__(self, model: "PreTrainedModel") -> None:
        self._chosen: torch.Tensor | None = None
        model.base_model.register_forward_hook(self._select)

    @contextmanager
    def at(self, chosen: torch.Tensor) -> Iterator[None]:
        """Inside this context, logits have the shape (1, chosen positions, vocabulary).

        `chosen` is a mask of the positions, shape (sequences, tokens).
        """
        self._chosen = chosen
        try:
            yield
        finally:
            self._chosen = None

    def _select(self, module: torch.nn.Module, inputs: object, output: Any) -> Any:
        if self._chosen is not None:
            output.last_hidden_state = output.last_hidden_state[self._chosen].unsqueeze(0)
        return output
