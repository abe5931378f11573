"""Baselines: GenBERT and MWP-BERT, trained by the recipes of their papers on any base model."""

import os
from pathlib import Path
from typing import Any

from numerate.errors import InputError
from numerate.pretrain.config import BaselineConfig, GenbertConfig
from numerate.pretrain.train import train_model
from numerate.progress import Report, ignore_status


def train_baseline(
    config: BaselineConfig,
    folder: Path | str,
    *,
    resume: bool = False,
    report: Report = ignore_status,
) -> dict[str, Any]:
    """Train a baseline into a folder, with the other arguments of `pretrain_model`."""
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise InputError("baselines train in one process; start them without torchrun")
    from numerate.pretrain.baselines.genbert import GenbertRecipe
    from numerate.pretrain.baselines.mwp_bert import MwpBertRecipe

    if isinstance(config, GenbertConfig):
        return train_model(GenbertRecipe(config), Path(folder), resume=resume, report=report)
    return train_model(MwpBertRecipe(config), Path(folder), resume=resume, report=report)
