"""How training changes which numbers are neighbours, beside two controls, over several seeds.

Runs the demo with other seeds of training: each variant; its twin, the same model untrained, shown
the same text (anchors masked) and read at the same tokens; and the variant trained on *shuffled*
anchors, where every numeral has the anchor of another. An effect that shuffled anchors have too
does not come from the anchors.

`python -m benchmarks.neighbours [NAME=CORPUS]` writes `results/neighbours/NAME.json`; the default
corpus is the embedded one, on which the settings were chosen.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from numerate.extract.numerals import LARGEST
from numerate.files import write_json
from numerate.fit.anchors import AnchorSet
from numerate.report.run_folder import read_run
from numerate.run.config import load_config
from numerate.run.execute import run_config

KEPT = Path(__file__).parents[1] / "results" / "neighbours"
SEEDS = (11, 12, 13)  # other than those by which the settings were chosen
VARIANTS = ("ln-anchors", "ln-spread")


def main(name: str, corpus: str) -> None:
    """Train with every seed on anchors and on shuffled anchors; save how far off neighbours are."""
    found: dict[str, list[float]] = {}
    tokens = load_config("demo").variants[VARIANTS[0]].pretrain.max_tokens
    for index, seed in enumerate(SEEDS):
        for shuffled in (False, True):
            for system, factor in measure(corpus, seed, shuffled=shuffled).items():
                label = f"shuffled {system}" if shuffled else system
                found.setdefault(label, []).append(factor)
                print(f"seed {seed}, {label}: off by a factor of {factor:.3f}", flush=True)
        done = {"corpus": name, "tokens": tokens, "seeds": SEEDS[: index + 1], "factors": found}
        write_json(KEPT / f"{name}.json", done)


def measure(corpus: str, seed: int, *, shuffled: bool) -> dict[str, float]:
    """Run the demo's training, and return the typical factor between numbers and neighbours."""
    systems = list(VARIANTS) if shuffled else [f"twin:{v}" for v in VARIANTS] + list(VARIANTS)
    changes = [f"corpus=[{corpus!r}]", f"systems={systems}", f"seed={seed}"]
    changes += ["probe.seeds=1", 'probe.ranges=["all"]']  # their scores are not looked at
    with tempfile.TemporaryDirectory() as folder, _shuffle_anchors() if shuffled else nullcontext():
        run_config(load_config("demo", changes), Path(folder), workers=1, quiet=True)
        return {
            one.system: one.neighbours.mean_factor
            for one in read_run(Path(folder)).diagnostics
            if one.neighbours
        }


@contextmanager
def _shuffle_anchors() -> Iterator[None]:
    """Give every numeral the anchor of another one, the same wherever it occurs."""
    locate = AnchorSet.locate

    def locate_another(anchors: AnchorSet, values: Any) -> Any:  # noqa: ANN401
        places = np.asarray(values, np.float64).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return locate(anchors, LARGEST ** (places.astype(np.float64) / 2**64))

    with patch.object(AnchorSet, "locate", locate_another):
        yield


if __name__ == "__main__":
    name, _, corpus = (sys.argv[1] if sys.argv[1:] else "almanac=almanac:").partition("=")
    main(name, corpus)
