"""How time and memory of each stage grow with the corpus, the anchors and the distinct values.

    python -m benchmarks.scale [--stages extract,prime,pretrain,train] [--fits] [MB…]

cuts or repeats a text to these sizes, runs the commands on it one after the other, extracting and
priming with both engines, and notes seconds and memory. `train` is what `pretrain` does once the
text is tokenized: the tokens are those of the smallest size, repeated as often as the text would
be. What was measured before and is not asked for stays in `results/scale.json`. Repeated text has
no new numerals, so that growth with distinct values is measured apart, with `--fits`: by counts of
as many values, log-uniform. `--fits` without sizes measures nothing else.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import MINILM, RESULTS, read_corpus, save_results
from benchmarks.processes import Cost, measure_command, measure_process
from numerate.extract.counts import Counts, extract_counts
from numerate.pretrain.config import PretrainConfig
from numerate.pretrain.sequences import Sequences
from numerate.pretrain.train import pretrain_model
from numerate.prime.primed_corpus import open_primed

_SIZES = (1, 10, 60, 100, 1000, 1200)  # MB
_COMPONENTS = (10, 100, 1000, 10_000)
_VALUES = (1_000, 10_000, 100_000, 1_000_000)
_TRAINING = PretrainConfig(base=MINILM, max_tokens=1000, max_length=128, validation_most=50)
_TRAIN = "import sys; from benchmarks.scale import train; train(*sys.argv[1:])"
ENGINES = {"": ("--workers", "2"), " with Ray": ("--workers", "2", "--engine", "ray")}
_STAGES = ("extract", "fit", "prime", "pretrain", "train")


def main() -> None:
    """Measure what is asked for, and save it with what is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, metavar="MB")
    parser.add_argument("--stages", default=",".join(_STAGES))
    parser.add_argument("--fits", action="store_true")
    options = parser.parse_args()
    path = RESULTS / "scale.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    text = read_corpus()
    about = known.get("text") or _describe(text)
    corpus, fits = known.get("corpus", {}), known.get("fit", {})
    sizes = options.sizes or (() if options.fits else _SIZES)
    stages = options.stages.split(",")
    with tempfile.TemporaryDirectory() as name:
        for size in sizes if set(stages) - {"train"} else ():
            for what, cost in _measure_stages(text, size, Path(name), stages):
                corpus.setdefault(f"{size} MB", {})[what] = cost
                _save(about, corpus, fits)
        if "train" in stages and sizes:
            apart = Path(name) / "train"
            apart.mkdir()
            for size, what, cost in _measure_training(text, sizes, apart):
                corpus.setdefault(f"{size} MB", {})[what] = cost
                _save(about, corpus, fits)
        if options.fits:
            fits.update(_measure_fits(Path(name)))
            _save(about, corpus, fits)


def _describe(text: bytes) -> Cost:
    """Return the size of the text and how many numerals it has."""
    counts = extract_counts([text.decode("utf-8", "replace")])
    return {"megabytes": round(len(text) / 1e6, 1), "numerals": counts.numerals}


def _save(about: Cost, corpus: dict[str, dict[str, Cost]], fits: dict[str, Cost]) -> None:
    """Save the results, corpora by size."""
    by_size = dict(sorted(corpus.items(), key=lambda item: int(item[0].split()[0])))
    save_results("scale", {"text": about, "corpus": by_size, "fit": fits})


def write_corpus(text: bytes, size: int, path: Path) -> None:
    """Write a text, cut or repeated to a size in MB."""
    with path.open("wb") as file:
        left = size * 10**6
        while left > 0:
            left -= file.write(text[:left])


def _measure_stages(
    text: bytes, size: int, folder: Path, stages: Iterable[str]
) -> Iterator[tuple[str, Cost]]:
    """Yield what stages cost on a corpus of a size in MB, and how busy the machine was."""
    corpus, counts, anchors = (folder / name for name in ("a.txt", "counts.json", "anchors.json"))
    write_corpus(text, size, corpus)
    measure_command("extract", corpus, "--out", counts)  # its files are in memory from now on
    measure_command("fit", counts, "--out", anchors)
    runs: dict[str, tuple[str | Path, ...]] = {}
    for name, engine in ENGINES.items():
        primed = folder / f"primed-{size}{name}"
        runs[f"extract{name}"] = ("extract", corpus, "--out", counts, *engine)
        runs[f"prime{name}"] = ("prime", corpus, "--anchors", anchors, "--out", primed, *engine)
    runs["fit"] = ("fit", counts, "--out", anchors)
    if "prime" not in stages and "pretrain" in stages:
        measure_command(*runs["prime"])
    for name, arguments in runs.items():
        if str(arguments[0]) in stages:
            yield name, _with_load(measure_command(*arguments))
    if "pretrain" in stages:
        yield "pretrain", _with_load(measure_process(_train_command(folder, size, size)))


def _with_load(cost: Cost) -> Cost:
    return {**cost, "load": round(os.getloadavg()[0], 1)}


def _train_command(folder: Path, size: int, model: int) -> list[str]:
    """Return the command that trains on the primed corpus of a size, with its tokens if made."""
    folders = (f"primed-{size}", f"tokens-{size}", f"model-{model}")
    return [sys.executable, "-c", _TRAIN, *(str(folder / name) for name in folders)]


def _measure_training(
    text: bytes, sizes: Iterable[int], folder: Path
) -> Iterator[tuple[int, str, Cost]]:
    """Yield sizes in MB with what training costs on the tokens of texts of these sizes.

    The smallest text is tokenized for it, which is yielded as `pretrain`.
    """
    first, *_ = sizes = sorted(sizes)
    for name, cost in _measure_stages(text, first, folder, ("pretrain",)):
        yield first, name, cost
    [made] = (folder / f"tokens-{first}").glob("*/sequences")
    found = Sequences.load(made)
    # Copied: they are mapped from the files that are going to be written.
    once = Sequences(np.array(found.ids), np.array(found.magnitudes), np.array(found.bounds))
    for place, size in enumerate(sizes, 1):
        repeat_sequences(once, size // first, made)
        command = _train_command(folder, first, first + place)
        yield size, "train", _with_load(measure_process(command))


def train(primed: str, tokens: str, model: str) -> None:
    """Train on a primed corpus, with its tokens in a folder."""
    pretrain_model(open_primed(primed), _TRAINING, Path(model), tokens=Path(tokens))


def repeat_sequences(once: Sequences, times: int, folder: Path) -> None:
    """Write the arrays of sequences, repeated, into their folder."""
    ends = [once.bounds[1:] + turn * len(once.ids) for turn in range(times)]
    np.save(folder / "bounds.npy", np.concatenate([[0], *ends]))
    for name, array in (("ids", once.ids), ("magnitudes", once.magnitudes)):
        np.save(folder / f"{name}.npy", np.tile(array, times))


def _measure_fits(folder: Path) -> Iterator[tuple[str, Cost]]:
    """Yield what `fit` costs by the number of anchors, and by that of distinct values."""
    rng = np.random.default_rng(0)
    cases = [(components, 100_000) for components in _COMPONENTS]
    cases += [(1000, values) for values in _VALUES]
    for components, values in dict.fromkeys(cases):
        drawn = np.unique(np.exp(rng.uniform(0, np.log(1e10), 2 * values)).round().astype(int))
        chosen = rng.choice(drawn, values, replace=False)
        Counts(dict.fromkeys(chosen.tolist(), 1)).save(folder / "values.json")
        arguments = ("fit", folder / "values.json", "--out", folder / "fitted.json")
        options = ("--components", str(components), "--scale", "ln")
        yield f"{components:,} anchors, {values:,} values", measure_command(*arguments, *options)


if __name__ == "__main__":
    main()
