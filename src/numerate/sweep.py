"""Sweep: how well mixtures of different sizes fit, by AIC and BIC (the paper's appendix A.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from numerate.choices import Scale, Start
from numerate.errors import InputError
from numerate.extract import Counts
from numerate.files import write_json
from numerate.fit import RESOLUTION, diagnose_fit, fit_scaled


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


def parse_sizes(text: str) -> list[int]:
    """Return the sizes of a list such as `10,100,1000`."""
    sizes = [part.strip() for part in text.split(",")]
    if not all(size.isdecimal() and int(size) for size in sizes):
        raise InputError(f"sweep must be whole numbers such as 10,100,1000, got {text!r}")
    return [int(size) for size in sizes]
