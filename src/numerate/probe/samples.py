"""Samples: the numerals, pairs and lists of a probe, split into train, validation and test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.ranges import Values
from numerate.probe.protocols import LIST_LENGTH, TEST_SHARE, VALIDATION_SHARE, Protocol

CORPUS_DOMAINS = {"in": "in-domain", "out": "out-of-domain"}
"""The domains that need the numerals of a corpus, as tables call them."""
DOMAIN_NAMES = {**CORPUS_DOMAINS, "line": "whole number line"}
PROBE_DOMAINS = tuple(DOMAIN_NAMES)
TASKS = ("decoding", "addition", "list-maximum", "list-minimum")
FEWEST = 90  # numerals of a cell; a fifth of them are for testing
_CLOSE = 10  # a close list is drawn from ten consecutive numerals


class TooFewError(InputError):
    """A cell has too few numerals to be probed."""


@dataclass(frozen=True)
class Sample:
    """Rows of one, two or five numerals for training, validation and testing.

    `validation` is a part of the training rows that is not in `train`.
    """

    train: Values
    validation: Values
    test: Values


def take_some(numerals: Values, most: int | None, rng: np.random.Generator) -> Values:
    """Return at most `most` of the numerals, drawn at random, in increasing order."""
    if most is None or len(numerals) <= most:
        return numerals
    return np.sort(rng.choice(numerals, most, replace=False))


def draw_sample(
    task: str, numerals: Values, protocol: Protocol, rng: np.random.Generator
) -> Sample:
    """Return the sample of a task, split as the protocol says.

    `samples`: no row is in both the training and the test set, whatever the order of its numerals.
    `numbers`: no numeral is in both the training and the test set.
    """
    if len(numerals) < FEWEST:
        raise TooFewError(f"{len(numerals)} numerals, but a probe needs at least {FEWEST}")
    if task == "decoding":
        train, validation, test = _split_numbers(numerals, rng)
        return Sample(train[:, None], validation[:, None], test[:, None])
    draw, n_test = _draw_lists(protocol.close_share), protocol.n_test_lists
    if task == "addition":
        draw, n_test = _draw_pairs, protocol.n_test
    n_train, n_validation = protocol.n_train, round(VALIDATION_SHARE * protocol.n_train)
    if protocol.split == "samples":
        rows = draw(numerals, n_train + n_test, rng)
        return Sample(rows[n_validation:n_train], rows[:n_validation], rows[n_train:])
    parts = _split_numbers(numerals, rng)
    sizes = (n_train - n_validation, n_validation, n_test)
    return Sample(*(draw(part, size, rng) for part, size in zip(parts, sizes, strict=True)))


def pool_samples(samples: Sequence[Sample]) -> Sample:
    """Return one sample with the rows of several, which share no numeral."""
    parts = zip(*(vars(sample).values() for sample in samples), strict=True)
    return Sample(*map(np.concatenate, parts))


def find_close(lists: Values) -> npt.NDArray[np.bool_]:
    """Return a mask of the close lists.

    A list is close if its numerals lie within ten consecutive values of all numerals in `lists`.

    >>> find_close(np.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [1, 20, 30, 40, 50]])).tolist()
    [True, True, False]
    """
    ranks = np.searchsorted(np.unique(lists), lists)
    close: npt.NDArray[np.bool_] = np.ptp(ranks, axis=1) < _CLOSE
    return close


def _split_numbers(numerals: Values, rng: np.random.Generator) -> tuple[Values, Values, Values]:
    """Return numerals for training, validation and testing, each in increasing order."""
    shuffled = rng.permutation(numerals)
    n_test = round(TEST_SHARE * len(numerals))
    n_validation = max(LIST_LENGTH + 1, round(VALIDATION_SHARE * len(numerals)))
    test, validation, train = np.split(shuffled, [n_test, n_test + n_validation])
    return np.sort(train), np.sort(validation), np.sort(test)


def _draw_pairs(numerals: Values, size: int, rng: np.random.Generator) -> Values:
    """Return distinct pairs of two different numerals; (a, b) equals (b, a)."""
    return _draw_distinct(lambda: rng.choice(numerals, 2, replace=False), size)


def _draw_lists(close_share: float) -> Callable[[Values, int, np.random.Generator], Values]:
    """Return a function that draws distinct lists of distinct numerals, a share of them close."""

    def draw(numerals: Values, size: int, rng: np.random.Generator) -> Values:
        def draw_list() -> Values:
            if rng.random() >= close_share:
                return rng.choice(numerals, LIST_LENGTH, replace=False)
            start = rng.integers(0, max(1, len(numerals) - _CLOSE + 1))
            return rng.choice(numerals[start : start + _CLOSE], LIST_LENGTH, replace=False)

        return _draw_distinct(draw_list, size)

    return draw


def _draw_distinct(draw: Callable[[], Values], size: int) -> Values:
    """Return `size` rows with distinct sets of numerals, or fewer if there are not as many."""
    rows: dict[tuple[int, ...], Values] = {}
    for _ in range(50 * size):
        if len(rows) == size:
            break
        row = draw()
        rows.setdefault(tuple(sorted(row.tolist())), row)
    return np.array(list(rows.values()), np.int64)
