"""Standard input, output and error on odd machines: closed, or not in UTF-8."""

import codecs
import os
import sys
import unicodedata
from io import TextIOWrapper

_PLAIN = str.maketrans({"−": "-", "–": "-", "—": "-", "×": "x", "±": "+-", "…": "...", "→": "->"})
_PLAIN |= str.maketrans({"≤": "<=", "≥": ">=", "·": "*", "²": "2", "’": "'", "≈": "~"})


def prepare_streams() -> None:
    """Open streams that are closed on nothing, and let no character make output fail."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # else the next file that is opened would take its place
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    codecs.register_error("numerate.plain", write_plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="numerate.plain")


def write_plain(error: UnicodeError) -> tuple[str, int]:
    """Return the nearest ASCII for characters that a stream cannot write, `?` where there is none.

    >>> codecs.register_error("plain", write_plain)
    >>> "5 – 7 × Zoë".encode("ascii", "plain")
    b'5 - 7 x Zoe'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    letters = unicodedata.normalize("NFKD", text)
    kept = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return kept.encode("ascii", "replace").decode(), error.end
