"""Sentence numeracy of all-MiniLM-L6-v2: untrained, as a sentence encoder, and with ln anchors.

Trains `ln-anchors` on Wikipedia text with three seeds, some minutes each, and probes every system
with the same sentences. Scores, settings and curves go to `results/sentences/`, models to
`build/sentences/`. After an interruption it continues where it stopped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sentence_transformers import SentenceTransformer

from benchmarks.common import TRAINING, corpus_path, keep_training, quieten_libraries
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
from numerate.probe.tasks.text_tasks import expand_tasks

ROOT = Path(__file__).parents[1]
RESULTS, WORK = ROOT / "results" / "sentences", ROOT / "build" / "sentences"
N_SEEDS = 3
CONFIG = replace(TRAINING, max_tokens=400_000)


@dataclass(frozen=True)
class TextSystem:
    """A system that embeds only sentences."""

    name: str
    embed_texts: Callable[..., Any]
    fingerprint: str = ""

    def embed_numerals(self, numerals: Sequence[int], /) -> Any:  # noqa: ANN401
        """Refuse to embed numerals, which no task of this benchmark needs."""
        raise NotImplementedError(f"{self.name} embeds sentences, got {len(numerals)} numerals")


def main() -> None:
    """Train and score whatever is missing."""
    quieten_libraries()
    corpus = open_corpus([str(corpus_path())])
    anchors = fit_anchors(extract_counts(corpus), scale="ln")
    primed = prime_corpus(corpus, anchors, WORK / "primed")
    probe_untrained(Priming(anchors))
    for seed in range(N_SEEDS):
        probe_trained(train(primed, seed), seed)


def train(primed: PrimedCorpus, seed: int) -> Path:
    """Return the folder of a trained model; copy its settings and curve to the results."""
    folder = WORK / f"seed-{seed}"
    pretrain_model(primed, replace(CONFIG, seed=seed), folder, resume=True)
    keep_training(folder, RESULTS / f"seed-{seed}")
    return folder


def probe_untrained(priming: Priming) -> None:
    """Probe the base model: as a sentence encoder, by its layers, and with primed input."""
    plain = SentenceTransformer(resolve_model(CONFIG.base))
    bare, primed = load(CONFIG.base), load(CONFIG.base, priming=priming)
    for name, embed in (
        ("all-MiniLM-L6-v2 by sentence-transformers", plain.encode),
        ("all-MiniLM-L6-v2, last four layers", bare.embed_texts),
        ("all-MiniLM-L6-v2 untrained, shown anchors", primed.embed_texts),
    ):
        probe(TextSystem(name, embed), range(N_SEEDS))


def probe_trained(folder: Path, seed: int) -> None:
    """Probe a trained model, loaded by sentence-transformers, with anchors in three ways."""
    model = SentenceTransformer(str(folder), trust_remote_code=True)
    for anchor in ("visible", "masked", "absent"):
        model[0].anchor = anchor
        probe(TextSystem(f"ln-anchors, {anchor}", model.encode), [seed])


def probe(system: TextSystem, seeds: range | list[int]) -> None:
    """Score a system on the sentences of the given seeds, and print the scores."""
    for seed in seeds:
        # Tasks on sentences do not depend on the protocol.
        plan = Plan(tasks=expand_tasks(["sentences"]), seeds=(seed,), protocol=LAPTOP)
        scores = probe_system(system, plan, RESULTS / "scores.jsonl")
        shown = {f"{s.task} {s.metric}": s.value for s in scores if s.range == "all"}
        print(system.name, seed, {name: round(value, 3) for name, value in shown.items()})


if __name__ == "__main__":
    main()
