"""The stage `tune` of a run: its step, and the estimate of its duration."""

from pathlib import Path

from numerate.extract.stage import RunText
from numerate.layout import RunContext, name_training
from numerate.models.names import SystemName
from numerate.models.sentence_encoder import check_sentence_encoder
from numerate.progress import show_training
from numerate.steps import Step
from numerate.tune.config import TuneConfig

TUNED = "tuned"
"""The system of a run that is its base, tuned on its corpus."""


def plan_tune(run: RunContext, config: TuneConfig, text: RunText, training: int = 0) -> Step:
    """Return the step that tunes the base of a run; `training` numbers its trainings."""

    def work(folder: Path) -> None:
        from numerate.tune.tune import tune_encoder

        model = folder / "model"
        with show_training("tune", quiet=run.quiet) as report:
            tune_encoder(text.corpus, config, model, resume=True, report=report)
        if run.draw_curve:
            run.draw_curve(model)

    return Step(
        stage="tune",
        name=name_training(TUNED, training),
        settings=config.describe(),
        inputs={**text.inputs, "base": SystemName("base", "model", config.base).location},
        outputs=("model/model.safetensors", "model/config.json"),
        work=work,
        check=lambda: check_sentence_encoder(config.base),
        estimate=lambda: 60 * config.max_minutes if config.max_minutes else None,
    )
