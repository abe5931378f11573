"""Extract: from a corpus to the counts of its numerals (the paper's section 2)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.corpus import Corpus
from numerate.extract.numerals import DOMAINS, as_number, scan_numerals
from numerate.extract.sources import Block, block_texts
from numerate.files import read_json, write_json
from numerate.options import Domain
from numerate.parallel import map_ordered

FORMAT = "numerate-counts"


@dataclass(frozen=True)
class Counts:
    """How often each numeral of a corpus was seen, by increasing value, and the corpus' size."""

    counts: Mapping[int | float, int]
    domain: Domain = "integers"
    documents: int = 0
    words: int = 0
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.domain not in DOMAINS:
            raise ValueError(f"domain must be one of {', '.join(DOMAINS)}, got {self.domain!r}")
        if not self.counts or min(self.counts.values()) < 1:
            raise ValueError("counts must hold at least one numeral, and each at least once")
        object.__setattr__(self, "counts", dict(sorted(self.counts.items())))

    @cached_property
    def values(self) -> npt.NDArray[np.float64]:
        """The distinct values, increasing."""
        return np.array(list(self.counts), dtype=np.float64)

    @cached_property
    def weights(self) -> npt.NDArray[np.int64]:
        """How often each of `values` was seen."""
        return np.array(list(self.counts.values()), dtype=np.int64)

    @property
    def numerals(self) -> int:
        """All numerals, each as often as it was seen."""
        return int(self.weights.sum())

    def shares_by_digits(self) -> dict[int, float]:
        """Return which share of all numerals has one digit, two digits, … before the point."""
        digits = np.floor(np.log10(np.maximum(np.abs(self.values), 1)) + 1e-12).astype(int) + 1
        totals = np.bincount(digits, self.weights)
        return {n: float(total / self.numerals) for n, total in enumerate(totals) if total}

    def most_common(self, n: int) -> list[tuple[int | float, int]]:
        """Return the `n` numerals seen most often; of equals, the smaller first."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:n]

    def save(self, path: Path) -> None:
        """Write `counts.json`."""
        write_json(
            path,
            {
                "format": FORMAT,
                "version": 1,
                "domain": self.domain,
                "documents": self.documents,
                "words": self.words,
                "numerals": self.numerals,
                "distinct": len(self.counts),
                "sources": list(self.sources),
                "counts": {str(value): count for value, count in self.counts.items()},
            },
        )

    @classmethod
    def load(cls, path: Path) -> "Counts":
        """Read `counts.json`."""
        document = read_json(path, FORMAT, made_by="numerate extract")
        try:
            counts = {as_number(float(value)): int(n) for value, n in document["counts"].items()}
            return cls(
                counts,
                document.get("domain", "integers"),
                int(document.get("documents", 0)),
                int(document.get("words", 0)),
                tuple(document.get("sources", ())),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: damaged counts ({error}); run 'numerate extract'") from None


def extract_counts(
    corpus: Corpus | Iterable[str],
    *,
    domain: Domain = "integers",
    workers: int = 1,
    progress: Callable[[int], object] = int,
) -> Counts:
    """Count the numerals of a corpus, or of documents in memory.

    >>> extract_counts(["4 of 5 were there", "in 1999, 5 were not"]).counts
    {4: 1, 5: 2, 1999: 1}

    Args:
        corpus: What `open_corpus` returns, or any iterable of texts.
        domain: Which numerals count.
        workers: How many processes work; the result does not depend on it.
        progress: Called with the bytes of the corpus that are done.
    """
    blocks = corpus.blocks() if isinstance(corpus, Corpus) else block_texts(corpus)
    sources = corpus.sources if isinstance(corpus, Corpus) else ()
    counts: Counter[int | float] = Counter()
    documents = words = 0
    for block, tally in map_ordered(partial(_count_block, domain=domain), blocks, workers=workers):
        counts.update(tally.counts)
        documents += tally.documents
        words += tally.words
        progress(block.position)
    if not counts:
        where = ", ".join(sources) or "the texts"
        if not words:
            raise InputError(f"{where}: the corpus is empty")
        raise InputError(f"{where}: no numerals of the domain '{domain}' in {words:,} words")
    return Counts(counts, domain, documents, words, sources)


@dataclass(frozen=True)
class _Tally:
    counts: dict[int | float, int]
    documents: int
    words: int


def _count_block(block: Block, domain: Domain) -> _Tally:
    values, counts = np.unique(scan_numerals(block.data, domain).values, return_counts=True)
    numbers = map(as_number, values.tolist())
    tally = dict(zip(numbers, counts.tolist(), strict=True))
    return _Tally(tally, block.documents, _count_words(block.data))


def _count_words(data: bytes) -> int:
    """How many runs of anything but ASCII white space there are."""
    codes = np.frombuffer(data, np.uint8)
    is_space = (codes == 32) | ((codes - np.uint8(9)) < 5)
    starts = int(np.count_nonzero(is_space[:-1] > is_space[1:]))
    return starts + (1 if len(codes) and not is_space[0] else 0)
