"""The tables of a run: the paper's tables 1 and 2 for each protocol, and those by other metrics."""

import re
from collections.abc import Iterator, Sequence

from numerate.probe.samples import DOMAIN_NAMES
from numerate.probe.scores import Score
from numerate.probe.tasks.text_tasks import PROTOCOL as TEXTS
from numerate.report.paper import PAPER_METRICS, find_paper_scores
from numerate.report.tables.grid import Grid, make_grid

_NAMES = {"in": "table-1", "out": "table-2"}
TEXT_METRICS = {
    "distance": "spearman",
    "retrieval": "first",
    "amounts": "first",
    "places": "right",
    "factbook-triples": "triples",
    "factbook-conditions": "recall_at_10",
    "paraphrases": "first",
    "STSBenchmark": "cosine_spearman",
    "SICK-R": "cosine_spearman",
    "SciFact": "ndcg_at_10",
    "SciFact-part": "ndcg_at_10",
}
_MORE = ("ridge log-rmse", "rmse-ln", "r2")


def make_tables(scores: Sequence[Score], compare: str | None) -> list[Grid]:
    """Return tables 1 and 2 for each protocol, and that of the tasks on texts.

    If `compare` is set, the paper's scores are in tables 1 and 2.
    """
    grids = []
    paper = find_paper_scores(scores) if compare else []
    several = len({protocol for _, protocol in list_kinds(scores)}) > 1
    for domain, protocol in list_kinds(scores):
        name = _NAMES[domain]
        title = name.replace("-", " ").capitalize()
        grid = make_grid(
            [*choose_scores(scores, domain, protocol), *choose_scores(paper, domain, "paper")],
            _choose_metrics(scores).items(),
            name=f"{name}-{_slug(protocol)}" if several else name,
            title=f"{title}: {DOMAIN_NAMES[domain]} numerals, protocol {protocol}",
        )
        if grid:
            grids.append(grid)
    texts = choose_scores(scores, TEXTS, TEXTS)
    grid = make_grid(texts, TEXT_METRICS.items(), name="texts", title="Numbers in sentences")
    return [*grids, grid] if grid else grids


def make_more_tables(scores: Sequence[Score]) -> Iterator[Grid]:
    """Yield a table for each other metric of decoding and addition."""
    shown = _choose_metrics(scores).values()
    for metric in (metric for metric in _MORE if metric not in shown):
        for domain, protocol in list_kinds(scores):
            grid = make_grid(
                choose_scores(scores, domain, protocol),
                [(task, metric) for task in ("decoding", "addition")],
                name=_slug(f"{metric}-{domain}-{protocol}"),
                title=f"{metric}, {DOMAIN_NAMES[domain]} numerals, protocol {protocol}",
            )
            if grid:
                yield grid


def list_kinds(scores: Sequence[Score]) -> list[tuple[str, str]]:
    """Return the domains and protocols with scores of the paper's tasks; in-domain first."""
    asked = [score for score in scores if score.task in PAPER_METRICS]
    found = dict.fromkeys((score.domain, score.protocol) for score in asked)
    return [kind for domain in _NAMES for kind in found if kind[0] == domain]


def find_main_kind(scores: Sequence[Score]) -> tuple[str, str]:
    """Return the domain and the protocol of the first table; those of texts without the paper's."""
    return next(iter(list_kinds(scores)), (TEXTS, TEXTS))


def choose_scores(scores: Sequence[Score], domain: str, protocol: str) -> list[Score]:
    """Return the scores of one domain and protocol."""
    return [score for score in scores if (score.domain, score.protocol) == (domain, protocol)]


def _choose_metrics(scores: Sequence[Score]) -> dict[str, str]:
    """Return the paper's metrics, or those of ridge regression if the run has no trees."""
    found = {(score.task, score.metric) for score in scores}
    return {
        task: metric if (task, metric) in found else f"ridge {metric}"
        for task, metric in PAPER_METRICS.items()
    }


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
