"""How the quality of a tuned sentence encoder grows with steps and with text.

`python -m benchmarks.growth BENCHMARKS WORK [SETTING…]` tunes all-MiniLM-L6-v2 for more and more
steps on all of a text, then on more and more of the text, each with the other settings as they are
by default, and asks each encoder some tasks on texts. Settings are `125 steps` or `1 MB`. Encoders
stay in the folder WORK; scores go to `results/encoders/growth.jsonl`, and what is there is not
asked again.
"""

import sys
from pathlib import Path

from benchmarks.common import MINILM, keep_training, read_corpus
from benchmarks.encoders import KEPT, SEEDS, ask
from numerate.extract.corpus import Corpus, open_corpus
from numerate.files import write_file
from numerate.models.names import SystemName
from numerate.tune.config import TuneConfig
from numerate.tune.tune import tune_encoder

SETTINGS = ("250 steps", "500 steps", "1000 steps", "0.1 MB", "1 MB", "10 MB")
TASKS = ("distance", "retrieval", "STSBenchmark")
STEPS = 500  # where the text grows
SEED = 300


def main(benchmarks: str, work: str, *settings: str) -> None:
    """Tune and ask an encoder for each setting."""
    text = read_corpus()
    for setting in settings or SETTINGS:
        amount, unit = setting.split()
        megabytes = float(amount) if unit == "MB" else len(text) / 1e6
        steps = int(amount) if unit == "steps" else STEPS
        part = Path(work) / f"{megabytes:g}-MB.txt"
        if not part.exists():
            write_file(part, text[: round(megabytes * 1e6)].rpartition(b"\n")[0])
        config = TuneConfig(base=MINILM, max_steps=steps, seed=SEED)
        tune_and_ask(setting, open_corpus([str(part)]), config, Path(work), "growth", benchmarks)


def tune_and_ask(
    name: str, corpus: Corpus, config: TuneConfig, work: Path, kept: str, benchmarks: str
) -> None:
    """Tune an encoder into a folder of `work`, and ask it; keep its scores, settings and curve.

    `kept` names the file of scores and the folder of trainings in `results/encoders/`.
    """
    folder = work / name.replace(",", "").replace(" ", "-")
    tune_encoder(corpus, config, folder, resume=True)
    keep_training(folder, KEPT / kept / folder.name)
    model = SystemName(name, "sentence", str(folder))
    ask(model, KEPT / f"{kept}.jsonl", benchmarks, tasks=TASKS, seeds=SEEDS[:1])


if __name__ == "__main__":
    main(*sys.argv[1:])
