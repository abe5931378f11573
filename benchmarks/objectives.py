"""One training by an objective on some text, probed without its anchor: to choose what to confirm.

`python -m benchmarks.objectives NAME CORPUS [KEY=VALUE ...]` trains `ln-near` with settings of
pretrain changed (values as in TOML, such as `objective=["value"]`) and writes its scores to
`results/tries/near/NAME.jsonl`. With `untrained` as NAME it probes the twin. What is chosen here
has to be confirmed with other seeds, on other text.
"""

import sys
import tempfile
from pathlib import Path

from numerate.layout import RunLayout
from numerate.probe.scores import read_scores, write_scores
from numerate.run.config import load_config
from numerate.run.execute import run_config

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "results" / "tries" / "near"
BUDGET = ("max_tokens=150_000", "batch_size=4", "learning_rate=6e-4")


def main(name: str, corpus: str, *settings: str) -> None:
    """Train, probe the masked anchor in-domain, and keep the scores."""
    changes = [f"corpus=[{corpus!r}]", "name='objectives'", "systems=['ln-near']"]
    changes += ["probe.anchor=['masked']", "probe.domains=['in']", "probe.seeds=2"]
    changes += ["probe.tasks=['decoding','geometry','comparison']", "seed=42"]
    own = 'pieces="digits"', "rehearse=0.8", 'objective=["value","geometry"]', *BUDGET, *settings
    section = dict(setting.split("=", 1) for setting in own)
    inline = ", ".join(f"{key}={value}" for key, value in section.items())
    changes.append(f"variants.ln-near={{pretrain={{{inline}}}}}")
    with tempfile.TemporaryDirectory() as folder:
        run_config(load_config("laptop", changes), Path(folder), workers=1)
        scores = read_scores(RunLayout(Path(folder)).scores)
    is_twin = name == "untrained"
    kept = [score for score in scores if score.system.startswith("untrained") == is_twin]
    write_scores(KEPT / f"{name}.jsonl", kept)


if __name__ == "__main__":
    main(*sys.argv[1:])
