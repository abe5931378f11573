"""Tables of results for the README and the docs, from the files that commands wrote."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from numerate.extract.ranges import OUT_RANGES, PROBE_RANGES
from numerate.markdown import format_table
from numerate.models.labels import SystemLabel
from numerate.pretrain.baselines.genbert_questions import KINDS, Example, NumericalData
from numerate.probe.scores import Score, read_scores
from numerate.probe.statistics import (
    SeedValues,
    Summary,
    compare_seeds,
    group_by_seed,
    summarize_seeds,
    summarize_values,
)
from numerate.report.paper import read_paper_scores
from numerate.report.tables.formats import ADDS
from numerate.report.tables.grid import Grid, TableRow, is_contestant, low_is_good, tabulate_scores
from numerate.report.tables.numbers import MISSING, format_gain, format_interval, format_mean

OURS = "ln-spread"
VISIBLE = str(SystemLabel(name=OURS, shown="visible", read="anchor"))
MASKED = str(SystemLabel(name=OURS, shown="masked", read="anchor"))
ABSENT = str(SystemLabel(name=OURS, shown="absent"))
ORACLE = "control:oracle"
_TASKS = (
    ("decoding", "log-rmse"),
    ("decoding", "ridge log-rmse"),
    ("addition", "log-rmse"),
    ("addition", "ridge log-rmse"),
    ("list-maximum", "accuracy"),
    ("list-minimum", "accuracy"),
)
_GLANCE = (
    "base",
    "GenBERT recipe",
    "MWP-BERT recipe",
    "ln-anchors (visible)",
    "ln-anchors (masked)",
    "base read by digits",
    "ln-digits (masked)",
    VISIBLE,
    MASKED,
    ABSENT,
    "control:digits",
)
_GIVEN = (
    "base",
    *(
        name
        for variant in ("anchors", "ln-anchors")
        for name in (
            f"base primed as {variant} (visible)",
            f"{variant} (visible)",
            f"{variant} (masked)",
            f"{variant} (absent)",
        )
    ),
    "base read by digits",
    f"base primed as {OURS} (visible) at anchor",
    VISIBLE,
    MASKED,
    ABSENT,
    ORACLE,
)


def is_equal(system: str) -> bool:
    """Return whether a system is the base model or was trained and read on equal terms."""
    label = SystemLabel.parse(system)
    return label.name == "base" or label.name.endswith("recipe") or label.shown == "masked"


def score_table(
    path: Path,
    task: str,
    metric: str,
    domain: str | None = None,
    wanted: Callable[[str], bool] = lambda system: True,
) -> str:
    """Return a table of systems by ranges: means and intervals, the best of a range in bold."""
    chosen = [
        score
        for score in read_scores(path)
        if (score.task, score.metric) == (task, metric)
        and domain in (None, score.domain)
        and wanted(score.system)
    ]
    return _format_scores(chosen)


def _format_scores(scores: Sequence[Score]) -> str:
    [grid] = tabulate_scores(scores)
    rows = []
    for row in grid.rows:
        places = range(len(grid.columns))
        rows.append([row.system, *(_format_cell(grid, row, index) for index in places)])
        if row.gains:
            rows.append([f"*{ADDS}*", *map(format_gain, row.gains)])
    return format_table([grid.title, *(column.range for column in grid.columns)], rows)


def _format_cell(grid: Grid, row: TableRow, index: int) -> str:
    """A mean and its interval; bold if it is significantly better than all others."""
    cell = row.cells[index]
    if cell is None:
        return MISSING
    digits = 4 if grid.columns[index].low_is_good else 3
    mean, bold = format_mean(cell.summary, digits=digits), "**" if cell.mark == "best" else ""
    return f"{bold}{mean}{bold}{format_interval(cell.summary, digits=digits)}"


def sentence_tables(path: Path) -> str:
    """Return a table for each task and metric on sentences."""
    kinds = [
        ("distance", "spearman"),
        ("distance", "closer"),
        ("retrieval", "first"),
        ("retrieval", "subject"),
        ("retrieval", "nearest"),
        ("paraphrases", "first"),
    ]
    return "\n".join(score_table(path, task, metric) for task, metric in kinds)


def task_tables(path: Path, wanted: Callable[[str], bool] = lambda system: True) -> str:
    """Return a table for each of the four tasks on numerals, in and out of the domain."""
    return "\n".join(
        score_table(path, task, metric, domain, wanted)
        for task, metric in _TASKS
        for domain in ("in", "out")
    )


def neighbour_table(path: Path) -> str:
    """Return how far off the neighbours of numbers are: untrained, by shuffled anchors, trained.

    Factors are positive: means and intervals over trainings are taken in their logarithms. A twin
    is the same for every seed, and so has no interval.
    """
    document = json.loads(path.read_text())
    kinds = {"untrained": "untrained ", "trained on shuffled anchors": "shuffled ", "trained": ""}
    rows = []
    for variant in ("ln-anchors", "ln-spread"):
        label = SystemLabel(name=variant, shown="masked")
        found = [document["factors"][f"{prefix}{label}"] for prefix in kinds.values()]
        rows.append([f"`{variant}`", *map(_format_factors, found)])
    title = f"{len(document['seeds'])} trainings each: the ten most like it are off by a factor of"
    return format_table([title, *kinds], rows)


def _format_factors(factors: Sequence[float]) -> str:
    summary = summarize_values([math.log(factor) for factor in factors])
    mean, low, high = (
        math.exp(value)
        for value in (summary.mean, summary.mean - summary.half, summary.mean + summary.half)
    )
    return f"{mean:.3g}" + (f" ({low:.3g} to {high:.3g})" if len(set(factors)) > 1 else "")


def recipe_tables(folder: Path) -> str:
    """Return the accuracy of the GenBERT recipe and the losses of the MWP-BERT recipe."""
    genbert = curve_table(folder / "genbert-recipe.json", "GenBERT recipe", "eval_accuracy_")
    mwp_bert = curve_table(folder / "mwp-bert-recipe.json", "MWP-BERT recipe", "eval_loss_")
    return f"{genbert}\n{mwp_bert}"


def curve_table(path: Path, title: str, prefix: str) -> str:
    """Return the values of each kind or objective at six steps of a training curve."""
    curve = json.loads(path.read_text())["entries"]
    measured = [entry for entry in curve if any(key.startswith(prefix) for key in entry)]
    keys = [key for key in measured[0] if key.startswith(prefix)]
    kinds = [key.removeprefix(prefix) for key in keys]
    rows = _guess_rows(kinds) if prefix == "eval_accuracy_" else []
    for place in range(6):
        entry = measured[round(place * (len(measured) - 1) / 5)]
        rows.append([f"{entry['step']:,}", *(f"{entry[key]:.2f}" for key in keys)])
    return format_table([f"{title}: step", *(kind.replace("_", " ") for kind in kinds)], rows)


def _guess_rows(kinds: Sequence[str]) -> list[list[str]]:
    """The accuracy of guessing the most common answer, or one of the numbers in the question."""
    train, dev = NumericalData("train"), NumericalData("dev")
    commonest, shown = ["the commonest answer"], ["one of those shown"]
    for kind in kinds:
        first = KINDS.index(kind)
        places = range(first, 100 * len(KINDS), len(KINDS))
        answers = Counter(train[number].answer for number in range(first, 12_000, len(KINDS)))
        guess = answers.most_common(1)[0][0]
        hits = sum(dev[place].answer == guess for place in places)
        commonest.append(f"{hits / len(places):.2f}")
        shown.append(f"{sum(_chance(dev[place]) for place in places) / len(places):.2f}")
    return [commonest, shown]


def _chance(example: Example) -> float:
    """The chance that one of the numbers, words or dates of a question is its answer."""
    pattern = r"\b\d{4}\b" if example.kind == "dates" else r"\d+(?:\.\d+)?"
    found = re.findall(pattern, example.question)
    is_there = example.kind in ("words", "dates") or example.answer in found
    return is_there / len(found)


def glance_table(path: Path) -> str:
    """Return the in-domain decoding of some systems, and below it the best scores of the paper."""
    table = score_table(path, "decoding", "log-rmse", "in", lambda system: system in _GLANCE)
    best = " | ".join(f"{_paper_best('decoding', 'in', name):.4f}" for name in PROBE_RANGES)
    return f"{table}| *best of the paper, anchor visible* | {best} |\n"


def given_tables(path: Path) -> str:
    """Return decoding with the anchor visible, masked and absent, and of the untrained model."""
    return "\n".join(
        score_table(path, "decoding", "log-rmse", domain, lambda system: system in _GIVEN)
        for domain in ("in", "out")
    )


def longer_tables(short: Path, longer: Path, finer: Path) -> str:
    """Return our best variant after a million tokens, and with anchors ten times finer."""
    scores = [one for one in read_scores(short) if one.system in ("base", VISIBLE, MASKED, ORACLE)]
    scores += [
        replace(one, system=_rename_finer(one.system))
        for one in read_scores(finer)
        if "of resolution 100" in one.system
    ]
    scores += [
        replace(one, system=f"{_rename_finer(one.system)}, a million tokens")
        for one in read_scores(longer)
        if one.system.startswith("ln-")
    ]
    return "\n".join(
        _format_scores(
            [one for one in scores if (one.task, one.metric, one.domain) == (*kind, domain)]
        )
        for kind in _TASKS[:3]
        for domain in ("in", "out")
    )


def _rename_finer(system: str) -> str:
    """The name of a system, with the finer anchors called the same in both files."""
    return re.sub(r"^(ln-fine|ln-spread of resolution 100)", f"{OURS}, ten times finer", system)


def target_tables(path: Path) -> str:
    """Return our best variant beside the base model and the paper's best, cell by cell."""
    scores = read_scores(path)
    asked = {(score.task, score.metric) for score in scores}
    tables = []
    for task, metric in _TASKS:
        theirs = metric.removeprefix("ridge ")
        ours = "apart accuracy" if metric == "accuracy" else metric
        if (task, ours) in asked:
            tables.append(_target_table(scores, task, ours, theirs))
    return "\n".join(tables)


def _target_table(scores: Sequence[Score], task: str, metric: str, theirs: str) -> str:
    known = {score.system for score in scores}
    systems = [name for name in ("base", VISIBLE, MASKED, ABSENT, ORACLE) if name in known]
    heads = [f"{task}: {metric}", "the paper's best", *systems]
    heads += [f"{MASKED} − base"] if "base" in known else []
    by_seed = group_by_seed(scores)
    places = [("in", name) for name in PROBE_RANGES] + [("out", name) for name in OUT_RANGES]
    rows = []
    for domain, name in places:
        values = {
            system: by_seed.get((system, task, domain, name, metric), {}) for system in systems
        }
        if not values.get(MASKED):
            continue
        best = _paper_best(task, domain, name, theirs)
        row = [name if domain == "in" else f"{name}, out-of-domain", f"{best:.4f}"]
        row += [_format_beside(system, seeds, best, theirs) for system, seeds in values.items()]
        if "base" in known:
            row.append(_format_summary(compare_seeds(values[MASKED], values["base"]), sign="+"))
        rows.append(row)
    return format_table(heads, rows)


def _format_beside(system: str, seeds: SeedValues, best: float, metric: str) -> str:
    """The mean of a system; bold if it is a contestant and as good as the paper's best."""
    if not seeds:
        return MISSING
    summary = summarize_seeds(seeds)
    is_better = summary.mean < best if low_is_good(metric) else summary.mean >= best
    return _format_summary(summary, bold="**" if is_better and is_contestant(system) else "")


def _paper_best(task: str, domain: str, name: str, metric: str = "log-rmse") -> float:
    found = [
        score.value
        for score in read_paper_scores()
        if (score.task, score.domain, score.range, score.metric) == (task, domain, name, metric)
    ]
    return min(found) if low_is_good(metric) else max(found)


def _format_summary(summary: Summary | None, *, bold: str = "", sign: str = "") -> str:
    if summary is None:
        return MISSING
    spread = "(one seed)" if math.isnan(summary.half) else f"± {summary.half:.4f}"
    return f"{bold}{summary.mean:{sign}.4f}{bold} {spread}".replace("-", "−")
