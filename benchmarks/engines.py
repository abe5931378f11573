"""The local engine with two workers beside Ray with two processors, on more and more text.

`python -m benchmarks.engines [--repeats 3] [MB…]` cuts or repeats a text to these sizes, and on
each extracts and primes it with one engine, then with the other, some times over. Counts and primed
text must be equal. A straight line through the fastest times of an engine has its fixed cost and
its throughput; what Ray's fixed cost has above that of the local engine is its overhead. The same
is done with the seconds of all processors, which other work on the machine hardly changes. The size
of the manifests of the primed text is noted, too: it has an entry for every shard.
"""

import argparse
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import read_corpus, save_results
from benchmarks.processes import Cost, measure_command
from benchmarks.scale import write_corpus
from numerate.extract.counts import Counts
from numerate.prime.primed_corpus import MANIFEST, open_primed

SIZES = (60, 100, 300, 600)  # MB; the first one is the text of enwik8 once
ENGINES = {"local": ("--workers", "2"), "ray": ("--workers", "2", "--engine", "ray")}
COMMANDS = ("extract", "prime")
_TENTH = 0.1
_CLOCKS = ("seconds", "processor")
Costs = dict[str, list[Cost]]


def main() -> None:
    """Measure both engines, compare what they made, and save times and lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, metavar="MB")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    text = read_corpus()
    costs: dict[str, dict[int, Costs]] = {command: {} for command in COMMANDS}
    manifests: dict[str, dict[str, int]] = {}
    before = os.getloadavg()[0]
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            measured = measure_size(text, size, Path(folder), options.repeats)
            manifests[f"{size} MB"] = {
                engine: (Path(folder) / engine / MANIFEST).stat().st_size for engine in ENGINES
            }
        for command, by_engine in measured.items():
            costs[command][size] = by_engine
            print(size, "MB", command, by_engine, flush=True)
    save_results(
        "engines",
        {
            "niceness": os.nice(0),
            "load": {"before": round(before, 1), "after": round(os.getloadavg()[0], 1)},
            "repeats": options.repeats,
            "equal": True,  # or it had ended
            "manifest_bytes": manifests,
            **{
                command: {clock: compare_engines(by_size, clock) for clock in _CLOCKS}
                for command, by_size in costs.items()
            },
        },
    )


def measure_size(text: bytes, size: int, folder: Path, repeats: int) -> dict[str, Costs]:
    """Return what the commands cost on a text of a size in MB, by command and engine."""
    corpus, anchors = folder / "corpus.txt", folder / "anchors.json"
    write_corpus(text, size, corpus)
    measure_command("extract", corpus, "--out", folder / "counts.json")  # the text is read once
    measure_command("fit", folder / "counts.json", "--out", anchors)
    costs: dict[str, Costs] = {name: {engine: [] for engine in ENGINES} for name in COMMANDS}
    for _ in range(repeats):
        for engine, options in ENGINES.items():
            counts, primed = folder / f"{engine}.json", folder / engine
            shutil.rmtree(primed, ignore_errors=True)
            made = measure_command("extract", corpus, "--out", counts, *options)
            costs["extract"][engine].append(made)
            made = measure_command("prime", corpus, "--anchors", anchors, "--out", primed, *options)
            costs["prime"][engine].append(made)
        check_equal(folder)
    return costs


def check_equal(folder: Path) -> None:
    """End with an error unless both engines made the same counts and the same primed text."""
    local, ray = (Counts.load(folder / f"{engine}.json") for engine in ENGINES)
    if local != ray:
        raise SystemExit("counts: Ray's differ from those of the local engine")
    if len({hash_primed(folder / engine) for engine in ENGINES}) > 1:
        raise SystemExit("primed text: Ray's differs from that of the local engine")


def hash_primed(folder: Path) -> str:
    """Return the hash of a primed text, however it is divided into shards."""
    primed = open_primed(folder)
    digest = hashlib.sha256()
    for shard in primed.manifest["shards"]:
        digest.update(primed.read_shard(shard))
    return digest.hexdigest()


def compare_engines(costs: Mapping[int, Costs], clock: str) -> dict[str, object]:
    """Return the times of a command, the lines through them, and what follows from these."""
    sizes = list(costs)
    times = {
        size: {engine: [cost[clock] for cost in made] for engine, made in by_engine.items()}
        for size, by_engine in costs.items()
    }
    lines = {
        engine: fit_line(sizes, [min(times[size][engine]) for size in sizes]) for engine in ENGINES
    }
    (fixed, slope, _), (ray_fixed, ray_slope, _) = lines.values()
    overhead = ray_fixed - fixed
    return {
        "times": {f"{size} MB": by_engine for size, by_engine in times.items()},
        "lines": {
            engine: {
                "fixed_seconds": round(line[0], 3),
                "megabytes_per_second": round(1 / line[1], 1),
                "largest_deviation_seconds": round(line[2], 3),
            }
            for engine, line in lines.items()
        },
        "overhead_seconds": round(overhead, 2),
        "throughput_ratio": round(slope / ray_slope, 3),
        # where overhead = a tenth of (ray_fixed + ray_slope * size)
        "megabytes_where_overhead_is_a_tenth": round((overhead / _TENTH - ray_fixed) / ray_slope),
    }


def fit_line(sizes: Sequence[int], seconds: Sequence[float]) -> tuple[float, float, float]:
    """Return the fixed seconds, the seconds for a MB, and the largest deviation from the line."""
    slope, fixed = np.polyfit(sizes, seconds, 1)
    deviations = np.abs(np.array(seconds) - (fixed + slope * np.array(sizes)))
    return float(fixed), float(slope), float(deviations.max())


if __name__ == "__main__":
    main()
