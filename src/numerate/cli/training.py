"""The commands that train: pretrain, tune, baseline genbert and baseline mwp-bert.

Their options are the fields of the configs of their rooms. These are read when such a command is
called: importing pydantic would slow down `--help` and every other command.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from numerate.cli.arguments import Field, OnErrors, Quiet, print_shown
from numerate.errors import needs_extra

if TYPE_CHECKING:
    from numerate.pretrain.config import BaselineConfig, PretrainConfig
    from numerate.tune.config import TuneConfig

Out = Annotated[Path, typer.Option(help="Model folder to write.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted training.")]

_REQUIRED = ("base", "problems")
_HIDDEN = ("validation_share", "validation_most")


def pretrain(
    config: "PretrainConfig",
    corpus: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that prime has written.")],
    out: Out,
    resume: Resume = False,
    quiet: Quiet = False,
) -> None:
    """Continue pre-training on a primed corpus: masked anchors are filled in, or said next.

    On several devices or machines: torchrun ... -m numerate pretrain ..., or accelerate launch.
    """
    from numerate.cli.show import show_run
    from numerate.parallel import process_rank
    from numerate.pretrain.train import pretrain_model
    from numerate.prime.primed_corpus import open_primed
    from numerate.progress import show_training
    from numerate.report.figures.draw import draw_curve

    primed = open_primed(corpus)
    with show_training(quiet=quiet) as report:
        run = pretrain_model(primed, config, out, resume=resume, report=report)
    if process_rank() == 0:
        draw_curve(out)
        print_shown(show_run(run, out), quiet)


def genbert(
    config: "BaselineConfig", out: Out, resume: Resume = False, quiet: Quiet = False
) -> None:
    """Train a model to write the answers to questions on numbers, which it reads as digits."""
    _train_baseline(config, out, resume=resume, quiet=quiet)


def mwp_bert(
    config: "BaselineConfig", out: Out, resume: Resume = False, quiet: Quiet = False
) -> None:
    """Train a model on the numbers of math word problems, by eight objectives."""
    _train_baseline(config, out, resume=resume, quiet=quiet)


def _train_baseline(config: "BaselineConfig", out: Path, *, resume: bool, quiet: bool) -> None:
    from numerate.cli.show import show_baseline
    from numerate.pretrain.baselines.train import train_baseline
    from numerate.progress import show_training
    from numerate.report.figures.draw import draw_curve

    with show_training(config.recipe, quiet=quiet) as report:
        run = train_baseline(config, out, resume=resume, report=report)
    draw_curve(out)
    print_shown(show_baseline(run, out), quiet)


def tune(
    config: "TuneConfig",
    base: Annotated[  # noqa: ARG001  # `config` has it
        str, typer.Argument(metavar="BASE", help="Sentence encoder: a folder or a name on the hub.")
    ],
    texts: Annotated[
        list[str], typer.Option(metavar="CORPUS", help="Text with numbers; repeatable.")
    ],
    out: Out,
    field: Field = "text",
    errors: OnErrors = "strict",
    resume: Resume = False,
    quiet: Quiet = False,
) -> None:
    """Make a sentence encoder know how large its numbers are, and keep what it knew."""
    from numerate.cli.show import show_tuned
    from numerate.extract.corpus import open_corpus
    from numerate.progress import show_training
    from numerate.report.figures.draw import draw_curve
    from numerate.tune.tune import tune_encoder

    corpus = open_corpus(texts, field=field, errors=errors)
    with show_training("tune", quiet=quiet) as report:
        run = tune_encoder(corpus, config, out, resume=resume, report=report)
    draw_curve(out)
    print_shown(show_tuned(run, out), quiet)


def add_command(app: typer.Typer, command: Callable[..., None], room: str, config: str) -> None:
    """Add a command that takes the fields of a config as options, and the config as `config`.

    Fields that the command has as parameters of its own are set by these.
    """

    class Deferred(TyperCommand):
        """Stands for the command until it is called."""

        def make_context(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            with needs_extra(f"numerate {command.__name__}", "train"):
                configs = import_module(f"numerate.{room}.config")

            real = typer.Typer(add_completion=False, rich_markup_mode=None)
            real.command(help=command.__doc__)(_take_settings(command, getattr(configs, config)))
            return typer.main.get_command(real).make_context(*arguments, **options)

    name = command.__name__.replace("_", "-")
    app.command(name, cls=Deferred, help=command.__doc__)(lambda: None)


def _take_settings(command: Callable[..., None], config: Any) -> Callable[..., None]:  # noqa: ANN401
    """Return the command with an option for each field of a config."""
    _, *own = inspect.signature(command).parameters.values()  # all but the config
    positional = {parameter.name for parameter in own} & {field.name for field in fields(config)}
    listed = (option for option in _list_options(config) if option.name not in positional)
    options = {option.name: option for option in listed}

    def call(**given: Any) -> None:  # noqa: ANN401
        settings = {name: given.pop(name) for name in options}
        settings |= {name: given[name] for name in positional}
        settings |= {name: tuple(settings[name] or ()) for name in _list_tuples(config)}
        with needs_extra(f"numerate {command.__name__}", "train"):
            command(config(**settings), **given)

    own = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in own]
    flags = [parameter for parameter in own if parameter.default is False]
    others = [parameter for parameter in own if parameter not in flags]
    signature = inspect.Signature([*others, *options.values(), *flags])
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _list_options(config: Any) -> Iterable[inspect.Parameter]:  # noqa: ANN401
    types = get_type_hints(config) | _list_tuples(config)
    for field in fields(config):
        if field.name in _HIDDEN:
            continue
        default: Any = inspect.Parameter.empty if field.name in _REQUIRED else field.default
        if isinstance(default, tuple):
            default = list(default) or None
        option = typer.Option(help=config.__pydantic_fields__[field.name].description)
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[types[field.name], option],
        )


def _list_tuples(config: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the fields that are tuples, as the types of options that can be given repeatedly.

    Typer has no lists of `Literal`; the config checks the words.
    """
    kinds = get_type_hints(config).items()
    return {name: list[str] | None for name, kind in kinds if get_origin(kind) is tuple}
