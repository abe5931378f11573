"""Pretrain: from a primed corpus and a base model to a model folder (the paper's section 3, A.2).

Continued masked-language modelling in which the anchors are masked, and nothing else. The defaults
are the paper's: 6 epochs, 512 tokens, batches of 8, a learning rate of 5e-5 that decays linearly.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.choices import Pieces, Precision
from numerate.digits import split_digits
from numerate.errors import InputError
from numerate.prime import MARKERS, prime_text
from numerate.priming import Priming
from numerate.shards import PrimedCorpus
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
    from numerate.models import Base
    from numerate.training import AnchorTrainer, Status

logger = logging.getLogger(__name__)
_SHARES = ("mlm_probability", "anchor_visible", "rehearse", "warmup", "dropout")
_AMOUNTS = (
    "epochs",
    "max_tokens",
    "max_minutes",
    "max_length",
    "batch_size",
    "accumulate",
    "learning_rate",
    "validation_share",
)


@dataclass(frozen=True)
class PretrainConfig:
    """How to train; the defaults are the paper's. A budget of tokens or minutes replaces epochs."""

    base: str = "google-bert/bert-base-uncased"
    epochs: float = 6.0
    max_tokens: int | None = None
    max_minutes: float | None = None
    max_length: int = 512
    batch_size: int = 8
    accumulate: int = 1
    learning_rate: float = 5e-5
    warmup: float = 0.0
    scheduler: str = "linear"
    weight_decay: float = 0.0
    dropout: float = 0.0
    mlm_probability: float = 0.0
    anchor_visible: float = 0.0
    rehearse: float = 0.0
    hold_out: str | None = None
    pieces: Pieces = "words"
    validation_share: float = 0.01
    validation_most: int = 2000
    precision: Precision = "auto"
    checkpoint_minutes: float = 5.0
    report_to: str = "none"
    seed: int = 42

    def __post_init__(self) -> None:
        for name in _SHARES:
            if not 0 <= (value := getattr(self, name)) < 1:
                raise InputError(f"{name} must be at least 0 and below 1, got {value}")
        for name in _AMOUNTS:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be above 0, got {value}")
        if self.max_tokens is not None and self.max_minutes is not None:
            raise InputError("max_tokens and max_minutes must not both be given")
        if self.max_minutes is not None and self.scheduler != "linear":
            raise InputError(f"scheduler must be linear with max_minutes, got {self.scheduler}")
        if self.hold_out and not self.rehearse:
            raise InputError("hold_out must go with rehearse: nothing else draws numerals")


def pretrain_model(
    primed: PrimedCorpus,
    config: PretrainConfig,
    folder: Path,
    *,
    resume: bool = False,
    report: "Callable[[Status], object]" = lambda status: None,  # noqa: ARG005
) -> dict[str, Any]:
    """Train a model on a primed corpus into a folder, and return what `run.json` says.

    Args:
        primed: What `numerate prime` wrote.
        config: The base model, the budget and the hyper-parameters.
        folder: New or empty; or, with `resume`, where a run was cut off.
        resume: Go on from the last checkpoint.
        report: Called with the status after every batch.
    """
    settings = make_plain({**asdict(config), "corpus": primed.settings})
    done = find_done(folder, settings, resume)
    if done is not None:
        return done
    began = time.monotonic()
    from transformers import set_seed

    from numerate.models import load_base
    from numerate.recipe import make_trainer

    _check_anchors(primed, config.base)
    set_seed(config.seed)
    base = load_base(config.base, MARKERS[primed.settings["marker"]], dropout=config.dropout)
    if config.pieces == "digits":
        split = split_digits(base.tokenizer, config.base, number_words=False)
        base = replace(base, tokenizer=split)
    if base.fresh:
        logger.warning("%s has no masked-LM head: it starts with a fresh one", config.base)
    with begin_run(folder, settings, resume=resume):
        trainer = make_trainer(primed, base, config, folder / WORK, report)
    start = train_from(folder, trainer, resume=resume)
    result = _describe_run(trainer, base, primed, settings)
    result |= {
        "seconds": time.monotonic() - began,
        "validation": {"start": start, "end": trainer.evaluate()},
    }
    if trainer.is_world_process_zero():
        _save_model(trainer, base, primed, folder, result)
    trainer.accelerator.wait_for_everyone()
    return result


def _describe_run(
    trainer: "AnchorTrainer", base: "Base", primed: PrimedCorpus, settings: dict[str, Any]
) -> dict[str, Any]:
    """What `run.json` says of a run, but for its validation."""
    return {
        "format": "numerate-run",
        "version": 1,
        "stage": "pretrain",
        "config": settings,
        "example": prime_text("1999", primed.anchors, marker=primed.settings["marker"]).text,
        "fresh_weights": list(base.fresh),
        "sequences_per_epoch": len(trainer.rows.corpus),
        "tokens_per_epoch": trainer.rows.tokens_per_epoch,
        **describe_training(trainer),
    }


def _check_anchors(primed: PrimedCorpus, base: str) -> None:
    """Refuse anchors other than those that the corpus was primed with, or the base trained with."""
    from numerate.fit import AnchorSet
    from numerate.models import resolve_model

    primed.check_anchors()
    known = Path(resolve_model(base)) / "anchors.json"
    if known.is_file():
        theirs, ours = (
            (anchors.scale, anchors.resolution, anchors.width)
            for anchors in (AnchorSet.load(known), primed.anchors)
        )
        if theirs != ours:
            told = "on the {} scale (resolution {:g}, width {})"
            raise InputError(
                f"{base}: was trained with anchors {told.format(*theirs)}, but the corpus is "
                f"primed {told.format(*ours)}; prime it with the anchors of the model"
            )


def _save_model(
    trainer: "AnchorTrainer",
    base: "Base",
    primed: PrimedCorpus,
    folder: Path,
    result: dict[str, Any],
) -> None:
    """Write the model folder, `run.json` last; then what was only needed to go on is removed."""
    from numerate.card import write_card
    from numerate.equip import note_priming, write_modules

    for name, rate in base.dropout.items():  # for those who fine-tune it
        setattr(base.model.config, name, rate)
    priming = Priming(primed.anchors, primed.settings["marker"], primed.settings["numeral_form"])
    note_priming(base.model, priming)
    base.model.save_pretrained(folder)
    base.tokenizer.save_pretrained(folder)
    replace(primed.anchors, fit={}).save(folder / "anchors.json")
    config = base.model.config
    write_modules(folder, width=config.hidden_size, n_layers=config.num_hidden_layers)
    finish_run(trainer, folder, result, write_card(result))
