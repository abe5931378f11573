"""How training changes which numbers are neighbours, beside two controls, over several seeds.

Runs the demo with other seeds of training: each variant; its twin, the same model untrained, shown
the same text (anchors masked) and read at the same tokens; and the variant trained on *shuffled*
anchors, where every numeral has the anchor of another. An effect that shuffled anchors have too
does not come from the anchors.

`python -m benchmarks.neighbours [NAME=CORPUS [VARIANT ...]]` writes `results/neighbours/NAME.json`;
the default corpus is the embedded one, on which the settings were chosen.
"""

import sys
import tempfile
from pathlib import Path

from numerate.files import write_json
from numerate.models.labels import SystemLabel
from numerate.report.run_folder import read_run
from numerate.run.config import load_config
from numerate.run.execute import run_config

KEPT = Path(__file__).parents[1] / "results" / "neighbours"
SEEDS = (11, 12, 13)  # other than those by which the settings were chosen
VARIANTS = ("ln-anchors", "ln-near")


def main(name: str, corpus: str, variants: tuple[str, ...]) -> None:
    """Train with every seed on anchors and on shuffled anchors; save how far off neighbours are."""
    found: dict[str, list[float]] = {}
    tokens = load_config("demo").variants[variants[0]].pretrain.max_tokens
    for index, seed in enumerate(SEEDS):
        for shuffled in (False, True):
            for system, factor in measure(corpus, variants, seed, shuffled=shuffled).items():
                label = f"shuffled {system}" if shuffled else system
                found.setdefault(label, []).append(factor)
                print(f"seed {seed}, {label}: off by a factor of {factor:.3f}", flush=True)
        done = {"corpus": name, "tokens": tokens, "seeds": SEEDS[: index + 1], "factors": found}
        write_json(KEPT / f"{name}.json", done)


def measure(
    corpus: str, variants: tuple[str, ...], seed: int, *, shuffled: bool
) -> dict[str, float]:
    """Run the demo's training, and return the typical factor between numbers and neighbours."""
    changes = [f"corpus=[{corpus!r}]", f"systems={list(variants)}", f"seed={seed}"]
    changes += ["probe.seeds=1", 'probe.ranges=["all"]']  # their scores are not looked at
    changes += ["pretrain.shuffle=true"] if shuffled else []
    with tempfile.TemporaryDirectory() as folder:
        run_config(load_config("demo", changes), Path(folder), workers=1, quiet=True)
        found = read_run(Path(folder)).diagnostics
    twins = {str(SystemLabel.parse(one.system).twin) for one in found}
    return {
        one.system: one.neighbours.mean_factor
        for one in found
        if one.neighbours and not (shuffled and one.system in twins)  # twins are not trained
    }


if __name__ == "__main__":
    where, *chosen = sys.argv[1:] or ["almanac=almanac:"]
    name, _, corpus = where.partition("=")
    main(name, corpus, tuple(chosen) or VARIANTS)
