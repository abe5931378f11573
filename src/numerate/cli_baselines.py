"""The command line's part on baselines: the recipes of GenBERT and MWP-BERT, re-run on any base."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from numerate.choices import Errors, Precision
from numerate.cli_models import Quiet, print_shown

if TYPE_CHECKING:
    from numerate.baseline import Recipe

baselines = typer.Typer(help="Train a baseline by its authors' recipe.")

BaseName = Annotated[str, typer.Option("--base", help="A folder or hub name of a BERT-like model.")]
Out = Annotated[Path, typer.Option(help="The model folder to write.")]
MaxTokens = Annotated[
    int | None, typer.Option(help="Train on so many tokens instead.", show_default=False)
]
MaxMinutes = Annotated[
    float | None, typer.Option(help="Train for so long instead.", show_default=False)
]
Accumulate = Annotated[int, typer.Option(help="Batches to a step.")]
LearningRate = Annotated[float, typer.Option(help="At its highest.")]
Dropout = Annotated[float, typer.Option(help="In place of the base model's.")]
Compute = Annotated[Precision, typer.Option(help="auto: bf16 where the machine is fast at it.")]
CheckpointMinutes = Annotated[float, typer.Option(help="Minutes between checkpoints.")]
Seed = Annotated[int, typer.Option(help="Decides examples, order, masks and fresh weights.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a run stopped.")]


@baselines.command()
def genbert(
    base: BaseName,
    out: Out,
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="Text for masked-LM beside the questions; may be given again."),
    ] = None,
    field: Annotated[str, typer.Option(help="The field of a record that holds its text.")] = "text",
    errors: Annotated[
        Errors, typer.Option(help="What to do with bytes that are not UTF-8.")
    ] = "strict",
    epochs: Annotated[float, typer.Option(help="Times 990,000 questions.")] = 60.0,
    max_tokens: MaxTokens = None,
    max_minutes: MaxMinutes = None,
    batch_size: Annotated[int, typer.Option(help="Questions to a batch.")] = 800,
    accumulate: Accumulate = 1,
    learning_rate: LearningRate = 6e-5,
    dropout: Dropout = 0.0,
    precision: Compute = "auto",
    checkpoint_minutes: CheckpointMinutes = 5.0,
    seed: Seed = 42,
    resume: Resume = False,
    quiet: Quiet = False,
) -> None:
    """Teach a model to write the answers to questions on numbers, read digit by digit."""
    from numerate.baseline import GenbertConfig

    config = GenbertConfig(
        base=base,
        corpus=tuple(corpus or ()),
        field=field,
        errors=errors,
        epochs=epochs,
        max_tokens=max_tokens,
        max_minutes=max_minutes,
        batch_size=batch_size,
        accumulate=accumulate,
        learning_rate=learning_rate,
        dropout=dropout,
        precision=precision,
        checkpoint_minutes=checkpoint_minutes,
        seed=seed,
    )
    _train(config, out, resume=resume, quiet=quiet)


@baselines.command()
def mwp_bert(
    base: BaseName,
    problems: Annotated[
        Path, typer.Option(help="Math word problems: .csv like MAWPS, or .json like MathQA.")
    ],
    out: Out,
    epochs: Annotated[float, typer.Option(help="Times to go through the problems.")] = 150.0,
    max_tokens: MaxTokens = None,
    max_minutes: MaxMinutes = None,
    batch_size: Annotated[int, typer.Option(help="Problems to a batch.")] = 128,
    accumulate: Accumulate = 1,
    learning_rate: LearningRate = 1e-5,
    dropout: Dropout = 0.0,
    precision: Compute = "auto",
    checkpoint_minutes: CheckpointMinutes = 5.0,
    seed: Seed = 42,
    resume: Resume = False,
    quiet: Quiet = False,
) -> None:
    """Teach a model what the numbers of math word problems mean, by eight objectives."""
    from numerate.baseline import MwpBertConfig

    config = MwpBertConfig(
        base=base,
        problems=str(problems),
        epochs=epochs,
        max_tokens=max_tokens,
        max_minutes=max_minutes,
        batch_size=batch_size,
        accumulate=accumulate,
        learning_rate=learning_rate,
        dropout=dropout,
        precision=precision,
        checkpoint_minutes=checkpoint_minutes,
        seed=seed,
    )
    _train(config, out, resume=resume, quiet=quiet)


def _train(config: "Recipe", out: Path, *, resume: bool, quiet: bool) -> None:
    from numerate.baseline import train_baseline
    from numerate.show import show_baseline, show_training

    with show_training(config.recipe, quiet=quiet) as report:
        run = train_baseline(config, out, resume=resume, report=report)
    print_shown(show_baseline(run, out), quiet)
