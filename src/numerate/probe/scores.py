"""Scores: one record each in `scores.jsonl`; what tables, figures and pages are made from."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from numerate.errors import InputError
from numerate.files import write_file


@dataclass(frozen=True)
class Score:
    """A single score: of which system, on what, by which measure, from which seed."""

    system: str
    task: str
    domain: str
    range: str
    metric: str
    protocol: str
    seed: int
    value: float

    @property
    def cell(self) -> tuple[str, str, str, str, str, int]:
        """What is computed in one go: all of a score but its metric and its value."""
        return self.system, self.task, self.domain, self.range, self.protocol, self.seed


@dataclass(frozen=True)
class Summary:
    """The mean of some seeds' scores, and half the width of its 95 % interval."""

    mean: float
    half: float
    n_seeds: int


def summarize_values(values: Sequence[float]) -> Summary:
    """Return mean and 95 % interval (Student's t) of the scores of several seeds.

    >>> round(summarize_values([1.0, 2.0, 3.0]).half, 4)
    2.4841
    """
    from scipy.stats import t

    count = len(values)
    if count == 1:
        return Summary(float(values[0]), float("nan"), 1)
    error = float(np.std(values, ddof=1)) / count**0.5
    return Summary(float(np.mean(values)), float(t.ppf(0.975, count - 1)) * error, count)


def group_by_seed(scores: Iterable[Score]) -> dict[tuple[str, ...], dict[int, float]]:
    """Return the values by seed, for each system, task, domain, range and metric."""
    found: dict[tuple[str, ...], dict[int, float]] = {}
    for score in scores:
        place = score.system, score.task, score.domain, score.range, score.metric
        found.setdefault(place, {})[score.seed] = score.value
    return found


def append_scores(path: Path, scores: Iterable[Score]) -> None:
    """Add scores to a file, a line each, in one write."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(_dump_scores(scores))


def write_scores(path: Path, scores: Iterable[Score]) -> None:
    """Write a file of scores, in place of what was there."""
    write_file(path, _dump_scores(scores).encode())


def read_scores(path: Path) -> list[Score]:
    """Return the scores of a file; where writing was cut off, the last cell is taken out of it."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    cut = bool(text) and not text.endswith("\n")
    if cut:
        lines.pop()
    scores = [_read_score(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]
    if cut:
        last = scores[-1].cell if scores else None
        scores = [score for score in scores if score.cell != last]
        write_scores(path, scores)
    return scores


def _read_score(line: str, place: str) -> Score:
    try:
        record = json.loads(line)
        return Score(**{field.name: record[field.name] for field in fields(Score)})
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{place}: not a score ({error})") from None


def _dump_scores(scores: Iterable[Score]) -> str:
    return "".join(json.dumps(asdict(score)) + "\n" for score in scores)
