"""Score the tasks on texts: from a system that embeds or searches texts to its metrics."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from numerate.errors import InputError
from numerate.extract.ranges import ALL, PROBE_RANGES
from numerate.probe.systems import SearchSystem, SentenceSystem, System
from numerate.probe.tasks.benchmark_files import Benchmarks
from numerate.probe.tasks.similarity import Embed, search_by
from numerate.probe.tasks.text_tasks import TEXT_TASKS, Asked

_SEARCHED = [name for name, task in TEXT_TASKS.items() if task.needs == "search"]


def check_texts(system: System, tasks: Iterable[str]) -> None:
    """Refuse tasks on texts that a system cannot answer; other tasks may be among them."""
    asked = [task for task in tasks if task in TEXT_TASKS]
    if not asked or isinstance(system, SentenceSystem):
        return
    if not isinstance(system, SearchSystem):
        raise InputError(f"{system.name}: makes no vectors of sentences; ask it other tasks")
    if not set(asked).issubset(_SEARCHED):
        raise InputError(f"{system.name}: only searches texts; ask it {', '.join(_SEARCHED)}")


def score_texts(
    system: System,
    task: str,
    range_name: str = ALL,
    seed: int = 0,
    benchmarks: Benchmarks | None = None,
) -> dict[str, float]:
    """Return the metrics of a task on texts; all systems are asked the same."""
    check_texts(system, [task])
    place = list(PROBE_RANGES).index(range_name)
    rng = np.random.default_rng([seed, list(TEXT_TASKS).index(task), place])
    asked = Asked(PROBE_RANGES[range_name], rng, benchmarks or Benchmarks())
    chosen = TEXT_TASKS[task]
    if chosen.needs == "search" and isinstance(system, SearchSystem):
        return chosen.score(system.search, asked)
    texts: Any = system  # a SentenceSystem, or `check_texts` had refused it
    embed: Embed = texts.embed_texts
    return chosen.score(embed if chosen.needs == "vectors" else search_by(embed), asked)
