"""The exceptions for mistakes that a user can correct, and checks that raise them.

A message names the parameter or file, the value, and the remedy, all in one line; the command line
prints it and exits with code 2.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Input that cannot be used; the message says what is wrong, where, and what to do."""


class MissingExtraError(ImportError):
    """A package is missing that an extra of numerate brings; the message names both."""


@contextmanager
def needs_extra(purpose: str, extra: str) -> Iterator[None]:
    """Name the extra that brings a package which the enclosed block fails to import."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "numerate").partition(".")[0]
        if package == "numerate":  # a mistake of ours
            raise
        remedy = f"pip install 'numerate[{extra}]'"
        raise MissingExtraError(f"{purpose} needs {package}: {remedy}", name=package) from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, to quote it within a message of one line.

    >>> first_line(OSError("no such file" + chr(10) + "see https://example.org"))
    'no such file'
    """
    return str(error).strip().split("\n")[0]


def check_strings(name: str, values: object) -> None:
    """Refuse a single string where several are expected: iterating it would yield characters."""
    if isinstance(values, str | bytes):
        start = values[:20]
        raise InputError(f"{name} must be a list of strings, got one: {start!r}; put it in a list")
