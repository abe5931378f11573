"""From a config to a trainer that is ready to run: sequences, rows, masks, validation."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from transformers import TrainingArguments

from numerate.errors import InputError
from numerate.models.base_model import Base, fit_length
from numerate.models.head import LabelledHead
from numerate.pretrain.batches import PlannedRows
from numerate.pretrain.masking import Masking
from numerate.pretrain.rehearsal import Rehearsal, RehearsalSource, read_held_out
from numerate.pretrain.sequences import Sequences, join_sequences, tokenize_documents
from numerate.pretrain.trainer import AnchorTrainer, Pace, make_arguments
from numerate.pretrain.validation import Validator
from numerate.prime.primed_corpus import PrimedCorpus
from numerate.progress import Status

if TYPE_CHECKING:
    from numerate.pretrain.config import PretrainConfig


def make_trainer(
    primed: PrimedCorpus,
    base: Base,
    config: "PretrainConfig",
    folder: Path,
    report: Callable[[Status], object],
) -> AnchorTrainer:
    """Return a trainer for a primed corpus; what it needs to go on later is kept in a folder."""
    arguments = _training_arguments(config, folder)
    max_length = fit_length(base, config.max_length)
    with arguments.main_process_first():
        sequences = _tokenize(primed, base, config, max_length, folder / "sequences")
    train, held_out = _split(sequences, config)
    rows = PlannedRows(
        train,
        max_length=max_length,
        rows_per_step=config.batch_size * config.accumulate * arguments.world_size,
        seed=config.seed,
        rehearsal=_rehearsal(primed, base, config, max_length),
    )
    rows.n_steps = arguments.max_steps = _count_steps(rows, config)
    masking = Masking.of(
        base.tokenizer,
        base.model.config.vocab_size,
        anchor_visible=config.anchor_visible,
        mlm_probability=config.mlm_probability,
    )
    head = LabelledHead(base.model)
    validator = Validator(
        held_out,
        masking,
        base.tokenizer,
        primed.anchors,
        max_length=max_length,
        batch_size=config.batch_size,
    )
    max_seconds = config.max_minutes * 60 if config.max_minutes else None
    return AnchorTrainer(
        head=head,
        rows=rows,
        pace=Pace(rows.n_steps, max_seconds, config.checkpoint_minutes * 60),
        judge=lambda: validator.validate(
            base.model, head, rank=arguments.process_index, n_ranks=arguments.world_size
        ).as_dict(),
        report=report,
        model=base.model,
        args=arguments,
        data_collator=masking.collate,
    )


def _rehearsal(
    primed: PrimedCorpus, base: Base, config: "PretrainConfig", max_length: int
) -> RehearsalSource | None:
    """What to rehearse, if anything."""
    if not config.rehearse:
        return None
    held_out = [read_held_out(Path(config.hold_out))] if config.hold_out else []
    drawn = Rehearsal(primed.anchors, primed.settings["marker"], *held_out)
    return RehearsalSource(drawn, base.tokenizer, config.rehearse, max_length)


def _training_arguments(config: "PretrainConfig", folder: Path) -> TrainingArguments:
    """What transformers is told; what it refuses (an unknown scheduler) is the user's to mend."""
    try:
        return _arguments(config, folder)
    except ValueError as error:
        raise InputError(str(error).strip().split("\n")[0]) from None


def _arguments(config: "PretrainConfig", folder: Path) -> TrainingArguments:
    return make_arguments(
        folder,
        batch_size=config.batch_size,
        learning_rate=config.learning_rate,
        precision=config.precision,
        seed=config.seed,
        gradient_accumulation_steps=config.accumulate,
        lr_scheduler_type=config.scheduler,
        warmup_steps=config.warmup,
        weight_decay=config.weight_decay,
        report_to=config.report_to,
    )


def _tokenize(
    primed: PrimedCorpus, base: Base, config: "PretrainConfig", max_length: int, folder: Path
) -> Sequences:
    """The sequences of a corpus, from the run before if it got that far."""
    if not (folder / "bounds.npy").exists():
        keep = "all" if config.mlm_probability else "anchored"
        sequences = join_sequences(
            tokenize_documents(primed.documents(), base.tokenizer, max_length=max_length, keep=keep)
        )
        if len(sequences) < 2:
            raise InputError(f"{primed.folder}: too little text to train on and to validate")
        sequences.save(folder)
    return Sequences.load(folder)


def _split(sequences: Sequences, config: "PretrainConfig") -> tuple[Sequences, Sequences]:
    """Sequences to train on, and some with anchors to validate on."""
    counts = np.add.reduceat(sequences.is_anchor, sequences.bounds[:-1], dtype=np.int64)
    anchored = np.flatnonzero(counts)
    wanted = math.ceil(config.validation_share * len(sequences))
    n_held_out = max(1, min(wanted, config.validation_most, len(anchored) - 1))
    rng = np.random.default_rng([config.seed, 0x5EED])
    held_out = np.sort(rng.choice(anchored, n_held_out, replace=False))
    rest = np.setdiff1d(np.arange(len(sequences)), held_out)
    return sequences.select(rest), sequences.select(held_out)


def _count_steps(rows: PlannedRows, config: "PretrainConfig") -> int:
    """Steps of the optimiser that the budget allows."""
    if config.max_minutes:
        return 10**9  # the clock ends it
    epochs = config.max_tokens / rows.tokens_per_epoch if config.max_tokens else config.epochs
    return max(1, round(rows.steps_per_epoch * epochs))
