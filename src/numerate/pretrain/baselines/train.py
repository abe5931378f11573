"""Baselines: the recipes of GenBERT and MWP-BERT re-run on any base, from settings to a folder.

Both recipes share how they begin, go on after a cut, pace themselves and end; what they train on
and how they judge it is in `genbert` and `mwp_bert`. The defaults are those of the papers.
"""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError
from numerate.pretrain.config import BaselineConfig, GenbertConfig
from numerate.pretrain.resume import (
    WORK,
    begin_run,
    describe_training,
    find_done,
    finish_run,
    make_plain,
    train_from,
)

if TYPE_CHECKING:
    from numerate.models.base_model import Base
    from numerate.pretrain.baselines.trainer import Lessons
    from numerate.progress import Status

logger = logging.getLogger(__name__)


def train_baseline(
    config: BaselineConfig,
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

    from numerate.models.base_model import load_base
    from numerate.pretrain.baselines.trainer import make_trainer

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
    from numerate.models.card import write_baseline_card

    finish_run(trainer, folder, result, write_baseline_card(result))
    return result


def _prepare(base: "Base", config: BaselineConfig, folder: Path) -> "Lessons":
    """What a recipe trains on."""
    if isinstance(config, GenbertConfig):
        from numerate.pretrain.baselines.genbert import prepare_genbert

        return prepare_genbert(base, config, folder)
    from numerate.pretrain.baselines.mwp_bert import prepare_mwp_bert

    return prepare_mwp_bert(base, config)


def _save_weights(base: "Base", lessons: "Lessons", folder: Path) -> None:
    """Write model and tokenizer, without the heads that only the recipe needs."""
    from numerate.pretrain.baselines.trainer import HEADS

    if hasattr(base.model, HEADS):
        delattr(base.model, HEADS)
    for name, rate in base.dropout.items():  # for those who fine-tune it
        setattr(base.model.config, name, rate)
    base.model.save_pretrained(folder)
    lessons.tokenizer.save_pretrained(folder)
