"""The recipe of MWP-BERT: masked language modelling on math word problems, and seven objectives.

The objectives are about the numbers of a problem, its text and its solution; small networks predict
them from the hidden states of the numbers and of the whole problem. The loss is the sum of all.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from numerate.errors import InputError
from numerate.models.base_model import max_tokens
from numerate.models.card import write_baseline_card
from numerate.models.head import LabelledHead
from numerate.pretrain.baselines.word_problems import OPERATORS, Pair, Problem, read_problems
from numerate.pretrain.batches import hash_seed
from numerate.pretrain.config import MwpBertConfig
from numerate.pretrain.masking import IGNORED, Batch, Masking
from numerate.pretrain.recipe import Measure, Recipe
from numerate.pretrain.sequences import Ids

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MAX_NUMBERS, MAX_LENGTH, MASKED = 15, 100, 0.15
WEIGHT_DECAY, MAX_GRAD_NORM = 1e-5, 5.0
HEADS = "recipe_heads"  # the name of the networks as a submodule of the model, in training alone
_BATCH = 64  # problems per batch of validation
# For each objective but masked language modelling: the states that it reads, and its number of
# classes; 1 means that it is a number to estimate.
OBJECTIVES = {
    "count": ("problem", 1),
    "number_type": ("number", 2),
    "distance": ("pair", 1),
    "operator": ("pair", len(OPERATORS)),
    "answer_type": ("problem", 2),
    "larger": ("number", 2),
    "match": ("number", 2),
}


class EncodedProblem(NamedTuple):
    """The token ids of a problem, with the values of its numbers, their pairs and its answer.

    `number_of` has for each token the index of the number that it belongs to, or -1.
    """

    ids: Ids
    number_of: npt.NDArray[np.int64]
    values: tuple[float, ...]
    pairs: tuple[Pair, ...]
    answer: float | None


class MwpBertRecipe(Recipe[MwpBertConfig]):
    """Math word problems with eight objectives."""

    stage: ClassVar[str] = "baseline"

    @property
    def own_settings(self) -> dict[str, Any]:
        """The name of the recipe."""
        return {"recipe": self.config.recipe}

    @property
    def arguments(self) -> dict[str, Any]:
        """The weight decay and the gradient clipping of the released code."""
        return {"weight_decay": WEIGHT_DECAY, "max_grad_norm": MAX_GRAD_NORM}

    def prepare(self, folder: Path) -> None:
        """Read the problems, hold some out, and add the networks of the objectives."""
        del folder  # problems are read anew
        model, tokenizer = self.base.model, self.base.tokenizer
        problems = read_problems(Path(self.config.problems))
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
        masking = Masking.of(tokenizer, model.config.vocab_size, mlm_probability=MASKED)
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
        was_training = model.training
        model.train(False)
        loss, n, correct = (dict.fromkeys(("masked", *OBJECTIVES), 0.0) for _ in range(3))
        rows = list(enumerate(self._held_out))
        with torch.inference_mode():
            for start in range(0, len(rows), _BATCH):
                batch = self.collate(rows[start : start + _BATCH])
                batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
                for name, result in self._model.compare(batch).items():
                    loss[name] += float(result.loss)
                    n[name] += result.n
                    correct[name] += result.correct
        model.train(was_training)
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

    def write_card(self, run: dict[str, Any]) -> str:
        """Return the model card."""
        return write_baseline_card(run)

    def save(self, folder: Path) -> None:
        """Write model and tokenizer, without the networks of the objectives."""
        delattr(self.base.model, HEADS)
        super().save(folder)

    def _shuffle(self, epoch: int) -> npt.NDArray[np.int64]:
        return np.random.default_rng([self.config.seed, epoch]).permutation(len(self._train))


def encode_problem(
    problem: Problem, tokenizer: "PreTrainedTokenizerBase", max_length: int = MAX_LENGTH
) -> EncodedProblem:
    """Return a problem as tokens, truncated, with at most its first 15 numbers."""
    encoded = tokenizer(
        problem.text, truncation=True, max_length=max_length, return_offsets_mapping=True
    )
    number_of = np.full(len(encoded["input_ids"]), -1)
    for number, (start, end) in enumerate(problem.spans[:MAX_NUMBERS]):
        for token, (first, last) in enumerate(encoded["offset_mapping"]):
            if first < end and start < last:
                number_of[token] = number
    n_kept = int(number_of.max()) + 1  # truncation drops the others
    return EncodedProblem(
        np.array(encoded["input_ids"], np.int32),
        number_of,
        problem.values[:n_kept],
        tuple(pair for pair in problem.pairs if pair.second < n_kept),
        problem.answer,
    )


def list_targets(problems: Sequence[EncodedProblem]) -> dict[str, list[float]]:
    """Return the targets of problems for each objective; -100 where a problem has none."""
    found: dict[str, list[float]] = {name: [] for name in OBJECTIVES}
    for problem in problems:
        answer = problem.answer
        answer_type = IGNORED if answer is None else int(_is_fraction(answer))
        found["count"].append(len(problem.values))
        found["answer_type"].append(answer_type)
        for value in problem.values:
            kind = int(_is_fraction(value))
            found["number_type"].append(kind)
            found["larger"].append(IGNORED if answer is None else int(answer >= value))
            found["match"].append(IGNORED if answer is None else int(kind == answer_type))
        for pair in problem.pairs:
            found["distance"].append(pair.distance)
            known = pair.operator is not None
            found["operator"].append(OPERATORS.index(str(pair.operator)) if known else IGNORED)
    return found


def _is_fraction(value: float) -> bool:
    return not float(value).is_integer()


class Heads(torch.nn.Module):
    """A network of two layers for each objective."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = torch.nn.ModuleDict()
        for name, (reads, n_classes) in OBJECTIVES.items():
            n_inputs = 2 * width if reads == "pair" else width
            self.heads[name] = torch.nn.Sequential(
                torch.nn.Linear(n_inputs, width), torch.nn.GELU(), torch.nn.Linear(width, n_classes)
            )

    def forward(self, states: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return the predictions for each objective, from the states that it reads."""
        return {name: self.heads[name](states[OBJECTIVES[name][0]]) for name in OBJECTIVES}


class ObjectiveResult(NamedTuple):
    """The sum of the losses of one objective, its number of targets and of correct classes."""

    loss: torch.Tensor
    n: int
    correct: int


class ProblemModel:
    """A masked language model with a network for each objective."""

    def __init__(self, model: "PreTrainedModel", masking: Masking) -> None:
        self._model, self._masking = model, masking
        self._head = LabelledHead(model)
        self.heads = Heads(int(model.config.hidden_size))
        model.add_module(HEADS, self.heads)  # so that it is trained and in the checkpoints

    def collate(self, rows: Sequence[tuple[int, EncodedProblem]]) -> Batch:
        """Return a batch of problems, each given with the seed of its masks.

        Numbers have consecutive indices through the whole batch.
        """
        problems = [problem for _, problem in rows]
        number_of: list[torch.Tensor] = []
        pairs: list[tuple[int, int]] = []
        n_before = 0
        for problem in problems:
            shifted = np.where(problem.number_of < 0, -1, problem.number_of + n_before)
            number_of.append(torch.from_numpy(shifted))
            pairs += [(pair.first + n_before, pair.second + n_before) for pair in problem.pairs]
            n_before += len(problem.values)
        batch = self._masking.collate(
            [(seed, [(problem.ids, np.zeros(len(problem.ids), bool))]) for seed, problem in rows]
        )
        targets = {name: torch.tensor(values) for name, values in list_targets(problems).items()}
        return {
            **batch,
            **targets,
            "number_of": pad_sequence(number_of, batch_first=True, padding_value=-1),
            "pairs": torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2),
            "tokens": batch["attention_mask"].sum(),
        }

    def compare(self, batch: Batch) -> dict[str, ObjectiveResult]:
        """Return the result of every objective on a batch, masked language modelling first."""
        chosen = batch["labels"] != IGNORED
        with self._head.at(chosen):
            output = self._model(
                input_ids=batch["input_ids"],
                attention_mask=batch["attention_mask"],
                output_hidden_states=True,
            )
        states = pool_states(output.hidden_states[-1].float(), batch)
        results = {"masked": _compare_classes(output.logits[0], batch["labels"][chosen])}
        for name, predicted in self.heads(states).items():
            target = batch[name].to(predicted.device)
            if OBJECTIVES[name][1] == 1:
                loss = functional.mse_loss(predicted[:, 0], target.float(), reduction="sum")
                results[name] = ObjectiveResult(loss, len(target), 0)
            else:
                results[name] = _compare_classes(predicted, target.long())
        return results


def pool_states(states: torch.Tensor, batch: Batch) -> dict[str, torch.Tensor]:
    """Return the mean states of problems and of numbers, and the joined ones of pairs.

    Args:
        states: The hidden states, shape (problems, tokens, width).
        batch: What `ProblemModel.collate` returned.
    """
    mask = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
    number_of = batch["number_of"]
    is_number = number_of >= 0
    total = states.new_zeros(len(batch["number_type"]), states.shape[-1])
    n_tokens = torch.bincount(number_of[is_number], minlength=len(total)).clamp(min=1)
    sums = total.index_add(0, number_of[is_number], states[is_number])
    numbers = sums / n_tokens.unsqueeze(-1)
    return {
        "problem": (states * mask).sum(dim=1) / mask.sum(dim=1),
        "number": numbers,
        "pair": numbers[batch["pairs"]].flatten(1),
    }


def _compare_classes(logits: torch.Tensor, target: torch.Tensor) -> ObjectiveResult:
    known = target != IGNORED
    logits, target = logits[known].float(), target[known]
    loss = functional.cross_entropy(logits, target, reduction="sum")
    return ObjectiveResult(loss, len(target), int((logits.argmax(dim=-1) == target).sum()))
