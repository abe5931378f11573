"""Whether anchors pay for a sentence encoder: written in the text, or met in pre-training only.

`python -m benchmarks.starts BENCHMARKS WORK [NAME…]` tunes all layers of all-MiniLM-L6-v2 for as
many steps from several starts, and asks each encoder some tasks on texts. A start has its numbers
in `words` or in `digits`. It is the published model (the twin), or that model pre-trained on the
paper's ln anchors first, which is then shown its anchors (`visible`) or not (`absent`). The default
of `numerate tune` after as many steps is in `benchmarks.growth`. The teacher is the published
model. Encoders stay in the folder WORK; scores go to `results/encoders/starts.jsonl`, and what is
there is not asked again.
"""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.common import MINILM, TRAINING, corpus_path
from benchmarks.growth import SEED, STEPS, tune_and_ask
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.files import write_json
from numerate.fit.fitting import fit_anchors
from numerate.options import Anchor, Pieces
from numerate.pretrain.train import pretrain_model
from numerate.prime.primed_corpus import prime_corpus
from numerate.tune.config import TuneConfig

_TOKENS = 240_000  # of pre-training
_STARTS: dict[str, tuple[Pieces, Anchor | None]] = {
    "digits": ("digits", None),
    "digits, pre-trained, visible": ("digits", "visible"),
    "digits, pre-trained, absent": ("digits", "absent"),
    "words": ("words", None),
    "words, pre-trained, visible": ("words", "visible"),
    "words, pre-trained, absent": ("words", "absent"),
}


def main(benchmarks: str, work: str, *names: str) -> None:
    """Tune and ask an encoder from each start."""
    corpus = open_corpus([str(corpus_path())])
    for name in names or _STARTS:
        pieces, anchor = _STARTS[name]
        base = pretrain(Path(work), pieces, anchor) if anchor else MINILM
        config = TuneConfig(base=base, teacher=MINILM, pieces=pieces, max_steps=STEPS, seed=SEED)
        tune_and_ask(name, corpus, config, Path(work), "starts", benchmarks)


def pretrain(work: Path, pieces: Pieces, anchor: Anchor) -> str:
    """Return a model that was pre-trained on ln anchors, and that is shown them or not."""
    corpus = open_corpus([str(corpus_path())])
    trained, shown = work / f"{pieces}-trained", work / f"{pieces}-{anchor}"
    if not (trained / "run.json").exists():
        anchors = fit_anchors(extract_counts(corpus), scale="ln")
        primed = prime_corpus(corpus, anchors, work / "primed")
        config = replace(TRAINING, pieces=pieces, max_tokens=_TOKENS, seed=SEED)
        pretrain_model(primed, config, trained, resume=True)
    if not shown.exists():
        shutil.copytree(trained, shown)
        path = shown / "sentence_bert_config.json"
        write_json(path, {**json.loads(path.read_text()), "anchor": anchor})
    return str(shown)


if __name__ == "__main__":
    main(*sys.argv[1:])
