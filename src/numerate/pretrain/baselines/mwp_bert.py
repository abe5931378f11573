"""The recipe of MWP-BERT: masked language modelling on math word problems, and what numbers mean.

Beside the masked pieces the model learns, from the states of the numbers and of the whole problem,
seven things that its text or its solution tells. All losses are summed as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from numerate.errors import InputError
from numerate.models.base_model import Base, fit_length
from numerate.models.head import LabelledHead
from numerate.pretrain.baselines.trainer import HEADS, Lessons, Measure
from numerate.pretrain.baselines.word_problems import OPERATORS, Pair, Problem, read_problems
from numerate.pretrain.batches import hash_seed
from numerate.pretrain.config import MwpBertConfig
from numerate.pretrain.masking import IGNORED, Batch, Masking

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MOST_NUMBERS, MAX_LENGTH, MASKED = 15, 100, 0.15
WEIGHT_DECAY, CLIP = 1e-5, 5.0
_BATCH = 64  # problems at a time when the model is judged
# Of every objective but masked language modelling: whose state it reads, and how many classes it
# has; a single one is a number to estimate.
OBJECTIVES = {
    "count": ("problem", 1),
    "number_type": ("number", 2),
    "distance": ("pair", 1),
    "operator": ("pair", len(OPERATORS)),
    "answer_type": ("problem", 2),
    "larger": ("number", 2),
    "match": ("number", 2),
}


class Sheet(NamedTuple):
    """A problem as tokens, which of them are of which number, and what there is to learn of it.

    `owner` is the place of the number that a token belongs to, or -1.
    """

    ids: npt.NDArray[np.int32]
    owner: npt.NDArray[np.int64]
    values: tuple[float, ...]
    pairs: tuple[Pair, ...]
    answer: float | None


def prepare_mwp_bert(base: Base, config: MwpBertConfig) -> Lessons:
    """Return the lessons of the recipe; the model gets the heads that they need."""
    problems = read_problems(Path(config.problems))
    if len(problems) < 2:
        raise InputError(f"{config.problems}: too few problems to train on and to validate")
    length = fit_length(base, MAX_LENGTH)
    sheets = [make_sheet(problem, base.tokenizer, length) for problem in problems]
    order = np.random.default_rng([config.seed, 0x5EED]).permutation(len(sheets))
    n_held_out = max(1, min(200, len(sheets) // 10))
    held_out = [sheets[place] for place in order[:n_held_out]]
    train = [sheets[place] for place in order[n_held_out:]]
    masking = Masking.of(base.tokenizer, base.model.config.vocab_size, mlm_probability=MASKED)
    student = Student(base.model, masking)
    return Lessons(
        tokenizer=base.tokenizer,
        draw=_Order(train, config.seed).draw,
        collate=student.collate,
        measure=student.measure,
        judge=partial(_judge, student, held_out),
        rate=lambda done: 0.5 ** min(2, int(3 * done)),
        epoch=len(train),
        weight_decay=WEIGHT_DECAY,
        clip=CLIP,
        facts={"problems": len(train), "held_out": len(held_out)},
    )


def make_sheet(
    problem: Problem, tokenizer: "PreTrainedTokenizerBase", max_length: int = MAX_LENGTH
) -> Sheet:
    """Return a problem as tokens, cut off at a length, with at most the first 15 numbers."""
    encoded = tokenizer(
        problem.text, truncation=True, max_length=max_length, return_offsets_mapping=True
    )
    owner = np.full(len(encoded["input_ids"]), -1)
    for number, (start, end) in enumerate(problem.spans[:MOST_NUMBERS]):
        for token, (first, last) in enumerate(encoded["offset_mapping"]):
            if first < end and start < last:
                owner[token] = number
    n_seen = int(owner.max()) + 1  # those behind the cut are not there
    return Sheet(
        np.array(encoded["input_ids"], np.int32),
        owner,
        problem.values[:n_seen],
        tuple(pair for pair in problem.pairs if pair.second < n_seen),
        problem.answer,
    )


class _Order:
    """Says which problem comes when: all of them in each epoch, in an order drawn for it."""

    def __init__(self, sheets: Sequence[Sheet], seed: int) -> None:
        self._sheets, self._seed = sheets, seed
        self._order = lru_cache(maxsize=2)(self._draw_order)

    def draw(self, number: int) -> tuple[int, Sheet]:
        epoch, place = divmod(number, len(self._sheets))
        return hash_seed(self._seed, number), self._sheets[self._order(epoch)[place]]

    def _draw_order(self, epoch: int) -> npt.NDArray[np.int64]:
        return np.random.default_rng([self._seed, epoch]).permutation(len(self._sheets))


def list_targets(sheets: Sequence[Sheet]) -> dict[str, list[float]]:
    """Return what is to be learned of problems, objective by objective; -100 where nothing is."""
    found: dict[str, list[float]] = {name: [] for name in OBJECTIVES}
    for sheet in sheets:
        answer = sheet.answer
        answer_type = IGNORED if answer is None else int(_is_fraction(answer))
        found["count"].append(len(sheet.values))
        found["answer_type"].append(answer_type)
        for value in sheet.values:
            kind = int(_is_fraction(value))
            found["number_type"].append(kind)
            found["larger"].append(IGNORED if answer is None else int(answer >= value))
            found["match"].append(IGNORED if answer is None else int(kind == answer_type))
        for pair in sheet.pairs:
            found["distance"].append(pair.distance)
            known = pair.operator is not None
            found["operator"].append(OPERATORS.index(str(pair.operator)) if known else IGNORED)
    return found


def _is_fraction(value: float) -> bool:
    return not float(value).is_integer()


class Heads(torch.nn.Module):
    """A small network for each objective."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = torch.nn.ModuleDict()
        for name, (reads, n_classes) in OBJECTIVES.items():
            n_inputs = 2 * width if reads == "pair" else width
            self.heads[name] = torch.nn.Sequential(
                torch.nn.Linear(n_inputs, width), torch.nn.GELU(), torch.nn.Linear(width, n_classes)
            )

    def forward(self, states: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return what is predicted for each objective, from the states that it reads."""
        return {name: self.heads[name](states[OBJECTIVES[name][0]]) for name in OBJECTIVES}


@dataclass(frozen=True)
class Judged:
    """The outcome of one objective on a batch; `right` only counts where there are classes."""

    loss: torch.Tensor
    n: int
    right: int


class Student:
    """A masked language model with the heads of the recipe."""

    def __init__(self, model: "PreTrainedModel", masking: Masking) -> None:
        self.model, self._masking = model, masking
        self._head = LabelledHead(model)
        self._heads = Heads(int(model.config.hidden_size))
        model.add_module(HEADS, self._heads)

    def collate(self, rows: Sequence[tuple[int, Sheet]]) -> Batch:
        """Return a batch of problems, each given with the number that seeds its masking."""
        batch = self._masking.collate(
            [(seed, [(sheet.ids, np.zeros(len(sheet.ids), bool))]) for seed, sheet in rows]
        )
        sheets = [sheet for _, sheet in rows]
        owner = np.full(batch["input_ids"].shape, -1)
        pairs: list[tuple[int, int]] = []
        before = 0  # numbers are counted through the batch
        for row, sheet in enumerate(sheets):
            owner[row, : len(sheet.ids)] = np.where(sheet.owner < 0, -1, sheet.owner + before)
            pairs += [(pair.first + before, pair.second + before) for pair in sheet.pairs]
            before += len(sheet.values)
        targets = {name: torch.tensor(values) for name, values in list_targets(sheets).items()}
        return {
            **batch,
            **targets,
            "owner": torch.from_numpy(owner),
            "pairs": torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2),
            "tokens": batch["attention_mask"].sum(),
        }

    def compare(self, batch: Batch) -> dict[str, Judged]:
        """Return the outcome of every objective on a batch, masked language modelling first."""
        chosen = batch["labels"] != IGNORED
        with self._head.at(chosen):
            output = self.model(
                input_ids=batch["input_ids"],
                attention_mask=batch["attention_mask"],
                output_hidden_states=True,
            )
        states = _pool(output.hidden_states[-1].float(), batch)
        judged = {"masked": _compare_classes(output.logits[0], batch["labels"][chosen])}
        for name, predicted in self._heads(states).items():
            target = batch[name].to(predicted.device)
            if OBJECTIVES[name][1] == 1:
                loss = functional.mse_loss(predicted[:, 0], target.float(), reduction="sum")
                judged[name] = Judged(loss, len(target), 0)
            else:
                judged[name] = _compare_classes(predicted, target.long())
        return judged

    def measure(self, batch: Batch) -> Measure:
        """Return the sum of all losses, each a mean, and how many masked pieces were found."""
        judged = self.compare(batch)
        loss = torch.stack([one.loss / max(one.n, 1) for one in judged.values()]).sum()
        return Measure(loss, judged["masked"].n, judged["masked"].right)


def _pool(states: torch.Tensor, batch: Batch) -> dict[str, torch.Tensor]:
    """The mean state of every problem and every number, and those of both numbers of a pair."""
    there = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
    owner = batch["owner"]
    inside = states[owner >= 0]
    number_of = owner[owner >= 0]
    total = states.new_zeros(len(batch["number_type"]), states.shape[-1])
    pieces = torch.bincount(number_of, minlength=len(total)).clamp(min=1)
    numbers = total.index_add(0, number_of, inside) / pieces.unsqueeze(-1)
    return {
        "problem": (states * there).sum(dim=1) / there.sum(dim=1),
        "number": numbers,
        "pair": numbers[batch["pairs"]].flatten(1),
    }


def _compare_classes(logits: torch.Tensor, target: torch.Tensor) -> Judged:
    known = target != IGNORED
    logits, target = logits[known].float(), target[known]
    loss = functional.cross_entropy(logits, target, reduction="sum")
    return Judged(loss, len(target), int((logits.argmax(dim=-1) == target).sum()))


def _judge(student: Student, held_out: Sequence[Sheet]) -> dict[str, float]:
    """The loss of every objective on held-out problems, their sum, and what share is right."""
    model = student.model
    was_training = model.training
    model.train(False)
    loss, n, right = (dict.fromkeys(("masked", *OBJECTIVES), 0.0) for _ in range(3))
    rows = list(enumerate(held_out))
    with torch.inference_mode():
        for at in range(0, len(rows), _BATCH):
            batch = student.collate(rows[at : at + _BATCH])
            moved = {name: value.to(model.device) for name, value in batch.items()}
            for name, judged in student.compare(moved).items():
                loss[name] += float(judged.loss)
                n[name] += judged.n
                right[name] += judged.right
    model.train(was_training)
    losses = {name: loss[name] / max(n[name], 1) for name in loss}
    classes = [name for name in losses if name == "masked" or OBJECTIVES[name][1] > 1]
    shares = {f"accuracy_{name}": right[name] / max(n[name], 1) for name in classes}
    return {
        "loss": sum(losses.values()),
        "accuracy": shares.pop("accuracy_masked"),
        **{f"loss_{name}": value for name, value in losses.items()},
        **shares,
    }
