"""Runs commands in this process, and checks what they promise of any input.

The promise: exit code 0 or 2, at most one line on standard error, and unless the code is 0 the
files are as they were before.
"""

import contextlib
import io
import logging
import os
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from unittest import mock

from tests.fuzz.effort import count_cases

SECONDS = 120
_UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


class Hung(BaseException):
    """A command took longer than it may; no command catches this."""


@contextlib.contextmanager
def working_folder():
    """Make a new folder and work in it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def run(*arguments, stdin=b""):
    """Run the command line here; return its code, its output and all that it said on stderr."""
    from numerate.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    argv = ["numerate", *map(str, arguments)]
    with (
        mock.patch.multiple(sys, argv=argv, stdout=out, stderr=err, stdin=_Input(stdin)),
        _collect_warnings(err),
        _collect_logs(err),
        _collect_descriptor(err),
        _limited(argv),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    return code, *(stream.buffer.getvalue().decode() for stream in (out, err))


def check(*arguments, stdin=b""):
    """Run a command in the current folder, check its promise, and return code, output, errors."""
    count_cases()
    before = _read_folder()
    code, out, err = run(*arguments, stdin=stdin)
    told = f"numerate {' '.join(map(str, arguments))}\n{err}"
    assert code in (0, 2), told
    assert err.count("\n") <= 1, told
    assert (code == 0) or err.startswith("numerate: "), told
    if code:
        assert _read_folder() == before, told
    return code, out, err


class _Input(io.TextIOWrapper):
    def __init__(self, data):
        super().__init__(io.BufferedReader(io.BytesIO(data)), "utf-8")


def _read_folder():
    """Return all files and folders below the current one, with the bytes of the files."""
    return {path: path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


@contextlib.contextmanager
def _limited(argv):
    """Raise `Hung` if the block takes too long; what pytest-timeout has set goes on afterwards."""

    def stop(*_):
        raise Hung(" ".join(argv))

    handler = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, handler)


@contextlib.contextmanager
def _collect_warnings(err):
    """Write the warnings that Python would show to a stream; pytest would keep them."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for kind in _UNSEEN:
            warnings.simplefilter("ignore", kind)
        yield
    for warning in told:
        err.write(f"{warning.filename}: {warning.category.__name__}: {warning.message}\n")


@contextlib.contextmanager
def _collect_logs(err):
    """Let handlers that keep the standard error of their import write to a stream."""
    loggers = [logging.root, *map(logging.getLogger, [*logging.root.manager.loggerDict])]
    for handler in {handler for logger in loggers for handler in logger.handlers}:
        if type(handler) is logging.StreamHandler:
            handler.setStream(err)
    yield


@contextlib.contextmanager
def _collect_descriptor(err):
    """Collect what libraries that are not Python write to descriptor 2, a panic of Rust's too."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            err.write(file.read().decode(errors="replace"))
