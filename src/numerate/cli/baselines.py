"""The command line's part on baselines: the recipes of GenBERT and MWP-BERT, re-run on any base."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from numerate.cli.arguments import (
    Accumulate,
    CheckpointMinutes,
    Compute,
    Dropout,
    Field,
    LearningRate,
    MaxMinutes,
    MaxTokens,
    OnErrors,
    Quiet,
    Resume,
    print_shown,
)

if TYPE_CHECKING:
    from numerate.pretrain.config import BaselineConfig

baselines = typer.Typer(help="Train a baseline by its authors' recipe.")

BaseName = Annotated[str, typer.Option("--base", help="A folder or hub name of a BERT-like model.")]
Out = Annotated[Path, typer.Option(help="The model folder to write.")]
Seed = Annotated[int, typer.Option(help="Decides examples, order, masks and fresh weights.")]


@baselines.command()
def genbert(
    base: BaseName,
    out: Out,
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="Text for masked-LM beside the questions; may be given again."),
    ] = None,
    field: Field = "text",
    errors: OnErrors = "strict",
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
    from numerate.pretrain.config import GenbertConfig

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
    from numerate.pretrain.config import MwpBertConfig

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


def _train(config: "BaselineConfig", out: Path, *, resume: bool, quiet: bool) -> None:
    from numerate.cli.show import show_baseline
    from numerate.pretrain.baselines.train import train_baseline
    from numerate.pretrain.train import read_curve
    from numerate.progress import show_training
    from numerate.report.draw import draw_curve

    with show_training(config.recipe, quiet=quiet) as report:
        run = train_baseline(config, out, resume=resume, report=report)
    draw_curve(read_curve(out), out / "curve.png")
    print_shown(show_baseline(run, out), quiet)
