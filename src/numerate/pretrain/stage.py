"""The stages `pretrain` and `baseline` of a run: their steps and estimates of duration."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import InputError
from numerate.extract.stage import RunText, estimate_counts
from numerate.layout import RunContext, name_training
from numerate.models.names import SystemName
from numerate.pretrain.config import BaselineConfig, MwpBertConfig, PretrainConfig, TrainingConfig
from numerate.progress import Report, show_training
from numerate.steps import START_SECONDS, Step, measure_seconds

if TYPE_CHECKING:
    from numerate.models.pretrained import Head

OF_RUN = ("base", "seed", "trust_remote_code", "corpus", "field", "errors")
"""Settings of training that a config gives for the whole run."""
_TOKENS_PER_WORD = 1.4
_SAMPLE_ROWS, _SAMPLE_LENGTH = 8, 128


def plan_pretrain(
    run: RunContext, variant: str, config: PretrainConfig, text: RunText, training: int = 0
) -> Step:
    """Return the step that trains a variant; `training` numbers its trainings."""
    manifest, counts = run.layout.manifest(variant), run.layout.counts
    inputs: dict[str, Path | str] = {manifest.name: manifest}
    if config.hold_out:
        inputs["hold_out"] = Path(config.hold_out)

    def train(folder: Path, report: Report) -> None:
        from numerate.pretrain.train import pretrain_model
        from numerate.prime.primed_corpus import open_primed

        chosen = config
        if config.rehearse and not config.hold_out:  # the probes will ask these out-of-domain
            chosen = replace(config, hold_out=str(counts.resolve()))
        primed = open_primed(manifest.parent)
        tokens = run.layout.tokens
        pretrain_model(primed, chosen, folder, resume=True, report=report, tokens=tokens)

    def count_words() -> float | None:
        found = estimate_counts(text, counts)
        return found[0].words * found[1] if found else None

    name = name_training(variant, training)
    return _plan_training(
        run, config, stage="pretrain", name=name, inputs=inputs, train=train, words=count_words
    )


def plan_baseline(
    run: RunContext, system: str, config: BaselineConfig, text: RunText, training: int = 0
) -> Step:
    """Return the step that trains a baseline; `training` numbers its trainings."""
    inputs = text.inputs
    if isinstance(config, MwpBertConfig):
        path = Path(config.problems)
        inputs = {"problems": path}
        if not path.is_file():
            raise InputError(f"mwp_bert.problems: {path}: no such file")

    def train(folder: Path, report: Report) -> None:
        from numerate.pretrain.baselines.train import train_baseline

        train_baseline(config, folder, resume=True, report=report)

    name = name_training(system, training)
    return _plan_training(run, config, stage="baseline", name=name, inputs=inputs, train=train)


def _plan_training(
    run: RunContext,
    config: TrainingConfig,
    *,
    stage: str,
    name: str,
    inputs: Mapping[str, Path | str],
    train: Callable[[Path, Report], object],
    words: Callable[[], float | None] = lambda: None,
) -> Step:
    """Return the step that trains a model, from its last checkpoint if there is one."""

    def work(folder: Path) -> None:
        model = folder / "model"
        title = name if stage == "baseline" else stage
        with show_training(title, quiet=run.quiet) as report:
            train(model, report)
        if run.draw_curve:
            run.draw_curve(model)

    return Step(
        stage=stage,
        name=name,
        settings=config.describe(),
        inputs={**inputs, "base": SystemName("base", "model", config.base).location},
        outputs=("model/model.safetensors", "model/config.json"),
        work=work,
        estimate=lambda: estimate_training(config, words(), lambda: measure_training(config)),
        check=lambda: _check_base(config),
    )


def _check_base(config: TrainingConfig) -> None:
    """Refuse a base model that cannot be loaded, as far as its config tells."""
    from numerate.models.pretrained import find_model_kind

    find_model_kind(config.base, trust_remote_code=config.trust_remote_code)


def estimate_training(
    config: TrainingConfig, words: float | None, measure: Callable[[], float]
) -> float | None:
    """Return the seconds that a training may take; None if its length is unknown.

    `words` is the length of an epoch, if known. `measure` returns the tokens per second; it is
    called only if they matter.
    """
    if config.max_minutes:
        return 60 * config.max_minutes
    if config.max_tokens is None and words is None:
        return None
    tokens = config.max_tokens or config.epochs * _TOKENS_PER_WORD * (words or 0.0)
    return START_SECONDS + tokens / measure()


def measure_training(config: TrainingConfig) -> float:
    """Return the tokens per second of a training step on the base model."""
    length = config.max_length if isinstance(config, PretrainConfig) else _SAMPLE_LENGTH
    kind = config.kind if isinstance(config, PretrainConfig) else "masked"
    rows = min(config.batch_size, _SAMPLE_ROWS)
    return _measure_base(config.base, kind, rows, length, config.trust_remote_code)


@lru_cache
def _measure_base(
    name: str, kind: "Head", rows: int, length: int, trust_remote_code: bool
) -> float:
    import torch

    from numerate.models.base_model import load_base, max_tokens
    from numerate.models.head import NO_CACHE, LabelledHead

    base = load_base(name, (), kind=kind, trust_remote_code=trust_remote_code)
    length = min(length, max_tokens(base.model, base.tokenizer))
    ids = torch.randint(5, len(base.tokenizer), (rows, length))
    chosen = torch.zeros_like(ids, dtype=torch.bool)
    chosen[:, ::20] = True  # about as many labels as a primed corpus has anchors
    head = LabelledHead(base.model)
    optimizer = torch.optim.AdamW(base.model.parameters(), 1e-9, fused=True)

    def train() -> None:
        with head.at(chosen):
            logits = base.model(input_ids=ids, **NO_CACHE[base.kind]).logits[0]
        torch.nn.functional.cross_entropy(logits, ids[chosen]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    train()  # the first step sets up what the others use
    return ids.numel() / measure_seconds(train)
