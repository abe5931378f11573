"""Checks of a sentence encoder in a folder: that it tells meaning, and a score on a public set."""

import csv
import io
import lzma
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sentence_transformers import SentenceTransformer

SENTENCE = "A man is playing a guitar on the street."
PARAPHRASE = "Someone plays guitar outside on the road."
UNRELATED = "Interest rates rose by half a percent in March."


def compare_sentences(folder: Path) -> dict[str, float]:
    """Return the cosines of a sentence with a paraphrase and with another one.

    A model for which the paraphrase is not the nearer one by a tenth is refused.
    """
    vectors = SentenceTransformer(str(folder)).encode([SENTENCE, PARAPHRASE, UNRELATED])
    near, far = (float(cosine) for cosine in vectors[1:] @ vectors[0])
    if not near > far + 0.1:
        raise SystemExit(f"{folder}: cosines {near:.3f} of a paraphrase and {far:.3f} of no one")
    return {"cosine of a paraphrase": near, "cosine of another sentence": far}


def score_sts(folder: Path, path: Path) -> float:
    """Return the rank correlation of cosines with the judgements of an STS benchmark.

    Each row of the file (CSV, compressed with xz) is two sentences and their similarity.
    """
    with lzma.open(path) as file:
        rows = list(csv.reader(io.TextIOWrapper(file, encoding="utf-8")))
    encoder = SentenceTransformer(str(folder))
    first, second = (encoder.encode([row[side] for row in rows]) for side in (0, 1))
    judged = [float(row[2]) for row in rows]
    return float(spearmanr(np.sum(first * second, axis=1), judged).statistic)
