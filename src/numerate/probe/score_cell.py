"""Cells: one question of a probe and its answer; from vectors of numerals to scores (section 4).

A cell is a task on a range of numbers, in or out of the domain, with a seed. The processors are
shared between the cells that are computed at the same time: by default each gets one, and so many
threads.
"""

from collections.abc import Iterator
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


@dataclass(frozen=True)
class Cell:
    """What is computed in one go."""

    task: str
    domain: str
    range: str
    seed: int


@dataclass(frozen=True)
class Question:
    """A cell with its sample, the vectors of the sample's numerals, and how to ask.

    `numerals` are in increasing order, and `vectors` has a row for each.
    """

    cell: Cell
    sample: Sample
    numerals: Values
    vectors: Matrix
    protocol: Protocol
    regressors: tuple[str, ...]
    device: str
    threads: int = 1

    def look_up(self, rows: Values) -> Matrix:
        """Return the vectors of rows of numerals."""
        found: Matrix = self.vectors[np.searchsorted(self.numerals, rows)]
        return found


def score_question(question: Question) -> dict[str, float]:
    """Return the scores of a cell by the names of their metrics."""
    score = _score_lists if question.cell.task.startswith("list") else _score_regression
    with _limit_threads(question.threads):
        return score(question)


def predict_values(question: Question) -> Floats:
    """Return what trees decode the numerals of a question's test set to, as values."""
    with _limit_threads(question.threads):
        x, y, x_test = _lay_out(question)
        predicted: Floats = np.exp(_predict_by_trees(question, x, y, x_test) - 1)
    return predicted


def _score_regression(question: Question) -> dict[str, float]:
    """The errors of decoding and addition, by each regressor."""
    x, y, x_test = _lay_out(question)
    y_test = target(question.sample.test.sum(axis=1))
    scores: dict[str, float] = {}
    if "trees" in question.regressors:
        scores |= measure_errors(_predict_by_trees(question, x, y, x_test), y_test).named()
    if "ridge" in question.regressors:
        scores |= measure_errors(predict_by_ridge(x, y, x_test), y_test).named("ridge ")
    return scores


def _lay_out(question: Question) -> tuple[Matrix, Floats, Matrix]:
    """What to train on, its targets, and what to test on."""
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
    """How often the largest or smallest of a list is found; of near and far numbers apart too."""
    sample, probe, task = question.sample, question.protocol.lists, question.cell.task
    parts = [sample.train, sample.validation, sample.test]
    if not probe.choose_epoch:  # then nothing is kept apart
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
    right, is_close = answers == find_places(parts[2], task), find_close(parts[2])
    kinds = {"": np.ones_like(is_close), "close ": is_close, "apart ": ~is_close}
    return {f"{kind}accuracy": float(right[of].mean()) for kind, of in kinds.items() if of.any()}


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
