"""Validation: how well a model predicts the anchors of held-out sequences."""

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from accelerate import PartialState

from numerate.fit.anchors import AnchorSet, rescale, restore
from numerate.models.head import NO_CACHE, LabelledHead, evaluating
from numerate.pretrain.batches import Row, make_rows
from numerate.pretrain.generation import count_said, draw_prompts
from numerate.pretrain.masking import IGNORED, Masking, anchor_starts
from numerate.pretrain.objectives import ObjectiveHeads, pad_magnitudes, pool_anchors
from numerate.pretrain.sequences import Sequences

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_PROMPTS = 128  # anchors to generate, which takes longer than to predict them


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Metrics on held-out text, for all of its anchors.

    The loss is per token of an anchor, the accuracy the share of anchors of which all tokens are
    predicted; `majority` is that of always predicting the most frequent anchor. `distance` is the
    mean |ln predicted − ln true| over the predictions that are numbers, of which `readable` is the
    share; those beyond the largest or smallest anchor count as that anchor. `value_distance` is
    that of the predictions of the objective `value`, from the vector at the place of the anchor.

    All of these see the tokens before the one to predict as they are. `said` is the share of the
    anchors, of some drawn at random, that a causal model says when it goes on by itself.
    """

    loss: float
    accuracy: float
    distance: float
    readable: float
    majority: float
    anchors: int
    value_distance: float | None = None
    said: float | None = None


class Validator:
    """Validates models on held-out sequences."""

    def __init__(
        self,
        sequences: Sequences,
        masking: Masking,
        tokenizer: "PreTrainedTokenizerBase",
        anchors: AnchorSet,
        *,
        max_length: int,
        batch_size: int,
    ) -> None:
        self._sequences = sequences
        self._masking = replace(masking, anchor_visible=0.0, other_share=0.0)
        self._tokenizer = tokenizer
        self._anchors = anchors
        rows = make_rows(sequences.lengths, max_length, 1, np.random.default_rng(0))
        rows.sort(key=lambda row: int(sequences.lengths[row[-1]]))
        self._batches = [rows[i : i + batch_size] for i in range(0, len(rows), batch_size)]
        self._value = lru_cache(maxsize=100_000)(self._read_anchor)
        masked = sequences.ids[sequences.is_anchor]
        is_start = anchor_starts(np.asarray(sequences.is_anchor))[sequences.is_anchor]
        true = Counter(_split(masked, is_start))
        self._n_anchors = sum(true.values())
        self._majority = max(true.values()) / self._n_anchors
        is_causal = masking.kind == "causal"
        self._prompts = draw_prompts(sequences, _PROMPTS, seed=0) if is_causal else []

    def validate(
        self, model: "PreTrainedModel", head: LabelledHead, heads: ObjectiveHeads | None = None
    ) -> Validation:
        """Return the metrics of a model; each process takes a part of the data."""
        processes = PartialState()
        device = next(model.parameters()).device
        has_value = heads is not None and "value" in heads.layers
        part = slice(processes.process_index, None, processes.num_processes)
        sums = torch.zeros(7, dtype=torch.float64, device=device)
        with evaluating(model):
            for rows in self._batches[part]:
                found = self._sum_batch(model, head, rows, heads if has_value else None)
                sums[:6] += torch.tensor(found, device=device)
        sums[6] = count_said(model, self._tokenizer, self._prompts[part])
        if processes.num_processes > 1:
            torch.distributed.all_reduce(sums)
        loss, pieces, correct, readable, distance, value_distance, said = sums.tolist()
        return Validation(
            loss=loss / pieces,
            accuracy=correct / self._n_anchors,
            distance=distance / max(readable, 1),
            readable=readable / self._n_anchors,
            majority=self._majority,
            anchors=self._n_anchors,
            value_distance=value_distance / self._n_anchors if has_value else None,
            said=said / len(self._prompts) if self._prompts else None,
        )

    def _sum_batch(
        self,
        model: "PreTrainedModel",
        head: LabelledHead,
        rows: list[Row],
        heads: ObjectiveHeads | None,
    ) -> tuple[float, ...]:
        """Return the sums over a batch: loss, tokens, correct and readable anchors, distances."""
        members = [(0, [self._sequences[int(i)] for i in row]) for row in rows]
        batch = self._masking.collate(members)
        device = next(model.parameters()).device
        labels = batch.pop("labels")
        chosen = labels != IGNORED
        with head.at(chosen.to(device)):
            inputs = {key: value.to(device) for key, value in batch.items()}
            output = model(
                **inputs,
                **NO_CACHE[self._masking.kind],
                output_hidden_states=heads is not None,
            )
        logits, truth = output.logits[0], labels[chosen]
        value_distance = 0.0
        if heads is not None:
            sequences = (one for _, row in members for one in row)
            magnitudes = pad_magnitudes(sequences, chosen, self._masking.kind)
            vectors, wanted = pool_anchors(output.hidden_states, magnitudes.to(device))
            value_distance = float((heads.predict(vectors) - wanted).abs().sum())
        loss = torch.nn.functional.cross_entropy(logits.float(), truth.to(device), reduction="sum")
        is_start = anchor_starts(chosen.numpy().ravel())[chosen.numpy().ravel()]
        predicted = _split(logits.argmax(dim=-1).cpu().numpy(), is_start)
        true = _split(truth.numpy(), is_start)
        found = sum(guess == answer for guess, answer in zip(predicted, true, strict=True))
        guesses = np.array([self._value(pieces) for pieces in predicted])
        answers = np.array([self._value(pieces) for pieces in true])
        readable = ~np.isnan(guesses)
        distance = float(np.abs(guesses - answers)[readable].sum())
        return float(loss), len(truth), found, int(readable.sum()), distance, value_distance

    def _read_anchor(self, pieces: tuple[int, ...]) -> float:
        """Return ln n + 1 for the value n of an anchor; NaN if its tokens do not spell a number."""
        text = str(self._tokenizer.decode(list(pieces))).replace(" ", "")
        if not _WHOLE.fullmatch(text):
            return math.nan
        anchors = self._anchors
        anchor = min(max(int(text), anchors.values[0]), anchors.values[-1])
        value = restore(anchor, anchors.scale, anchors.resolution)
        return float(rescale(value, "ln", 1.0))


def _split(pieces: npt.NDArray[Any], is_start: npt.NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Split consecutive tokens of anchors into one tuple per anchor."""
    parts = np.split(pieces, np.flatnonzero(is_start)[1:])
    return [tuple(part.tolist()) for part in parts]
