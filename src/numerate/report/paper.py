"""The paper's own scores, from its tables 1 and 2, and the metrics that they show."""

import json
from collections.abc import Sequence
from importlib import resources

from numerate.models.labels import SystemLabel
from numerate.probe.scores import Score

PAPER_METRICS = {
    "decoding": "log-rmse",
    "addition": "log-rmse",
    "list-maximum": "accuracy",
    "list-minimum": "accuracy",
}


def read_paper_scores() -> list[Score]:
    """Return the scores of the paper's tables 1 and 2; its models are labelled `paper: MODEL`."""
    data = resources.files("numerate").joinpath("data", "paper_scores.json").read_text("utf-8")
    rows = json.loads(data)["scores"]
    names = [str(SystemLabel.of_paper(row.pop("model"))) for row in rows]
    return [
        Score(system=name, **row, protocol="paper", seed=0)
        for name, row in zip(names, rows, strict=True)
    ]


def find_paper_scores(scores: Sequence[Score]) -> list[Score]:
    """Return the paper's scores for the tasks and metrics that occur in `scores`."""
    asked = {(score.task, score.metric) for score in scores}
    return [score for score in read_paper_scores() if (score.task, score.metric) in asked]
