"""Tune: from a sentence encoder and text with numbers to an encoder that knows magnitudes."""

from pathlib import Path
from typing import Any

from numerate.errors import needs_extra
from numerate.extract.corpus import Corpus
from numerate.pretrain.train import train_model
from numerate.progress import Report, ignore_status
from numerate.tune.config import TuneConfig


def tune_encoder(
    corpus: Corpus,
    config: TuneConfig,
    folder: Path | str,
    *,
    resume: bool = False,
    report: Report = ignore_status,
) -> dict[str, Any]:
    """Tune a sentence encoder on a corpus into a folder, and return the content of `run.json`.

    The folder is new or empty; with `resume`, it may hold a training that was cut off. `report` is
    called with the status after every batch.
    """
    with needs_extra("tuning", "tune"):
        from numerate.tune.training import TuneTraining

    training = TuneTraining(corpus, config)
    return train_model(training, Path(folder), resume=resume, report=report)
