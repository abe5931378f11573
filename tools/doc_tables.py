"""Tables of results for the pages, from the files that commands wrote."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from numerate.extract.ranges import OUT_RANGES, PROBE_RANGES
from numerate.pretrain.baselines.genbert_questions import KINDS, Example, NumericalData
from numerate.probe.scores import Score, Summary, group_by_seed, read_scores, summarize_values
from numerate.report.paper_tables import compare_seeds
from numerate.report.tables import is_contestant, read_paper_scores, tabulate_scores

OURS = "ln-spread"
VISIBLE, MASKED = (f"{OURS} ({anchor}) at anchor" for anchor in ("visible", "masked"))
ABSENT = f"{OURS} (absent)"
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
    """Whether a system was trained at equal terms, or is what all began with."""
    return system == "base" or system.endswith(("recipe", "(masked)", "(masked) at anchor"))


def score_table(
    path: Path,
    task: str,
    metric: str,
    domain: str | None = None,
    wanted: Callable[[str], bool] = lambda system: True,
) -> str:
    """Return systems by ranges: means and intervals over seeds, the best of a range in bold."""
    chosen = [
        score
        for score in read_scores(path)
        if (score.task, score.metric) == (task, metric)
        and domain in (None, score.domain)
        and wanted(score.system)
    ]
    return _lay_out(chosen)


def _lay_out(scores: Sequence[Score]) -> str:
    [table] = tabulate_scores(scores)
    digits = 4 if table.low_is_good else 3
    head = f"| {table.title} | {' | '.join(table.ranges)} |"
    lines = [head, f"|---|{'---|' * len(table.ranges)}"]
    for system, row in table.rows.items():
        cells = []
        for name in table.ranges:
            mean, half = row[name].mean, row[name].half
            best = is_contestant(system) and round(mean, digits) == round(table.best(name), digits)
            bold = "**" if best else ""
            cells.append(f"{bold}{mean:.{digits}f}{bold} ± {half:.{digits}f}")
        lines.append(f"| {system} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def sentence_tables(path: Path) -> str:
    """Return every task and metric on sentences."""
    kinds = [
        ("distance", "spearman"),
        ("distance", "closer"),
        ("retrieval", "first"),
        ("retrieval", "subject"),
        ("retrieval", "nearest"),
        ("paraphrases", "first"),
    ]
    return "\n".join(score_table(path, task, metric) for task, metric in kinds)


def task_tables(
    path: Path,
    wanted: Callable[[str], bool] = lambda system: True,
) -> str:
    """Return the four tasks on numerals, in and out of the domain."""
    return "\n".join(
        score_table(path, task, metric, domain, wanted)
        for task, metric in _TASKS
        for domain in ("in", "out")
    )


def recipe_tables(folder: Path) -> str:
    """Return what the recipes learned: shares that are right, and losses of the objectives."""
    parts = [
        ("genbert-recipe", "GenBERT recipe", "eval_accuracy_"),
        ("mwp-bert-recipe", "MWP-BERT recipe", "eval_loss_"),
    ]
    return "\n".join(
        curve_table(folder / f"{name}.json", title, prefix) for name, title, prefix in parts
    )


def curve_table(path: Path, title: str, prefix: str) -> str:
    """Return what a curve says of each kind or objective, at six of its steps."""
    curve = json.loads(path.read_text())["entries"]
    told = [entry for entry in curve if any(key.startswith(prefix) for key in entry)]
    names = [key for key in told[0] if key.startswith(prefix)]
    head = " | ".join(name.removeprefix(prefix).replace("_", " ") for name in names)
    lines = [f"| {title}: step | {head} |", f"|---|{'---|' * len(names)}"]
    if prefix == "eval_accuracy_":
        lines += _guess_rows([name.removeprefix(prefix) for name in names])
    for place in range(6):
        entry = told[round(place * (len(told) - 1) / 5)]
        values = " | ".join(f"{entry[name]:.2f}" for name in names)
        lines.append(f"| {entry['step']:,} | {values} |")
    return "\n".join(lines) + "\n"


def _guess_rows(kinds: Sequence[str]) -> list[str]:
    """What guessing would find: the commonest answer, or one of those that stand in a question."""
    train, dev = NumericalData("train"), NumericalData("dev")
    commonest, shown = [], []
    for kind in kinds:
        first = KINDS.index(kind)
        places = range(first, 100 * len(KINDS), len(KINDS))
        answers = Counter(train[number].answer for number in range(first, 12_000, len(KINDS)))
        guess = answers.most_common(1)[0][0]
        commonest.append(sum(dev[place].answer == guess for place in places) / len(places))
        shown.append(sum(_chance(dev[place]) for place in places) / len(places))
    rows = {"the commonest answer": commonest, "one of those shown": shown}
    return [f"| {name} | {' | '.join(f'{v:.2f}' for v in row)} |" for name, row in rows.items()]


def _chance(example: Example) -> float:
    """How likely it is to be right with one of the numbers, words or dates of a question."""
    pattern = r"\b\d{4}\b" if example.kind == "dates" else r"\d+(?:\.\d+)?"
    found = re.findall(pattern, example.question)
    is_there = example.kind in ("words", "dates") or example.answer in found
    return is_there / len(found)


def glance_table(path: Path) -> str:
    """Return decoding in-domain by some systems, above the best rows of the paper."""
    table = score_table(path, "decoding", "log-rmse", "in", lambda system: system in _GLANCE)
    best = " | ".join(f"{_paper_best('decoding', 'in', name):.4f}" for name in PROBE_RANGES)
    return f"{table}| *best of the paper, anchor visible* | {best} |\n"


def given_tables(path: Path) -> str:
    """Return decoding with the anchor shown, masked and left out, beside the untrained model's."""
    return "\n".join(
        score_table(path, "decoding", "log-rmse", domain, lambda system: system in _GIVEN)
        for domain in ("in", "out")
    )


def longer_tables(short: Path, longer: Path, finer: Path) -> str:
    """Return what a million tokens make of our best variant, and of anchors ten times finer."""
    scores = [one for one in read_scores(short) if one.system in ("base", VISIBLE, MASKED, ORACLE)]
    scores += [
        replace(one, system=_tell_finer(one.system))
        for one in read_scores(finer)
        if "of resolution 100" in one.system
    ]
    scores += [
        replace(one, system=f"{_tell_finer(one.system)}, a million tokens")
        for one in read_scores(longer)
        if one.system.startswith("ln-")
    ]
    return "\n".join(
        _lay_out([one for one in scores if (one.task, one.metric, one.domain) == (*kind, domain)])
        for kind in _TASKS[:3]
        for domain in ("in", "out")
    )


def _tell_finer(system: str) -> str:
    """A system's name, with the finer anchors called the same in both files."""
    return re.sub(r"^(ln-fine|ln-spread of resolution 100)", f"{OURS}, ten times finer", system)


def target_tables(path: Path) -> str:
    """Return our best variant beside the base model and the paper's best, cell by cell."""
    scores = read_scores(path)
    kinds = (
        ("decoding", "log-rmse", "log-rmse"),
        ("decoding", "ridge log-rmse", "log-rmse"),
        ("addition", "log-rmse", "log-rmse"),
        ("addition", "ridge log-rmse", "log-rmse"),
        ("list-maximum", "apart accuracy", "accuracy"),
        ("list-minimum", "apart accuracy", "accuracy"),
    )
    asked = {(score.task, score.metric) for score in scores}
    return "\n".join(_target_table(scores, *kind) for kind in kinds if kind[:2] in asked)


def _target_table(scores: Sequence[Score], task: str, metric: str, theirs: str) -> str:
    known = {score.system for score in scores}
    systems = [name for name in ("base", VISIBLE, MASKED, ABSENT, ORACLE) if name in known]
    heads = [f"{task}: {metric}", "the paper's best", *systems]
    heads += [f"{MASKED} − base"] if "base" in known else []
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    seeds = group_by_seed(scores)
    places = [("in", name) for name in PROBE_RANGES] + [("out", name) for name in OUT_RANGES]
    for domain, name in places:
        if (MASKED, task, domain, name, metric) not in seeds:
            continue
        cells = [seeds.get((system, task, domain, name, metric), {}) for system in systems]
        best = _paper_best(task, domain, name, theirs)
        told = [
            _tell_beside(cell, best, theirs, counts=is_contestant(system))
            for system, cell in zip(systems, cells, strict=True)
        ]
        if "base" in known:
            ours, base = (cells[systems.index(system)] for system in (MASKED, "base"))
            told.append(_tell(compare_seeds(ours, base), sign=True))
        place = name if domain == "in" else f"{name}, out-of-domain"
        lines.append(f"| {place} | {best:.4f} | {' | '.join(told)} |")
    return "\n".join(lines) + "\n"


def _tell_beside(cell: Mapping[int, float], best: float, metric: str, *, counts: bool) -> str:
    """A system's mean, bold if it counts and is as good as the paper's best; nothing if unasked."""
    summary = summarize_values(list(cell.values())) if cell else None
    better = summary is not None and counts and _is_better(summary.mean, best, metric)
    return _tell(summary, better=better)


def _paper_best(task: str, domain: str, name: str, metric: str = "log-rmse") -> float:
    found = [
        score.value
        for score in read_paper_scores()
        if (score.task, score.domain, score.range, score.metric) == (task, domain, name, metric)
    ]
    return max(found) if metric == "accuracy" else min(found)


def _is_better(value: float, best: float, metric: str) -> bool:
    return value >= best if metric == "accuracy" else value < best


def _tell(summary: Summary | None, *, better: bool = False, sign: bool = False) -> str:
    if summary is None:
        return "–"
    bold, plus = ("**" if better else ""), ("+" if sign else "")
    spread = "(one seed)" if math.isnan(summary.half) else f"± {summary.half:.4f}"
    return f"{bold}{summary.mean:{plus}.4f}{bold} {spread}".replace("-", "−")
