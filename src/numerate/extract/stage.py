"""The stage `extract` of a run: its settings, its step, and the estimate of its duration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path

from numerate.errors import InputError
from numerate.extract.corpus import Corpus, is_stream, open_corpus
from numerate.extract.counts import Counts, extract_counts
from numerate.extract.sources import Block
from numerate.extract.storage import find_status, is_url
from numerate.layout import RunContext
from numerate.options import Domain, Errors
from numerate.progress import show_progress
from numerate.settings import Section
from numerate.steps import Step, measure_seconds

_SAMPLE_BYTES, _SAMPLE_BLOCKS = 2_000_000, 64


class ExtractSettings(Section):
    """Which numerals count, and how to read the corpus."""

    domain: Domain = "integers"
    field: str = "text"
    errors: Errors = "strict"


@dataclass(frozen=True)
class RunText:
    """The corpus of a run: the names that the config gives, and how to read them."""

    names: tuple[str, ...]
    settings: ExtractSettings

    def __post_init__(self) -> None:
        if "-" in self.names:
            raise InputError("corpus must not be '-': a run reads it more than once; name a file")

    @property
    def corpus(self) -> Corpus:
        """The corpus that the names stand for."""
        return open_corpus(self.names, field=self.settings.field, errors=self.settings.errors)

    @property
    def inputs(self) -> dict[str, Path | str]:
        """The sources of the corpus as inputs of a step."""
        return {name: _as_input(name) for name in self.corpus.sources}

    @property
    def is_remote(self) -> bool:
        """Whether a dataset of the hub is in it, which would have to be downloaded."""
        return any(name.startswith("hf:") for name in self.names)


def _as_input(name: str) -> Path | str:
    """Return a source as an input of a step: files at a URL are not read to be compared."""
    if is_url(name):
        status = find_status(name)
        return f"{status.size} bytes, modified {status.modified}"
    return name if is_stream(name) else Path(name)


def plan_extract(run: RunContext, text: RunText) -> Step:
    """Return the step that counts the numerals of the corpus."""

    def work(folder: Path) -> None:
        corpus = text.corpus
        with show_progress("extract", corpus.size, quiet=run.quiet) as progress:
            counts = extract_counts(
                corpus, domain=text.settings.domain, engine=run.engine, progress=progress
            )
        counts.save(folder / run.layout.counts.name)

    return Step(
        stage="extract",
        settings={"corpus": text.names, **text.settings.model_dump()},
        inputs=text.inputs,
        outputs=(run.layout.counts.name,),
        work=work,
        estimate=lambda: estimate_reading(
            text, run.workers, partial(_count, domain=text.settings.domain)
        ),
    )


def estimate_reading(
    text: RunText, workers: int, work: Callable[[Sequence[Block]], object]
) -> float | None:
    """Return the seconds of some work on a corpus, from its first blocks; None if it is remote."""
    if text.is_remote:
        return None
    blocks, times = _sample_corpus(text.corpus)
    return times / workers * measure_seconds(lambda: work(blocks))


def estimate_counts(text: RunText, path: Path) -> tuple[Counts, float] | None:
    """Return the counts of a run, and by what factor the corpus has more words.

    Before they are extracted, they are those of the first blocks; None for a dataset of the hub.
    """
    if path.exists():
        return Counts.load(path), 1.0
    if text.is_remote:
        return None
    blocks, times = _sample_corpus(text.corpus)
    return _count(blocks, text.settings.domain), times


@lru_cache(maxsize=1)
def _sample_corpus(corpus: Corpus) -> tuple[list[Block], float]:
    """Return the first blocks of a corpus, and how many times as long the whole corpus is."""
    blocks: list[Block] = []
    for block in islice(corpus.blocks(), _SAMPLE_BLOCKS):
        blocks.append(block)
        if sum(len(taken.data) for taken in blocks) > _SAMPLE_BYTES:
            break
    size = corpus.size
    return blocks, size / max(1, blocks[-1].position) if size and blocks else 1.0


def _count(blocks: Sequence[Block], domain: Domain) -> Counts:
    return extract_counts((text for block in blocks for text in block.texts()), domain=domain)
