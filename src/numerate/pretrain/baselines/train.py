"""Baselines: GenBERT and MWP-BERT, trained by the recipes of their papers on any base model."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError
from numerate.pretrain.config import BaselineConfig, GenbertConfig
from numerate.pretrain.train import train_model

if TYPE_CHECKING:
    from numerate.progress import Status


def train_baseline(
    config: BaselineConfig,
    folder: Path | str,
    *,
    resume: bool = False,
    report: "Callable[[Status], object]" = lambda status: None,  # noqa: ARG005
) -> dict[str, Any]:
    """Train a baseline into a folder, and return the content of `run.json`.

    The folder is new or empty; with `resume`, it may hold a training that was cut off. `report` is
    called with the status after every batch.
    """
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise InputError("baselines train in one process; start them without torchrun")
    from numerate.pretrain.baselines.genbert import GenbertRecipe
    from numerate.pretrain.baselines.mwp_bert import MwpBertRecipe

    if isinstance(config, GenbertConfig):
        return train_model(GenbertRecipe(config), Path(folder), resume=resume, report=report)
    return train_model(MwpBertRecipe(config), Path(folder), resume=resume, report=report)
