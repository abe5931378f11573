"""The command line: one function per subcommand, without logic of its own."""

import sys
from typing import Annotated

import typer

from numerate import __version__
from numerate.cli.baselines import baselines
from numerate.cli.models import embed, pretrain, probe, similar
from numerate.cli.runs import demo, report, run
from numerate.cli.text import extract, fit, prime
from numerate.errors import InputError

app = typer.Typer(
    name="numerate",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


for command in (extract, fit, prime, pretrain, embed, similar, probe, run, report, demo):
    app.command()(command)
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
    """Run the command line: a user's mistake is one line on standard error and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except InputError as error:
        code = _fail(str(error))
    except typer.TyperException as error:
        code = _fail(error.format_message())
    except ModuleNotFoundError as error:
        code = _fail(f"this command needs {error.name}: pip install 'numerate[all]'")
    except OSError as error:
        code = _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted; the same command goes on where it stopped", 130)
    sys.exit(code)


def _fail(message: str, code: int = 2) -> int:
    line = " ".join(message.split())
    sys.stderr.write(f"numerate: {line}\n")
    return code
