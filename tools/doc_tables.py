"""Tables of results for the README and the docs, from the files that commands wrote."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from numerate.markdown import format_table
from numerate.models.labels import SystemLabel
from numerate.pretrain.baselines.genbert_questions import KINDS, Example, NumericalData
from numerate.probe.diagnostics import Diagnostics
from numerate.probe.scores import Score, read_scores
from numerate.probe.statistics import summarize_values
from numerate.report.leaderboard import boards_to_markdown, read_boards
from numerate.report.search_examples import make_searches, searches_to_markdown
from numerate.report.tables.formats import ADDS
from numerate.report.tables.grid import Grid, TableRow, make_grid, tabulate_scores
from numerate.report.tables.numbers import MISSING, format_gain, format_interval, format_mean
from tools.twin_tables import ADDED

_TASKS = (
    ("decoding", "log-rmse"),
    ("decoding", "ridge log-rmse"),
    ("addition", "log-rmse"),
    ("addition", "ridge log-rmse"),
    ("list-maximum", "accuracy"),
    ("list-minimum", "accuracy"),
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


BY_RANGE = (("distance", "spearman"), ("retrieval", "first"), ("retrieval", "subject"))
_OVER_ALL = (
    ("amounts", "first"),
    ("places", "right"),
    ("factbook-triples", "triples"),
    ("factbook-triples", "amount triples"),
    ("factbook-conditions", "about recall_at_10"),
    ("factbook-conditions", "recall_at_10"),
    ("paraphrases", "first"),
    ("STSBenchmark", "cosine_spearman"),
    ("SICK-R", "cosine_spearman"),
    ("SciFact-part", "ndcg_at_10"),
)


def encoder_tables(path: Path) -> str:
    """Return tables of sentence encoders: by ranges of numbers, then what has no ranges."""
    tables = [score_table(path, task, metric) for task, metric in BY_RANGE]
    for half in (_OVER_ALL[:6], _OVER_ALL[6:]):
        tables.append(_join_tables(path, half))
    return "\n".join(tables)


def growth_table(path: Path) -> str:
    """Return how encoders score over all ranges by the length of their tuning, and by its text."""
    kinds = (("distance", "spearman"), ("retrieval", "first"), ("STSBenchmark", "cosine_spearman"))
    scores = [score for score in read_scores(path) if score.range == "all"]
    found = {(score.system, score.task, score.metric): score.value for score in scores}
    rows = [
        [
            system,
            *(
                f"{found[system, *kind]:.3f}" if (system, *kind) in found else MISSING
                for kind in kinds
            ),
        ]
        for system in dict.fromkeys(score.system for score in scores)
    ]
    return format_table(["", *(f"{task}: {metric}" for task, metric in kinds)], rows)


def search_tables(path: Path) -> str:
    """Return what encoders find for a few queries, from a file of `benchmarks.encoders`."""
    found = json.loads(path.read_text())
    rows = [
        Diagnostics(system=name, searches={query: tuple(texts) for query, texts in one.items()})
        for name, one in found.items()
    ]
    return searches_to_markdown(make_searches(rows))


def _join_tables(path: Path, kinds: Sequence[tuple[str, str]]) -> str:
    """Return one table of tasks that have one column each."""
    scores = read_scores(path)
    columns: dict[str, dict[str, str]] = {}
    for task, metric in kinds:
        grid = make_grid([s for s in scores if s.task == task], [(task, metric)], title=task)
        column = columns[f"{task}: {metric}"] = {}
        for row in grid.rows if grid else ():
            column[row.system] = _format_cell(grid, row, 0)
            if row.gains:
                column[f"*{ADDS}*"] = format_gain(row.gains[0])
    names = dict.fromkeys(name for column in columns.values() for name in column)
    rows = [[name, *(column.get(name, MISSING) for column in columns.values())] for name in names]
    return format_table(["", *columns], rows)


def board_tables(*paths: Path) -> str:
    """Return the tables of a leaderboard of some files of scores."""
    return boards_to_markdown(read_boards(paths))


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
    shuffled = [name for name in document["factors"] if name.startswith("shuffled ")]
    for system in (name.removeprefix("shuffled ") for name in shuffled):
        found = [document["factors"][f"{prefix}{system}"] for prefix in kinds.values()]
        rows.append([f"`{SystemLabel.parse(system).name}`", *map(_format_factors, found)])
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


def adds_tables(path: Path, kinds: Sequence[tuple[str, str]] = ADDED) -> str:
    """Return what training adds in-domain: each variant, its twin, controls, and the difference."""
    return "\n".join(score_table(path, task, metric, "in") for task, metric in kinds)


def paper_tables(path: Path) -> str:
    """Return the errors of the paper's variants, their twins and what training adds, in-domain."""
    return adds_tables(path, [_TASKS[0], _TASKS[2]])


def verdict_table(path: Path) -> str:
    """Return the first table of a run's claims: the verdicts."""
    return path.read_text().split("\n\n")[0] + "\n"
