"""Templates: from a corpus to sentences whose numbers can be replaced, and texts to keep.

A template is a sentence with one or two of its numbers taken as *slots*. Written with other
numbers, it is a *version* of the sentence; with a neutral word in place of each number, it is what
the sentence means apart from them. The few words around a slot are a template too, a *phrase*, as
one would search for. Texts to keep are those whose vectors must not change: sentences
without numbers, short queries and long passages.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from numerate.errors import InputError
from numerate.extract.corpus import Corpus
from numerate.extract.numerals import Numeral, find_numerals
from numerate.models.no_amounts import NO_AMOUNTS
from numerate.options import Domain

NEUTRAL = "some"  # stands for a number
MOST_SLOTS = 2
_HELD_OUT = 20
_FEWEST = 21  # sentences: so that one can be held out
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])")
_SHORTEST, _LONGEST = 20, 120  # characters of a sentence
_PASSAGE = 800  # characters of a passage at most; one has at least half as many
_QUERY_WORDS = (3, 9)
_PHRASE_WORDS = (1, 5)  # before the number, and after it
_WORD = re.compile(r"\S+")
_NO_AMOUNT = re.compile("|".join(NO_AMOUNTS))
_NAME_BEFORE = re.compile(r"(?:\w|[^\W\d_]-)\Z")


@dataclass(frozen=True)
class Template:
    """A sentence with the numbers in it that are to be replaced, from left to right."""

    text: str
    slots: tuple[Numeral, ...]

    @property
    def neutral(self) -> str:
        """The sentence with a neutral word in place of its numbers.

        >>> Template("Some 300 of 5,000 trees.", (Numeral(300, 5, 8),)).neutral
        'Some some of 5,000 trees.'
        """
        return self.fill([NEUTRAL] * len(self.slots))

    def fill(self, written: Sequence[str], words: Sequence[str] = ()) -> str:
        """Return the sentence with texts in its slots, and words before these or what adjoins them.

        >>> template = Template("He had $300 of it.", (Numeral(300, 8, 11),))
        >>> template.fill(["2.5 million"]), template.fill(["400"], ["more than "])
        ('He had $2.5 million of it.', 'He had more than $400 of it.')
        """
        parts, end = [], 0
        befores = words or [""] * len(self.slots)
        for slot, text, before in zip(self.slots, written, befores, strict=True):
            start = max(end, 1 + self.text.rfind(" ", 0, slot.start))
            parts += [self.text[end:start], before, self.text[start : slot.start], text]
            end = slot.end
        return "".join([*parts, self.text[end:]])

    def cut(self, place: int, n_before: int, n_after: int) -> "Template":
        """Return a slot with some words before and after it, but not with another slot.

        >>> slots = Numeral(300, 5, 8), Numeral(5000, 12, 17)
        >>> Template("Some 300 of 5,000 tall trees.", slots).cut(1, 3, 1).text
        'of 5,000 tall'
        """
        low = self.slots[place - 1].end if place else 0
        high = self.slots[place + 1].start if place + 1 < len(self.slots) else len(self.text)
        slot = self.slots[place]
        words = [match.span() for match in _WORD.finditer(self.text, low, high)]
        first = next(n for n, (_, end) in enumerate(words) if end > slot.start)
        last = next(n for n, (_, end) in enumerate(words) if end >= slot.end)
        start = words[max(0, first - n_before)][0]
        end = words[min(len(words) - 1, last + n_after)][1]
        moved = Numeral(slot.value, slot.start - start, slot.end - start)
        return Template(self.text[start:end], (moved,))


Family = tuple[Template, ...]
"""A sentence, then for each of its slots a phrase."""


@dataclass(frozen=True)
class TuneTexts:
    """What is tuned on: sentences with one slot and with two, and texts to keep."""

    ones: tuple[Family, ...]
    pairs: tuple[Family, ...]
    kept: tuple[str, ...]

    @property
    def without_numbers(self) -> list[str]:
        """All templates with a neutral word for each number, then the texts to keep."""
        families = itertools.chain(self.ones, self.pairs)
        return [*(template.neutral for family in families for template in family), *self.kept]

    def keep_numbered(self) -> "TuneTexts":
        """Return the same, of the texts to keep those with digits, if there are any."""
        kept = tuple(text for text in self.kept if _DIGIT.search(text))
        return replace(self, kept=kept if len(kept) >= _FEWEST else self.kept)

    def split(self) -> tuple["TuneTexts", "TuneTexts"]:
        """Return the texts to train on and, the first of every twenty, those to validate on."""
        train, held_out = (
            TuneTexts(*(_take(part, held) for part in (self.ones, self.pairs, self.kept)))
            for held in (False, True)
        )
        return train, held_out


def _take(texts: tuple[Any, ...], held_out: bool) -> tuple[Any, ...]:
    return tuple(text for n, text in enumerate(texts) if (n % _HELD_OUT == 0) == held_out)


@dataclass
class _Sample:
    """A uniform sample of a stream (algorithm R)."""

    size: int
    rng: np.random.Generator
    drawn: list[str] = field(default_factory=list)
    _seen: int = 0

    def add(self, text: str) -> None:
        self._seen += 1
        if len(self.drawn) < self.size:
            self.drawn.append(text)
        elif (place := int(self.rng.integers(self._seen))) < self.size:
            self.drawn[place] = text


def read_texts(
    corpus: Corpus, *, domain: Domain, most_sentences: int, most_kept: int, seed: int
) -> TuneTexts:
    """Return templates and texts to keep, drawn at random from all of a corpus.

    `most_sentences` limits the sentences with numbers, `most_kept` the texts to keep.
    """
    rng = np.random.default_rng([seed, 0x7E4])
    numbered, plain = _Sample(most_sentences, rng), _Sample(most_kept, rng)
    passages = _Sample(most_kept // 4, rng)
    for document in (text for block in corpus.blocks() for text in block.texts()):
        if len(document) >= _PASSAGE // 2:
            passages.add(document[:_PASSAGE])
        for sentence in split_sentences(document):
            (numbered if _DIGIT.search(sentence) else plain).add(sentence)
    found = list(_find_families(numbered.drawn, domain, rng))
    ones, pairs = (
        tuple(family for family in found if len(family[0].slots) == n_slots)
        for n_slots in range(1, MOST_SLOTS + 1)
    )
    kept = (*_shorten_some(plain.drawn, rng), *passages.drawn)
    if len(ones) < _FEWEST:
        raise InputError(
            f"{', '.join(corpus.sources)}: too few sentences with a number to tune on "
            f"({len(ones)}, it takes {_FEWEST}); give more text"
        )
    # Where all text has numbers, it is kept with neutral words for them.
    if len(kept) < _FEWEST:
        kept = tuple(sentence.neutral for sentence, _ in ones)
    return TuneTexts(ones, pairs, kept)


def split_sentences(document: str) -> Iterator[str]:
    """Yield the sentences of a document that are neither very short nor very long.

    >>> list(split_sentences("The first one has 12 words in all. No. It ends here, I think."))
    ['The first one has 12 words in all.', 'It ends here, I think.']
    """
    for line in document.splitlines():
        for sentence in _SENTENCE_END.split(line.strip()):
            if _SHORTEST <= len(sentence) <= _LONGEST:
                yield sentence


def _find_families(
    sentences: Iterable[str], domain: Domain, rng: np.random.Generator
) -> Iterator[Family]:
    """Yield each sentence with positive numbers as a template, with its phrases.

    Half of the sentences with several numbers have two slots, others one.
    """
    for sentence in sentences:
        numerals = [
            numeral
            for numeral in find_numerals(sentence, domain)
            if numeral.value > 0 and _is_amount(sentence, numeral)
        ]
        if numerals:
            n_slots = min(len(numerals), int(rng.integers(1, MOST_SLOTS + 1)))
            places = np.sort(rng.choice(len(numerals), n_slots, replace=False))
            template = Template(sentence, tuple(numerals[place] for place in places))
            around = rng.integers(*_PHRASE_WORDS, size=(n_slots, 2)).tolist()
            phrases = (template.cut(place, *n_words) for place, n_words in enumerate(around))
            yield template, *phrases


def _shorten_some(sentences: Sequence[str], rng: np.random.Generator) -> Iterator[str]:
    """Yield the sentences, one in three cut to a few words in a row, like a query."""
    for sentence in sentences:
        words = sentence.split()
        if rng.random() < 1 / 3:
            n_words = int(rng.integers(*_QUERY_WORDS))
            start = int(rng.integers(max(1, len(words) - n_words + 1)))
            words = words[start : start + n_words]
        yield " ".join(words)


def _is_amount(text: str, numeral: Numeral) -> bool:
    """Return whether a numeral is neither a part of a name, such as B12 or IL-6, nor a date."""
    return not (
        _NAME_BEFORE.search(text, 0, numeral.start)
        or text[numeral.end :][:1].isalnum()
        or _NO_AMOUNT.match(text, numeral.start)
    )


_DIGIT = re.compile(r"\d")
