"""Baselines: the recipes of GenBERT and MWP-BERT re-run on any base, from settings to a folder.

Both recipes share how they begin, go on after a cut, pace themselves and end; what they train on
and how they judge it is in `genbert` and `mwp_bert`. The defaults are those of the papers.
"""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from numerate.choices import Errors, Precision
from numerate.errors import InputError
from numerate.training_folder import (
    WORK,
    begin_run,
    describe_training,
    find_done,
    finish_run,
    make_plain,
    train_from,
)

if TYPE_CHECKING:
    from numerate.lessons import Lessons
    from numerate.models import Base
    from numerate.training import Status

logger = logging.getLogger(__name__)
_AMOUNTS = ("epochs", "max_tokens", "max_minutes", "batch_size", "accumulate", "learning_rate")


@dataclass(frozen=True)
class BaselineConfig:
    """What both recipes can be told; a budget of tokens or minutes replaces epochs."""

    recipe: ClassVar[str]
    title: ClassVar[str]  # what tables call the result
    base: str = "google-bert/bert-base-uncased"
    epochs: float = 1.0
    max_tokens: int | None = None
    max_minutes: float | None = None
    batch_size: int = 128
    accumulate: int = 1
    learning_rate: float = 1e-5
    dropout: float = 0.0
    precision: Precision = "auto"
    checkpoint_minutes: float = 5.0
    seed: int = 42

    def __post_init__(self) -> None:
        for name in _AMOUNTS:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be above 0, got {value}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        if self.max_tokens is not None and self.max_minutes is not None:
            raise InputError("max_tokens and max_minutes must not both be given")


@dataclass(frozen=True)
class GenbertConfig(BaselineConfig):
    """The recipe of GenBERT; `corpus` is the text for masked language modelling beside it.

    `field` and `errors` say how it is read.
    """

    recipe: ClassVar[str] = "genbert"
    title: ClassVar[str] = "GenBERT recipe"
    epochs: float = 60.0
    batch_size: int = 800
    learning_rate: float = 6e-5
    corpus: tuple[str, ...] = ()
    field: str = "text"
    errors: Errors = "strict"


@dataclass(frozen=True)
class MwpBertConfig(BaselineConfig):
    """The recipe of MWP-BERT; `problems` is the file of math word problems."""

    recipe: ClassVar[str] = "mwp-bert"
    title: ClassVar[str] = "MWP-BERT recipe"
    epochs: float = 150.0
    problems: str = ""


Recipe = GenbertConfig | MwpBertConfig


def train_baseline(
    config: Recipe,
    folder: Path,
    *,
    resume: bool = False,
    report: "Callable[[Status], object]" = lambda status: None,  # noqa: ARG005
) -> dict[str, Any]:
    """Train a base model by a recipe into a folder, and return what `run.json` says.

    Args:
        config: The recipe, its base model, its budget and its hyper-parameters.
        folder: New or empty; or, with `resume`, where a run was cut off.
        resume: Go on from the last checkpoint.
        report: Called with the status after every batch.
    """
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise InputError("baselines train in one process; start them without torchrun")
    settings = make_plain({"recipe": config.recipe, **asdict(config)})
    done = find_done(folder, settings, resume)
    if done is not None:
        return done
    began = time.monotonic()
    from transformers import set_seed

    from numerate.lessons import make_trainer
    from numerate.models import load_base

    set_seed(config.seed)
    base = load_base(config.base, (), dropout=config.dropout)
    if base.fresh:
        logger.warning("%s has no masked-LM head: it starts with a fresh one", config.base)
    with begin_run(folder, settings, resume=resume):
        lessons = _prepare(base, config, folder / WORK)
        trainer = make_trainer(base.model, lessons, config, folder / WORK, report)
    start = train_from(folder, trainer, resume=resume)
    end = trainer.evaluate()
    _save_weights(base, lessons, folder)
    result = {
        "format": "numerate-run",
        "version": 1,
        "stage": "baseline",
        "title": config.title,
        "config": settings,
        "data": lessons.facts,
        "parameters": sum(weight.numel() for weight in base.model.parameters()),
        "fresh_weights": list(base.fresh),
        **describe_training(trainer),
        "validation": {"start": start, "end": end},
        "seconds": time.monotonic() - began,
    }
    from numerate.card import write_baseline_card

    finish_run(trainer, folder, result, write_baseline_card(result))
    return result


def _prepare(base: "Base", config: Recipe, folder: Path) -> "Lessons":
    """What a recipe trains on."""
    if isinstance(config, GenbertConfig):
        from numerate.genbert import prepare_genbert

        return prepare_genbert(base, config, folder)
    from numerate.mwp_bert import prepare_mwp_bert

    return prepare_mwp_bert(base, config)


def _save_weights(base: "Base", lessons: "Lessons", folder: Path) -> None:
    """Write model and tokenizer, without the heads that only the recipe needs."""
    from numerate.lessons import HEADS

    if hasattr(base.model, HEADS):
        delattr(base.model, HEADS)
    for name, rate in base.dropout.items():  # for those who fine-tune it
        setattr(base.model.config, name, rate)
    base.model.save_pretrained(folder)
    lessons.tokenizer.save_pretrained(folder)
