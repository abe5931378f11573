"""Embedding 10,000 numerals in batches beside one at a time, with all-MiniLM-L6-v2.

The paper's scripts embed one numeral at a time: tokenize, run the model, sum the last four layers,
take the mean. Both ways run in turns in one process, and their vectors are compared. The peak is
the speed of a large matrix product with the shape of the feed-forward layer, in the same run.
"""

import time

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from benchmarks.common import MINILM, best_time, read_corpus, save_results
from numerate.embed.load import load
from numerate.extract.numerals import scan_numerals
from numerate.models.names import resolve_model
from numerate.probe.tasks.sentence_tasks import draw_numbers

N_NUMERALS, N_TURNS = 10_000, 5


def main() -> None:
    """Measure on the numerals of a text, with repetitions, and on two sets of distinct ones."""
    text = read_corpus()[:8_000_000]
    drawn = draw_numbers((1, 10**10), N_NUMERALS, np.random.default_rng(0))
    sets = {
        "text": scan_numerals(text).values[:N_NUMERALS].tolist(),
        "1 to 10,000": list(range(1, N_NUMERALS + 1)),
        "1 to 10^10, drawn log-uniformly": drawn,
    }
    results = {
        name: measure(numerals, 1 if name == "text" else 5) for name, numerals in sets.items()
    }
    save_results("embed", {"sets": results})


def measure(numerals: list[int], step: int) -> dict[str, object]:
    """Time both ways in turns: ours on all numerals, the slow way on every `step`-th."""
    encoder = load(MINILM)
    path = resolve_model(MINILM)
    tokenizer, model = AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path).eval()
    encoder.embed_numerals(numerals[:100])
    fast, slow, rows = [], [], []
    for part in np.array_split(numerals[::step], N_TURNS):
        start = time.perf_counter()
        rows += [embed_alone(tokenizer, model, str(numeral)) for numeral in part]
        middle = time.perf_counter()
        vectors = encoder.embed_numerals(numerals)
        fast.append(time.perf_counter() - middle)
        slow.append(middle - start)
    seconds, slow_seconds = float(np.median(fast)), step * float(np.sum(slow))
    tokens = sum(map(len, tokenizer([str(n) for n in sorted(set(numerals))])["input_ids"]))
    return {
        "numerals": len(numerals),
        "distinct": len(set(numerals)),
        "one by one was measured on": len(rows),
        "tokens of the distinct": tokens,
        "share of the peak": 2 * count_weights(model) * tokens / seconds / measure_peak(),
        "seconds": {"numerate": seconds, "one by one": slow_seconds},
        "ratio": slow_seconds / seconds,
        "largest difference": float(np.abs(np.stack(rows) - vectors[::step]).max()),
    }


def count_weights(model: AutoModel) -> int:
    """Return the number of weights that each token is multiplied with: those of all layers."""
    return sum(weight.numel() for weight in model.encoder.parameters() if weight.ndim == 2)


def measure_peak() -> float:
    """Return the operations per second of a large matrix product."""
    tokens, weight = torch.randn(2048, 384), torch.randn(1536, 384)
    seconds = best_time(lambda: [torch.nn.functional.linear(tokens, weight) for _ in range(50)], 5)
    return 2 * tokens.numel() * len(weight) * 50 / seconds


def embed_alone(tokenizer: AutoTokenizer, model: AutoModel, text: str) -> np.ndarray:
    """Return the vector of a single numeral as the paper computes it."""
    with torch.no_grad():
        output = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
    return torch.stack(output.hidden_states[-4:]).sum(dim=0)[0, 1:-1].mean(dim=0).numpy()


if __name__ == "__main__":
    main()
