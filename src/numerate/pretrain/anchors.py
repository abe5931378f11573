"""Pre-training on anchors, the paper's recipe: language modelling of anchors alone.

The input is a primed corpus. Its sequences become rows, a masked model fills in the anchors in
them, a causal one says them as the next tokens, and some sequences are held out for validation.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from accelerate import PartialState

from numerate.errors import InputError
from numerate.fit.anchors import AnchorSet
from numerate.models.base_model import max_tokens
from numerate.models.card import write_card
from numerate.models.digit_tokenizer import check_saved, split_digits
from numerate.models.folder import set_priming, write_modules
from numerate.models.head import NO_CACHE, LabelledHead
from numerate.models.names import resolve_model
from numerate.options import LmKind
from numerate.pretrain.batches import PlannedRows, RowExample
from numerate.pretrain.config import PretrainConfig
from numerate.pretrain.masking import IGNORED, Batch, Masking
from numerate.pretrain.objectives import (
    ObjectiveHeads,
    add_heads,
    pad_magnitudes,
    pool_anchors,
    remove_heads,
)
from numerate.pretrain.recipe import Measure, Recipe, linear_rate
from numerate.pretrain.rehearsal import Rehearsal, RehearsalSource, read_held_out
from numerate.pretrain.sequences import ChosenSequences, Keep, Sequences, read_sequences
from numerate.pretrain.shuffle import shuffle_anchors, shuffle_magnitudes
from numerate.pretrain.validation import Validator
from numerate.prime.primed_corpus import PrimedCorpus
from numerate.prime.scheme import Priming
from numerate.prime.text import MARKERS, prime_text, unprime_text


class AnchorRecipe(Recipe[PretrainConfig]):
    """Language modelling in which the anchors are masked, or said as the next tokens."""

    stage: ClassVar[str] = "pretrain"
    mean_over_step: ClassVar[bool] = True
    _heads: ObjectiveHeads | None = None

    def __init__(
        self, primed: PrimedCorpus, config: PretrainConfig, tokens: Path | None = None
    ) -> None:
        arguments = {
            "lr_scheduler_type": config.scheduler,
            "warmup_steps": config.warmup,
            "weight_decay": config.weight_decay,
            "report_to": config.report_to,
        }
        super().__init__(config, own_settings={"corpus": primed.settings}, arguments=arguments)
        self._primed, self._tokens = primed, tokens
        self._anchors = shuffle_anchors(primed.anchors) if config.shuffle else primed.anchors
        self.kind = config.kind
        self.markers = MARKERS[primed.settings["marker"]]
        self.scheduler = config.scheduler

    @property
    def _compares(self) -> bool:
        """Whether an objective uses the magnitudes of numbers, not only the tokens of anchors."""
        return set(self.config.objective) != {"tokens"}

    @property
    def _other_share(self) -> float:
        """The share of the tokens outside anchors that are predicted, too."""
        return self.config.mlm_probability or self.config.lm_share

    def load(self) -> None:
        """Load the base model, if its anchors and those of the corpus are of one kind."""
        _check_anchors(self._primed, self.config.base)
        super().load()
        _check_shares(self.config, self.base.kind)
        if self.config.pieces == "digits":
            split = split_digits(self.base.tokenizer, self.config.base, number_words=False)
            check_saved(split, self.base.model, self.config.base)
            self.base = replace(self.base, tokenizer=split)

    def prepare(self, folder: Path) -> None:
        """Tokenize the corpus, hold some sequences out and plan the rows."""
        config, base, processes = self.config, self.base, PartialState()
        max_length = min(config.max_length, max_tokens(base.model, base.tokenizer))
        with processes.main_process_first():
            sequences = self._tokenize(folder, max_length)
        train, held_out = _split(sequences, config)
        if config.max_tokens:  # do not plan, nor rehearse for, more than the budget allows
            train = take_tokens(
                train, round(config.max_tokens * (1 - config.rehearse)), config.seed
            )
        self._rows = PlannedRows(
            train,
            max_length=max_length,
            rows_per_step=config.batch_size * config.accumulate * processes.num_processes,
            seed=config.seed,
            rehearsal=self._rehearsal(max_length),
            mixed=self._compares,
        )
        self.examples_per_epoch = self._rows.rows_per_epoch
        self._masking = Masking.of(
            base.tokenizer,
            base.model.config.vocab_size,
            kind=base.kind,
            anchor_visible=config.anchor_visible,
            other_share=self._other_share,
        )
        self._head = LabelledHead(base.model)
        if self._compares:
            self._heads = add_heads(base.model, config.objective, self._primed.anchors)
        self._validator = Validator(
            held_out,
            self._masking,
            base.tokenizer,
            self._primed.anchors,
            max_length=max_length,
            batch_size=config.batch_size,
        )

    def draw(self, index: int) -> RowExample:
        """Return a row of sequences with the seed of its masks."""
        return self._rows[index]

    def collate(self, examples: Sequence[RowExample]) -> Batch:
        """Return the sequences of rows, masked and padded, with the magnitudes of their numerals.

        A position that stands for no hidden anchor has NaN.
        """
        batch = self._masking.collate(examples)
        sequences = (sequence for _, row in examples for sequence in row)
        magnitudes = pad_magnitudes(sequences, batch["labels"] != IGNORED, self.base.kind)
        if self.config.shuffle:
            magnitudes = torch.from_numpy(shuffle_magnitudes(magnitudes.numpy()))
        return {**batch, "magnitudes": magnitudes}

    def measure(
        self, model: torch.nn.Module, batch: Batch, n_labels: torch.Tensor | None
    ) -> Measure:
        """Compute the loss of the objectives; the head runs where labels are, and there alone."""
        labels, magnitudes = batch.pop("labels"), batch.pop("magnitudes")
        chosen = labels != IGNORED
        targets = labels[chosen]
        with self._head.at(chosen):
            output = model(
                **batch, **NO_CACHE[self.base.kind], output_hidden_states=self._heads is not None
            )
        logits = output.logits[0]
        # Summed over the labels, so that batches of a step count by their number of labels.
        loss = logits.new_zeros((), dtype=torch.float32)
        if "tokens" in self.config.objective:
            loss = torch.nn.functional.cross_entropy(logits.float(), targets, reduction="sum")
        if self._heads is not None and not magnitudes.isnan().all():
            found = pool_anchors(output.hidden_states, magnitudes)
            loss = loss + len(targets) * self._heads(*found)
        loss = loss / (len(targets) if n_labels is None else n_labels)
        correct = int((logits.argmax(dim=-1) == targets).sum())
        return Measure(loss, len(targets), correct, int(batch["attention_mask"].sum()))

    def validate(self) -> dict[str, float]:
        """Return how well the model predicts the anchors of the held-out sequences."""
        found = asdict(self._validator.validate(self.base.model, self._head, self._heads))
        return {name: value for name, value in found.items() if value is not None}

    def rate(self, progress: float) -> float:
        """Return the linear schedule with warm-up, for a budget of minutes."""
        return linear_rate(progress, self.config.warmup)

    def tokens_per_example(self) -> float:
        """Return the mean number of tokens of a row."""
        return self._rows.tokens_per_epoch / self._rows.rows_per_epoch

    def describe(self) -> dict[str, Any]:
        """Return the kind of the model, a primed numeral, and the size of an epoch."""
        marker = self._primed.settings["marker"]
        return {
            "kind": self.base.kind,
            "example": prime_text("1999", self._primed.anchors, marker=marker).text,
            "sequences_per_epoch": len(self._rows.corpus),
            "tokens_per_epoch": self._rows.tokens_per_epoch,
        }

    def write_card(self, run: dict[str, Any]) -> str:
        """Return the model card."""
        return write_card(run)

    def save(self, folder: Path) -> None:
        """Write the model with its anchors, and the files of sentence-transformers."""
        settings, config = self._primed.settings, self.base.model.config
        priming = Priming(self._primed.anchors, settings["marker"], settings["numeral_form"])
        set_priming(self.base.model, priming)
        remove_heads(self.base.model)
        super().save(folder)
        replace(self._primed.anchors, fit={}).save(folder / "anchors.json")
        write_modules(folder, width=config.hidden_size, n_layers=config.num_hidden_layers)

    def _tokenize(self, folder: Path, max_length: int) -> Sequences:
        # Without a label a sequence teaches nothing: only labels of other tokens need them all.
        keep: Keep = "all" if self._other_share else "anchored"
        if self._tokens:  # a folder for everything that tokens depend on
            settings = self._primed.settings, self.config.shuffle, self.config.hold_out_gaps
            vocabulary = self.base.tokenizer.backend_tokenizer.to_str()
            key = json.dumps([*settings, keep, max_length, self.base.kind, vocabulary]).encode()
            folder = self._tokens / hashlib.sha256(key).hexdigest()[:24]
        sequences = read_sequences(
            folder / "sequences",
            self._documents,
            self.base.tokenizer,
            max_length=max_length,
            keep=keep,
            kind=self.base.kind,
            hold_out_gaps=self.config.hold_out_gaps,
            domain=self._anchors.domain,
        )
        if len(sequences) < 2:
            raise InputError(f"{self._primed.folder}: too little text to train on and to validate")
        return sequences

    def _documents(self) -> Iterator[str]:
        marker = self._primed.settings["marker"]
        for text in self._primed.documents():
            if self.config.shuffle:
                text = prime_text(unprime_text(text), self._anchors, marker=marker).text
            yield text

    def _rehearsal(self, max_length: int) -> RehearsalSource | None:
        config, primed = self.config, self._primed
        if not config.rehearse:
            return None
        rehearsal = Rehearsal(
            self._anchors,
            primed.settings["marker"],
            hold_out_gaps=config.hold_out_gaps,
            alone=self._compares,
        )
        if config.hold_out:
            rehearsal = replace(rehearsal, held_out=read_held_out(Path(config.hold_out)))
        base = self.base
        return RehearsalSource(rehearsal, base.tokenizer, config.rehearse, max_length, base.kind)


def take_tokens(sequences: ChosenSequences, n_tokens: int, seed: int) -> ChosenSequences:
    """Return sequences drawn at random, with at least `n_tokens` tokens, or all if there are fewer.

    They are in the order in which they were.
    """
    order = np.random.default_rng([seed, 0xB0D6E7]).permutation(len(sequences))
    lengths = sequences.lengths[order]
    before = np.cumsum(lengths) - lengths
    return replace(sequences, indices=sequences.indices[np.sort(order[before < n_tokens])])


def _check_shares(config: PretrainConfig, kind: LmKind) -> None:
    """Refuse a share of other tokens that is for the other kind of model."""
    ours, theirs = ("mlm_probability", "lm_share")[:: 1 if kind == "masked" else -1]
    if getattr(config, theirs):
        raise InputError(f"{theirs} must be 0 for a {kind} model; give {ours}")


def _check_anchors(primed: PrimedCorpus, base: str) -> None:
    """Refuse anchors that differ from those of the corpus, or in kind from those of the base."""
    primed.check_anchors()
    path = Path(resolve_model(base)) / "anchors.json"
    if path.is_file():
        theirs, ours = (
            (anchors.scale, anchors.resolution, anchors.width)
            for anchors in (AnchorSet.load(path), primed.anchors)
        )
        if theirs != ours:
            form = "on the {} scale (resolution {:g}, width {})"
            raise InputError(
                f"{base}: was trained with anchors {form.format(*theirs)}, but the corpus is "
                f"primed {form.format(*ours)}; prime it with the anchors of the model"
            )


def _split(sequences: Sequences, config: PretrainConfig) -> tuple[ChosenSequences, Sequences]:
    """Return the sequences to train on, and some with anchors to validate on."""
    anchored = np.flatnonzero(sequences.count_anchors())
    wanted = math.ceil(config.validation_share * len(sequences))
    n_held_out = max(1, min(wanted, config.validation_most, len(anchored) - 1))
    rng = np.random.default_rng([config.seed, 0x5EED])
    held_out = np.sort(rng.choice(anchored, n_held_out, replace=False))
    rest = np.setdiff1d(np.arange(len(sequences)), held_out)
    return ChosenSequences(sequences, rest), sequences.select(held_out)
