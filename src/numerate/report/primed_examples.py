"""Examples: the same sentences plain, primed, and primed with direction (the paper's figure 2)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import islice

import numpy as np

from numerate.errors import InputError
from numerate.extract.numerals import find_numerals
from numerate.fit.anchors import AnchorSet, restore
from numerate.options import Marker
from numerate.prime.primed_corpus import PrimedCorpus
from numerate.prime.text import MARKERS_OF, PrimedText, prime_text, unprime_text
from numerate.report.formats import escape_markdown

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
class Line:
    """One way to write a sentence: what way it is, and its pieces with what each piece is.

    A piece is `text`, `numeral`, `marker` or `anchor`.
    """

    way: str
    pieces: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The sentence."""
        return "".join(text for _, text in self.pieces)


@dataclass(frozen=True)
class Example:
    """A sentence in all ways, and how far its numerals are from their anchors on each scale."""

    lines: tuple[Line, ...]
    misses: Mapping[str, tuple[float, ...]]
    """|anchor - n| / n of each numeral, by the name of the anchors."""


def make_examples(texts: Iterable[str], fits: Mapping[str, AnchorSet]) -> list[Example]:
    """Return sentences written in every way: plain, and primed with each set of anchors."""
    return [_make_example(text, fits) for text in texts] if fits else []


def pick_sentences(corpora: Iterable[PrimedCorpus]) -> list[str]:
    """Return the first short sentences with numerals of primed corpora, without their anchors."""
    for corpus in corpora:
        found = list(islice(_short_sentences(corpus), _MOST))
        if found:
            return found
    return []


def _short_sentences(corpus: PrimedCorpus) -> Iterator[str]:
    for document in corpus.documents():
        for sentence in _SENTENCE_END.split(unprime_text(document).strip()):
            if len(sentence) <= _LONGEST and find_numerals(sentence, corpus.anchors.domain):
                yield sentence


def _make_example(text: str, fits: Mapping[str, AnchorSet]) -> Example:
    first = next(iter(fits.values()))
    lines = [Line("plain", tuple(_cut_plain(text, first)))]
    misses = {}
    for name, anchors in fits.items():
        for marker in MARKERS_OF[anchors.scale]:
            primed = prime_text(text, anchors, marker=marker)
            lines.append(Line(f"{_WAYS[marker]}, {name}", tuple(_cut(primed))))
        misses[name] = _measure_misses(text, anchors)
    return Example(tuple(lines), misses)


def _cut_plain(text: str, anchors: AnchorSet) -> Iterator[tuple[str, str]]:
    """The pieces of a text before it is primed."""
    place = 0
    for numeral in find_numerals(text, anchors.domain):
        yield "text", text[place : numeral.start]
        yield "numeral", text[numeral.start : numeral.end]
        place = numeral.end
    yield "text", text[place:]


def _cut(primed: PrimedText) -> Iterator[tuple[str, str]]:
    """The pieces of a primed text, from left to right."""
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


def examples_to_markdown(examples: Iterable[Example]) -> str:
    """Return the sentences as a Markdown list, what priming inserted in bold."""
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
    """A piece of text for Markdown that keeps the blanks at its ends."""
    body = escape_markdown(piece)
    head = " " if piece[:1].isspace() else ""
    tail = " " if body and piece[-1:].isspace() else ""
    return f"{head}{body}{tail}"


def examples_to_html(examples: Iterable[Example]) -> str:
    """Return the sentences as an HTML fragment, each piece with its kind as class."""
    return "\n".join(
        '<dl class="example">\n'
        + "\n".join(
            f"<dt>{escape(line.way)}</dt><dd>{''.join(_html_piece(*p) for p in line.pieces)}</dd>"
            for line in example.lines
        )
        + "\n</dl>"
        for example in examples
    )


def _html_piece(kind: str, text: str) -> str:
    return escape(text) if kind == "text" else f'<span class="{kind}">{escape(text)}</span>'


def choose_sentences(source: str, corpora: Mapping[str, PrimedCorpus]) -> list[str]:
    """Return the sentences to show: `own` ones, or those of the run's own `corpus`."""
    if source == "own":
        return list(OWN)
    if source == "corpus":
        return pick_sentences(corpora.values())
    raise InputError(f"examples must be own or corpus, got {source!r}")
