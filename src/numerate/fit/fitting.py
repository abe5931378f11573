"""Fits anchors: `Counts` go in, an `AnchorSet` comes out (the paper's section 2).

The anchors are the rounded means of a Gaussian mixture, fitted to the positions of the numerals on
the scale `linear` or `ln`; `log10` needs no mixture. `sweep_components` compares mixtures of
different sizes by AIC and BIC (the paper's appendix A.1) and returns a `Sweep`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.extract.numerals import LARGEST_OF
from numerate.extract.ranges import RANGES
from numerate.files import read_json, write_json
from numerate.fit.anchors import RESOLUTION, AnchorSet, check_resolution, rescale, restore
from numerate.fit.mixture import Mixture, draw_start, fit_mixture, spread_start
from numerate.options import Scale, Start, check_option

SWEEP_FORMAT = "numerate-sweep"


def fit_anchors(
    counts: Counts,
    *,
    n_components: int = 1000,
    scale: Scale = "linear",
    resolution: float = RESOLUTION,
    start: Start = "drawn",
    width: int = 1,
    seed: int = 42,
) -> AnchorSet:
    """Return the anchors of a corpus: the distinct rounded means of a Gaussian mixture.

    On the scale log10 the anchors are the exponents from 0, or from the smallest of the corpus,
    to that of the largest number of the domain (10 for 10^10); n_components, resolution, start and
    seed have no effect there.

    Args:
        counts: The numerals of the corpus.
        n_components: Number of Gaussians in the mixture (the paper: 1000).
        scale: The scale on which the mixture is fitted, and the scale of the anchors.
        resolution: Units per e-fold of the ln scale (the paper: 10).
        start: Where the components start: at numerals `drawn` at random by frequency (the paper),
            or `spread` evenly over the scale, so that rare numerals, such as most large ones, get
            anchors near them too.
        width: The least number of digits to write an anchor with, padded by zeros.
        seed: Seed of the random draw of the start.
    """
    check_option("scale", scale, Scale)
    check_option("start", start, Start)
    if scale == "log10":
        return _list_exponents(counts, width)
    mixture = _fit_scaled(
        counts, n_components, scale=scale, resolution=resolution, start=start, seed=seed
    )
    alive = mixture.weights * counts.numerals > 1e-6  # drop components without any numeral left
    means = np.unique(np.rint(mixture.means[alive])).astype(np.int64)
    diagnosis = {**_diagnose_fit(mixture, counts, n_components), "start": start, "seed": seed}
    values = tuple(means.tolist())
    anchors = AnchorSet(scale, values, resolution=resolution, domain=counts.domain, width=width)
    return replace(anchors, fit={**diagnosis, "distances": measure_distances(anchors, counts)})


def _list_exponents(counts: Counts, width: int) -> AnchorSet:
    """Return the anchors of the scale log10."""
    lowest = min(0, int(rescale(counts.values, "log10").min()))
    values = tuple(range(lowest, int(rescale(LARGEST_OF[counts.domain], "log10")) + 1))
    anchors = AnchorSet("log10", values, domain=counts.domain, width=width)
    diagnosis = {"numerals": counts.numerals, "distinct_numerals": len(counts.counts)}
    return replace(anchors, fit={**diagnosis, "distances": measure_distances(anchors, counts)})


def _fit_scaled(
    counts: Counts, n_components: int, *, scale: Scale, resolution: float, start: Start, seed: int
) -> Mixture:
    """Return the Gaussian mixture fitted to the positions of the numerals on a scale."""
    check_option("scale", scale, Scale)
    check_option("start", start, Start)
    if scale == "log10":
        raise InputError("scale must be linear or ln for a mixture, got log10, which needs none")
    check_resolution(resolution)
    if not 1 <= n_components <= counts.numerals:
        raise InputError(
            f"components must be from 1 to the number of numerals, got {n_components:,} for "
            f"{counts.numerals:,} numerals; choose fewer components"
        )
    positions = rescale(counts.values, scale, resolution)
    if start == "spread":
        first = spread_start(positions, n_components)
    else:
        first = draw_start(positions, counts.weights, n_components, np.random.default_rng(seed))
    return fit_mixture(positions, counts.weights, first)


def _diagnose_fit(mixture: Mixture, counts: Counts, n_components: int) -> dict[str, Any]:
    """Return how well a mixture fits: log-likelihood, AIC, BIC and the course of the fit."""
    parameters = 3 * n_components - 1  # a mean, a variance and a weight each; weights sum to 1
    deviance = -2 * mixture.log_likelihood * counts.numerals
    return {
        "components": n_components,
        "distinct_components": len(mixture.means),
        "iterations": mixture.iterations,
        "converged": mixture.converged,
        "numerals": counts.numerals,
        "distinct_numerals": len(counts.counts),
        "log_likelihood": mixture.log_likelihood,
        "aic": deviance + 2 * parameters,
        "bic": deviance + float(np.log(counts.numerals)) * parameters,
    }


def measure_distances(anchors: AnchorSet, counts: Counts) -> list[dict[str, Any]]:
    """Return, for each range of values, its number of anchors and the distance of numerals to them.

    `distance` is the mean distance on the scale, `percent` the mean of |anchor − n| / n in values;
    each numeral counts as often as it occurs.
    """
    positions = rescale(counts.values, anchors.scale, anchors.resolution)
    nearest = anchors.nearest(counts.values)
    distance = np.abs(positions - nearest)
    value = restore(nearest, anchors.scale, anchors.resolution)
    relative = np.abs(value - counts.values) / np.maximum(np.abs(counts.values), 1e-9)
    rows = []
    for name, (low, high) in RANGES.items():
        inside = (np.abs(counts.values) >= low) & (np.abs(counts.values) < high)
        if inside.any():
            weights = counts.weights[inside]
            rows.append(
                {
                    "range": name,
                    "numerals": int(weights.sum()),
                    "anchors": len(np.unique(nearest[inside])),
                    "distance": float(np.average(distance[inside], weights=weights)),
                    "percent": 100 * float(np.average(relative[inside], weights=weights)),
                }
            )
    return rows


@dataclass(frozen=True)
class Sweep:
    """Mixtures of several sizes on one scale: for each a row with its size, AIC, BIC and more."""

    scale: Scale
    rows: tuple[dict[str, Any], ...]

    def save(self, path: Path) -> None:
        """Write `sweep.json`."""
        document = {"format": SWEEP_FORMAT, "version": 1, "scale": self.scale}
        write_json(path, {**document, "rows": list(self.rows)})

    @classmethod
    def load(cls, path: Path) -> "Sweep":
        """Read `sweep.json`."""
        document = read_json(path, SWEEP_FORMAT, made_by="numerate fit --sweep")
        try:
            numbers = ("components", "aic", "bic")
            rows = [
                {**row, **{key: float(row[key]) for key in numbers}} for row in document["rows"]
            ]
            return cls(document["scale"], tuple(rows))
        except (KeyError, TypeError, ValueError) as error:
            remedy = "make it again with 'numerate fit --sweep'"
            raise InputError(f"{path}: damaged sweep ({error!r}); {remedy}") from None


def sweep_components(
    counts: Counts,
    sizes: Sequence[int],
    *,
    scale: Scale = "linear",
    resolution: float = RESOLUTION,
    start: Start = "drawn",
    seed: int = 42,
) -> Sweep:
    """Fit mixtures of several sizes, all with the same seed, and return how well they fit.

    `sizes` are numbers of components. The other arguments are those of `fit_anchors`; `scale` is
    `linear` or `ln`.
    """
    rows = []
    for size in sizes:
        mixture = _fit_scaled(
            counts, size, scale=scale, resolution=resolution, start=start, seed=seed
        )
        anchors = len(np.unique(np.rint(mixture.means)))
        rows.append({**_diagnose_fit(mixture, counts, size), "anchors": anchors})
    return Sweep(scale, tuple(rows))
