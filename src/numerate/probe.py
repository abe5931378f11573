"""Probe: from a model's vectors to scores, cell by cell; what is done already is skipped.

So far the three tasks on sentences, which train nothing; see `numerate.sentences`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from numerate.choices import Anchor
from numerate.embed import Encoder
from numerate.errors import InputError
from numerate.scores import Score, append_scores, read_scores
from numerate.sentences import PROTOCOL, Embed, list_cells, probe_sentences


@dataclass(frozen=True)
class System:
    """Something that makes vectors of sentences, under the name that its scores will have."""

    name: str
    embed_texts: Embed


def make_systems(encoder: Encoder, anchors: Sequence[Anchor]) -> Iterator[System]:
    """Yield a system for each thing that a model can be shown; a plain model has but one."""
    if encoder.priming is None:
        yield System(encoder.name, encoder.embed_texts)
        return
    for anchor in anchors:
        yield System(f"{encoder.name} ({anchor})", _shown(encoder, anchor))


def parse_anchors(text: str) -> list[Anchor]:
    """Return what a list such as `visible,masked` names.

    >>> parse_anchors("visible,masked")
    ['visible', 'masked']
    """
    known: dict[str, Anchor] = {anchor: anchor for anchor in get_args(Anchor)}
    for name in text.split(","):
        if name not in known:
            raise InputError(f"anchor must be among {', '.join(known)}, got {name!r}")
    return [known[name] for name in text.split(",")]


def probe_system(
    system: System,
    path: Path,
    *,
    tasks: Sequence[str],
    seeds: Sequence[int],
    progress: Callable[[int], object] = int,
) -> list[Score]:
    """Return the scores of a system, and add those to the file that it does not have yet.

    Args:
        system: What makes the vectors.
        path: `scores.jsonl`.
        tasks: Among `distance`, `retrieval` and `paraphrases`.
        seeds: Each is another draw of sentences, the same for every system.
        progress: Called with the cells that are done.
    """
    cells = [(task, name, seed) for seed in seeds for task, name in list_cells(tasks)]
    known: dict[tuple[object, ...], list[Score]] = {}
    for score in read_scores(path):
        known.setdefault(score.cell, []).append(score)
    scores = []
    for done, (task, name, seed) in enumerate(cells, 1):
        cell = (system.name, task, PROTOCOL, name, PROTOCOL, seed)
        if cell not in known:
            known[cell] = probe_sentences(
                system.embed_texts, system.name, seed, task=task, range_name=name
            )
            append_scores(path, known[cell])
        scores += known[cell]
        progress(done)
    return scores


def _shown(encoder: Encoder, anchor: Anchor) -> Embed:
    return lambda texts: encoder.embed_texts(texts, anchor=anchor, show_bar=False)
