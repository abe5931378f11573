"""Fit: from counts to anchors, the rounded means of a Gaussian mixture (the paper's section 2).

On the scales `linear` and `ln` the mixture is fitted to the numerals as they stand there; `log10`
needs none. `sweep_components` says how well mixtures of different sizes fit, by AIC and BIC (the
paper's appendix A.1).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.extract.numerals import LARGEST
from numerate.extract.ranges import RANGES
from numerate.files import write_json
from numerate.fit.anchors import RESOLUTION, AnchorSet, rescale, restore
from numerate.fit.mixture import Mixture, draw_start, fit_mixture, spread_start
from numerate.options import Scale, Start


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
    """Return the anchors of a corpus: the means of a mixture, rounded, equal ones merged.

    On log10 they are all exponents up to that of 10^10, whichever the corpus has, from 0 or from
    the smallest in the corpus on; components, resolution and seed do not matter there.

    Args:
        counts: The numerals of the corpus.
        n_components: Gaussians in the mixture (the paper: 1000).
        scale: Where the mixture is fitted and the anchors live.
        resolution: Units per e-fold of the ln scale (the paper: 10).
        start: Where the components start: at numerals `drawn` from the text, frequent ones many
            times (the paper), or at numerals `spread` evenly over the scale, so that rare ones,
            such as most large ones, have anchors near them too.
        width: Digits to write an anchor with, at least.
        seed: Decides at which numerals the components start.
    """
    if scale == "log10":
        return replace(_lay_exponents(counts), width=width)
    mixture = fit_scaled(counts, n_components, scale, resolution, seed, start)
    alive = mixture.weights * counts.numerals > 1e-6  # the others lost their last numeral
    means = np.unique(np.rint(mixture.means[alive])).astype(np.int64)
    diagnosis = {**diagnose_fit(mixture, counts, n_components), "start": start, "seed": seed}
    anchors = AnchorSet(scale, tuple(means.tolist()), resolution, counts.domain, width=width)
    return replace(anchors, fit={**diagnosis, "distances": measure_distances(anchors, counts)})


def _lay_exponents(counts: Counts) -> AnchorSet:
    lowest = min(0, int(rescale(counts.values, "log10").min()))
    highest = int(rescale(LARGEST, "log10"))
    anchors = AnchorSet("log10", tuple(range(lowest, highest + 1)), domain=counts.domain)
    diagnosis = {
        "numerals": counts.numerals,
        "distinct_numerals": len(counts.counts),
        "distances": measure_distances(anchors, counts),
    }
    return replace(anchors, fit=diagnosis)


def fit_scaled(
    counts: Counts,
    n_components: int,
    scale: Scale,
    resolution: float,
    seed: int,
    start: Start = "drawn",
) -> Mixture:
    """Return the mixture of the numerals on a scale; a start is drawn by the seed, or spread."""
    if scale == "log10":
        raise InputError("scale must be linear or ln for a mixture, got log10, which needs none")
    if not 0 < resolution < math.inf:
        raise InputError(f"resolution must be above 0, got {resolution:g}")
    if not 1 <= n_components <= counts.numerals:
        raise InputError(
            f"components must be from 1 to the number of numerals, got {n_components:,} for "
            f"{counts.numerals:,} numerals; ask for fewer components"
        )
    positions = rescale(counts.values, scale, resolution)
    if start == "spread":
        first = spread_start(positions, n_components)
    else:
        first = draw_start(positions, counts.weights, n_components, np.random.default_rng(seed))
    return fit_mixture(positions, counts.weights, first)


def diagnose_fit(mixture: Mixture, counts: Counts, n_components: int) -> dict[str, Any]:
    """Return how well a mixture fits; each component has a mean, a variance and a share."""
    parameters = 3 * n_components - 1
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
    """Return per range how many anchors serve it, and how far numerals are from theirs.

    `distance` is the mean in the units of the scale, `percent` the mean of |anchor − n| / n in
    values; each numeral counts as often as it was seen.
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
    """Fits of several sizes on one scale, a row for each, as `diagnose_fit` gives them."""

    scale: Scale
    rows: tuple[dict[str, Any], ...]

    def save(self, path: Path) -> None:
        """Write the rows as JSON."""
        document = {"format": "numerate-sweep", "version": 1, "scale": self.scale}
        write_json(path, {**document, "rows": list(self.rows)})


def sweep_components(
    counts: Counts,
    sizes: Sequence[int],
    *,
    scale: Scale = "linear",
    resolution: float = RESOLUTION,
    start: Start = "drawn",
    seed: int = 42,
) -> Sweep:
    """Return the fits of all sizes; the same seed draws the start of each."""
    rows = []
    for size in sizes:
        mixture = fit_scaled(counts, size, scale, resolution, seed, start)
        anchors = len(np.unique(np.rint(mixture.means)))
        rows.append({**diagnose_fit(mixture, counts, size), "anchors": anchors})
    return Sweep(scale, tuple(rows))
