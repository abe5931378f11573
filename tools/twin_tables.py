"""Tables of trained systems beside their untrained twins, for the README and the docs."""

from collections.abc import Sequence
from pathlib import Path

from numerate.markdown import format_table
from numerate.models.labels import SystemLabel
from numerate.probe.scores import Score, read_scores
from numerate.report.tables.grid import tabulate_scores
from numerate.report.tables.numbers import MISSING, format_mean

OURS = str(SystemLabel(name="ln-near", shown="masked", read="anchor"))
ADDED = (
    ("geometry", "cosine spearman"),
    ("geometry", "sentence spearman"),
    ("geometry", "neighbour factor"),
    ("comparison", "just noticeable ratio"),
    ("decoding", "log-rmse"),
    ("decoding", "ridge log-rmse"),
)
UNSEEN = tuple(
    (task, metric) for task in ("gaps", "beyond") for metric in ("log-rmse", "ridge log-rmse")
)


def gains_table(
    path: Path, system: str, kinds: Sequence[tuple[str, str]] = ADDED, domain: str = "in"
) -> str:
    """Return the untrained twin and the trained system, range by range.

    Bold is better by an interval that excludes zero, in italics worse.
    """
    scores = read_scores(path)
    found = {
        f"{task}: {metric}": _compare_twins(scores, system, (task, metric, domain))
        for task, metric in kinds
    }
    heads = dict.fromkeys(place for cells in found.values() for place in cells)
    rows = [
        [kind, *(cells.get(place, MISSING) for place in heads)] for kind, cells in found.items()
    ]
    return format_table(["untrained → trained", *heads], rows)


def ablation_table(path: Path) -> str:
    """Return each trained system beside its twin, by cosines and by ridge regression."""
    scores = read_scores(path)
    kinds = {
        "cosines": ("geometry", "cosine spearman", "in"),
        "ridge": ("decoding", "ridge log-rmse", "in"),
    }
    rows: dict[str, dict[str, str]] = {}
    for name in dict.fromkeys(score.system for score in scores):
        if trained := SystemLabel.parse(name).trained:
            rows[trained.name] = {
                f"{title}, {place}": cell
                for title, kind in kinds.items()
                for place, cell in _compare_twins(scores, str(trained), kind).items()
            }
    heads = next(iter(rows.values()))
    cells = [[f"`{name}`", *row.values()] for name, row in rows.items()]
    return format_table(["untrained → trained", *heads], cells)


def _compare_twins(
    scores: Sequence[Score], system: str, kind: tuple[str, str, str]
) -> dict[str, str]:
    """Return the means of the twin and of the trained system in each range.

    `kind` is task, metric and domain.
    """
    twin = str(SystemLabel.parse(system).twin)
    chosen = [
        score
        for score in scores
        if score.system in (system, twin) and (score.task, score.metric, score.domain) == kind
    ]
    [grid] = tabulate_scores(chosen)
    by_name = {row.system: row for row in grid.rows}
    cells = {}
    for index, (column, gain) in enumerate(zip(grid.columns, by_name[twin].gains, strict=True)):
        pair = [by_name[name].cells[index] for name in (twin, system)]
        digits = 4 if "rmse" in kind[1] else 3
        means = [format_mean(cell.summary, digits=digits) if cell else MISSING for cell in pair]
        mark = {"better": "**", "worse": "*"}.get(gain.effect if gain else "", "")
        cells[column.range] = f"{means[0]} → {mark}{means[1]}{mark}"
    return cells
