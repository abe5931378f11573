"""The interface of a kind of training: of a sentence encoder, or of a language model by a recipe.

`numerate.pretrain.train` runs the training loop; a recipe (pre-training on anchors, GenBERT,
MWP-BERT) supplies the data, the loss, the validation and the files of one kind of model.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import torch

from numerate.models.base_model import Base, load_base
from numerate.models.card import write_baseline_card
from numerate.models.pretrained import Head
from numerate.options import LmKind
from numerate.pretrain.config import BudgetConfig, TrainingConfig
from numerate.progress import Report

if TYPE_CHECKING:
    from numerate.pretrain.trainer import BudgetTrainer

NO_LIMIT = 10**9  # steps, when a budget of minutes ends the training
_MIN_SAMPLE = 256  # examples whose mean length stands for all
Settings = TypeVar("Settings", bound=BudgetConfig)
Config = TypeVar("Config", bound=TrainingConfig)
NestedBatch = dict[str, Any]


class Measure(NamedTuple):
    """The loss of a batch with its number of labels, correct predictions and input tokens."""

    loss: torch.Tensor
    labelled: int
    correct: int
    tokens: int


class Training(ABC, Generic[Settings]):
    """What the training loop has to know of a training; `load` is called before all else.

    Attributes:
        stage: The stage that `run.json` names.
        scheduler: A learning rate schedule of transformers to follow instead of `rate`, unless the
            budget is one of minutes.
        fresh: The names of weights that the base model lacked.
        head: The kind of head that these are of.
        own_settings: Settings beside those of the config.
    """

    stage: ClassVar[str]
    scheduler: str | None = None
    fresh: tuple[str, ...] = ()
    head: LmKind = "masked"

    def __init__(self, config: Settings, own_settings: dict[str, Any]) -> None:
        self.config, self.own_settings = config, own_settings

    @property
    def settings(self) -> dict[str, Any]:
        """All settings that the result depends on, as they come back from JSON."""
        return dict(json.loads(json.dumps(self.config.describe() | self.own_settings)))

    @abstractmethod
    def load(self) -> None:
        """Load the base model."""

    @abstractmethod
    def make_trainer(self, folder: Path, report: Report) -> "BudgetTrainer":
        """Read the data and return the trainer, which keeps its work in a folder."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Return the loss, the accuracy and other metrics on held-out data."""

    @abstractmethod
    def rate(self, progress: float) -> float:
        """Return the factor of the learning rate at a share of the training, from 0 to 1."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the entries of `run.json` that only this recipe has."""

    @abstractmethod
    def write_card(self, run: dict[str, Any]) -> str:
        """Return the model card for the content of a `run.json`."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model."""


class Recipe(Training[Config]):
    """One kind of training on tokens. `load` and `prepare` are called once, before other methods.

    Attributes:
        kind: The kind of language model that it trains; `auto` is that of the base model.
        markers: Tokens to add to the tokenizer of the base model.
        mean_over_step: Whether the loss of a step is the mean over all of its labels, on all
            devices; otherwise it is the mean of the losses of its batches.
        examples_per_epoch: Number of examples in an epoch; `prepare` sets it.
        arguments: Arguments for transformers beside those that all recipes share.
    """

    stage: ClassVar[str] = "baseline"
    kind: Head = "masked"
    markers: tuple[str, ...] = ()
    mean_over_step: ClassVar[bool] = False
    base: Base
    examples_per_epoch: int

    def __init__(
        self, config: Config, *, own_settings: dict[str, Any], arguments: dict[str, Any]
    ) -> None:
        super().__init__(config, own_settings)
        self.arguments = arguments

    def load(self) -> None:
        """Load the base model with its tokenizer."""
        self.base = load_base(
            self.config.base,
            self.markers,
            kind=self.kind,
            dropout=self.config.dropout,
            trust_remote_code=self.config.trust_remote_code,
        )
        self.fresh = self.base.fresh
        self.head = self.base.kind

    def make_trainer(self, folder: Path, report: Report) -> "BudgetTrainer":
        """Read the data and return the trainer, which keeps its work in a folder."""
        from numerate.pretrain.trainer import make_trainer

        return make_trainer(self, folder, report)

    @abstractmethod
    def prepare(self, folder: Path) -> None:
        """Read the data; `folder` keeps what a resumed training should not compute again."""

    @abstractmethod
    def draw(self, index: int) -> Any:  # noqa: ANN401
        """Return an example of the training by its index; the same whenever it is drawn."""

    @abstractmethod
    def collate(self, examples: Sequence[Any]) -> NestedBatch:
        """Return a batch of examples."""

    @abstractmethod
    def measure(
        self, model: torch.nn.Module, batch: NestedBatch, n_labels: torch.Tensor | None
    ) -> Measure:
        """Compute the loss of a batch; with `mean_over_step`, the step has `n_labels` labels."""

    def write_card(self, run: dict[str, Any]) -> str:
        """Return the model card for the content of a `run.json`; by default that of a baseline."""
        return write_baseline_card(run)

    def save(self, folder: Path) -> None:
        """Write the model, with the dropout rates of the base model, and its tokenizer."""
        for name, rate in self.base.dropout.items():
            setattr(self.base.model.config, name, rate)
        self.base.model.save_pretrained(folder)
        self.base.tokenizer.save_pretrained(folder)

    def tokens_per_example(self) -> float:
        """Return the mean number of tokens, estimated from the first examples."""
        size = self.config.batch_size
        n_examples = size * math.ceil(_MIN_SAMPLE / size)
        batch = self.collate([self.draw(index) for index in range(n_examples)])
        return int(batch["tokens"]) / n_examples

    def count_steps(self, examples_per_step: int) -> int:
        """Return the number of optimizer steps that the budget allows."""
        if self.config.max_minutes:
            return NO_LIMIT
        n_examples = self.config.epochs * self.examples_per_epoch
        if self.config.max_tokens:
            n_examples = self.config.max_tokens / self.tokens_per_example()
        return max(1, round(n_examples / examples_per_step))


def linear_rate(progress: float, warmup: float) -> float:
    """Return a factor that rises from 0 to 1 in the warm-up, then falls to 0, both linearly.

    >>> [linear_rate(progress, 0.2) for progress in (0.0, 0.1, 0.2, 0.6, 1.0)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return progress / warmup if progress < warmup else (1 - progress) / (1 - warmup)
