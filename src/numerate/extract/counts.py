"""Counts numerals: a corpus goes in, `Counts` come out (the paper's section 2)."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from numerate.engines import Engine, LocalEngine
from numerate.errors import InputError, check_strings
from numerate.extract.corpus import Corpus
from numerate.extract.numerals import as_number, scan_numerals
from numerate.extract.pieces import Piece, cut_corpus, number_blocks
from numerate.extract.sources import block_texts
from numerate.extract.tally import EXACT, Tally, Total
from numerate.files import read_json, write_json
from numerate.options import Domain, check_option
from numerate.parallel import Progress, ignore_progress

FORMAT = "numerate-counts"


@dataclass(frozen=True)
class Counts:
    """How often each numeral occurs in a corpus, by increasing value, and the corpus' size.

    Above a million distinct values they are counts of `bins` to every power of two (`tally`): a
    numeral is counted at a value that is smaller by less than 1 / `bins` of it; below twice as many
    as there are bins, integers are exact.
    """

    counts: Mapping[int | float, int]
    _: KW_ONLY
    domain: Domain = "integers"
    documents: int = 0
    words: int = 0
    sources: tuple[str, ...] = ()
    bins: int | None = None

    def __post_init__(self) -> None:
        check_option("domain", self.domain, Domain)
        if not self.counts:
            raise InputError("counts must hold at least one numeral, got none")
        if min(self.counts.values()) < 1:
            raise InputError(f"counts must be 1 or more, got {min(self.counts.values())}")
        object.__setattr__(self, "counts", dict(sorted(self.counts.items())))

    @cached_property
    def values(self) -> npt.NDArray[np.float64]:
        """The distinct values in increasing order."""
        return np.array(list(self.counts), dtype=np.float64)

    @cached_property
    def weights(self) -> npt.NDArray[np.int64]:
        """How often each of `values` occurs."""
        return np.array(list(self.counts.values()), dtype=np.int64)

    @property
    def numerals(self) -> int:
        """The number of numerals in the corpus, repetitions included."""
        return int(self.weights.sum())

    def shares_by_digits(self) -> dict[int, float]:
        """Return the share of all numerals with 1, 2, … digits before the decimal point."""
        # 1e-12: log10(1000) may come out just below 3
        digits = np.floor(np.log10(np.maximum(np.abs(self.values), 1)) + 1e-12).astype(int) + 1
        totals = np.bincount(digits, self.weights)
        return {n: float(total / self.numerals) for n, total in enumerate(totals) if total}

    def most_common(self, n: int) -> list[tuple[int | float, int]]:
        """Return the `n` most frequent numerals with their counts; ties by increasing value."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:n]

    def check_exact(self, high: int) -> None:
        """Refuse counts of bins, if they do not tell all values below `high` apart."""
        if self.bins and 2 * self.bins < high:
            raise InputError(
                f"counts are of bins above {2 * self.bins:,}: too many distinct values to tell "
                "which the corpus has; extract a part of it"
            )

    def save(self, path: Path) -> None:
        """Write `counts.json`."""
        document = {
            "format": FORMAT,
            "version": 1,
            "domain": self.domain,
            "documents": self.documents,
            "words": self.words,
            "numerals": self.numerals,
            "distinct": len(self.counts),
            "sources": list(self.sources),
            **({"bins_per_octave": self.bins} if self.bins else {}),
            "counts": {str(value): count for value, count in self.counts.items()},
        }
        write_json(path, document)

    @classmethod
    def load(cls, path: Path) -> "Counts":
        """Read `counts.json`."""
        document = read_json(path, FORMAT, made_by="numerate extract")
        try:
            counts = {as_number(float(value)): int(n) for value, n in document["counts"].items()}
            return cls(
                counts,
                domain=document.get("domain", "integers"),
                documents=int(document.get("documents", 0)),
                words=int(document.get("words", 0)),
                sources=tuple(document.get("sources", ())),
                bins=document.get("bins_per_octave"),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: damaged counts ({error}); run 'numerate extract'") from None


def extract_counts(
    corpus: Corpus | Iterable[str],
    *,
    domain: Domain = "integers",
    workers: int = 1,
    engine: Engine | None = None,
    progress: Progress = ignore_progress,
) -> Counts:
    """Count the numerals of a corpus, or of texts in memory.

    >>> extract_counts(["4 of 5 were there", "in 1999, 5 were not"]).counts
    {4: 1, 5: 2, 1999: 1}

    The result depends neither on the number of workers nor on the engine, by default a local one
    with `workers` processes. `progress` is called with the number of bytes of the corpus read so
    far.
    """
    check_option("domain", domain, Domain)
    check_strings("corpus", corpus)
    engine = engine or LocalEngine(workers)
    if isinstance(corpus, Corpus):
        pieces, sources = cut_corpus(corpus, engine.part_bytes), corpus.sources
    else:
        pieces, sources = number_blocks(block_texts(corpus)), ()
    total = Total()
    for piece, tally in engine.map(partial(_count_piece, domain=domain), pieces):
        total.add(tally)
        progress(piece.position)
    found = total.tally
    if not len(found.values):
        where = ", ".join(sources) or "the texts"
        if not found.words:
            raise InputError(f"{where}: the corpus is empty")
        raise InputError(f"{where}: no numerals of the domain '{domain}' in {found.words:,} words")
    return Counts(
        found.counts,
        domain=domain,
        documents=found.documents,
        words=found.words,
        sources=sources,
        bins=None if found.digits == EXACT else 2**found.digits,
    )


def _count_piece(piece: Piece, domain: Domain) -> Tally:
    """Return what a piece of a corpus has of each numeral."""
    total = Total()
    for block in piece.blocks:
        values, counts = np.unique(scan_numerals(block.data, domain).values, return_counts=True)
        total.add(Tally(values, counts, block.documents, _count_words(block.data)))
    return total.tally


def _count_words(data: bytes) -> int:
    """Return the number of words: runs of bytes that are not ASCII white space."""
    codes = np.frombuffer(data, np.uint8)
    is_space = (codes == 32) | ((codes - np.uint8(9)) < 5)
    starts = int(np.count_nonzero(is_space[:-1] > is_space[1:]))
    return starts + (1 if len(codes) and not is_space[0] else 0)
