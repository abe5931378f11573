"""Pretrain: from a primed corpus and a base model to a model folder (the paper's section 3, A.2).

The training loop is the same for all trainings. It can be cut off at any moment and resumed to the
same weights.
"""

import json
import logging
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError
from numerate.files import hide_home, list_versions, write_file, write_json
from numerate.layout import RECORD
from numerate.parallel import process_rank
from numerate.pretrain.config import PretrainConfig
from numerate.pretrain.resume import WORK, find_checkpoint, remove_incomplete
from numerate.prime.primed_corpus import PrimedCorpus
from numerate.progress import Report, ignore_status
from numerate.work import WorkFolder

if TYPE_CHECKING:
    from numerate.pretrain.recipe import Training
    from numerate.pretrain.trainer import BudgetTrainer

logger = logging.getLogger(__name__)
_CURVE, _FORMAT = "curve.json", "numerate-run"


def pretrain_model(
    primed: PrimedCorpus,
    config: PretrainConfig,
    folder: Path | str,
    *,
    resume: bool = False,
    report: Report = ignore_status,
    tokens: Path | None = None,
) -> dict[str, Any]:
    """Pre-train a model on a primed corpus into a folder, and return the content of `run.json`.

    The folder is new or empty; with `resume`, it may hold a training that was cut off. `report` is
    called with the status after every batch. `tokens` is a folder that keeps the tokens of the
    corpus for further trainings.
    """
    from numerate.pretrain.anchors import AnchorRecipe

    training = AnchorRecipe(primed, config, tokens)
    return train_model(training, Path(folder), resume=resume, report=report)


def train_model(
    training: "Training[Any]", folder: Path, *, resume: bool, report: Report
) -> dict[str, Any]:
    """Train into a folder, and return the content of `run.json`."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:  # tokenizers could not save there when training is over
        raise InputError(f"{folder}: a model folder must have a name in UTF-8") from None
    work = WorkFolder(folder, "a training", RECORD, _FORMAT)
    with work.hold():
        return _train_into(work, training, resume=resume, report=report)


def _train_into(
    work: WorkFolder, training: "Training[Any]", *, resume: bool, report: Report
) -> dict[str, Any]:
    """Train into a folder that no other process writes."""
    folder, description = work.path, {"config": training.settings}
    state = work.check_state(description)
    if state == "done":
        return work.read()
    if state == "unfinished" and not resume and process_rank() == 0:  # which others may see begin
        raise InputError(
            f"{folder}: holds an unfinished run; continue it with --resume, or remove it"
        )
    began = time.monotonic()
    from transformers import set_seed

    set_seed(training.config.seed)
    training.load()
    if training.fresh:
        named = training.config.base, training.head
        logger.warning("%s has no %s-LM head: it starts with a fresh one", *named)
    may_resume = resume and state == "unfinished"
    with work.attempt(description, keep=lambda: find_checkpoint(folder / WORK) is not None):
        trainer = training.make_trainer(folder / WORK, report)
        start = _validate_start(folder / WORK, trainer)
        checkpoint = _resume(folder / WORK, trainer) if may_resume else None
        trainer.train(resume_from_checkpoint=checkpoint)
        end = trainer.evaluate()
        trainer.check_weights()
    result = {
        "format": _FORMAT,
        "version": 1,
        "stage": training.stage,
        **description,
        **training.describe(),
        "fresh_weights": list(training.fresh),
        "versions": list_versions(),
        "steps": trainer.state.global_step,
        "tokens": trainer.tokens_seen,
        "seconds_training": trainer.pace.elapsed,
        "validation": {"start": start, "end": end},
        "seconds": time.monotonic() - began,
    }
    if trainer.is_world_process_zero():
        _save(training, trainer, work, result)
    trainer.accelerator.wait_for_everyone()
    return result


def _validate_start(folder: Path, trainer: "BudgetTrainer") -> dict[str, float]:
    """Return the validation before the first step; a resumed training reads it from its folder."""
    path = folder / "start.json"
    if path.exists():
        return dict(json.loads(path.read_bytes()))
    start = trainer.evaluate()
    if process_rank() == 0:
        write_json(path, start)
    return start


def _resume(folder: Path, trainer: "BudgetTrainer") -> str | None:
    """Return the last complete checkpoint, if any, and continue its clock and its token count."""
    if process_rank() == 0:
        remove_incomplete(folder)
    checkpoint = find_checkpoint(folder)
    if checkpoint is None:
        logger.warning("%s: no complete checkpoint yet, starting from the beginning", folder)
        return None
    trainer.pace.elapsed_before, trainer.tokens_seen = checkpoint.elapsed, checkpoint.tokens
    return str(checkpoint.path)


def _save(
    training: "Training[Any]", trainer: "BudgetTrainer", work: WorkFolder, result: dict[str, Any]
) -> None:
    """Write the model, the curve, the card and, last, `run.json`; then remove `unfinished/`."""
    folder = work.path
    training.save(folder)
    curve = [{"step": 0, **result["validation"]["start"]}]
    curve += [entry for entry in trainer.state.log_history if "train_runtime" not in entry]
    write_json(folder / _CURVE, {"format": "numerate-curve", "version": 1, "entries": curve})
    write_file(folder / "README.md", hide_home(training.write_card(result)).encode())
    work.finish(result)
    shutil.rmtree(folder / WORK)
