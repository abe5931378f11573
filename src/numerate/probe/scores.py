"""Scores: one record per line of `scores.jsonl`, the input of every table, figure and page."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from numerate.errors import InputError
from numerate.files import write_file


@dataclass(frozen=True, kw_only=True)
class Score:
    """The value of one metric for one system, task, domain, range, protocol and seed.

    `seed` is that of the probe. `training` counts the trainings of the system, each with a seed of
    its own; it is 0 for the first one, and for a system that was not trained. `numerals` is a
    digest of those that samples are drawn from, which are the same in scores that can be compared;
    it is empty for tasks on texts, and in files of earlier versions.
    """

    system: str
    task: str
    domain: str
    range: str
    metric: str
    protocol: str
    seed: int
    value: float
    training: int = 0
    numerals: str = ""

    @property
    def cell(self) -> tuple[str, str, str, str, str, int, int]:
        """The key of the scores that are computed and written together: all but the metric."""
        place = self.system, self.task, self.domain, self.range, self.protocol
        return *place, self.seed, self.training


def append_scores(path: Path, scores: Iterable[Score]) -> None:
    """Append scores to a file, one per line, in a single write."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(_dump_scores(scores))


def write_scores(path: Path, scores: Iterable[Score]) -> None:
    """Write a file of scores, replacing an existing one."""
    write_file(path, _dump_scores(scores).encode())


def read_scores(path: Path) -> list[Score]:
    """Return the scores of a file, or none if there is no file; the file is left as it is.

    If the last line has no end, writing was interrupted: then all scores of the last cell are left
    out, since some of them are missing.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    *lines, rest = text.split("\n")
    scores = [_read_score(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]
    if rest and scores:
        last = scores[-1].cell
        scores = [score for score in scores if score.cell != last]
    return scores


def repair_scores(path: Path) -> list[Score]:
    """Return the scores of a file, and remove an incomplete last cell so that one can append."""
    scores = read_scores(path)
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        write_scores(path, scores)
    return scores


def _read_score(line: str, place: str) -> Score:
    try:
        record = {"training": 0, "numerals": "", **json.loads(line)}  # these may be left out
        return Score(**{field.name: record[field.name] for field in fields(Score)})
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{place}: not a score ({error})") from None


def _dump_scores(scores: Iterable[Score]) -> str:
    return "".join(json.dumps(asdict(score)) + "\n" for score in scores)
