"""The registry of stages, in their order; `stage.py` of a room has its settings and work."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from numerate.extract.stage import plan_extract
from numerate.fit.stage import plan_fit
from numerate.layout import RunContext
from numerate.pretrain.stage import plan_baseline, plan_pretrain
from numerate.prime.stage import plan_prime
from numerate.probe.stage import plan_probe
from numerate.report.stage import plan_report
from numerate.run.config import Config
from numerate.run.systems import find_priming, list_targets
from numerate.steps import Step
from numerate.tune.stage import TUNED, plan_tune

Stage = Callable[[Config, RunContext, Sequence[Step]], Iterable[Step]]
"""Returns the steps of a stage; the last argument holds the steps of the stages before it."""

STAGES: tuple[Stage, ...] = (
    lambda c, run, _: [plan_extract(run, c.text)],
    lambda c, run, _: [plan_fit(run, name, *fit, seed=c.seed) for name, fit in c.fits.items()],
    lambda c, run, _: [plan_prime(run, v, c.text, find_priming(c, run, v)) for v in c.trained],
    lambda c, run, _: [
        plan_pretrain(run, v, config, c.text, training)
        for training in range(c.trainings)
        for v in c.trained
        for config in [replace(c.variants[v].pretrain, seed=c.seed + training)]
    ],
    lambda c, run, _: [
        plan_baseline(run, name, config, c.text, training)
        for training in range(c.trainings)
        for name in c.recipes
        for config in [replace(c.baseline(name), seed=c.seed + training)]
    ],
    lambda c, run, _: [
        plan_tune(run, replace(c.tune, seed=c.seed + training), c.text, training)
        for training in range(c.trainings if TUNED in c.systems else 0)
    ],
    lambda c, run, _: [plan_probe(run, t, c.probe, c.base, c.text) for t in list_targets(c, run)],
    lambda c, run, steps: [plan_report(run, c.name, c.systems, c.report, steps)],
)
