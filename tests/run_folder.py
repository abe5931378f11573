"""A run folder such as `numerate run` leaves one, from made-up numbers; no model is needed."""

import json

import numpy as np

from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.files import write_json
from numerate.fit.fitting import fit_anchors, sweep_components
from numerate.prime.primed_corpus import prime_corpus
from numerate.probe.scores import Score, append_scores

SYSTEMS = {"base": 4.0, "ln-anchors (masked)": 1.0, "ln-anchors (visible)": 1.1, "primed:ln": 3.0}
"""Each system with its error, as a multiple of what the seeds and ranges give."""
HOSTILE = "</script><img src=x onerror=alert(1)>"
HOSTILE_FILE = "<script>alert(1)</script>.txt"
IN_RANGES = ("[1,100]", "[100,1k]", "[1k,10k]", "[10k,10^10]", "all")
SEEDS = (0, 1, 2)


def make_scores(systems=SYSTEMS, seeds=SEEDS):
    """Scores whose means are the multiples above; the seeds move all systems alike."""
    for system, error in systems.items():
        for domain, ranges in (("in", IN_RANGES), ("out", IN_RANGES[2:4])):
            for place, range_name in enumerate(ranges):
                for seed in seeds:
                    wave = 0.001 * (seed - 1) * (1 + 0.1 * len(system) % 1)
                    cell = domain, range_name, seed, error * 0.01 * (1 + 0.2 * place) + wave
                    yield from _score_tasks(system, *cell)


def _score_tasks(system, domain, range_name, seed, value):
    place = {"domain": domain, "range": range_name, "protocol": "laptop", "seed": seed}
    for task, factor in (("decoding", 1.0), ("addition", 0.8)):
        for metric, found in (
            ("log-rmse", value),
            ("ridge log-rmse", value * 1.3),
            ("rmse-ln", value * 9),
            ("r2", 1 - value),
        ):
            yield Score(system=system, task=task, metric=metric, value=found * factor, **place)
    for task in ("list-maximum", "list-minimum"):
        yield Score(system=system, task=task, metric="accuracy", value=1 - 5 * value, **place)


def _blur(true, error, rng):
    return true * np.exp(rng.normal(0, 0.1 * error, len(true)))


def make_portrait(system, error, rng):
    low, high = np.unique(rng.integers(1, 10_001, 500)), np.unique(10 ** rng.uniform(0, 10, 400))
    high = np.unique(high.astype(np.int64))
    logs = np.log(np.arange(1, 101))
    cosines = np.exp(-np.abs(logs[:, None] - logs) / error) + 0.02 * error * rng.normal(
        size=(100, 100)
    )
    line = _blur(low, error, rng)
    spread = ((line - low) ** 2).mean() / low.var()
    return {
        "format": "numerate-portrait",
        "version": 1,
        "system": system,
        "line": {"true": low.tolist(), "predicted": line.tolist(), "r2": 1 - float(spread)},
        "decoded": {"true": high.tolist(), "predicted": _blur(high, error, rng).tolist()},
        "cosines": np.round(np.clip(cosines, -1, 1), 3).tolist(),
        "neighbours": {
            "asked": high.tolist(),
            "nearest": [[float(f"{n:.0f}")] * 10 for n in np.maximum(_blur(high, error, rng), 1)],
            "examples": {"1999": [2000] * 10},
        },
        "layers": [
            {
                "layer": layer,
                "range": name,
                "values": [0.01 * error * (1 + (layer - 4) ** 2 / 9) + 0.001 * s for s in SEEDS],
            }
            for layer in range(7)
            for name in ("[1k,10k]", "all")
        ],
        "notes": ["addition, in-domain [1,100] is left out: <4> numerals"],
    }


def make_curve():
    entries = [{"step": 0, "eval_loss": 10.4, "eval_accuracy": 0.0}]
    for step in range(1, 200, 4):
        share = step / 200
        entries.append({"step": step, "loss": 10 * (1 - share) + 0.5, "accuracy": 0.9 * share})
    return [*entries, {"step": 200, "eval_loss": 1.1, "eval_accuracy": 0.81}]


def make_lessons():
    """Curves of both recipes: shares that rise, and losses in units of their own that fall."""
    shares = [{"step": 10 * n, "eval_accuracy_sum": 0.1 * n, "eval_loss": 3} for n in range(4)]
    losses = [
        {"step": n, "eval_loss_count": 20.0 - 5 * n, "eval_loss_number_type": 0.8 / (n + 1)}
        for n in range(4)
    ]
    return {"genbert-recipe": shares, "mwp-bert-recipe": losses}


def make_run(folder, *, systems=SYSTEMS, corpus_name="almanac.txt"):
    """Write all files of a run into a folder."""
    source = folder.parent / corpus_name
    lines = [
        f"In {1850 + n % 170} some {n * n + 1:,} <b>people</b> & {n % 12 + 1} more paid ${n} each."
        for n in range(1, 700)
    ]
    source.write_text("\n".join(lines))
    corpus = open_corpus([str(source)])
    counts = extract_counts(corpus)
    config = {"format": "numerate-config", "version": 1, "name": "demo", "corpus": [str(source)]}
    write_json(folder / "config.json", {**config, "base": "tiny", "fit": {"components": 60}})
    counts.save(folder / "extract" / "counts.json")
    for scale in ("linear", "ln"):
        anchors = fit_anchors(counts, n_components=60, scale=scale)
        anchors.save(folder / "fit" / scale / "anchors.json")
        sweep_components(counts, [5, 20, 60], scale=scale).save(
            folder / "fit" / scale / "sweep.json"
        )
    prime_corpus(corpus, anchors, folder / "prime" / "ln-anchors")
    curve = {"format": "numerate-curve", "version": 1, "entries": make_curve()}
    write_json(folder / "pretrain" / "ln-anchors" / "model" / "curve.json", curve)
    for recipe, entries in make_lessons().items():
        write_json(
            folder / "baseline" / recipe / "model" / "curve.json", curve | {"entries": entries}
        )
    append_scores(folder / "probe" / "scores.jsonl", make_scores(systems))
    rng = np.random.default_rng(0)
    for place, (system, error) in enumerate(systems.items()):
        path = folder / "probe" / f"system-{place}" / "portrait.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(make_portrait(system, error, rng)))
    write_steps(folder)
    return folder


def write_steps(folder):
    for place in ("extract", "fit/ln", "prime/ln-anchors", "pretrain/ln-anchors", "probe"):
        stage, _, name = place.partition("/")
        record = {"format": "numerate-step", "version": 1, "stage": stage, "name": name}
        versions = {"numerate": "0.1.0", "python": "3.11.7"}
        write_json(folder / place / "run.json", {**record, "versions": versions, "seconds": 75.2})
