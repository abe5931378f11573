"""The command line: one function per subcommand, without logic of its own."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from numerate import __version__
from numerate.cli.models import embed, probe, similar
from numerate.cli.runs import demo, report, run
from numerate.cli.streams import prepare_streams
from numerate.cli.text import extract, fit, prime
from numerate.cli.training import add_command, genbert, mwp_bert, pretrain, tune
from numerate.errors import InputError, MissingExtraError, needs_extra

_INTERRUPTED = 130
app = typer.Typer(
    name="numerate", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


def _add(command: Callable[..., None], extra: str) -> None:
    """Add a command; if a package is missing, its message names the extra."""

    @wraps(command)
    def call(*arguments: Any, **options: Any) -> None:  # noqa: ANN401
        with needs_extra(f"numerate {command.__name__}", extra):
            command(*arguments, **options)

    app.command()(call)


_add(extract, "data")
_add(fit, "report")
_add(prime, "data")
add_command(app, pretrain, "pretrain", "PretrainConfig")
add_command(app, tune, "tune", "TuneConfig")
_add(embed, "embed")
_add(similar, "embed")
_add(probe, "probe")
_add(run, "run")
_add(report, "report")
_add(demo, "demo")
baselines = typer.Typer(help="Train a baseline with its authors' recipe.")
add_command(baselines, genbert, "pretrain", "GenbertConfig")
add_command(baselines, mwp_bert, "pretrain", "MwpBertConfig")
app.add_typer(baselines, name="baseline")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"numerate {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Make any language model numerate: anchors for the numerals of a corpus."""


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error and exit code 2."""
    prepare_streams()
    try:
        code = app(standalone_mode=False)
        if code == _INTERRUPTED:  # typer turns Ctrl-C into this code
            raise KeyboardInterrupt
    except (InputError, MissingExtraError) as error:
        code = _fail(str(error))
    except typer.TyperException as error:
        code = _fail(error.format_message())
    except OSError as error:
        code = _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted; the same command continues", _INTERRUPTED)
    sys.exit(code)


def _fail(message: str, code: int = 2) -> int:
    line = " ".join(message.split())
    sys.stderr.write(f"numerate: {line}\n")
    return code
