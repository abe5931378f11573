"""The systems of a config, as the stage `probe` needs them."""

import re
from collections.abc import Iterator
from dataclasses import replace

from numerate.layout import RunLayout
from numerate.models.names import SystemKind, SystemName
from numerate.prime.stage import PrimingPlan
from numerate.probe.labels import SystemLabel
from numerate.probe.stage import ProbeTarget
from numerate.run.config import PRIMED, RECIPES, Config


def find_priming(config: Config, layout: RunLayout, variant: str) -> PrimingPlan:
    """Return how a variant primes text."""
    chosen = config.variants[variant]
    return PrimingPlan(layout.anchors(config.fit_name(variant)), chosen.marker, chosen.prime)


def list_targets(config: Config, layout: RunLayout) -> list[ProbeTarget]:
    """Return the systems to probe, each with a folder of its own."""
    targets: list[ProbeTarget] = []
    for system in config.systems:
        for target in _find_targets(config, layout, system):
            taken = sum(other.folder.split("~")[0] == target.folder for other in targets)
            folder = f"{target.folder}~{taken + 1}" if taken else target.folder
            targets.append(replace(target, folder=folder))
    return targets


def _find_targets(config: Config, layout: RunLayout, system: str) -> Iterator[ProbeTarget]:
    if system in config.variants:
        yield from _list_variant(config, layout, system)
    elif system in RECIPES:
        model = str(layout.baseline(system))
        name = SystemName(config.baseline(system).title, "model", model)
        yield ProbeTarget(folder=system, system=name, trained_here=True)
    elif system == "base":
        name = SystemName("base", "model", config.base)
        yield ProbeTarget(folder="base", system=name, shown="absent")
    elif system.startswith(PRIMED):
        yield _prime_base(config, layout, system.removeprefix(PRIMED))
    else:
        name = SystemName.parse(system)
        folder = re.sub(r"[^\w.-]+", "-", name.title).strip("-.")
        yield ProbeTarget(folder=folder, system=name)


def _list_variant(config: Config, layout: RunLayout, variant: str) -> Iterator[ProbeTarget]:
    chosen = config.variants[variant]
    for shown in chosen.anchor or config.probe.anchor:
        yield ProbeTarget(
            folder=f"{variant}-{shown}",
            system=SystemName(variant, "model", str(layout.model(variant))),
            trained_here=True,
            shown=shown,
            read="all" if shown == "absent" else chosen.read,  # there is only the numeral
        )


def _prime_base(config: Config, layout: RunLayout, variant: str) -> ProbeTarget:
    """Return the untrained base model that is shown the text of a variant."""
    chosen = config.variants[variant]
    kind: SystemKind = "digits" if chosen.pretrain.pieces == "digits" else "model"
    title = str(SystemLabel.of_primed_base(variant))
    return ProbeTarget(
        folder=f"primed-{variant}",
        system=SystemName(title, kind, config.base, primed=True),
        shown="visible",
        read=chosen.read,
        priming=find_priming(config, layout, variant),
    )
