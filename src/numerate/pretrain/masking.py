"""Masking: from sequences of tokens to the inputs and the labels of a model.

The paper masks every anchor and nothing else. A causal model is given no masks: what it has to
predict is the label of the position before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from numerate.options import LmKind
from numerate.pretrain.sequences import Flags, Ids, Magnitudes, TokenSequence

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


def place_magnitudes(magnitudes: Magnitudes, kind: LmKind) -> Magnitudes:
    """Return the magnitudes of anchors at the positions whose vectors stand for their numerals.

    A masked model has them at the tokens of the anchor. A causal model has each at one position,
    the token before the anchor: there the anchor is unsaid, and not yet seen.
    """
    if kind == "masked":
        return magnitudes
    starts = np.where(anchor_starts(~np.isnan(magnitudes)), magnitudes, np.float32(np.nan))
    return np.append(starts[1:], np.float32(np.nan))


Batch = dict[str, torch.Tensor]


@dataclass(frozen=True, kw_only=True)
class Masking:
    """Which tokens have a label, and what a model sees in their place.

    By default all tokens of anchors have a label, and nothing else. `anchor_visible` is the share
    of anchors without labels. `other_share` is the share of other tokens that have one, too, never
    one of `special_ids`.

    A masked model sees a mask in place of an anchor; it has the label at the same position. Other
    tokens are masked as in BERT: 80 % become the mask token, 10 % a random token below
    `vocabulary_size`, 10 % stay. A causal model sees all tokens; the label of a token is at the
    position before it, where the model says the token.
    """

    mask_id: int | None
    pad_id: int
    special_ids: tuple[int, ...]
    vocabulary_size: int
    kind: LmKind = "masked"
    anchor_visible: float = 0.0
    other_share: float = 0.0

    @classmethod
    def of(
        cls,
        tokenizer: "PreTrainedTokenizerBase",
        vocabulary_size: int,
        *,
        kind: LmKind = "masked",
        **shares: float,
    ) -> "Masking":
        """Return the masking for the ids of a tokenizer; `shares` are the two that it takes."""
        ids: Any = tokenizer
        return cls(
            mask_id=ids.mask_token_id,
            pad_id=ids.pad_token_id or 0,  # any id: nothing attends to padding
            special_ids=tuple(ids.all_special_ids),
            vocabulary_size=vocabulary_size,
            kind=kind,
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
        """Return the input ids and the labels of a sequence; -100 stands for no label."""
        hidden = is_anchor & ~_choose_anchors(is_anchor, self.anchor_visible, rng)
        others = np.zeros(len(ids), bool)
        if self.other_share:
            ordinary = ~is_anchor & ~np.isin(ids, np.array(self.special_ids, np.int32))
            others = ordinary & (rng.random(len(ids)) < self.other_share)
        labels = np.where(hidden | others, ids, np.int32(IGNORED))
        if self.kind == "causal":
            return np.array(ids), np.append(labels[1:], np.int32(IGNORED))
        return self._cover(ids, hidden, others, rng), labels

    def _cover(self, ids: Ids, hidden: Flags, others: Flags, rng: np.random.Generator) -> Ids:
        """Return the ids with anchors masked, and other tokens masked, replaced or left."""
        mask_id = np.int32(self.mask_id or 0)
        inputs = np.where(hidden, mask_id, ids)
        if self.other_share:
            fate = rng.random(len(ids))
            inputs = np.where(others & (fate < 0.8), mask_id, inputs)
            random_ids = rng.integers(0, self.vocabulary_size, len(ids), dtype=np.int32)
            inputs = np.where(others & (fate >= 0.9), random_ids, inputs)
        return inputs
