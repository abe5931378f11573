"""Pretrain: from a primed corpus and a base model to a model folder (the paper's section 3, A.2).

Continued masked-language modelling in which the anchors are masked, and nothing else. The defaults
are the paper's: 6 epochs, 512 tokens, batches of 8, a learning rate of 5e-5 that decays linearly.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError
from numerate.models.digit_tokenizer import split_digits
from numerate.pretrain.config import PretrainConfig
from numerate.pretrain.resume import (
    WORK,
    begin_run,
    describe_training,
    find_done,
    finish_run,
    make_plain,
    train_from,
)
from numerate.prime.primed_corpus import PrimedCorpus
from numerate.prime.scheme import Priming
from numerate.prime.text import MARKERS, prime_text

if TYPE_CHECKING:
    from numerate.models.base_model import Base
    from numerate.pretrain.trainer import AnchorTrainer
    from numerate.progress import Status

logger = logging.getLogger(__name__)


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

    from numerate.models.base_model import load_base
    from numerate.pretrain.setup import make_trainer

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
    from numerate.fit.anchors import AnchorSet
    from numerate.models.names import resolve_model

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
    from numerate.models.card import write_card
    from numerate.models.folder import note_priming, write_modules

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
