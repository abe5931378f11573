"""The training loop: transformers' Trainer on planned rows, paced by steps or by the clock."""

import shutil
import time
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch.utils.data import SequentialSampler
from transformers import (
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from numerate.errors import InputError
from numerate.models.base_model import has_fast_bf16
from numerate.models.head import LabelledHead
from numerate.options import Precision
from numerate.pretrain.batches import PlannedRows
from numerate.pretrain.masking import IGNORED, Batch
from numerate.pretrain.resume import seal_checkpoint
from numerate.progress import Status

LOGS, EVALUATIONS = 50, 10  # how often in a run


@dataclass
class Pace(TrainerCallback):
    """Decides when to log, evaluate, save and stop, by the share of the budget that is used.

    Evaluation and logs come at set shares of the run, checkpoints after so many minutes. What the
    clock says is decided by the first process for all.
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
        """Set what is due after a step."""
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
        """Seconds of training so far, those of the runs before this one included."""
        return self.elapsed_before + time.monotonic() - self._began

    def leave_out(self, seconds: float) -> None:
        """Do not count some seconds: a budget is of training alone, whatever validation costs."""
        self._began += seconds

    def seconds_left(self) -> float:
        """Return how long it will take at the present rate."""
        return self.elapsed * (1 / max(self.fraction, 1e-9) - 1)

    def _measure(self, step: int) -> float:
        by_steps = step / self.n_steps
        by_clock = self.elapsed / self.max_seconds if self.max_seconds else 0.0
        return min(1.0, max(by_steps, by_clock))


def _passed(before: float, after: float, parts: int) -> bool:
    return int(before * parts) < int(after * parts)


def _agree(fraction: float, flag: bool) -> tuple[float, bool]:
    """What the first process says, in all of them."""
    if not torch.distributed.is_initialized():
        return fraction, flag
    said = [fraction, flag]
    torch.distributed.broadcast_object_list(said, src=0)
    return float(said[0]), bool(said[1])


class PacedTrainer(Trainer):
    """Trainer on rows in their order, at a pace, with sealed checkpoints and a progress report."""

    def __init__(
        self,
        *,
        rows: Sized,
        pace: Pace,
        judge: Callable[[], Mapping[str, float]],
        report: Callable[[Status], object],
        **options: Any,
    ) -> None:
        super().__init__(train_dataset=rows, callbacks=[pace], **options)
        self._rows = rows
        self.model_accepts_loss_kwargs = False
        self.remove_callback(PrinterCallback)
        self.pace, self._judge, self._report = pace, judge, report
        self._tally = torch.zeros(3)  # labelled pieces, right ones, tokens, since the last log
        self._last_log = time.monotonic()
        self.tokens_seen = 0

    def tell(self, loss: float, *, labelled: int, right: int, tokens: int) -> None:
        """Count what was trained on, and report it."""
        self._tally += torch.tensor([labelled, right, tokens])
        self.tokens_seen += tokens * self.accelerator.num_processes
        self._show(loss)

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Follow the usual schedule by steps; with a budget of minutes, a linear one by clock."""
        if self.pace.max_seconds is None:
            return super().create_scheduler(num_training_steps, optimizer)
        warmup = self.args.warmup_steps

        def rate(_: int) -> float:
            done = self.pace.fraction
            return done / warmup if done < warmup else (1 - done) / (1 - warmup)

        chosen: Any = optimizer or self.optimizer
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(chosen, rate)
        return self.lr_scheduler

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Judge the model on held-out text."""
        began = time.monotonic()
        validation = self._judge()
        spent = time.monotonic() - began
        self._last_log += spent  # the speed is that of training alone
        self.pace.leave_out(spent)
        metrics = {f"eval_{k}": v for k, v in validation.items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def log(self, logs: dict[str, float], *args: Any, **options: Any) -> None:
        """Add anchor accuracy, speed and tokens to what is logged in training."""
        if "loss" in logs:
            pieces, right, tokens = self._tally.tolist()
            now = time.monotonic()
            rate = tokens * self.accelerator.num_processes / (now - self._last_log)
            logs |= {"accuracy": right / max(pieces, 1), "tokens_per_second": rate}
            logs["tokens"] = self.tokens_seen
            self._tally.zero_()
            self._last_log = now
        super().log(logs, *args, **options)

    def _get_train_sampler(self, *_: Any) -> SequentialSampler:
        return SequentialSampler(self._rows)

    def _show(self, loss: float) -> None:
        pieces, right, tokens = self._tally.tolist()
        seconds = max(time.monotonic() - self._last_log, 1e-9)
        self._report(
            Status(
                self.pace.fraction,
                self.tokens_seen,
                tokens * self.accelerator.num_processes / seconds,
                loss,
                right / max(pieces, 1),
                self.pace.seconds_left(),
            )
        )

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Save, and seal what was saved: without its seal a checkpoint is not there."""
        folder = Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"
        try:
            super()._save_checkpoint(model, trial)
            self.accelerator.wait_for_everyone()
            if self.args.should_save:
                seal_checkpoint(folder, self.pace.elapsed, self.tokens_seen)
        except (OSError, RuntimeError, SafetensorError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            reason = str(error).strip().split("\n")[0]
            raise InputError(
                f"{folder}: the checkpoint could not be written ({reason}); make room, then "
                "go on from the one before with --resume"
            ) from None


class AnchorTrainer(PacedTrainer):
    """Trainer on planned rows, with the head where there are labels."""

    def __init__(self, *, head: LabelledHead, rows: PlannedRows, **options: Any) -> None:
        super().__init__(rows=rows, compute_loss_func=sum_of_losses, **options)
        self._head, self.rows = head, rows

    def compute_loss(self, model: Any, inputs: Batch, *args: Any, **options: Any) -> Any:
        """Compute the loss with the head where there are labels."""
        labels, chosen = inputs["labels"], inputs["labels"] != IGNORED
        n_tokens = int(inputs["attention_mask"].sum())
        wanted = options.pop("return_outputs", False)
        with self._head.at(chosen):
            loss, outputs = super().compute_loss(
                model, inputs, *args, **{**options, "return_outputs": True}
            )
        right = int((outputs.logits[0].argmax(dim=-1) == labels[chosen]).sum())
        self.tell(float(loss.detach()), labelled=int(chosen.sum()), right=right, tokens=n_tokens)
        return (loss, outputs) if wanted else loss


def make_arguments(
    folder: Path,
    *,
    batch_size: int,
    learning_rate: float,
    precision: Precision,
    seed: int,
    **options: Any,
) -> TrainingArguments:
    """Return what transformers is told of a run that `Pace` paces."""
    return TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=batch_size,
        learning_rate=learning_rate,
        bf16=has_fast_bf16() if precision == "auto" else precision == "bf16",
        seed=seed,
        max_steps=1,  # known when the rows are planned
        use_cpu=not torch.cuda.is_available(),
        logging_strategy="no",
        eval_strategy="no",
        save_strategy="no",
        save_total_limit=2,
        remove_unused_columns=False,
        dataloader_drop_last=True,
        dataloader_pin_memory=torch.cuda.is_available(),
        ddp_find_unused_parameters=False,
        disable_tqdm=True,
        **options,
    )


def sum_of_losses(
    outputs: Any, labels: torch.Tensor, num_items_in_batch: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the cross-entropy over labelled positions, divided by those of the whole step."""
    targets = labels[labels != IGNORED]
    loss = torch.nn.functional.cross_entropy(outputs.logits[0].float(), targets, reduction="sum")
    return loss / (len(targets) if num_items_in_batch is None else num_items_in_batch)
