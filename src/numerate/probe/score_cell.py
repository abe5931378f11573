"""Score one cell: from the vectors of its numerals to its metrics (section 4).

Several cells may be computed at the same time, each in a process of its own; `threads` limits how
many processors one cell uses.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from numerate.extract.ranges import Values
from numerate.probe.controls import Matrix
from numerate.probe.list_classifier import classify_lists, find_places
from numerate.probe.protocols import Protocol
from numerate.probe.regression import (
    Floats,
    measure_errors,
    predict_by_ridge,
    predict_by_trees,
    target,
)
from numerate.probe.samples import Sample, find_close
from numerate.probe.tasks.comparison import score_comparison
from numerate.probe.tasks.few_shot import score_few
from numerate.probe.tasks.geometry import LookUp, score_geometry

REGRESSORS = ("trees", "ridge")
_MEASURES: dict[str, Callable[[Sample, LookUp], dict[str, float]]] = {
    "geometry": score_geometry,
    "comparison": score_comparison,
    "few": score_few,
}


@dataclass(frozen=True)
class Cell:
    """A task on a range of numbers, in or out of the domain, with a seed."""

    task: str
    domain: str
    range: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class Question:
    """A cell with its sample, the vectors of the sample's numerals, and the settings of the probe.

    `numerals` are in increasing order, and `vectors` has a row for each.
    """

    cell: Cell
    sample: Sample
    numerals: Values
    vectors: Matrix
    protocol: Protocol
    regressors: tuple[str, ...] = REGRESSORS
    device: str = "cpu"
    threads: int = 1

    def look_up(self, rows: Values) -> Matrix:
        """Return the vectors of numerals, with one more axis than `rows`."""
        found: Matrix = self.vectors[np.searchsorted(self.numerals, rows)]
        return found


def score_question(question: Question) -> dict[str, float]:
    """Return the metrics of a cell by name."""
    task = question.cell.task
    with _limit_threads(question.threads):
        if task in _MEASURES:
            return _MEASURES[task](question.sample, question.look_up)
        return _score_lists(question) if task.startswith("list") else _score_regression(question)


def predict_values(question: Question) -> Floats:
    """Return the values that boosted trees decode for the numerals of the test set."""
    with _limit_threads(question.threads):
        x, y, x_test = _make_inputs(question)
        predicted: Floats = np.exp(_predict_by_trees(question, x, y, x_test) - 1)
    return predicted


def _score_regression(question: Question) -> dict[str, float]:
    """Return the errors of each regressor, for decoding, addition and extrapolation."""
    x, y, x_test = _make_inputs(question)
    y_test = target(question.sample.test.sum(axis=1))
    scores: dict[str, float] = {}
    if "trees" in question.regressors:
        scores |= measure_errors(_predict_by_trees(question, x, y, x_test), y_test).named()
    if "ridge" in question.regressors:
        scores |= measure_errors(predict_by_ridge(x, y, x_test), y_test).named("ridge ")
    return scores


def _make_inputs(question: Question) -> tuple[Matrix, Floats, Matrix]:
    """Return the training inputs, their targets, and the test inputs."""
    sample = question.sample
    rows = np.concatenate((sample.train, sample.validation))
    x, x_test = (question.look_up(part).reshape(len(part), -1) for part in (rows, sample.test))
    return x, target(rows.sum(axis=1)), x_test


def _predict_by_trees(question: Question, x: Matrix, y: Floats, x_test: Matrix) -> Floats:
    return predict_by_trees(
        x,
        y,
        x_test,
        question.protocol,
        seed=question.cell.seed,
        device=question.device,
        threads=question.threads,
    )


def _score_lists(question: Question) -> dict[str, float]:
    """Return the accuracy on all lists, on close lists, and on the other lists."""
    sample, probe, task = question.sample, question.protocol.lists, question.cell.task
    parts = [sample.train, sample.validation, sample.test]
    if not probe.choose_epoch:  # then there is no need of a validation part
        parts[0] = np.concatenate((sample.train, sample.validation))
    x, x_validation, x_test = (torch.from_numpy(question.look_up(part)) for part in parts)
    answers = classify_lists(
        (x, find_places(parts[0], task)),
        (x_validation, find_places(parts[1], task)),
        x_test,
        probe,
        seed=question.cell.seed,
        device=question.device,
    )
    correct, is_close = answers == find_places(parts[2], task), find_close(parts[2])
    kinds = {"": np.ones_like(is_close), "close ": is_close, "apart ": ~is_close}
    return {
        f"{kind}accuracy": float(correct[mask].mean()) for kind, mask in kinds.items() if mask.any()
    }


@contextmanager
def _limit_threads(threads: int) -> Iterator[None]:
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)
