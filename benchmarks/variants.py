"""The paper's four variants, each trained on the same number of tokens of WikiText-2.

Copies settings and curves to `results/pretrain/`, without text and weights.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.common import TRAINING, corpus_path, keep_training, quieten_libraries
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.fit.anchors import AnchorSet
from numerate.fit.fitting import fit_anchors
from numerate.pretrain.train import pretrain_model
from numerate.prime.primed_corpus import prime_corpus
from numerate.prime.variants import PAPER_VARIANTS

RESULTS = Path(__file__).parents[1] / "results" / "pretrain"
CONFIG = replace(TRAINING, max_tokens=200_000)


def main() -> None:
    """Train all variants, or those named on the command line."""
    quieten_libraries()
    path = corpus_path("wikitext-2-raw.train.txt.xz")
    counts = extract_counts(open_corpus([str(path)]))
    for name in sys.argv[1:] or PAPER_VARIANTS:
        variant = PAPER_VARIANTS[name]
        train(name, path, fit_anchors(counts, scale=variant["scale"]), variant["marker"])


def train(variant: str, path: Path, anchors: AnchorSet, marker: str) -> None:
    """Prime the corpus, train on it, and print the accuracy on masked anchors."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        primed = prime_corpus(open_corpus([str(path)]), anchors, folder / "primed", marker=marker)
        run = pretrain_model(primed, CONFIG, folder / "model")
        keep_training(folder / "model", RESULTS / variant)
    end = run["validation"]["end"]
    print(
        variant,
        f"found {end['eval_accuracy']:.3f}, majority {end['eval_majority']:.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
