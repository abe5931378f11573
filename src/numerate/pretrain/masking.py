"""Masking: from sequences of tokens that know their anchors to what a model sees, and its labels.

The paper masks every anchor and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from numerate.pretrain.sequences import Flags, Ids

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

IGNORED = -100


def mask_sequence(
    ids: Ids,
    is_anchor: Flags,
    rng: np.random.Generator,
    *,
    mask_id: int,
    special_ids: npt.NDArray[np.int32],
    vocabulary_size: int,
    anchor_visible: float = 0.0,
    mlm_probability: float = 0.0,
) -> tuple[Ids, Ids]:
    """Return what the model sees of a sequence, and its labels (-100 where there is none).

    Args:
        ids: The tokens.
        is_anchor: Which of them are pieces of anchors.
        rng: Decides what is left visible and what else is masked; not used in the paper's way.
        mask_id: The mask token.
        special_ids: Tokens that ordinary masking leaves alone: special tokens and markers.
        vocabulary_size: Random tokens of ordinary masking are drawn below it.
        anchor_visible: The share of anchors that are shown, and carry no label.
        mlm_probability: The share of other tokens that are masked in the ordinary way: of ten,
            eight become the mask, one a random token, one stays, and all carry labels.
    """
    hidden = is_anchor & ~_choose_anchors(is_anchor, anchor_visible, rng)
    inputs = np.where(hidden, np.int32(mask_id), ids)
    labelled = hidden
    if mlm_probability:
        ordinary = ~is_anchor & ~np.isin(ids, special_ids)
        chosen = ordinary & (rng.random(len(ids)) < mlm_probability)
        fate = rng.random(len(ids))
        inputs = np.where(chosen & (fate < 0.8), np.int32(mask_id), inputs)
        random_ids = rng.integers(0, vocabulary_size, len(ids), dtype=np.int32)
        inputs = np.where(chosen & (fate >= 0.9), random_ids, inputs)
        labelled = hidden | chosen
    return inputs, np.where(labelled, ids, np.int32(IGNORED))


def anchor_starts(is_anchor: Flags) -> Flags:
    """Return which tokens are the first piece of an anchor."""
    return is_anchor & ~np.concatenate(([False], is_anchor[:-1]))


def _choose_anchors(is_anchor: Flags, share: float, rng: np.random.Generator) -> Flags:
    """The pieces of a random share of the anchors, each chosen whole or not at all."""
    if not share:
        return np.zeros(len(is_anchor), bool)
    number = np.cumsum(anchor_starts(is_anchor))
    chosen = rng.random(number[-1] + 1 if len(number) else 1) < share
    return is_anchor & chosen[number]


Batch = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Masking:
    """How sequences are masked; the defaults are the paper's way."""

    mask_id: int
    pad_id: int
    special_ids: tuple[int, ...]
    vocabulary_size: int
    anchor_visible: float = 0.0
    mlm_probability: float = 0.0

    @classmethod
    def of(
        cls,
        tokenizer: "PreTrainedTokenizerBase",
        vocabulary_size: int,
        *,
        anchor_visible: float = 0.0,
        mlm_probability: float = 0.0,
    ) -> "Masking":
        """Return how the sequences of a tokenizer are masked."""
        ids: Any = tokenizer
        return cls(
            ids.mask_token_id,
            ids.pad_token_id,
            tuple(ids.all_special_ids),
            vocabulary_size,
            anchor_visible=anchor_visible,
            mlm_probability=mlm_probability,
        )

    def collate(self, rows: Sequence[tuple[int, list[tuple[np.ndarray, np.ndarray]]]]) -> Batch:
        """Return a batch of rows, each given with the number that seeds its masking."""
        inputs, labels = [], []
        for number, sequences in rows:
            rng = np.random.default_rng(number)
            for ids, is_anchor in sequences:
                seen, target = self.mask(ids, is_anchor, rng)
                inputs.append(seen)
                labels.append(target)
        lengths = np.array([len(ids) for ids in inputs])
        is_token = np.arange(lengths.max()) < lengths[:, None]
        return {
            "input_ids": _pad(inputs, is_token, self.pad_id),
            "attention_mask": torch.from_numpy(is_token.astype(np.int64)),
            "labels": _pad(labels, is_token, IGNORED),
        }

    def mask(
        self, ids: np.ndarray, is_anchor: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what the model sees of a sequence, and its labels."""
        return mask_sequence(
            ids,
            is_anchor,
            rng,
            mask_id=self.mask_id,
            special_ids=np.array(self.special_ids, np.int32),
            vocabulary_size=self.vocabulary_size,
            anchor_visible=self.anchor_visible,
            mlm_probability=self.mlm_probability,
        )


def _pad(rows: list[np.ndarray], is_token: np.ndarray, filler: int) -> torch.Tensor:
    padded = np.full(is_token.shape, filler, np.int64)
    padded[is_token] = np.concatenate(rows)
    return torch.from_numpy(padded)
