"""The training of a sentence encoder, on the trainer of sentence-transformers."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from datasets import Dataset
from safetensors.torch import load_file, save_file
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)

from numerate.errors import InputError
from numerate.extract.corpus import Corpus
from numerate.files import open_whole
from numerate.models.base_model import set_dropout
from numerate.models.card import write_tune_card
from numerate.models.sentence_encoder import load_sentence_encoder, split_numbers
from numerate.pretrain.pace import make_pace
from numerate.pretrain.recipe import NO_LIMIT, Measure, NestedBatch, Training, linear_rate
from numerate.pretrain.trainer import BudgetTrainer, make_arguments
from numerate.progress import Report
from numerate.tune.config import TuneConfig
from numerate.tune.examples import Pool, draw_examples, make_pool
from numerate.tune.loss import WEIGHTS, MagnitudeLoss
from numerate.tune.number_vectors import NumberVectors, plain_embeddings
from numerate.tune.templates import read_texts

_VALIDATION = 16  # examples; they are asked ten times in a training
_MOST_EXAMPLES = 16_384  # that are drawn; a longer training sees them again
_BETA2 = 0.98  # of Adam: with the usual 0.999, a few large gradients can throw a training off
_VECTORS, _NUMBERS = "teacher.npz", "numbers.safetensors"


class TuneTrainer(BudgetTrainer, SentenceTransformerTrainer):
    """The trainer of sentence-transformers with a budget and checkpoints that can be trusted."""

    def compute_loss(
        self,
        model: Any,
        inputs: NestedBatch,
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Compute the loss of a batch, and report it."""
        masks = [value for name, value in inputs.items() if name.endswith("_attention_mask")]
        tokens = sum(int(mask.sum()) for mask in masks)
        loss: Any = super().compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
        found: Any = self.loss
        self.report_batch(Measure(loss, found.n_asked, found.n_right, tokens))
        return loss

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Save the encoder as it is loaded anywhere, and beside it how numbers were moved."""
        found: Any = self.model
        numbers = found[0].model.get_input_embeddings()
        with plain_embeddings(found[0].model):
            super()._save(output_dir, state_dict)
        if isinstance(numbers, NumberVectors) and output_dir:
            trained = {n: v.detach() for n, v in numbers.named_parameters() if v.requires_grad}
            save_file(trained, Path(output_dir) / _NUMBERS)

    def _load_from_checkpoint(self, checkpoint_path: str, _model: Any = None) -> None:
        found: Any = self.model
        numbers = found[0].model.get_input_embeddings()
        if isinstance(numbers, NumberVectors):
            trained = load_file(Path(checkpoint_path) / _NUMBERS)
            numbers.load_state_dict({"embeddings.weight": numbers.embeddings.weight, **trained})
        else:
            super()._load_from_checkpoint(checkpoint_path)

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Leave the model card to numerate."""


class TuneTraining(Training[TuneConfig]):
    """Makes a sentence encoder know how large the numbers of a sentence are."""

    stage: ClassVar[str] = "tune"
    model: SentenceTransformer

    def __init__(self, corpus: Corpus, config: TuneConfig) -> None:
        super().__init__(config, {"corpus": asdict(corpus)})
        self._corpus = corpus

    def load(self) -> None:
        """Load the base, and the teacher: the base as it is, or another encoder."""
        config = self.config
        load = partial(load_sentence_encoder, trust_remote_code=config.trust_remote_code)
        self._teacher, self.model = load(config.teacher or config.base), load(config.base)
        widths = [model.get_embedding_dimension() for model in (self._teacher, self.model)]
        if widths[0] != widths[1]:
            raise InputError(
                f"teacher must have vectors as wide as those of the base, got {widths[0]} "
                f"({config.teacher}) and {widths[1]} ({config.base})"
            )
        first: Any = self.model[0]
        self._dropout = set_dropout(first.model, config.dropout)
        split_numbers(self.model, config.pieces, config.base)
        if config.pieces == "anchors":
            first.model.requires_grad_(False)
            embeddings = first.model.get_input_embeddings()
            first.model.set_input_embeddings(NumberVectors(embeddings, first.processor))
        else:
            # Adam would move the vectors of the words that the text happens to have.
            first.model.get_input_embeddings().requires_grad_(False)

    def make_trainer(self, folder: Path, report: Report) -> TuneTrainer:
        """Draw the examples and return the trainer."""
        config = self.config
        arguments = make_arguments(
            folder,
            config,
            kind=SentenceTransformerTrainingArguments,
            prompts=self._prompt,
            adam_beta2=_BETA2,
        )
        n_steps = arguments.max_steps = NO_LIMIT if config.max_minutes else config.max_steps
        per_step = config.batch_size * config.accumulate * arguments.world_size
        pool, held_out = self._make_pools(folder)
        examples = draw_examples(pool, min(n_steps * per_step, _MOST_EXAMPLES), config.seed)
        self._held_out = [
            {**row, "label": row["label"].tolist()}
            for row in draw_examples(held_out, _VALIDATION, config.seed)
        ]
        self._loss = MagnitudeLoss(self.model, pool.unrelated, pool.covariance)
        pace = make_pace(config, n_steps)
        trainer = TuneTrainer(
            self.model,
            arguments,
            train_dataset=Dataset.from_list([*examples]),
            loss=self._loss,
            callbacks=[pace],
        )
        trainer.follow(self, pace, report)
        self._trainer = trainer
        return trainer

    @property
    def _prompt(self) -> str | None:
        """The prompt with which the encoder embeds texts unless told otherwise."""
        name = self.model.default_prompt_name
        return self.model.prompts.get(name) if name else None

    def _make_pools(self, folder: Path) -> tuple[Pool, Pool]:
        """Return texts with the teacher's vectors, to train on and to validate on.

        A training that is resumed does not compute the vectors again.
        """
        config, path = self.config, folder / _VECTORS
        texts = read_texts(
            self._corpus,
            domain=config.domain,
            most_sentences=config.most_sentences,
            most_kept=config.most_kept,
            seed=config.seed,
        )
        if config.pieces == "anchors":
            texts = texts.keep_numbered()  # others cannot change
        self._sizes = {
            "sentences": len(texts.ones) + len(texts.pairs),
            "kept": len(texts.kept),
        }
        train, held_out = texts.split()
        if not path.exists():
            asked = train.without_numbers + held_out.without_numbers
            with open_whole(path) as file:
                np.savez(file, vectors=self._teacher.encode(asked, show_progress_bar=False))
        with np.load(path, allow_pickle=False) as saved:
            of_train, of_held_out = np.split(saved["vectors"], [len(train.without_numbers)])
        return (
            make_pool(train, of_train, config.domain),
            make_pool(held_out, of_held_out, config.domain),
        )

    def validate(self) -> dict[str, float]:
        """Return the loss on sentences that are held out.

        `accuracy` is how often the nearest version of a sentence is the one with the nearest
        number, `keep` the mean cosine of kept texts with what they were.
        """
        found, n_asked, n_right = [], 0, 0
        was_training = self.model.training
        self.model.train(False)
        with torch.inference_mode():
            for start in range(0, len(self._held_out), self.config.batch_size):
                rows = self._held_out[start : start + self.config.batch_size]
                inputs = self._trainer.data_collator(rows)
                features, labels = self._trainer.collect_features(inputs)
                terms = self._loss(features, labels)
                found.append([float(sum(terms.values())), float(terms["keep"])])
                n_asked, n_right = n_asked + self._loss.n_asked, n_right + self._loss.n_right
        self.model.train(was_training)
        loss, lost = np.mean(found, axis=0).tolist()
        keep = 1 - lost / WEIGHTS["keep"] * (1 - self._loss.unrelated)
        return {"loss": loss, "accuracy": n_right / n_asked, "keep": keep}

    def rate(self, progress: float) -> float:
        """Return the linear schedule with warm-up."""
        return linear_rate(progress, self.config.warmup)

    def describe(self) -> dict[str, Any]:
        """Return how much text there was, and whether the encoder primes its texts."""
        first: Any = self.model[0]
        return {"texts": self._sizes, "primes": hasattr(first, "anchor")}

    def write_card(self, run: dict[str, Any]) -> str:
        """Return the model card."""
        return write_tune_card(run)

    def save(self, folder: Path) -> None:
        """Write a folder that sentence-transformers loads anywhere, if it loads the base so."""
        first: Any = self.model[0]
        for name, rate in self._dropout.items():
            setattr(first.model.config, name, rate)
        with plain_embeddings(first.model):
            self.model.save_pretrained(str(folder), create_model_card=False)
