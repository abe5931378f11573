"""Measures sentence encoders beside their twins: numbers in sentences, and what they knew before.

`python -m benchmarks.encoders BENCHMARKS NAME TITLE=MODEL…` asks each model all tasks on texts and
appends its scores to `results/encoders/NAME.jsonl`; what is there is not asked again. BENCHMARKS is
a folder with the sets of `docs/probing.md`. Models of one title are trainings of one system. With
`--draws 1`, sentences are drawn once, not three times.
`python -m benchmarks.encoders searches NAME TITLE=MODEL…` writes what they find for a few queries
to `results/encoders/NAME-searches.json`.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from numerate.files import write_json
from numerate.models.names import SystemName
from numerate.probe.plan import Plan, probe_system
from numerate.probe.protocols import LAPTOP
from numerate.probe.systems import Reading, open_systems
from numerate.probe.tasks.benchmark_files import Benchmarks
from numerate.probe.tasks.searches import search_examples
from numerate.probe.tasks.text_tasks import expand_tasks
from numerate.probe.text_systems import SentenceEncoder

KEPT = Path(__file__).parents[1] / "results" / "encoders"
TASKS = ("sentences", "factbook", "STSBenchmark", "SICK-R", "SciFact-part")
READING = Reading(("visible",), "all")
# Of sentences. No recipe was chosen by them, though what some recipes lacked was seen on them.
SEEDS = (200, 201, 202)


def main() -> None:
    """Probe models on texts; BM25 and other controls are asked what they can answer."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoders")
    parser.add_argument("benchmarks", help="folder of the sets, or the word searches")
    parser.add_argument("name", help="of the base model, and of the file of scores")
    parser.add_argument("models", nargs="+", type=SystemName.parse, metavar="TITLE=MODEL")
    parser.add_argument("--draws", type=int, default=len(SEEDS), choices=range(1, len(SEEDS) + 1))
    asked = parser.parse_args()
    if asked.benchmarks == "searches":
        found = {}
        for model in asked.models:
            [system] = open_systems(model, reading=READING)
            found[model.title] = search_examples(cast("SentenceEncoder", system).search)
        write_json(KEPT / f"{asked.name}-searches.json", found)
        return
    trainings: Counter[str] = Counter()
    for model in asked.models:
        training, seeds = trainings[model.title], SEEDS[: asked.draws]
        path = KEPT / f"{asked.name}.jsonl"
        ask(model, path, asked.benchmarks, training=training, seeds=seeds)
        trainings[model.title] += 1


def ask(
    model: SystemName,
    path: Path,
    benchmarks: str,
    *,
    training: int = 0,
    tasks: Sequence[str] = TASKS,
    seeds: Sequence[int] = SEEDS,
) -> None:
    """Ask a model tasks on texts, append the scores to a file, and print them."""
    plan = Plan(
        tasks=expand_tasks(tasks),
        seeds=tuple(seeds),
        protocol=LAPTOP,
        training=training,
        benchmarks=Benchmarks(Path(benchmarks)),
    )
    for system in open_systems(model, reading=READING):
        for score in probe_system(system, plan, path):
            print(score.system, score.training, score.task, score.range, score.metric, score.value)


if __name__ == "__main__":
    main()
