"""Portray: what figures show of a system beyond its scores.

The values that held-out numerals are decoded to, which numeral's vector is most like that of each
numeral, how alike the vectors of 1 to 100 are, and how well each layer can be decoded; kept in
`portrait.json`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from sklearn.metrics.pairwise import cosine_similarity

from numerate.extract.ranges import Values, spread_numerals
from numerate.probe.controls import Matrix
from numerate.probe.plan import Plan
from numerate.probe.regression import measure_errors, predict_by_ridge, target
from numerate.probe.samples import FEWEST, Sample, draw_sample, take_some
from numerate.probe.score_cell import Cell, Question, predict_values
from numerate.probe.systems import System, embed_cached

LINE = (1, 10_000)
_MOST_BY_LAYER = 1500
_ALIKE = np.arange(1, 101)
_EXAMPLES = (1_999, 52_000, 7_500_000)
_N_NEAREST = 10


def portray_system(system: System, plan: Plan) -> dict[str, Any]:
    """Return the portrait of a system, drawn with a plan's counts and protocol."""
    document: dict[str, Any] = {"format": "numerate-portrait", "version": 1, "system": system.name}
    if plan.counts is None:
        return document
    known = plan.counts.values.astype(np.int64)
    spans = {"line": LINE, "decoded": (1, int(known.max()) + 1)}
    samples = {
        name: sample
        for name, (low, high) in spans.items()
        if (sample := _draw(known[(known >= low) & (known < high)], plan)) is not None
    }
    document |= dict(zip(samples, _decode(system, plan, list(samples.values())), strict=True))
    cosines = cosine_similarity(embed_cached(system, _ALIKE, plan.cache))
    document["cosines"] = np.round(cosines, 3).tolist()
    document["neighbours"] = _find_neighbours(system, plan, known)
    most = min(_MOST_BY_LAYER, plan.protocol.most or _MOST_BY_LAYER)
    some = take_some(known[known >= 1], most, _rng())
    if system.embed_layer is not None and len(some) >= FEWEST:
        document["layers"] = _decode_layers(system.embed_layer, system.n_layers, some, plan)
        document["pooled"] = _decode_by_ridge(embed_cached(system, some, plan.cache), some, plan)
    return document


def _draw(numerals: Values, plan: Plan) -> Sample | None:
    rng = np.random.default_rng([plan.seeds[0], len(numerals)])
    numerals = take_some(numerals, plan.protocol.most, rng)
    if len(numerals) < FEWEST:
        return None
    return draw_sample("decoding", numerals, plan.protocol, rng)


def _decode(system: System, plan: Plan, samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """The true and the decoded values of each sample's test set, and how much they have in common.

    R² is of the values themselves, as in the paper's figure 1.
    """
    cell = Cell("decoding", "in", "all", plan.seeds[0])
    threads, decoded = torch.get_num_threads(), []
    for sample in samples:
        numerals = np.unique(np.concatenate([part.ravel() for part in vars(sample).values()]))
        vectors = embed_cached(system, numerals, plan.cache)
        question = Question(
            cell, sample, numerals, vectors, plan.protocol, ("trees",), plan.device, threads
        )
        predicted, truth = predict_values(question), sample.test.ravel()
        decoded.append(
            {
                "true": truth.tolist(),
                "predicted": [float(f"{value:.6g}") for value in predicted],
                "r2": measure_errors(predicted, truth.astype(float)).r2,
            }
        )
    return decoded


def _find_neighbours(system: System, plan: Plan, known: Values) -> dict[str, Any]:
    """Find the numerals whose vectors are most alike, by cosine, among 1,000 from 1 to 10^10.

    No probe is trained. `asked` are those of the 1,000 that the corpus lacks, `nearest` has the ten
    numerals that each of them is most like, and `examples` the ten nearest of some numerals.
    """
    spread = spread_numerals()
    asked = spread[~np.isin(spread, known)]
    rows = np.concatenate((asked, _EXAMPLES))
    cosines = cosine_similarity(*(embed_cached(system, n, plan.cache) for n in (rows, spread)))
    cosines[rows[:, None] == spread] = -np.inf  # a numeral is not its own neighbour
    nearest = spread[np.argsort(-cosines, axis=1, kind="stable")[:, :_N_NEAREST]]
    examples = zip(map(str, _EXAMPLES), nearest[len(asked) :].tolist(), strict=True)
    return {
        "asked": asked.tolist(),
        "nearest": nearest[: len(asked)].tolist(),
        "examples": dict(examples),
    }


def _decode_layers(
    embed_layer: Callable[[int, list[int]], Matrix], n_layers: int, numerals: Values, plan: Plan
) -> list[dict[str, Any]]:
    """The errors of ridge regression on every layer, 0 the embeddings, over some numerals."""
    layers = []
    for layer in range(n_layers + 1):
        errors = _decode_by_ridge(embed_layer(layer, numerals.tolist()), numerals, plan)
        layers.append({"layer": layer, "range": "all", "values": errors})
    return layers


def _decode_by_ridge(x: Matrix, numerals: Values, plan: Plan) -> list[float]:
    """The error on a fifth of the numerals, for each seed."""
    y, cut = target(numerals), len(numerals) // 5
    errors = []
    for seed in plan.seeds:
        order = np.random.default_rng(seed).permutation(len(numerals))
        test, train = order[:cut], order[cut:]
        errors.append(measure_errors(predict_by_ridge(x[train], y[train], x[test]), y[test]))
    return [error.log_rmse for error in errors]


def _rng() -> np.random.Generator:
    """The same numerals for every system and every number of seeds."""
    return np.random.default_rng(0)
