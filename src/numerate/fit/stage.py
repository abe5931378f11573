"""The stage `fit` of a run: its settings, its steps, and the estimate of their duration."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from numerate.extract.counts import Counts
from numerate.fit.anchors import RESOLUTION
from numerate.fit.fitting import fit_anchors, sweep_components
from numerate.layout import RunContext
from numerate.options import Scale, Start
from numerate.settings import Section
from numerate.steps import Step, measure_seconds

_SAMPLE_NUMERALS = 5000


class FitSettings(Section):
    """The mixture and its anchors; `sweep` lists numbers of components to compare."""

    components: int = Field(default=1000, gt=0)
    resolution: float = Field(default=RESOLUTION, gt=0)
    start: Start = "drawn"
    width: int = Field(default=1, gt=0)
    sweep: tuple[int, ...] = ()

    def sizes(self, scale: Scale) -> tuple[int, ...]:
        """Return the numbers of components to compare; none on log10, which needs no mixture."""
        return () if scale == "log10" else self.sweep


def plan_fit(run: RunContext, name: str, scale: Scale, settings: FitSettings, *, seed: int) -> Step:
    """Return the step that fits anchors on a scale, and compares numbers of components."""
    sizes = settings.sizes(scale)
    anchors_file, sweep_file = run.layout.anchors(name).name, run.layout.sweep(name).name

    def work(folder: Path) -> None:
        counts = Counts.load(run.layout.counts)
        chosen: dict[str, Any] = settings.model_dump(include={"resolution", "start"})
        chosen |= {"scale": scale, "seed": seed}
        if sizes:
            sweep_components(counts, sizes, **chosen).save(folder / sweep_file)
        anchors = fit_anchors(
            counts, n_components=settings.components, width=settings.width, **chosen
        )
        anchors.save(folder / anchors_file)

    return Step(
        stage="fit",
        name=name,
        settings={"scale": scale, "seed": seed, **settings.model_dump()},
        inputs={run.layout.counts.name: run.layout.counts},
        outputs=(anchors_file, sweep_file) if sizes else (anchors_file,),
        work=work,
        estimate=lambda: estimate_fit(scale, settings),
    )


def estimate_fit(scale: Scale, settings: FitSettings) -> float:
    """Return the seconds to fit every number of components, timed on random numerals."""
    if scale == "log10":
        return 0.0
    values = np.random.default_rng(0).integers(1, 10**6, _SAMPLE_NUMERALS)
    counts = Counts(dict.fromkeys(values.tolist(), 1), documents=1, words=1)
    return sum(
        measure_seconds(partial(fit_anchors, counts, n_components=size, scale="ln"))
        for size in (settings.components, *settings.sizes(scale))
    )
