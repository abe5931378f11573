"""Steps of training in fp32 and in bf16, with attention as PyTorch has it and in float32.

All in turns in one run, on a processor with bf16: pre-training in sequences of 128 and of 512
tokens, and tuning. Useful tokens per second, and for pre-training the share of the peak of matrix
multiplication in the same precision.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.common import MINILM, corpus_path, quieten_libraries, save_results
from benchmarks.pretrain import count_operations, make_step, measure_peak
from numerate.extract.corpus import Corpus, open_corpus
from numerate.extract.counts import extract_counts
from numerate.fit.fitting import fit_anchors
from numerate.models.attention import attend_in_float32
from numerate.models.base_model import has_fast_bf16
from numerate.prime.primed_corpus import PrimedCorpus, prime_corpus
from numerate.progress import ignore_status
from numerate.tune.config import TuneConfig
from numerate.tune.training import TuneTraining

TURNS, STEPS, LENGTHS = 4, 4, (128, 512)
FP32, BEFORE, AFTER = "fp32", "bf16", "bf16, attention in float32"
Step = Callable[[int], int]


def main() -> None:
    """Measure all ways, and save the results."""
    if not has_fast_bf16():
        print("This processor has no fast bf16: there is nothing to compare.")
        return
    quieten_libraries()
    peaks = {"fp32": measure_peak(torch.float32), "bf16": measure_peak(torch.bfloat16)}
    found: dict[str, Any] = {"peak_gigaflops": {name: peak / 1e9 for name, peak in peaks.items()}}
    with tempfile.TemporaryDirectory() as name:
        corpus = open_corpus([str(corpus_path("wikitext-2-raw.valid.txt.xz"))])
        anchors = fit_anchors(extract_counts(corpus), scale="ln")
        primed = prime_corpus(corpus, anchors, Path(name) / "primed")
        for length in LENGTHS:
            speeds = time_in_turns(pretrain_steps(primed, length))
            operations = count_operations(make_step(primed, length))
            shares = {way: speeds[way] * operations / peaks[way[:4]] for way in speeds}
            found[f"pretrain, length {length}"] = {
                "useful_tokens_per_second": speeds,
                "share_of_peak": shares,
            }
        tuned = time_in_turns(tune_steps(corpus, Path(name)))
        found["tune"] = {"useful_tokens_per_second": tuned}
    save_results("precision", {**found, "threads": torch.get_num_threads()})


def pretrain_steps(primed: PrimedCorpus, length: int) -> dict[str, Step]:
    """Return a step of pre-training for each way."""
    return {
        FP32: make_step(primed, length),
        BEFORE: make_step(primed, length, bf16=True),
        AFTER: make_step(primed, length, bf16=True, prepare=attend_in_float32),
    }


def tune_steps(corpus: Corpus, folder: Path) -> dict[str, Step]:
    """Return a step of tuning for each way, all on the same examples."""
    steps = {}
    for way in (FP32, BEFORE, AFTER):
        config = TuneConfig(base=MINILM, most_sentences=600, most_kept=300, precision="fp32")
        training = TuneTraining(corpus, config)
        training.load()
        place = folder / way
        place.mkdir()
        trainer = training.make_trainer(place, ignore_status)
        if way == AFTER:
            first: Any = training.model[0]
            attend_in_float32(first.model)
        steps[way] = _make_tune_step(trainer, bf16=way != FP32)
    return steps


def _make_tune_step(trainer: Any, *, bf16: bool) -> Step:  # noqa: ANN401
    size = trainer.args.per_device_train_batch_size

    def step(number: int) -> int:
        rows = [trainer.train_dataset[number * size + n] for n in range(size)]
        features, labels = trainer.collect_features(trainer.data_collator(rows))
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            terms = trainer.loss(features, labels)
        trainer.model.zero_grad()
        sum(terms.values()).backward()
        return sum(int(column["attention_mask"].sum()) for column in features)

    return step


def time_in_turns(steps: dict[str, Step]) -> dict[str, float]:
    """Return the most useful tokens per second of each way, over turns of a few steps."""
    best = dict.fromkeys(steps, 0.0)
    for step in steps.values():
        step(0)
    for turn in range(TURNS):
        for way, step in steps.items():
            began = time.perf_counter()
            tokens = sum(step(1 + turn * STEPS + n) for n in range(STEPS))
            best[way] = max(best[way], tokens / (time.perf_counter() - began))
    return best


if __name__ == "__main__":
    main()
