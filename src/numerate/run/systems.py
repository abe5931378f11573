"""The systems of a config, as the stage `probe` needs them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import InputError, MissingExtraError
from numerate.layout import RunContext, name_training
from numerate.models.labels import SystemLabel
from numerate.models.names import SystemKind, SystemName
from numerate.options import SHOWN, LmKind, check_shown
from numerate.prime.stage import PrimingPlan
from numerate.probe.stage import ProbeTarget
from numerate.run.config import RECIPES, Config
from numerate.tune.stage import TUNED

if TYPE_CHECKING:
    from numerate.models.pretrained import Head


def find_priming(config: Config, run: RunContext, variant: str) -> PrimingPlan:
    """Return how a variant primes text."""
    chosen = config.variants[variant]
    anchors = run.layout.anchors(config.fit_name(variant))
    return PrimingPlan(anchors, chosen.marker, chosen.prime)


def list_targets(config: Config, run: RunContext) -> list[ProbeTarget]:
    """Return the systems to probe, each with a folder of its own."""
    targets: list[ProbeTarget] = []
    for system in config.probed:
        for target in _find_targets(config, run, system):
            taken = sum(other.folder.split("~")[0] == target.folder for other in targets)
            folder = f"{target.folder}~{taken + 1}" if taken else target.folder
            targets.append(replace(target, folder=folder))
    return targets


def _find_targets(config: Config, run: RunContext, system: str) -> Iterator[ProbeTarget]:
    kind, _, variant = system.partition(":")
    if system in config.variants:
        for target in _find_trainings(config, system, system, run.layout.model):
            yield from _show_anchors(config, system, target)
    elif TUNED in (system, variant):
        yield from _find_tuned(config, run, is_twin=kind == "twin")
    elif kind == "twin":
        title = str(SystemLabel(name=variant).twin)
        target = _prime_base(config, run, variant, f"twin-{variant}", title)
        yield from _show_anchors(config, variant, target)
    elif kind == "primed":
        title = str(SystemLabel.of_primed_base(variant))
        target = _prime_base(config, run, variant, f"primed-{variant}", title)
        yield replace(target, shown="visible", read=config.variants[variant].read)
    elif system in RECIPES:
        title = config.baseline(system).title
        yield from _find_trainings(config, system, title, run.layout.baseline)
    elif system == "base":
        name = SystemName("base", "model", config.base)
        yield ProbeTarget(folder="base", system=name, shown="absent")
    else:
        name = SystemName.parse(system)
        folder = re.sub(r"[^\w.-]+", "-", name.title).strip("-.")
        yield ProbeTarget(folder=folder, system=name)


def _find_tuned(config: Config, run: RunContext, *, is_twin: bool) -> Iterator[ProbeTarget]:
    """Yield the tuned base of each training, or the base untrained, with the same pieces."""
    if is_twin:
        path = f"{config.tune.pieces}:{config.base}".removeprefix("words:")
        name = SystemName(str(SystemLabel(name=TUNED).twin), "sentence", path)
        yield ProbeTarget(folder=f"twin-{TUNED}", system=name)
    else:
        yield from _find_trainings(config, TUNED, TUNED, run.layout.tuned, kind="sentence")


def _find_trainings(
    config: Config,
    system: str,
    title: str,
    find_folder: Callable[[str], Path],
    kind: SystemKind = "model",
) -> Iterator[ProbeTarget]:
    """Yield the model of each training of a system."""
    for training in range(config.trainings):
        folder = name_training(system, training)
        name = SystemName(title, kind, str(find_folder(folder)))
        yield ProbeTarget(folder=folder, system=name, trained_here=True, training=training)


def _show_anchors(config: Config, variant: str, target: ProbeTarget) -> Iterator[ProbeTarget]:
    """Yield a system for each way in which a variant is shown its anchors."""
    chosen, kind = (
        config.variants[variant],
        find_base_kind(
            config.base, config.pretrain.kind, trust_remote_code=config.trust_remote_code
        ),
    )
    for shown in chosen.anchor or config.probe.anchor or SHOWN[kind]:
        check_shown(variant, shown, kind)
        read = "all" if shown == "absent" else chosen.read  # there is only the numeral
        yield replace(target, folder=f"{target.folder}-{shown}", shown=shown, read=read)


@lru_cache
def find_base_kind(base: str, kind: "Head", *, trust_remote_code: bool = False) -> LmKind:
    """Return the kind of language model that a run trains.

    A base that cannot be read now counts as masked: its training says what is wrong with it.
    """
    if kind != "auto":
        return kind
    from numerate.models.pretrained import find_model_kind

    try:
        return find_model_kind(base, trust_remote_code=trust_remote_code) or "masked"
    except (InputError, MissingExtraError):
        return "masked"


def _prime_base(
    config: Config, run: RunContext, variant: str, folder: str, title: str
) -> ProbeTarget:
    """Return the untrained base model that is shown the text of a variant in its pieces."""
    kind: SystemKind = "digits" if config.variants[variant].pretrain.pieces == "digits" else "model"
    system = SystemName(title, kind, config.base, primed=True)
    return ProbeTarget(folder=folder, system=system, priming=find_priming(config, run, variant))
