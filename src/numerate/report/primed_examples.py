"""Examples: the same sentences plain, primed, and primed with direction (the paper's figure 2)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from numerate.errors import InputError
from numerate.extract.numerals import find_numerals
from numerate.fit.anchors import AnchorSet, restore
from numerate.markdown import escape_markdown
from numerate.options import Marker
from numerate.prime.primed_corpus import PrimedCorpus
from numerate.prime.text import MARKERS_OF, PrimedText, prime_text, unprime_text
from numerate.report.tables.formats import render_template

if TYPE_CHECKING:
    from markupsafe import Markup

OWN = (
    "The lighthouse was built in 1874 and stands 52 metres above the rocks.",
    "Some 12,480 people voted, 37 more than four years before.",
    "A day on Venus lasts 243 of ours, and light from the Sun needs 360 seconds to get there.",
    "The library lent 1,250,000 books last year, about 3 for each reader it has.",
)
_MOST, _LONGEST = 4, 160
_SENTENCE_END = re.compile(r"(?<=[.!?]) +")
_WAYS: dict[Marker, str] = {
    "anc": "primed",
    "lr": "primed with direction",
    "exp": "primed with exponents",
}


@dataclass(frozen=True)
class ExampleLine:
    """A sentence written in one way, cut into pieces.

    `pieces` are pairs of kind (`text`, `numeral`, `marker` or `anchor`) and text.
    """

    way: str
    pieces: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PrimedExample:
    """A sentence written in every way, and the distances of its numerals from their anchors."""

    lines: tuple[ExampleLine, ...]
    misses: Mapping[str, tuple[float, ...]]
    """The relative distance |anchor - n| / n of each numeral, by the name of the anchors."""


def make_examples(texts: Iterable[str], fits: Mapping[str, AnchorSet]) -> list[PrimedExample]:
    """Return each sentence plain and primed with every set of anchors; none without anchors."""
    return [_make_example(text, fits) for text in texts] if fits else []


def _short_sentences(corpus: PrimedCorpus) -> Iterator[str]:
    for document in corpus.documents():
        for sentence in _SENTENCE_END.split(unprime_text(document).strip()):
            if len(sentence) <= _LONGEST and find_numerals(sentence, corpus.anchors.domain):
                yield sentence


def _make_example(text: str, fits: Mapping[str, AnchorSet]) -> PrimedExample:
    first = next(iter(fits.values()))
    lines = [ExampleLine("plain", tuple(_cut_plain(text, first)))]
    misses = {}
    for name, anchors in fits.items():
        for marker in MARKERS_OF[anchors.scale]:
            primed = prime_text(text, anchors, marker=marker)
            lines.append(ExampleLine(f"{_WAYS[marker]}, {name}", tuple(_cut(primed))))
        misses[name] = _measure_misses(text, anchors)
    return PrimedExample(tuple(lines), misses)


def _cut_plain(text: str, anchors: AnchorSet) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a text before it is primed."""
    place = 0
    for numeral in find_numerals(text, anchors.domain):
        yield "text", text[place : numeral.start]
        yield "numeral", text[numeral.start : numeral.end]
        place = numeral.end
    yield "text", text[place:]


def _cut(primed: PrimedText) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a primed text, from left to right."""
    place = 0
    for spans in primed.spans:
        for kind, (start, end) in zip(("numeral", "marker", "anchor"), spans, strict=True):
            if start > place:
                yield "text", primed.text[place:start]
            yield kind, primed.text[start:end]
            place = end
    if place < len(primed.text):
        yield "text", primed.text[place:]


def _measure_misses(text: str, anchors: AnchorSet) -> tuple[float, ...]:
    values = np.array([numeral.value for numeral in find_numerals(text, anchors.domain)])
    laid = restore(anchors.nearest(values), anchors.scale, anchors.resolution)
    return tuple((np.abs(laid - values) / np.maximum(np.abs(values), 1e-9)).tolist())


def examples_to_markdown(examples: Iterable[PrimedExample]) -> str:
    """Return the sentences as a Markdown list; markers and anchors are bold."""
    parts = ["**The same sentences plain, primed, and primed with direction**", ""]
    for example in examples:
        for line in example.lines:
            text = "".join(
                f"**{escape_markdown(piece)}**" if kind in ("marker", "anchor") else _space(piece)
                for kind, piece in line.pieces
            )
            parts.append(f"- *{escape_markdown(line.way)}*: {text}")
        parts.append("")
    return "\n".join(parts)


def _space(piece: str) -> str:
    """Escape a piece for Markdown, and keep a blank at each end where there was white space."""
    body = escape_markdown(piece)
    head = " " if piece[:1].isspace() else ""
    tail = " " if body and piece[-1:].isspace() else ""
    return f"{head}{body}{tail}"


def examples_to_html(examples: Sequence[PrimedExample]) -> "Markup":
    """Return the sentences as an HTML fragment; the class of each piece is its kind."""
    return render_template("examples.html.j2", examples=examples)


def choose_sentences(source: str, corpora: Mapping[str, PrimedCorpus]) -> list[str]:
    """Return the sentences to show: numerate's `own`, or sentences of the run's `corpus`."""
    if source == "own":
        return list(OWN)
    if source == "corpus":  # the first short ones of the first corpus that has any
        found = (list(islice(_short_sentences(corpus), _MOST)) for corpus in corpora.values())
        return next(filter(None, found), [])
    raise InputError(f"examples must be own or corpus, got {source!r}")
