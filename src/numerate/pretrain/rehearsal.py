"""Rehearsal: bare numerals from the whole domain with their anchors, such as `48213 <ANC> 118`.

The paper trains on a corpus alone, which has few large numerals. Rehearsal adds numerals that are
drawn log-uniformly from 1 to 10^10; numerals that a probe will ask about are held out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.extract.numerals import LARGEST_OF, find_numerals
from numerate.extract.ranges import Values, is_in_gap, list_outside
from numerate.fit.anchors import AnchorSet
from numerate.options import LmKind, Marker
from numerate.pretrain.sequences import Sequences, join_sequences, tokenize_documents
from numerate.prime.text import prime_texts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

NUMERALS_PER_TEXT = 8
_TEXTS_AT_A_TIME = 1000


@dataclass(frozen=True)
class Rehearsal:
    """Draws numerals and primes them; `held_out` are the values never to draw, sorted.

    With `hold_out_gaps`, values in gaps are not drawn either. With `alone`, a text has a
    single numeral.
    """

    anchors: AnchorSet
    marker: Marker
    held_out: Values = field(default_factory=lambda: np.zeros(0, np.int64))
    hold_out_gaps: bool = False
    alone: bool = False

    def draw_texts(self, rng: np.random.Generator) -> Iterator[str]:
        """Yield primed texts without end; each has one to eight numerals with equal probability."""
        while True:
            sizes = rng.integers(1, NUMERALS_PER_TEXT + 1, _TEXTS_AT_A_TIME)
            if self.alone:
                sizes = np.ones_like(sizes)
            numerals = map(str, self.draw_values(int(sizes.sum()), rng).tolist())
            texts = [" ".join(islice(numerals, size)) for size in sizes.tolist()]
            for primed in prime_texts(texts, self.anchors, marker=self.marker):
                yield primed.text

    def draw_values(self, n_values: int, rng: np.random.Generator) -> Values:
        """Return log-uniform integers of the domain, up to 10^10 or 10^15, none held out."""
        values, largest = np.zeros(0, np.int64), LARGEST_OF[self.anchors.domain]
        while len(values) < n_values:
            drawn = np.rint(largest ** rng.random(n_values)).astype(np.int64)
            values = np.concatenate((values, drawn[~self._is_held_out(drawn)]))
        return values[:n_values]

    def _is_held_out(self, values: Values) -> npt.NDArray[np.bool_]:
        found = is_in_gap(values) if self.hold_out_gaps else np.zeros(len(values), bool)
        if len(self.held_out):
            places = np.searchsorted(self.held_out, values)
            found |= self.held_out.take(places, mode="clip") == values
        return found


def read_held_out(path: Path) -> Values:
    """Return the numerals never to rehearse, sorted.

    They are the numerals of a text file or, for a `counts.json`, every out-of-domain numeral that a
    probe of any seed could ask about.
    """
    if path.suffix == ".json":
        return list_outside(Counts.load(path))
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text ({error})") from None
    values = np.unique(np.array([int(numeral.value) for numeral in find_numerals(text)], np.int64))
    if not len(values):
        raise InputError(f"{path}: has no numerals to hold out; write one per line")
    return values


@dataclass(frozen=True)
class RehearsalSource:
    """Draws as many rehearsal sequences as make a given share of all tokens."""

    rehearsal: Rehearsal
    tokenizer: "PreTrainedTokenizerBase"
    share: float
    max_length: int
    kind: LmKind = "masked"

    def draw(self, corpus_tokens: int, rng: np.random.Generator) -> Sequences:
        """Return rehearsal sequences for a corpus of a number of tokens."""
        wanted = int(corpus_tokens * self.share / (1 - self.share))
        texts = self.rehearsal.draw_texts(rng) if wanted > 0 else ()
        rows = []
        domain = self.rehearsal.anchors.domain
        for row in tokenize_documents(
            texts, self.tokenizer, max_length=self.max_length, domain=domain, kind=self.kind
        ):
            rows.append(row)
            wanted -= len(row.ids)
            if wanted <= 0:
                break
        return join_sequences(rows)
