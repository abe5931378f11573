"""The cost of the probing protocols, and whether they agree.

`python -m benchmarks.probe [PART…]` measures all parts, or the named ones and keeps the results of
the others: table (a seed of the laptop protocol), paper (one cell of the paper's classifier, all
epochs), trees (error by number of trees and of quantiles), optimiser (a step of the paper's LSTMs),
agreement (the order of three systems under laptop and strict).
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr

from benchmarks.common import MINILM, RESULTS, corpus_path, quieten_libraries, save_results
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import Counts, extract_counts
from numerate.parallel import count_cores
from numerate.probe.list_classifier import StackedLstm
from numerate.probe.plan import Plan, probe_system
from numerate.probe.protocols import LAPTOP, PAPER, STRICT
from numerate.probe.samples import TASKS
from numerate.probe.scores import Score
from numerate.probe.systems import Reading, System, open_systems

SCORES = Path("results/probe/protocols.jsonl")
Results = dict[str, dict[str, object]]
_RANK = ("[100,1k]",)


@dataclass(frozen=True)
class Bench:
    """The parts of the benchmark, and the system and the plan that they share."""

    cores: int

    @cached_property
    def counts(self) -> Counts:
        """The counts of the corpus."""
        return extract_counts(open_corpus([str(corpus_path())]), workers=self.cores)

    @cached_property
    def plan(self) -> Plan:
        """A seed of the laptop protocol."""
        return Plan(
            tasks=TASKS, seeds=(0,), protocol=LAPTOP, counts=self.counts, workers=self.cores
        )

    @cached_property
    def bare(self) -> System:
        """The model without anchors."""
        [system] = open_systems(f"MiniLM={MINILM}", reading=Reading())
        return system

    def time_table(self) -> Results:
        """Return the seconds of one seed of the whole table."""
        return {"seconds": {"laptop, a seed of the whole table": _ask(self.bare, self.plan)[0]}}

    def time_paper(self) -> Results:
        """Return the seconds and the accuracy of a cell of the paper's own classifier."""
        plan = Plan(
            tasks=("list-maximum",),
            seeds=(0,),
            protocol=PAPER,
            counts=self.counts,
            domains=("in",),
            ranges=("[1,100]",),
        )
        seconds, [score] = _ask(self.bare, plan)
        return {
            "seconds": {"paper, list maximum of [1,100]": seconds},
            "paper cell": {"accuracy": score.value, "epochs": PAPER.lists.epochs},
        }

    def try_trees(self) -> Results:
        """Return error and seconds of decoding by number of trees and of quantiles."""
        plan = replace(self.plan, tasks=("decoding",), domains=("in",), ranges=("[1k,10k]",))
        plan = replace(plan, regressors=("trees",), workers=1)
        found = {}
        for trees, bins in ((1000, 256), (1000, 64), (1000, 16), (250, 16), (100, 16)):
            protocol = replace(LAPTOP, trees=trees, learning_rate=10 / trees, wide_bins=bins)
            seconds, scores = _ask(self.bare, replace(plan, protocol=protocol))
            [error] = [score.value for score in scores if score.metric == "log-rmse"]
            found[f"{trees} trees, {bins} quantiles"] = {"seconds": seconds, "log-rmse": error}
        return {"trees": found}

    def time_optimiser(self) -> Results:
        """Return the milliseconds of a training step of the paper's LSTMs, by kind of AdamW."""
        x, y = torch.randn(10, 5, 384), torch.randint(0, 5, (10,))
        kinds = {"plain": False, "fused": True}
        steps = {name: _time_step(x, y, fused=fused) for name, fused in kinds.items()}
        return {"milliseconds of a step": steps}

    def compare(self) -> Results:
        """Return how well two protocols agree on the order of the systems, by task."""
        systems = [self.bare, *open_systems("control:digits", reading=Reading())]
        more = open_systems(f"MiniLM read by digits=digits:{MINILM}", reading=Reading())
        plan = replace(self.plan, domains=("in",))
        asked = {
            "decoding": replace(plan, tasks=("decoding",)),
            "addition": replace(plan, tasks=("addition",), ranges=_RANK),
            "list-maximum": replace(plan, tasks=("list-maximum",), ranges=_RANK, workers=1),
        }
        found: dict[str, object] = {}
        found["decoding"] = _rank([*systems, *more], asked.pop("decoding"))
        return {"agreement": found | {task: _rank(systems, part) for task, part in asked.items()}}


def _time_step(x: torch.Tensor, y: torch.Tensor, *, fused: bool) -> float:
    model = StackedLstm(384, 768, 4)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=fused)
    times = []
    for _ in range(12):
        began = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(model(x).sigmoid(), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        times.append(time.perf_counter() - began)
    return 1000 * float(np.median(times[2:]))


def _ask(system: System, plan: Plan) -> tuple[float, list[Score]]:
    """Return the seconds of a plan, embedding included, and its scores."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        scores = probe_system(system, plan, Path(folder) / "scores.jsonl")
        return time.perf_counter() - began, scores


def _rank(systems: list[System], plan: Plan) -> dict[str, object]:
    laptop, strict = (
        [
            score
            for system in systems
            for score in probe_system(system, replace(plan, protocol=protocol), SCORES)
            if score.metric in ("log-rmse", "accuracy")
        ]
        for protocol in (LAPTOP, STRICT)
    )
    ranges = dict.fromkeys(score.range for score in laptop)
    pairs = {
        name: tuple([s.value for s in scores if s.range == name] for scores in (laptop, strict))
        for name in ranges
    }
    alike = [np.array_equal(np.argsort(a), np.argsort(b)) for a, b in pairs.values()]
    both = [[score.value for score in scores] for scores in (laptop, strict)]
    return {
        "cells": {name: {"laptop": a, "strict": b} for name, (a, b) in pairs.items()},
        "systems": list(dict.fromkeys(score.system for score in laptop)),
        "same order": f"{sum(alike)} of {len(alike)} ranges",
        "spearman": float(spearmanr(*both).statistic),
    }


def main() -> None:
    """Measure the parts named on the command line, or all; keep earlier results of others."""
    quieten_libraries()
    bench = Bench(count_cores())
    parts: dict[str, Callable[[], Results]] = {
        "table": bench.time_table,
        "paper": bench.time_paper,
        "trees": bench.try_trees,
        "optimiser": bench.time_optimiser,
        "agreement": bench.compare,
    }
    path = RESULTS / "probe.json"
    results = json.loads(path.read_text()) if path.exists() and sys.argv[1:] else {}
    for name in sys.argv[1:] or parts:
        for key, found in parts[name]().items():
            results[key] = {**results.get(key, {}), **found}
        save_results("probe", {"model": MINILM, **results})


if __name__ == "__main__":
    main()
