"""The trainer of all recipes: transformers' Trainer with a budget of steps or of time."""

import math
import shutil
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from torch.utils.data import SequentialSampler
from transformers import (
    PreTrainedModel,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)
from transformers.integrations.integration_utils import TensorBoardCallback

from numerate.errors import InputError, first_line
from numerate.models.attention import attend_in_float32
from numerate.models.base_model import has_fast_bf16
from numerate.pretrain.config import BudgetConfig
from numerate.pretrain.pace import Pace, make_pace
from numerate.pretrain.recipe import Measure, NestedBatch, Recipe, Training
from numerate.pretrain.resume import complete_checkpoint, find_checkpoint
from numerate.progress import Report, Status

Arguments = TypeVar("Arguments", bound=TrainingArguments)


class _Examples(torch.utils.data.Dataset[Any]):
    """The examples of a training in order, each drawn when it is needed."""

    def __init__(self, draw: Callable[[int], Any], length: int) -> None:
        self._draw, self._length = draw, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Any:
        return self._draw(index)


class BudgetTrainer(Trainer):
    """Trains until a budget is used up, reports the progress and marks complete checkpoints."""

    def follow(self, training: Training[Any], pace: Pace, report: Report) -> None:
        """Set the training whose rate and validation it follows; call it before all else."""
        self.remove_callback(PrinterCallback)
        self.pace, self._training, self._report = pace, training, report
        self._counts = torch.zeros(3)  # labels, correct predictions, tokens, since the last log
        self._last_log = time.monotonic()
        self.tokens_seen = 0
        if self.args.bf16 and self.args.device.type == "cpu":
            model: Any = self.model
            for module in model.modules():
                if isinstance(module, PreTrainedModel):
                    attend_in_float32(module)

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Follow a schedule of transformers, or the training's own by steps or by the clock."""
        by_clock = self.pace.max_seconds is not None
        if self._training.scheduler and not by_clock:
            return super().create_scheduler(num_training_steps, optimizer)

        def rate(step: int) -> float:
            progress = self.pace.fraction if by_clock else step / num_training_steps
            return self._training.rate(progress)

        chosen: Any = optimizer or self.optimizer
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(chosen, rate)
        return self.lr_scheduler

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Validate the model on held-out data; the clock of the budget stands still."""
        began = time.monotonic()
        metrics = {f"eval_{name}": value for name, value in self._training.validate().items()}
        self._check_loss(metrics["eval_loss"], "in validation")
        spent = time.monotonic() - began
        self._last_log += spent
        self.pace.exclude(spent)
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def log(self, logs: dict[str, float], *args: Any, **options: Any) -> None:
        """Add accuracy, speed and tokens to the logs of training."""
        if "loss" in logs:
            accuracy, speed = self._measure_recent()
            logs |= {"accuracy": accuracy, "tokens_per_second": speed, "tokens": self.tokens_seen}
            self._counts.zero_()
            self._last_log = time.monotonic()
        super().log(logs, *args, **options)

    def floating_point_ops(self, inputs: NestedBatch) -> int:
        """Return 0: transformers does not know the batches of all trainings."""
        return 0

    def report_batch(self, measure: Measure) -> None:
        """Count a batch and report the status of the training."""
        self._counts += torch.tensor([measure.labelled, measure.correct, measure.tokens])
        self.tokens_seen += measure.tokens * self.accelerator.num_processes
        loss = float(measure.loss.detach())
        self._check_loss(loss, "in training")
        accuracy, speed = self._measure_recent()
        status = Status(
            fraction=self.pace.fraction,
            tokens=self.tokens_seen,
            tokens_per_second=speed,
            loss=loss,
            accuracy=accuracy,
            seconds_left=self.pace.seconds_left(),
        )
        self._report(status)

    def _check_loss(self, loss: float, where: str) -> None:
        if not math.isfinite(loss):
            raise self._explain_divergence(f"the loss {where} is {loss}")

    def check_weights(self) -> None:
        """Refuse weights that are not finite: no loss has shown them yet."""
        model: Any = self.model
        if not all(bool(weight.isfinite().all()) for weight in model.parameters()):
            raise self._explain_divergence("weights are not finite")

    def _explain_divergence(self, what: str) -> InputError:
        """Return the error of a training that came to nothing, which says what is kept of it."""
        step, base = self.state.global_step, self._training.config.base
        if step == 0:
            return InputError(f"{base}: {what} before the first step; choose another base model")
        kept = find_checkpoint(Path(str(self.args.output_dir)))
        remains = f"the checkpoint {kept.path} is kept" if kept else "nothing of it is kept"
        return InputError(
            f"the training diverged: after step {step} {what}; {remains}; lower --learning-rate"
        )

    def _measure_recent(self) -> tuple[float, float]:
        """Return the accuracy and the tokens per second since the last log."""
        labelled, correct, tokens = self._counts.tolist()
        seconds = max(time.monotonic() - self._last_log, 1e-9)
        return correct / max(labelled, 1), tokens * self.accelerator.num_processes / seconds

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Save weights by the names that load them; transformers writes others for GPT-NeoX."""
        if isinstance(self.model, PreTrainedModel) and output_dir:
            options: dict[str, Any] = {"state_dict": state_dict, "save_original_format": False}
            self.model.save_pretrained(output_dir, **options)
        else:
            super()._save(output_dir, state_dict)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Save a checkpoint, and mark it as complete: others are ignored on resume."""
        folder = Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"
        self.check_weights()
        try:
            super()._save_checkpoint(model, trial)
            self.accelerator.wait_for_everyone()
            if self.args.should_save:
                complete_checkpoint(folder, self.pace.elapsed, self.tokens_seen)
        except (OSError, RuntimeError, SafetensorError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise InputError(
                f"{folder}: the checkpoint could not be written ({first_line(error)}); make room, "
                "then continue from the previous one with --resume"
            ) from None


class RecipeTrainer(BudgetTrainer):
    """Trains by a recipe; draws the examples in order."""

    def __init__(
        self, recipe: Recipe[Any], examples: "_Examples", pace: Pace, arguments: TrainingArguments
    ) -> None:
        super().__init__(
            model=recipe.base.model,
            args=arguments,
            data_collator=recipe.collate,
            train_dataset=examples,
            callbacks=[pace],
        )
        # It makes transformers count the labels of a step, and keeps it from dividing the loss by
        # the number of batches in a step.
        self.model_accepts_loss_kwargs = recipe.mean_over_step
        # Our labels are at the positions that predict them, also those of causal models, which
        # transformers would expect one position later, and count without the first.
        self._loss_shifts_labels = False
        self._recipe, self._examples = recipe, examples

    def compute_loss(
        self,
        model: Any,
        inputs: NestedBatch,
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Compute the loss of a batch by the recipe, and report it."""
        measure = self._recipe.measure(model, inputs, num_items_in_batch)
        self.report_batch(measure)
        if num_items_in_batch is None:
            return measure.loss
        # It is divided by the labels of all devices, whose gradients are averaged.
        return measure.loss * self.accelerator.num_processes

    def _get_train_sampler(self, *_: Any) -> SequentialSampler:
        return SequentialSampler(self._examples)


def make_trainer(recipe: Recipe[Any], folder: Path, report: Report) -> RecipeTrainer:
    """Prepare a recipe and return its trainer, which writes checkpoints into a folder."""
    config = recipe.config
    arguments = make_arguments(folder, config, kind=TrainingArguments, **recipe.arguments)
    recipe.prepare(folder)
    per_step = config.batch_size * config.accumulate * arguments.world_size
    n_steps = arguments.max_steps = recipe.count_steps(per_step)
    pace = make_pace(config, n_steps)
    examples = _Examples(recipe.draw, n_steps * per_step)
    trainer = RecipeTrainer(recipe, examples, pace, arguments)
    trainer.follow(recipe, pace, report)
    _keep_logs(trainer, folder.parent / "logs")
    return trainer


def _keep_logs(trainer: RecipeTrainer, folder: Path) -> None:
    """Let TensorBoard log into a folder, unless TENSORBOARD_LOGGING_DIR names another one.

    By itself transformers logs the validation before the first step, and with it all that follows,
    into the current folder.
    """
    for callback in trainer.callback_handler.callbacks:
        if isinstance(callback, TensorBoardCallback) and callback.logging_dir is None:
            callback.logging_dir = str(folder)


def make_arguments(
    folder: Path,
    config: BudgetConfig,
    *,
    kind: type[Arguments],
    report_to: str = "none",
    **options: Any,
) -> Arguments:
    """Return the arguments for a trainer; `Pace` decides when to log, evaluate and save."""
    if report_to == "tensorboard" and not (find_spec("tensorboard") or find_spec("tensorboardX")):
        raise InputError(
            "report_to: tensorboard is not installed; pip install 'numerate[tensorboard]'"
        )
    if report_to == "wandb" and not find_spec("wandb"):
        raise InputError("report_to: wandb is not installed; pip install wandb")
    bf16 = has_fast_bf16() if config.precision == "auto" else config.precision == "bf16"
    try:
        return kind(
            output_dir=str(folder),
            per_device_train_batch_size=config.batch_size,
            gradient_accumulation_steps=config.accumulate,
            learning_rate=config.learning_rate,
            bf16=bf16,
            seed=config.seed,
            max_steps=1,  # `make_trainer` sets it when the data is read
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
            report_to=report_to,
            **options,
        )
    except ValueError as error:  # such as an unknown scheduler
        raise InputError(first_line(error)) from None
