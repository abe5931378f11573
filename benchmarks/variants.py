"""The paper's four variants, each trained on the same number of tokens of WikiText-2.

Keeps what each run says of itself in `results/pretrain/`, without text and weights.
"""

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.common import TRAINING, corpus_path, quieten_libraries
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.fit.fitting import fit_anchors
from numerate.pretrain.train import pretrain_model
from numerate.prime.primed_corpus import prime_corpus

RESULTS = Path(__file__).parents[1] / "results" / "pretrain"
CONFIG = replace(TRAINING, max_tokens=200_000)


def main() -> None:
    """Train those variants that are named, or all; print how each ended."""
    quieten_libraries()
    path = corpus_path("wikitext-2-raw.train.txt.xz")
    counts = extract_counts(open_corpus([str(path)]))
    for scale in ("linear", "ln"):
        anchors = fit_anchors(counts, scale=scale)
        for marker in ("anc", "lr"):
            name = ("ln-" if scale == "ln" else "") + "anchors" + ("-lr" if marker == "lr" else "")
            if len(sys.argv) == 1 or name in sys.argv:
                train(name, path, anchors, marker)


def train(variant: str, path: Path, anchors: object, marker: str) -> None:
    """Prime, train, and keep the small files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        primed = prime_corpus(open_corpus([str(path)]), anchors, folder / "primed", marker=marker)
        run = pretrain_model(primed, CONFIG, folder / "model")
        out = RESULTS / variant
        out.mkdir(parents=True, exist_ok=True)
        for file in ("run.json", "curve.json", "curve.png"):
            shutil.copy(folder / "model" / file, out / file)
    end = run["validation"]["end"]
    print(
        variant,
        f"found {end['eval_accuracy']:.3f}, majority {end['eval_majority']:.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
