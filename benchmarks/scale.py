"""How time and memory of each stage grow with the corpus, the anchors and the distinct values.

`python -m benchmarks.scale [MB…]` cuts or repeats a text to these sizes, runs the commands on it
one after the other, and notes seconds and the peak memory of the largest process. Corpora of other
sizes stay in `results/scale.json` as they were measured. Repeated text has no new numerals, so that
growth with distinct values is measured apart: by counts of as many values, log-uniform.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import MINILM, RESULTS, read_corpus, save_results
from numerate.extract.counts import Counts

_SIZES = (1, 10, 60, 600, 1200)  # MB
_COMPONENTS = (10, 100, 1000, 10_000)
_VALUES = (1_000, 10_000, 100_000, 1_000_000)
_BUDGET = ("--max-tokens", "1000", "--max-length", "128")
Cost = dict[str, float]
# A process starts with the memory of the one that started it, so that this has to be a small one.
_RUNNER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def main(*sizes: str) -> None:
    """Measure all, and save the results."""
    path = RESULTS / "scale.json"
    known = json.loads(path.read_text())["corpus"] if path.exists() else {}
    text = read_corpus()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in map(int, sizes or _SIZES):
            known[f"{size} MB"] = dict(_measure_stages(text, size, folder))
        fits = dict(_measure_fits(folder))
    known = dict(sorted(known.items(), key=lambda item: int(item[0].split()[0])))
    save_results("scale", {"corpus": known, "fit": fits})


def _measure_stages(text: bytes, size: int, folder: Path) -> Iterator[tuple[str, Cost]]:
    """Yield what each stage costs on a corpus of a size in MB."""
    corpus = folder / "corpus.txt"
    with corpus.open("wb") as file:
        left = size * 10**6
        while left > 0:
            left -= file.write(text[:left])
    counts, anchors = folder / "counts.json", folder / "anchors.json"
    primed, model = folder / f"primed-{size}", folder / f"model-{size}"
    commands = {
        "extract": ["extract", corpus, "--out", counts, "--workers", "2"],
        "fit": ["fit", counts, "--out", anchors],
        "prime": ["prime", corpus, "--anchors", anchors, "--out", primed, "--workers", "2"],
        "pretrain": ["pretrain", primed, "--base", MINILM, "--out", model, *_BUDGET],
    }
    for stage, arguments in commands.items():
        yield stage, _measure(arguments)


def _measure_fits(folder: Path) -> Iterator[tuple[str, Cost]]:
    """Yield what `fit` costs by the number of anchors, and by that of distinct values."""
    rng = np.random.default_rng(0)
    cases = [(components, 100_000) for components in _COMPONENTS]
    cases += [(1000, values) for values in _VALUES]
    for components, values in dict.fromkeys(cases):
        drawn = np.unique(np.exp(rng.uniform(0, np.log(1e10), 2 * values)).round().astype(int))
        chosen = rng.choice(drawn, values, replace=False)
        Counts(dict.fromkeys(chosen.tolist(), 1)).save(folder / "values.json")
        arguments = ["fit", folder / "values.json", "--out", folder / "fitted.json"]
        cost = _measure([*arguments, "--components", str(components), "--scale", "ln"])
        yield f"{components:,} anchors, {values:,} values", cost


def _measure(arguments: Sequence[str | Path]) -> Cost:
    """Run a command; return its seconds, and the peak memory of its largest process in MB."""
    command = [sys.executable, "-m", "numerate", *map(str, arguments), "--quiet"]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _RUNNER, *command], check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - began
    return {"seconds": round(seconds, 2), "megabytes": round(int(done.stdout) / 1000)}


if __name__ == "__main__":
    main(*sys.argv[1:])
