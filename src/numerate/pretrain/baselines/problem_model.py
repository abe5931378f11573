"""The model of the MWP-BERT recipe: tokens of problems, targets, and a network per objective."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from numerate.models.head import LabelledHead
from numerate.pretrain.baselines.solution_trees import OPERATORS, Pair
from numerate.pretrain.baselines.word_problems import Problem
from numerate.pretrain.masking import IGNORED, Batch, Masking
from numerate.pretrain.sequences import Ids, TokenSequence

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MAX_NUMBERS = 15
HEADS = "recipe_heads"  # the name of the networks as a submodule of the model, in training alone
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


def encode_problem(
    problem: Problem, tokenizer: "PreTrainedTokenizerBase", max_length: int
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
            [(seed, [TokenSequence.without_anchors(problem.ids)]) for seed, problem in rows]
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

    The hidden states have the shape (problems, tokens, width).
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
