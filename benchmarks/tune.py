"""Speed of tuning beside the plain loop of sentence-transformers, on the same texts.

Both run in turns in one process: a step of `numerate tune`, which trains the vectors of numbers,
and a step of fine-tuning all layers by cosine similarity (CoSENT), in which sentence-transformers
pads the texts of a column to one length. Each has the same texts and tokens in a step; the ratio is
that of useful tokens per second. Then `encode`: the
published encoder beside one whose tokenizer begins numbers with their anchors, on the same texts.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import CoSENTLoss

from benchmarks.common import MINILM, corpus_path, quieten_libraries, save_results
from numerate.extract.corpus import open_corpus
from numerate.models.sentence_encoder import load_sentence_encoder
from numerate.progress import ignore_status
from numerate.tune.config import TuneConfig
from numerate.tune.training import TuneTraining

STEPS, TURNS = 6, 3


def main() -> None:
    """Measure both on text of Wikipedia."""
    quieten_libraries()
    config = TuneConfig(base=MINILM, most_sentences=600, most_kept=300, precision="fp32")
    training = TuneTraining(open_corpus([str(corpus_path("wikitext-2-raw.valid.txt.xz"))]), config)
    training.load()
    with tempfile.TemporaryDirectory() as folder:
        trainer = training.make_trainer(Path(folder), ignore_status)
        examples: Any = trainer.train_dataset
        rows = [examples[n] for n in range(STEPS * config.batch_size)]
        plain = load_sentence_encoder(f"anchors:{MINILM}", device="cpu")
        speeds: dict[str, list[float]] = {"numerate tune": [], "plain loop": []}
        for _ in range(TURNS):
            speeds["numerate tune"].append(time_steps(trainer, rows, config.batch_size))
            speeds["plain loop"].append(time_plain(trainer, plain, rows, config.batch_size))
        texts = [text for row in rows for text in row.values() if isinstance(text, str)]
    best = {name: max(found) for name, found in speeds.items()}
    ratio = best["numerate tune"] / best["plain loop"]
    tuning = {"tokens_per_second": best, "ratio": ratio}
    save_results(
        "tune", {**tuning, "encode": time_encode(texts), "threads": torch.get_num_threads()}
    )


def time_steps(trainer: Any, rows: list[dict[str, Any]], size: int) -> float:  # noqa: ANN401
    """Return the useful tokens per second of forward and backward passes by our loss."""
    batches = [rows[n : n + size] for n in range(0, len(rows), size)]
    return _time(trainer, trainer.loss, batches)


def time_plain(
    trainer: Any,  # noqa: ANN401
    plain: SentenceTransformer,
    rows: list[dict[str, Any]],
    size: int,
) -> float:
    """Return the same for pairs of texts: the same texts, in two columns, with a similarity."""
    batches = []
    for start in range(0, len(rows), size):
        texts = [
            text
            for row in rows[start : start + size]
            for text in row.values()
            if isinstance(text, str)
        ]
        half = len(texts) // 2
        pairs = Dataset.from_dict(
            {"a": texts[:half], "b": texts[half : 2 * half], "score": [0.5] * half}
        )
        batches.append([pairs[n] for n in range(half)])
    return _time(trainer, CoSENTLoss(plain), batches)


def time_encode(texts: list[str]) -> dict[str, float]:
    """Return the seconds and the tokens of an encoder with anchors, relative to the published."""
    encoders = [load_sentence_encoder(name) for name in (MINILM, f"anchors:{MINILM}")]
    seconds: list[list[float]] = [[], []]
    for _ in range(TURNS):
        for encoder, found in zip(encoders, seconds, strict=True):
            start = time.perf_counter()
            encoder.encode(texts, show_progress_bar=False)
            found.append(time.perf_counter() - start)
    lengths = [sum(map(len, encoder.tokenizer(texts)["input_ids"])) for encoder in encoders]
    published, anchored = map(min, seconds)
    return {
        "texts": len(texts),
        "seconds, published": published,
        "seconds": anchored / published,
        "tokens": lengths[1] / lengths[0],
    }


def _time(trainer: Any, loss: Any, batches: list[list[dict[str, Any]]]) -> float:  # noqa: ANN401
    tokens, start = 0, time.perf_counter()
    for batch in batches:
        features, labels = trainer.collect_features(trainer.data_collator(batch))
        tokens += sum(int(column["attention_mask"].sum()) for column in features)
        found = loss(features, labels)
        total = sum(found.values()) if isinstance(found, dict) else found
        loss.model.zero_grad()
        total.backward()
    return tokens / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
