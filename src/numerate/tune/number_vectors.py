"""Input embeddings of which only the vectors of numbers are trained.

All other weights of the encoder stay as they were. So does the vector of every text without
numbers, to the last bit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from numerate.models.anchor_tokenizer import list_anchors, list_rests

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_PACE = 7.0  # how much faster vectors move than the weights of an encoder would


class NumberVectors(torch.nn.Module):
    """Embeddings in which one linear map moves the vectors of all anchors.

    What is learned from one number so holds for all. Second tokens are all moved alike.

    Args:
        embeddings: The embeddings of an encoder whose tokenizer has anchors. They are not changed.
        tokenizer: That tokenizer.
    """

    centre: torch.Tensor

    def __init__(
        self, embeddings: torch.nn.Embedding, tokenizer: "PreTrainedTokenizerBase"
    ) -> None:
        super().__init__()
        self.embeddings = embeddings.requires_grad_(False)
        anchors, rests = (
            torch.tensor(tokenizer.convert_tokens_to_ids([*tokens]))
            for tokens in (list_anchors(), list_rests())
        )
        width = embeddings.embedding_dim
        self.map = torch.nn.Parameter(torch.zeros(width, width))
        self.shift = torch.nn.Parameter(torch.zeros(width))
        self.shift_of_rests = torch.nn.Parameter(torch.zeros(width))
        self.register_buffer("centre", embeddings.weight[anchors].mean(dim=0), persistent=False)
        self.first_rest, self.first_anchor = int(rests[0]), int(anchors[0])

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the vectors of tokens."""
        vectors: torch.Tensor = self.embeddings(ids)
        is_anchor = ids >= self.first_anchor
        is_rest = (ids >= self.first_rest) & ~is_anchor
        anchors = vectors[is_anchor]
        vectors = vectors.index_put(
            (is_anchor,), anchors + _PACE * ((anchors - self.centre) @ self.map + self.shift)
        )
        return vectors + _PACE * is_rest.unsqueeze(-1) * self.shift_of_rests

    def as_embedding(self) -> torch.nn.Embedding:
        """Return plain embeddings with the vectors of now."""
        n_rows, width = self.embeddings.weight.shape
        with torch.no_grad():
            vectors = self(torch.arange(n_rows, device=self.map.device))
        plain = torch.nn.Embedding(n_rows, width, self.embeddings.padding_idx, _weight=vectors)
        return plain.requires_grad_(False)


@contextmanager
def plain_embeddings(model: "PreTrainedModel") -> Iterator[None]:
    """Let a transformers model have plain embeddings for a while, so that it can be saved."""
    numbers = model.get_input_embeddings()
    if isinstance(numbers, NumberVectors):
        model.set_input_embeddings(numbers.as_embedding())
    try:
        yield
    finally:
        model.set_input_embeddings(numbers)
