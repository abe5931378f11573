"""Lessons: what a recipe trains on, step by step, and the trainer that both recipes share."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from numerate.pretrain.trainer import Pace, PacedTrainer, make_arguments
from numerate.progress import Status

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from numerate.pretrain.config import TrainingConfig

HEADS = "recipe_heads"  # the submodule for whatever heads a recipe adds while it trains
_SAMPLE = 256  # so many examples at least tell how long examples are
Lesson = dict[str, Any]


class Measure(NamedTuple):
    """The loss of a batch, and of how many labels how many were found."""

    loss: torch.Tensor
    labelled: int
    right: int


@dataclass(frozen=True)
class Lessons:
    """What a recipe trains on, and how it judges the model.

    `draw` makes the example of a number, `collate` a batch of examples, which holds the number of
    its tokens as `tokens`; `rate` is the share of the learning rate at a share of the run, and
    `epoch` how many examples make one. `facts` are for the model card.
    """

    tokenizer: "PreTrainedTokenizerBase"
    draw: Callable[[int], Any]
    collate: Callable[[Sequence[Any]], Lesson]
    measure: Callable[[Lesson], Measure]
    judge: Callable[[], dict[str, float]]
    rate: Callable[[float], float]
    epoch: int
    weight_decay: float
    clip: float
    facts: dict[str, Any]


class Examples(torch.utils.data.Dataset[Any]):
    """The examples of a whole run in their order, each made when it is needed."""

    def __init__(self, draw: Callable[[int], Any], length: int) -> None:
        self._draw, self._length = draw, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> Any:
        return self._draw(number)


class LessonTrainer(PacedTrainer):
    """Trainer whose loss and learning rate are those of the lessons."""

    def __init__(self, *, lessons: Lessons, **options: Any) -> None:
        super().__init__(judge=lessons.judge, data_collator=lessons.collate, **options)
        self._lessons = lessons

    def compute_loss(self, model: Any, inputs: Lesson, *_: Any, **__: Any) -> torch.Tensor:
        """Compute the loss of a batch."""
        loss, labelled, right = self._lessons.measure(inputs)
        tokens = int(inputs["tokens"])
        self.tell(float(loss.detach()), labelled=labelled, right=right, tokens=tokens)
        return loss

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Follow the recipe's learning rate, by steps or by the clock."""
        by_clock = self.pace.max_seconds is not None

        def rate(step: int) -> float:
            return self._lessons.rate(self.pace.fraction if by_clock else step / num_training_steps)

        chosen: Any = optimizer or self.optimizer
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(chosen, rate)
        return self.lr_scheduler

    def floating_point_ops(self, inputs: Lesson) -> int:
        """Count nothing: a batch has parts that transformers does not know."""
        return 0


def make_trainer(
    model: "PreTrainedModel",
    lessons: Lessons,
    config: "TrainingConfig",
    folder: Path,
    report: Callable[[Status], object],
) -> LessonTrainer:
    """Return a trainer that is ready to run; what it needs to go on later is kept in a folder."""
    arguments = make_arguments(
        folder,
        batch_size=config.batch_size,
        learning_rate=config.learning_rate,
        precision=config.precision,
        seed=config.seed,
        gradient_accumulation_steps=config.accumulate,
        weight_decay=lessons.weight_decay,
        max_grad_norm=lessons.clip,
        report_to="none",
    )
    per_step = config.batch_size * config.accumulate
    arguments.max_steps = _count_steps(lessons, config, per_step)
    max_seconds = config.max_minutes * 60 if config.max_minutes else None
    return LessonTrainer(
        lessons=lessons,
        rows=Examples(lessons.draw, arguments.max_steps * per_step),
        pace=Pace(arguments.max_steps, max_seconds, config.checkpoint_minutes * 60),
        report=report,
        model=model,
        args=arguments,
    )


def _count_steps(lessons: Lessons, config: "TrainingConfig", per_step: int) -> int:
    """Steps of the optimiser that the budget allows; tokens by the mean of the first examples."""
    if config.max_minutes:
        return 10**9  # the clock ends it
    n_examples = config.epochs * lessons.epoch
    if config.max_tokens:
        n_drawn = config.batch_size * math.ceil(_SAMPLE / config.batch_size)
        tokens = int(lessons.collate([lessons.draw(n) for n in range(n_drawn)])["tokens"])
        n_examples = config.max_tokens * n_drawn / tokens
    return max(1, round(n_examples / per_step))
