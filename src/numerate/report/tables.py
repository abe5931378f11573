"""Tables: scores laid out as the paper lays them out, systems by ranges, and compared in pairs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from numerate.errors import InputError
from numerate.probe.labels import SystemLabel
from numerate.probe.scores import Score, Summary, summarize_values

SHOWN = (
    "log-rmse",
    "ridge log-rmse",
    "accuracy",
    "spearman",
    "closer",
    "first",
    "subject",
    "nearest",
)
GIVEN = ("control:oracle", "control:value")
"""Controls that are told the number: floors and ceilings, not contestants."""
_DOMAINS = {"in": ", in-domain", "out": ", out-of-domain"}


@dataclass(frozen=True)
class ScoreTable:
    """The scores of one task in one domain by one metric: for each system a summary by range."""

    task: str
    domain: str
    metric: str
    ranges: tuple[str, ...]
    rows: dict[str, dict[str, Summary]]

    @property
    def title(self) -> str:
        """What it shows."""
        return f"{self.task}{_DOMAINS.get(self.domain, '')}: {self.metric}"

    @property
    def low_is_good(self) -> bool:
        """Whether the metric is an error."""
        return "rmse" in self.metric

    def best(self, range_name: str) -> float:
        """Return the best mean of a range; of what is told the number only if there is no other."""
        means = {name: row[range_name].mean for name, row in self.rows.items() if range_name in row}
        asked = [mean for name, mean in means.items() if is_contestant(name)]
        return (min if self.low_is_good else max)(asked or means.values())


def is_contestant(system: str) -> bool:
    """Return whether a system is measured here and is not told the number."""
    return system not in GIVEN and not system.startswith("paper: ")


def tabulate_scores(scores: Sequence[Score]) -> list[ScoreTable]:
    """Return a table for each task, domain and metric that people look at."""
    kinds = dict.fromkeys((score.task, score.domain, score.metric) for score in scores)
    return [_tabulate(scores, *kind) for kind in kinds if kind[2] in SHOWN]


def _tabulate(scores: Sequence[Score], task: str, domain: str, metric: str) -> ScoreTable:
    cells: dict[str, dict[str, list[float]]] = {}
    for score in scores:
        if (score.task, score.domain, score.metric) == (task, domain, metric):
            cells.setdefault(score.system, {}).setdefault(score.range, []).append(score.value)
    ranges = dict.fromkeys(name for row in cells.values() for name in row)
    rows = {
        system: {name: summarize_values(values) for name, values in row.items()}
        for system, row in cells.items()
    }
    return ScoreTable(task, domain, metric, tuple(ranges), rows)


def subtract_system(scores: Sequence[Score], system: str) -> list[Score]:
    """Return the scores of all other systems less those of one, on the same samples.

    Cells that either side lacks are left out; the seeds make the pairs.
    """
    base = {_place(score): score.value for score in scores if score.system == system}
    if not base:
        known = ", ".join(dict.fromkeys(score.system for score in scores))
        raise InputError(f"no scores of {system!r} to compare with; there are {known}")
    return [
        Score(**{**vars(score), "value": score.value - base[_place(score)]})
        for score in scores
        if score.system != system and _place(score) in base
    ]


def read_paper_scores() -> list[Score]:
    """Return what the paper's tables 1 and 2 say, each as a system of its own."""
    data = resources.files("numerate").joinpath("data", "paper_scores.json").read_text("utf-8")
    return [
        Score(
            str(SystemLabel.of_paper(row["model"])),
            row["task"],
            row["domain"],
            row["range"],
            row["metric"],
            "paper",
            0,
            row["value"],
        )
        for row in json.loads(data)["scores"]
    ]


def find_paper_scores(scores: Sequence[Score]) -> list[Score]:
    """Return what the paper says on the tasks and by the metrics of some scores."""
    asked = {(score.task, score.metric) for score in scores}
    return [score for score in read_paper_scores() if (score.task, score.metric) in asked]


def _place(score: Score) -> tuple[object, ...]:
    return score.task, score.domain, score.range, score.metric, score.protocol, score.seed
