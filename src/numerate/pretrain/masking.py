"""Masking: from sequences of tokens to the inputs and the labels of a model.

The paper masks every anchor and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from numerate.pretrain.sequences import Flags, Ids, TokenSequence

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

IGNORED = -100  # the label of a token that has none


def anchor_starts(is_anchor: Flags) -> Flags:
    """Return flags for the first token of each anchor."""
    return is_anchor & ~np.concatenate(([False], is_anchor[:-1]))


def _choose_anchors(is_anchor: Flags, share: float, rng: np.random.Generator) -> Flags:
    """Return flags for the tokens of a random share of the anchors."""
    if not share:
        return np.zeros(len(is_anchor), bool)
    index = np.cumsum(anchor_starts(is_anchor))  # of the anchor that a token belongs to, from 1
    chosen = rng.random(index[-1] + 1 if len(index) else 1) < share
    return is_anchor & chosen[index]


Batch = dict[str, torch.Tensor]


@dataclass(frozen=True, kw_only=True)
class Masking:
    """The settings of masking; by default all anchors are masked and nothing else.

    `anchor_visible` is the share of anchors that stay unmasked, without a label. `mlm_probability`
    is the share of other tokens that are selected as in BERT, never one of `special_ids`: 80 %
    become the mask token, 10 % a random token below `vocabulary_size`, 10 % stay, and all of them
    have a label.
    """

    mask_id: int
    pad_id: int
    special_ids: tuple[int, ...]
    vocabulary_size: int
    anchor_visible: float = 0.0
    mlm_probability: float = 0.0

    @classmethod
    def of(
        cls, tokenizer: "PreTrainedTokenizerBase", vocabulary_size: int, **shares: float
    ) -> "Masking":
        """Return the masking for the ids of a tokenizer; `shares` are the two that it takes."""
        ids: Any = tokenizer
        return cls(
            mask_id=ids.mask_token_id,
            pad_id=ids.pad_token_id,
            special_ids=tuple(ids.all_special_ids),
            vocabulary_size=vocabulary_size,
            **shares,
        )

    def collate(self, rows: Sequence[tuple[int, Sequence[TokenSequence]]]) -> Batch:
        """Return a padded batch of the sequences of rows; a row starts with the seed of its masks.

        The batch has `input_ids`, `attention_mask` and `labels`, of shape (sequences, tokens).
        """
        inputs, labels = [], []
        for seed, sequences in rows:
            rng = np.random.default_rng(seed)
            for row in sequences:
                masked, targets = self.mask(row.ids, row.is_anchor, rng)
                inputs.append(torch.from_numpy(masked).long())
                labels.append(torch.from_numpy(targets).long())
        return {
            "input_ids": pad_sequence(inputs, batch_first=True, padding_value=self.pad_id),
            "attention_mask": pad_sequence([torch.ones_like(row) for row in inputs], True),
            "labels": pad_sequence(labels, batch_first=True, padding_value=IGNORED),
        }

    def mask(self, ids: Ids, is_anchor: Flags, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """Return the input ids and the labels of a sequence; a token without a label has -100."""
        hidden = is_anchor & ~_choose_anchors(is_anchor, self.anchor_visible, rng)
        inputs = np.where(hidden, np.int32(self.mask_id), ids)
        labelled = hidden
        if self.mlm_probability:
            ordinary = ~is_anchor & ~np.isin(ids, np.array(self.special_ids, np.int32))
            chosen = ordinary & (rng.random(len(ids)) < self.mlm_probability)
            fate = rng.random(len(ids))
            inputs = np.where(chosen & (fate < 0.8), np.int32(self.mask_id), inputs)
            random_ids = rng.integers(0, self.vocabulary_size, len(ids), dtype=np.int32)
            inputs = np.where(chosen & (fate >= 0.9), random_ids, inputs)
            labelled = hidden | chosen
        return inputs, np.where(labelled, ids, np.int32(IGNORED))
