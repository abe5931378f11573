"""The recipe of MWP-BERT: masked language modelling on math word problems, and seven objectives.

The objectives are about the numbers of a problem, its text and its solution; small networks predict
them from the hidden states of the numbers and of the whole problem. The loss is the sum of all.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from numerate.errors import InputError
from numerate.extract.ranges import find_gap_numerals
from numerate.models.base_model import max_tokens
from numerate.models.head import evaluating
from numerate.pretrain.baselines.problem_model import (
    HEADS,
    OBJECTIVES,
    EncodedProblem,
    ProblemModel,
    encode_problem,
)
from numerate.pretrain.baselines.word_problems import read_problems
from numerate.pretrain.batches import hash_seed
from numerate.pretrain.config import MwpBertConfig
from numerate.pretrain.masking import Batch, Masking
from numerate.pretrain.recipe import Measure, Recipe

MAX_LENGTH, MASKED = 100, 0.15
WEIGHT_DECAY, MAX_GRAD_NORM = 1e-5, 5.0
_BATCH = 64  # problems per batch of validation


class MwpBertRecipe(Recipe[MwpBertConfig]):
    """Math word problems with eight objectives."""

    def __init__(self, config: MwpBertConfig) -> None:
        arguments = {"weight_decay": WEIGHT_DECAY, "max_grad_norm": MAX_GRAD_NORM}
        super().__init__(config, own_settings={"recipe": config.recipe}, arguments=arguments)

    def prepare(self, folder: Path) -> None:
        """Read the problems, hold some out, and add the networks of the objectives."""
        del folder  # problems are read anew
        model, tokenizer = self.base.model, self.base.tokenizer
        problems = read_problems(Path(self.config.problems))
        if self.config.hold_out_gaps:
            problems = [problem for problem in problems if not find_gap_numerals(problem.text)]
        if len(problems) < 2:
            raise InputError(
                f"{self.config.problems}: too few problems to train on and to validate"
            )
        length = min(MAX_LENGTH, max_tokens(model, tokenizer))
        encoded = [encode_problem(problem, tokenizer, length) for problem in problems]
        order = np.random.default_rng([self.config.seed, 0x5EED]).permutation(len(encoded))
        n_held_out = max(1, min(200, len(encoded) // 10))
        self._held_out = [encoded[index] for index in order[:n_held_out]]
        self._train = [encoded[index] for index in order[n_held_out:]]
        self.examples_per_epoch = len(self._train)
        self._order = lru_cache(maxsize=2)(self._shuffle)
        masking = Masking.of(tokenizer, model.config.vocab_size, other_share=MASKED)
        self._model = ProblemModel(model, masking)

    def draw(self, index: int) -> tuple[int, EncodedProblem]:
        """Return a problem with the seed of its masks; each epoch has all in another order."""
        epoch, place = divmod(index, len(self._train))
        return hash_seed(self.config.seed, index), self._train[self._order(epoch)[place]]

    def collate(self, examples: Sequence[tuple[int, EncodedProblem]]) -> Batch:
        """Return a batch of problems with the targets of all objectives."""
        return self._model.collate(examples)

    def measure(
        self, model: torch.nn.Module, batch: Batch, n_labels: torch.Tensor | None
    ) -> Measure:
        """Compute the sum of the losses, each a mean; labels are those of the masked tokens."""
        del model, n_labels  # one process trains, on the mean of a batch
        results = self._model.compare(batch)
        loss = torch.stack([result.loss / max(result.n, 1) for result in results.values()]).sum()
        masked = results["masked"]
        return Measure(loss, masked.n, masked.correct, int(batch["tokens"]))

    def validate(self) -> dict[str, float]:
        """Return the losses of the objectives, their sum, and the accuracies of those with classes.

        `accuracy` is the share of the masked tokens that are predicted.
        """
        model = self.base.model
        loss, n, correct = (dict.fromkeys(("masked", *OBJECTIVES), 0.0) for _ in range(3))
        rows = list(enumerate(self._held_out))
        with evaluating(model):
            for start in range(0, len(rows), _BATCH):
                batch = self.collate(rows[start : start + _BATCH])
                batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
                for name, result in self._model.compare(batch).items():
                    loss[name] += float(result.loss)
                    n[name] += result.n
                    correct[name] += result.correct
        losses = {name: loss[name] / max(n[name], 1) for name in loss}
        classes = [name for name in losses if name == "masked" or OBJECTIVES[name][1] > 1]
        shares = {f"accuracy_{name}": correct[name] / max(n[name], 1) for name in classes}
        return {
            "loss": sum(losses.values()),
            "accuracy": shares.pop("accuracy_masked"),
            **{f"loss_{name}": value for name, value in losses.items()},
            **shares,
        }

    def rate(self, progress: float) -> float:
        """Return a factor that is halved after each third of the training."""
        return float(0.5 ** min(2, int(3 * progress)))

    def describe(self) -> dict[str, Any]:
        """Return the title, the number of parameters without the networks, and the data."""
        n_heads = sum(weight.numel() for weight in self._model.heads.parameters())
        return {
            "title": self.config.title,
            "parameters": self.base.model.num_parameters() - n_heads,
            "data": {"problems": len(self._train), "held_out": len(self._held_out)},
        }

    def save(self, folder: Path) -> None:
        """Write model and tokenizer, without the networks of the objectives."""
        delattr(self.base.model, HEADS)
        super().save(folder)

    def _shuffle(self, epoch: int) -> npt.NDArray[np.int64]:
        return np.random.default_rng([self.config.seed, epoch]).permutation(len(self._train))
