"""Sentence numeracy of all-MiniLM-L6-v2: untrained, as a sentence encoder, and with ln anchors.

Trains `ln-anchors` on Wikipedia text with three seeds, some minutes each, and asks every system
the same sentences. Keeps scores and what the runs say of themselves in `results/sentences/`, no
text and no weights. Killed, it goes on where it stopped: models are in `build/sentences/`.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from sentence_transformers import SentenceTransformer

from benchmarks.common import TRAINING, corpus_path, quieten_libraries
from numerate.embed.load import load
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.fit.fitting import fit_anchors
from numerate.models.names import resolve_model
from numerate.pretrain.train import pretrain_model
from numerate.prime.primed_corpus import PrimedCorpus, prime_corpus
from numerate.prime.scheme import Priming
from numerate.probe.plan import Plan, probe_system
from numerate.probe.protocols import LAPTOP
from numerate.probe.sentence_tasks import SENTENCE_TASKS
from numerate.probe.systems import System

ROOT = Path(__file__).parents[1]
RESULTS, WORK = ROOT / "results" / "sentences", ROOT / "build" / "sentences"
N_SEEDS = 3
CONFIG = replace(TRAINING, max_tokens=400_000)


def main() -> None:
    """Train what is not trained yet, then score what is not scored yet."""
    quieten_libraries()
    corpus = open_corpus([str(corpus_path())])
    anchors = fit_anchors(extract_counts(corpus), scale="ln")
    primed = prime_corpus(corpus, anchors, WORK / "primed")
    probe_untrained(Priming(anchors))
    for seed in range(N_SEEDS):
        probe_trained(train(primed, seed), seed)


def train(primed: PrimedCorpus, seed: int) -> Path:
    """Return the folder of a trained model; its curve and settings go to the results."""
    folder = WORK / f"seed-{seed}"
    resume = (folder / "unfinished").exists()
    pretrain_model(primed, replace(CONFIG, seed=seed), folder, resume=resume)
    out = RESULTS / f"seed-{seed}"
    out.mkdir(parents=True, exist_ok=True)
    for name in ("run.json", "curve.json", "curve.png"):
        shutil.copy(folder / name, out / name)
    return folder


def probe_untrained(priming: Priming) -> None:
    """The base model in every way that needs no training."""
    plain = SentenceTransformer(resolve_model(CONFIG.base))
    bare, primed = load(CONFIG.base), load(CONFIG.base, priming=priming)
    for name, embed in (
        ("all-MiniLM-L6-v2 by sentence-transformers", plain.encode),
        ("all-MiniLM-L6-v2, last four layers", bare.embed_texts),
        ("all-MiniLM-L6-v2 untrained, shown anchors", primed.embed_texts),
    ):
        probe(System(name, embed_texts=embed), range(N_SEEDS))


def probe_trained(folder: Path, seed: int) -> None:
    """A trained model as sentence-transformers loads it, in the three ways to show an anchor."""
    model = SentenceTransformer(str(folder), trust_remote_code=True)
    for anchor in ("visible", "masked", "absent"):
        model[0].anchor = anchor
        probe(System(f"ln-anchors, {anchor}", embed_texts=model.encode), [seed])


def probe(system: System, seeds: range | list[int]) -> None:
    """Score a system on the sentences of some seeds."""
    for seed in seeds:
        # Tasks on sentences do not depend on the protocol.
        plan = Plan(tasks=SENTENCE_TASKS, seeds=(seed,), protocol=LAPTOP)
        scores = probe_system(system, plan, RESULTS / "scores.jsonl")
        shown = {f"{s.task} {s.metric}": s.value for s in scores if s.range == "all"}
        print(system.name, seed, {name: round(value, 3) for name, value in shown.items()})


if __name__ == "__main__":
    main()
