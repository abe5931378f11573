"""Scores: one record per line of `scores.jsonl`, the input of every table, figure and page."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from numerate.errors import InputError, first_line
from numerate.files import write_file
from numerate.locks import hold

_START = b'{"system": '


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What a score was computed from, as digests; empty where it depends on no such thing.

    `model` stands for all that vectors depend on: the content of the model, and how it is read.
    """

    model: str = ""
    counts: str = ""
    protocol: str = ""

    def find_differences(self, other: "Origin") -> list[str]:
        """Return the names of what both have, but not the same.

        >>> Origin(model="a", counts="b").find_differences(Origin(model="c", protocol="d"))
        ['model']
        """
        pairs = ((name, value, getattr(other, name)) for name, value in vars(self).items())
        return [name for name, mine, others in pairs if mine and others and mine != others]


@dataclass(frozen=True, kw_only=True)
class Score:
    """The value of one metric for one system, task, domain, range, protocol and seed.

    `seed` is that of the probe. `training` counts the trainings of the system, each with a seed of
    its own; it is 0 for the first one, and for a system that was not trained. Scores that earlier
    versions wrote have no `origin`.
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
    origin: Origin | None = None

    def __post_init__(self) -> None:
        words = self.system, self.task, self.domain, self.range, self.metric, self.protocol
        for kinds, values in (
            ((str,), words),
            ((int,), (self.seed, self.training)),
            ((int, float), (self.value,)),
        ):
            for value in values:
                if not isinstance(value, kinds) or isinstance(value, bool):
                    raise InputError(f"{value!r:.40} is no {kinds[-1].__name__}")

    @property
    def cell(self) -> tuple[str, str, str, str, str, int, int]:
        """The key of the scores that are computed and written together: all but the metric."""
        place = self.system, self.task, self.domain, self.range, self.protocol
        return *place, self.seed, self.training


@contextmanager
def hold_scores(path: Path) -> Iterator[None]:
    """Let no other process write a file of scores while the enclosed block runs.

    A file without scores is not left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    if not path.is_file():  # a device, which has no scores
        yield
        return
    try:
        with hold(path):
            yield
    finally:
        # Where blocks are nested, the inner one has removed it.
        if path.is_file() and path.stat().st_size == 0:
            path.unlink()


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

    If the last line breaks off, writing was interrupted: then all scores of the last cell are left
    out, since some of them are missing. Any other line that is no score is an error.
    """
    return _split_scores(path)[0]


def repair_scores(
    path: Path, check: Callable[[list[Score]], object] = lambda _: None
) -> list[Score]:
    """Return the scores of a file, and cut off an incomplete last cell so that one can append.

    If `check` raises an exception for the scores, the file is left as it is.
    """
    scores, size = _split_scores(path)
    check(scores)
    if path.is_file():
        with path.open("rb+") as file:
            file.truncate(size)
            file.seek(max(0, size - 1))
            if file.read() not in (b"", b"\n"):
                file.write(b"\n")
    return scores


def _split_scores(path: Path) -> tuple[list[Score], int]:
    """Return the scores of a file, and how many of its bytes they take."""
    data = path.read_bytes() if path.is_file() else b""
    *lines, rest = data.split(b"\n")
    scores = [_read_score(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]
    if not rest:
        return scores, len(data)
    try:  # perhaps only the end of the line is missing
        return [*scores, _read_score(rest, f"{path}, line {len(lines) + 1}")], len(data)
    except InputError:
        if not _START.startswith(rest[: len(_START)]):
            raise
    kept = list(scores)
    while kept and kept[-1].cell == scores[-1].cell:
        kept.pop()
    return kept, sum(len(line) + 1 for line in lines[: len(kept)])


def _read_score(line: bytes, place: str) -> Score:
    try:
        record = {"training": 0, "origin": None, **json.loads(line)}  # some may be left out
        if record["origin"] is not None:
            record["origin"] = Origin(**record["origin"])
        return Score(**{field.name: record[field.name] for field in fields(Score)})
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{place}: not a score ({first_line(error)})") from None


def _dump_scores(scores: Iterable[Score]) -> str:
    return "".join(json.dumps(_describe(score)) + "\n" for score in scores)


def _describe(score: Score) -> dict[str, Any]:
    """Return a score as a JSON object, without what it does not depend on."""
    record = asdict(score)
    origin = record.pop("origin")
    if origin is None:
        return record
    return {**record, "origin": {name: digest for name, digest in origin.items() if digest}}
