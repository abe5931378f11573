"""Systems that read texts: encoders as sentence-transformers runs them, BM25, shared words.

A search may be asked of all of them: how similar is each document to each query?
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from numerate.errors import InputError, needs_extra
from numerate.models.digest import hash_model
from numerate.probe.controls import Matrix
from numerate.probe.statistics import Floats
from numerate.probe.tasks.amounts import SCALES
from numerate.probe.tasks.similarity import search_by

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BM25 = "control:bm25"
_DIGITS = "digits:"
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class SentenceEncoder:
    """A sentence encoder, with the prompts of its folder; a numeral is a short text to it."""

    name: str
    model: "SentenceTransformer"

    @cached_property
    def fingerprint(self) -> str:
        """A text that changes with the weights, the tokenizer, the modules and the prompts."""
        net: Any = self.model
        prompts = net.prompts, net.default_prompt_name
        config = getattr(getattr(net[0], "model", None), "config", None)
        return hash_model(net, config, net.tokenizer, str(net), prompts)

    def embed_numerals(self, numerals: Sequence[int], /) -> Matrix:
        """Return a row for each numeral."""
        return self.embed_texts([str(numeral) for numeral in numerals])

    def embed_texts(self, texts: Sequence[str], /) -> Matrix:
        """Return a row for each text; batches have texts of like length."""
        vectors: Matrix = self.model.encode(list(texts), show_progress_bar=False)
        return vectors

    def search(self, queries: Sequence[str], documents: Sequence[str], /) -> Floats:
        """Return cosines; queries and documents have the prompts that the folder names so."""
        return search_by(
            lambda texts: self.model.encode_query(list(texts), show_progress_bar=False),
            lambda texts: self.model.encode_document(list(texts), show_progress_bar=False),
        )(queries, documents)


@dataclass(frozen=True)
class Bm25System:
    """BM25 by bm25s, with that library's own words, stop words and constants."""

    name: str
    fingerprint: str = BM25

    def embed_numerals(self, numerals: Sequence[int], /) -> Matrix:
        """Refuse to embed numerals: BM25 compares words."""
        raise InputError(
            f"{self.name}: makes no vectors, got {len(numerals)} numerals; search texts"
        )

    def search(self, queries: Sequence[str], documents: Sequence[str], /) -> Floats:
        """Return the scores of BM25."""
        with needs_extra(self.name, "probe"):
            import bm25s
        split = {"return_ids": False, "show_progress": False}
        index = bm25s.BM25()
        index.index(bm25s.tokenize(list(documents), **split), show_progress=False)
        asked = bm25s.tokenize(list(queries), **split)
        nothing = np.zeros(len(documents))
        return np.array([index.get_scores(words) if words else nothing for words in asked])


def share_words(queries: Sequence[str], documents: Sequence[str]) -> Floats:
    """Return the sum of the weights of the words that a query and a document share.

    A word weighs more if fewer documents have it, ln(1 + documents / documents with it). Numbers
    and scale words are no words here.

    >>> share_words(["a long bridge"], ["a bridge", "a lake"]).round(2).tolist()
    [[1.79, 0.69]]
    """
    found: dict[str, list[int]] = defaultdict(list)
    for place, document in enumerate(documents):
        for word in _find_words(document):
            found[word].append(place)
    shared = np.zeros((len(queries), len(documents)))
    for row, query in enumerate(queries):
        for word in _find_words(query):
            if word in found:
                shared[row, found[word]] += math.log(1 + len(documents) / len(found[word]))
    return shared


def _find_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())).difference(SCALES)
