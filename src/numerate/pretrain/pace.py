"""The pace of a training: when to log, evaluate, save and stop, by steps or by the clock."""

import time
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from numerate.pretrain.config import BudgetConfig

LOGS, EVALUATIONS = 50, 10  # per training


@dataclass(kw_only=True)
class Pace(TrainerCallback):
    """A callback that decides when to log, evaluate, save and stop.

    Logs and evaluations come at fixed shares of the budget, checkpoints at intervals of time. The
    clock of the first process decides for all processes. `elapsed_before` are the seconds of
    training before this process resumed it, `fraction` is the share of the budget that is used.
    """

    n_steps: int
    max_seconds: float | None
    checkpoint_seconds: float
    elapsed_before: float = 0.0
    fraction: float = 0.0
    _began: float = field(default=0.0, repr=False)
    _saved: float = field(default=0.0, repr=False)

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Start the clock."""
        self._began = self._saved = time.monotonic()
        self.fraction = self._measure(state.global_step)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> TrainerControl:
        """Set the flags for the actions that are due after a step."""
        before = self.fraction
        save_due = time.monotonic() - self._saved >= self.checkpoint_seconds
        self.fraction, save_due = _agree(self._measure(state.global_step), save_due)
        control.should_log = _passed(before, self.fraction, LOGS) or state.global_step == 1
        control.should_evaluate = _passed(before, self.fraction, EVALUATIONS) and self.fraction < 1
        control.should_training_stop = self.fraction >= 1
        control.should_save = save_due and self.fraction < 1
        if control.should_save:
            self._saved = time.monotonic()
        return control

    @property
    def elapsed(self) -> float:
        """The seconds of training so far, including those before it was resumed."""
        return self.elapsed_before + time.monotonic() - self._began

    def exclude(self, seconds: float) -> None:
        """Do not count these seconds: the budget is for training, not for validation."""
        self._began += seconds

    def seconds_left(self) -> float:
        """Return the estimated seconds until the end."""
        return self.elapsed * (1 / max(self.fraction, 1e-9) - 1)

    def _measure(self, step: int) -> float:
        by_steps = step / self.n_steps
        by_clock = self.elapsed / self.max_seconds if self.max_seconds else 0.0
        return min(1.0, max(by_steps, by_clock))


def make_pace(config: BudgetConfig, n_steps: int) -> Pace:
    """Return the callback that ends a training with its budget."""
    return Pace(
        n_steps=n_steps,
        max_seconds=config.max_minutes * 60 if config.max_minutes else None,
        checkpoint_seconds=config.checkpoint_minutes * 60,
    )


def _passed(before: float, after: float, parts: int) -> bool:
    return int(before * parts) < int(after * parts)


def _agree(fraction: float, flag: bool) -> tuple[float, bool]:
    """Return the values of the first process in all processes."""
    if not torch.distributed.is_initialized():
        return fraction, flag
    values = [fraction, flag]
    torch.distributed.broadcast_object_list(values, src=0)
    return float(values[0]), bool(values[1])
