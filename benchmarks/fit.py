"""Our Gaussian mixture beside scikit-learn's on the same numerals: time and peak memory.

Each runs in its own process, so that its peak memory can be measured. The log-likelihoods of the
first iterations show that both compute the same. scikit-learn needs some 10 GB.
"""

import json
import resource
import subprocess
import sys
import time
from itertools import islice

import numpy as np

from benchmarks.common import corpus_path, save_results
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import Counts, extract_counts
from numerate.fit.anchors import rescale
from numerate.fit.fitting import sweep_components
from numerate.fit.mixture import draw_start, fit_mixture, iterate_em

K, SEED, ITERATIONS = 1000, 42, 2
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
Measured = dict[str, float | list[float]]


def run_ours(counts: Counts) -> Measured:
    """Measure a fit to convergence; return the likelihoods of its first iterations too."""
    values = rescale(counts.values, "linear")
    start = draw_start(values, counts.weights, K, np.random.default_rng(SEED))
    began = time.perf_counter()
    mixture = fit_mixture(values, counts.weights, start)
    seconds = (time.perf_counter() - began) / mixture.iterations
    steps = islice(iterate_em(values, counts.weights, start), ITERATIONS)
    return {"seconds": seconds, "likelihoods": [step.log_likelihood for step in steps]}


def run_sklearn(counts: Counts) -> Measured:
    """Measure a few iterations of scikit-learn from the same start, on repeated values."""
    from sklearn.mixture import GaussianMixture

    values = rescale(counts.values, "linear")
    start = draw_start(values, counts.weights, K, np.random.default_rng(SEED))
    model = GaussianMixture(
        K,
        weights_init=np.full(K, 1 / counts.numerals),
        means_init=np.repeat(start.means, start.copies)[:, None],
        precisions_init=np.full((K, 1, 1), 1e6),
        reg_covar=1e-6,
    )
    observed = np.repeat(values, counts.weights)[:, None]
    model._initialize_parameters(observed, np.random.RandomState(SEED))
    likelihoods = []
    began = time.perf_counter()
    for _ in range(ITERATIONS):
        likelihood, log_responsibilities = model._e_step(observed)
        model._m_step(observed, log_responsibilities)
        likelihoods.append(float(likelihood))
    return {"seconds": (time.perf_counter() - began) / ITERATIONS, "likelihoods": likelihoods}


def measure_apart(name: str) -> Measured:
    """Measure one of the two in a new process, which prints its results."""
    command = [sys.executable, "-m", "benchmarks.fit", name]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(printed.splitlines()[-1]))


def main() -> None:
    """Measure both, sweep over K on both scales, and save the results."""
    counts = extract_counts(open_corpus([str(corpus_path())]))
    if len(sys.argv) > 1:
        measured = run_ours(counts) if sys.argv[1] == "ours" else run_sklearn(counts)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({**measured, "peak_bytes": memory}))
        return
    ours, theirs = measure_apart("ours"), measure_apart("sklearn")
    began = time.perf_counter()
    sweeps = {
        scale: [
            {key: row[key] for key in ("components", "anchors", "iterations", "aic", "bic")}
            for row in sweep_components(counts, SIZES, scale=scale).rows
        ]
        for scale in ("linear", "ln")
    }
    difference = np.abs(np.divide(ours["likelihoods"], theirs["likelihoods"]) - 1).max()
    save_results(
        "fit",
        {
            "corpus": corpus_path().name,
            "components": K,
            "numerals": counts.numerals,
            "distinct_numerals": len(counts.counts),
            "numerate": ours,
            "scikit-learn": theirs,
            "ratios": {
                "seconds per iteration": theirs["seconds"] / ours["seconds"],
                "peak memory": theirs["peak_bytes"] / ours["peak_bytes"],
            },
            "largest relative difference in log-likelihood": float(difference),
            "sweep_seconds": time.perf_counter() - began,
            "sweeps": sweeps,
        },
    )


if __name__ == "__main__":
    main()
