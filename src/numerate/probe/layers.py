"""Layers: each layer of a model as a system of its own, decoded by ridge regression."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from numerate.errors import InputError
from numerate.models.labels import SystemLabel
from numerate.probe.controls import Matrix
from numerate.probe.plan import Note, Plan, ignore_note, probe_system
from numerate.probe.scores import Score
from numerate.probe.systems import LayeredSystem, NumeralSystem, System


def probe_layers(
    system: System, plan: Plan, path: Path, *, note: Note = ignore_note
) -> list[Score]:
    """Return the scores of ridge regression on each layer as a system of its own."""
    ridge = replace(plan, tasks=("decoding",), regressors=("ridge",), workers=1)
    return [
        score
        for layer in split_layers(system)
        for score in probe_system(layer, ridge, path, note=note)
    ]


def split_layers(system: System) -> list[System]:
    """Return each layer of a model as a system of its own; layer 0 is the embeddings.

    One pass of the model serves all layers.
    """
    if not isinstance(system, LayeredSystem):
        raise InputError(f"{system.name}: has no layers; ask a model")
    embed_layers = lru_cache(lambda numerals: system.embed_layers(numerals))

    def embed_layer(numerals: Sequence[int], layer: int) -> Matrix:
        return embed_layers(tuple(numerals))[layer]

    return [
        NumeralSystem(
            str(replace(SystemLabel.parse(system.name), layer=layer)),
            partial(embed_layer, layer=layer),
            f"{system.fingerprint} layer {layer}",
        )
        for layer in range(system.n_layers + 1)
    ]
