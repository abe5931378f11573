"""The head of a masked language model, computed only where there are labels."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class LabelledHead:
    """Lets a masked language model compute its head where there are labels, and nowhere else.

    The head is most of a small model's work, and nearly all of that is for tokens that nobody asks
    about. A hook between encoder and head hands on the hidden states of the chosen positions alone.
    """

    def __init__(self, model: "PreTrainedModel") -> None:
        self._chosen: torch.Tensor | None = None
        model.base_model.register_forward_hook(self._hand_on)

    @contextmanager
    def at(self, chosen: torch.Tensor) -> Iterator[None]:
        """Within this, logits have the shape (1, chosen positions, vocabulary)."""
        self._chosen = chosen
        try:
            yield
        finally:
            self._chosen = None

    def _hand_on(self, module: torch.nn.Module, inputs: object, output: Any) -> Any:
        if self._chosen is not None:
            output.last_hidden_state = output.last_hidden_state[self._chosen].unsqueeze(0)
        return output
