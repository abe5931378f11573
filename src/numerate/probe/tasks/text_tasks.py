"""The tasks on texts by name: what each needs of a system, and what it is asked of.

Some are asked for each range of numbers and each seed; others have only one question for all.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from numerate.probe.tasks.benchmark_files import Benchmarks
from numerate.probe.tasks.factbook import (
    draw_conditions,
    find_topics,
    score_conditions,
    score_triples,
)
from numerate.probe.tasks.places import draw_traps, score_traps
from numerate.probe.tasks.retention import score_pairs, score_search, take_part
from numerate.probe.tasks.sentence_tasks import (
    draw_amount_pools,
    draw_distances,
    draw_pools,
    score_distances,
    score_paraphrases,
    score_pools,
)

PROTOCOL = "sentences"


@dataclass(frozen=True)
class Asked:
    """What a task is asked of: a range of numbers, random numbers, and the benchmark sets."""

    bounds: tuple[float, float]
    rng: np.random.Generator
    benchmarks: Benchmarks


@dataclass(frozen=True)
class TextTask:
    """A task on texts; `score` takes an `Embed` if it needs vectors, and a `Search` otherwise."""

    needs: Literal["vectors", "search"]
    score: Callable[[Any, Asked], dict[str, float]]
    by_range: bool = False
    by_seed: bool = True


TEXT_TASKS = {
    "distance": TextTask(
        "vectors",
        lambda embed, asked: score_distances(embed, draw_distances(asked.bounds, asked.rng)),
        by_range=True,
    ),
    "retrieval": TextTask(
        "search",
        lambda search, asked: score_pools(search, draw_pools(asked.bounds, asked.rng)),
        by_range=True,
    ),
    "paraphrases": TextTask("vectors", lambda embed, _: score_paraphrases(embed)),
    "amounts": TextTask(
        "search", lambda search, asked: score_pools(search, draw_amount_pools(asked.rng))
    ),
    "places": TextTask("search", lambda search, asked: score_traps(search, draw_traps(asked.rng))),
    "factbook-triples": TextTask(
        "vectors",
        lambda embed, asked: score_triples(
            embed, find_topics(asked.benchmarks.read_factbook()), asked.rng
        ),
    ),
    "factbook-conditions": TextTask(
        "search",
        lambda search, asked: score_conditions(
            search, draw_conditions(find_topics(asked.benchmarks.read_factbook()), asked.rng)
        ),
    ),
    "STSBenchmark": TextTask(
        "vectors",
        lambda embed, asked: score_pairs(embed, asked.benchmarks.read_stsb()),
        by_seed=False,
    ),
    "SICK-R": TextTask(
        "vectors",
        lambda embed, asked: score_pairs(embed, asked.benchmarks.read_sick()),
        by_seed=False,
    ),
    "SciFact": TextTask(
        "search",
        lambda search, asked: score_search(search, asked.benchmarks.read_scifact()),
        by_seed=False,
    ),
    "SciFact-part": TextTask(
        "search",
        lambda search, asked: score_search(search, take_part(asked.benchmarks.read_scifact())),
        by_seed=False,
    ),
}
SEEDLESS = tuple(name for name, task in TEXT_TASKS.items() if not task.by_seed)
"""Tasks that draw nothing, so that their scores are the same for all seeds."""
TASK_GROUPS = {
    "sentences": ("distance", "retrieval", "paraphrases", "amounts", "places"),
    "factbook": ("factbook-triples", "factbook-conditions"),
    "retention": ("STSBenchmark", "SICK-R", "SciFact-part"),
}


def expand_tasks(names: Iterable[str]) -> tuple[str, ...]:
    """Return tasks, with those of a group in place of its name.

    >>> expand_tasks(["decoding", "factbook"])
    ('decoding', 'factbook-triples', 'factbook-conditions')
    """
    return tuple(task for name in names for task in TASK_GROUPS.get(name, (name,)))
