"""The demo: all stages on the embedded corpus, with what each one shows."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from numerate.choices import Marker, Scale
from numerate.corpus import open_corpus
from numerate.extract import extract_counts
from numerate.fit import fit_anchors
from numerate.shards import prime_corpus
from numerate.show import show_anchors, show_counts, show_primed

_SCALES: tuple[Scale, ...] = ("linear", "ln")
_MARKERS: tuple[Marker, ...] = ("anc", "lr")


def run_demo(folder: Path) -> Iterator[RenderableType]:
    """Run extract, fit and prime into a folder; yields what there is to see, as it comes."""
    corpus = open_corpus(["almanac:"])
    counts = extract_counts(corpus)
    counts.save(folder / "extract" / "counts.json")
    yield _heading("extract", "the numerals of the embedded corpus")
    yield show_counts(counts)
    for scale in _SCALES:
        anchors = fit_anchors(counts, scale=scale)
        anchors.save(folder / "fit" / f"{scale}.json")
        yield _heading("fit", f"anchors on the {scale} scale")
        yield show_anchors(anchors)
        for marker in _MARKERS:
            primed = prime_corpus(
                corpus, anchors, folder / "prime" / f"{scale}-{marker}", marker=marker
            )
            yield _heading("prime", f"{scale} anchors, marker {marker}")
            yield show_primed(primed, n_samples=2)


def _heading(stage: str, what: str) -> Text:
    return Text(f"\n{stage}: {what}", style="bold")
