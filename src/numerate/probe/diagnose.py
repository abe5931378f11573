"""Diagnose a system: compute what the figures of a report show of it beyond its scores.

The values to which held-out numerals are decoded, the numerals with the most similar vectors, the
cosines of the vectors of 1 to 100, and the errors of each layer; of a sentence encoder, what it
finds for a few queries.
"""

from dataclasses import replace

import numpy as np
import torch

from numerate.extract.ranges import ALL, Values, spread_numerals
from numerate.probe.diagnostics import DecodedValues, Diagnostics, LayerErrors, Neighbours
from numerate.probe.layers import split_layers
from numerate.probe.plan import Plan, score_cells
from numerate.probe.regression import measure_errors
from numerate.probe.samples import FEWEST, draw_sample, take_some
from numerate.probe.score_cell import Cell, Question, predict_values
from numerate.probe.systems import LayeredSystem, System, embed_cached
from numerate.probe.tasks.geometry import find_nearest
from numerate.probe.tasks.searches import search_examples
from numerate.probe.text_systems import SentenceEncoder

LINE = (1, 10_000)
_MOST_BY_LAYER = 1500
_COMPARED = np.arange(1, 101)
_EXAMPLES = (1_999, 52_000, 7_500_000)


def diagnose_system(system: System, plan: Plan) -> Diagnostics:
    """Return the diagnostics of a system with the counts, the protocol and the seeds of a plan.

    Figures show the first training. Of later ones only the cosines and the layers are computed.
    """
    from sklearn.metrics.pairwise import cosine_similarity

    searches = search_examples(system.search) if isinstance(system, SentenceEncoder) else {}
    if plan.counts is None:
        return Diagnostics(system=system.name, training=plan.training, searches=searches)
    known = plan.counts.values.astype(np.int64)
    low, high = LINE
    cosines = cosine_similarity(embed_cached(system, _COMPARED, plan.cache))
    layers, pooled = _decode_layers(system, plan)
    found = Diagnostics(
        system=system.name,
        training=plan.training,
        cosines=np.round(cosines.astype(np.float64), 3),
        layers=layers,
        pooled=pooled,
    )
    if plan.training:
        return found
    return replace(
        found,
        line=_decode(system, plan, known[(known >= low) & (known < high)]),
        decoded=_decode(system, plan, known[known >= 1]),
        neighbours=_find_neighbours(system, plan, known),
        searches=searches,
    )


def _decode(system: System, plan: Plan, numerals: Values) -> DecodedValues | None:
    """Decode a held-out part of some numerals by trees; None if there are too few numerals.

    R² is that of the values themselves, not of their logarithms, as in the paper's figure 1.
    """
    rng = np.random.default_rng([plan.seeds[0], len(numerals)])
    numerals = take_some(numerals, plan.protocol.most, rng)
    if len(numerals) < FEWEST:
        return None
    sample = draw_sample("decoding", numerals, plan.protocol, rng)
    question = Question(
        cell=Cell("decoding", "in", ALL, plan.seeds[0]),
        sample=sample,
        numerals=numerals,
        vectors=embed_cached(system, numerals, plan.cache),
        protocol=plan.protocol,
        device=plan.device,
        threads=torch.get_num_threads(),
    )
    predicted, true = predict_values(question), sample.test.ravel().astype(np.float64)
    rounded = np.array([float(f"{value:.6g}") for value in predicted])
    return DecodedValues(true, rounded, measure_errors(predicted, true).r2)


def _find_neighbours(system: System, plan: Plan, known: Values) -> Neighbours | None:
    """Find the ten most similar vectors, by cosine, among 1,000 numerals from 1 to 10^10.

    No probe is trained. The numerals that are asked are those of the 1,000 that the corpus lacks.
    """
    spread = spread_numerals()
    asked = spread[~np.isin(spread, known)]
    if not len(asked):
        return None
    rows = np.concatenate((asked, _EXAMPLES))
    vectors, others = (embed_cached(system, part, plan.cache) for part in (rows, spread))
    nearest = find_nearest(rows, vectors, spread, others)
    examples = zip(_EXAMPLES, map(tuple, nearest[len(asked) :].tolist()), strict=True)
    return Neighbours(
        asked.astype(np.float64), nearest[: len(asked)].astype(np.float64), dict(examples)
    )


def _decode_layers(system: System, plan: Plan) -> tuple[tuple[LayerErrors, ...], tuple[float, ...]]:
    """Return the errors of ridge regression on each layer, and on the vectors of the probes.

    As `probe_layers` does, but in-domain, over all ranges, on 1,500 numerals at most.
    """
    if not isinstance(system, LayeredSystem):
        return (), ()
    most = min(_MOST_BY_LAYER, plan.protocol.most or _MOST_BY_LAYER)
    ridge = replace(
        plan,
        tasks=("decoding",),
        domains=("in",),
        ranges=(ALL,),
        regressors=("ridge",),
        protocol=replace(plan.protocol, most=most),
        workers=1,
    )
    uncached = replace(ridge, cache=None)
    errors = [_measure_ridge(layer, uncached) for layer in split_layers(system)]
    layers = tuple(LayerErrors(layer, ALL, values) for layer, values in enumerate(errors) if values)
    return layers, _measure_ridge(system, ridge)


def _measure_ridge(system: System, plan: Plan) -> tuple[float, ...]:
    """Return the log-RMSE of each seed; none if there are too few numerals."""
    scored = score_cells(system, plan, plan.cells)
    return tuple(
        score.value for _, scores in scored for score in scores if score.metric == "ridge log-rmse"
    )
