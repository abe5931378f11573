"""Leaderboard: tables of many models from several files of scores.

Input: files that `numerate probe` wrote, on numerals or on texts. Output: boards, a Markdown file
and a page. Only scores on the same questions share a table: those of one domain, one protocol, the
same numerals and the same seeds. Rows are in the order of their first column.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from numerate.errors import InputError
from numerate.extract.ranges import ALL
from numerate.files import check_output, hide_home, write_file
from numerate.models.labels import SystemLabel, pair_twins
from numerate.probe.samples import DOMAIN_NAMES
from numerate.probe.scores import Score, read_scores
from numerate.report.figures.charts import Systems
from numerate.report.figures.system_charts import chart_columns
from numerate.report.headline import Headline
from numerate.report.page import PageSection, render_sections
from numerate.report.tables.formats import to_html, to_markdown
from numerate.report.tables.grid import Grid, find_kind, make_grid
from numerate.report.tables.notes import describe_grid
from numerate.report.tables.run_tables import TEXT_METRICS

_METRICS = (
    ("geometry", "neighbour factor"),
    ("geometry", "cosine spearman"),
    ("geometry", "sentence spearman"),
    ("comparison", "just noticeable ratio"),
    ("decoding", "ridge log-rmse"),
    ("decoding", "log-rmse"),
    ("addition", "ridge log-rmse"),
    ("addition", "log-rmse"),
    ("list-maximum", "accuracy"),
    ("list-minimum", "accuracy"),
    ("few", "64 log-rmse"),
    ("beyond", "ridge log-rmse"),
    ("gaps", "ridge log-rmse"),
    *TEXT_METRICS.items(),
)
_ORDER_NOTE = "Rows are in the order of the first column, a twin below its trained system."
_MADE = "<!-- made by numerate report -->"
_TOLERANCE = 1e-6  # relative, between the same score in two files


class Questions(NamedTuple):
    """What scores have in common that can be compared."""

    domain: str
    protocol: str
    numerals: str
    """Those that samples were drawn from: a digest of the counts, or the file without one."""
    seeds: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """The questions in words."""
        first, last = self.seeds[0], self.seeds[-1]
        whole = len(self.seeds) > 1 and self.seeds == tuple(range(first, last + 1))
        seeds = f"{first} to {last}" if whole else ", ".join(map(str, self.seeds))
        seeds = f"seed{'s' if len(self.seeds) > 1 else ''} {seeds}"
        if self.domain not in DOMAIN_NAMES:
            return f"Numbers in sentences, {seeds}"
        what = DOMAIN_NAMES[self.domain].capitalize()
        if self.domain != "line":
            what += f" numerals of {Path(self.numerals).name}"
        return f"{what}, protocol {self.protocol}, {seeds}"


@dataclass(frozen=True)
class Board:
    """One table over all numbers, and a table for each metric that is also asked by range."""

    main: Grid
    by_range: tuple[Grid, ...]


def write_leaderboard(paths: Sequence[Path], folder: Path) -> Path:
    """Write `leaderboard.md` and `index.html` on some files of scores; return the page's path.

    Files by these names that something else has made are not replaced.
    """
    boards = read_boards(paths)
    table, page = folder / "leaderboard.md", folder / "index.html"
    check_output(table, starts=re.escape(_MADE).encode())
    check_output(page, starts=rb'(?s)<!doctype html>.*name="generator" content="numerate"')
    text = f"{_MADE}\n{boards_to_markdown(boards)}"
    for path, shown in ((table, text), (page, _render_page(boards, paths, folder))):
        write_file(path, hide_home(shown).encode("utf-8", "replace"))
    return page


def read_boards(paths: Sequence[Path]) -> list[Board]:
    """Return a board for each set of questions that files of scores answer; large ones first."""
    scores = _read_files(paths)
    drawn: dict[Questions, dict[str, list[Score]]] = {}
    for questions, score in scores:
        drawn.setdefault(questions, {}).setdefault(score.system, []).append(score)
    groups: dict[Questions, list[Score]] = {}
    for questions, systems in drawn.items():
        for found in systems.values():
            seeds = tuple(sorted({score.seed for score in found}))
            groups.setdefault(questions._replace(seeds=seeds), []).extend(found)
    made = [_make_board(questions, group) for questions, group in groups.items()]
    boards = [board for board in made if board]
    if not boards:
        raise InputError(f"{paths[0]}: no scores of a task that a leaderboard shows")
    return sorted(boards, key=lambda board: -len(board.main.rows))


def _read_files(paths: Sequence[Path]) -> list[tuple[Questions, Score]]:
    """Return all scores, each once; refuse two files that differ in the same score."""
    found: dict[tuple[object, ...], tuple[Questions, Score, Path]] = {}
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file of scores; make it with 'numerate probe'")
        scores = [replace(one, system=hide_home(one.system)) for one in read_scores(path)]
        if not scores:
            raise InputError(f"{path}: holds no scores; make some with 'numerate probe'")
        for score in scores:
            questions = Questions(score.domain, score.protocol, _find_numerals(score, path))
            key = (questions, score.cell, score.metric)
            _, other, where = found.setdefault(key, (questions, score, path))
            if not _is_same(score.value, other.value):
                raise InputError(
                    f"{where} and {path}: {score.system!r} has two values of {score.task} "
                    f"{score.range}, {score.metric}; rename one, or report the files separately"
                )
    return [(questions, score) for questions, score, _ in found.values()]


def _find_numerals(score: Score, path: Path) -> str:
    """Return which numerals a score was drawn from: its counts, or its file if it tells none."""
    if score.domain not in DOMAIN_NAMES:
        return ""
    digest = score.origin.counts if score.origin else ""
    return f"counts {digest}" if digest else str(path)


def _is_same(value: float, other: float) -> bool:
    both_nan = math.isnan(value) and math.isnan(other)
    return both_nan or math.isclose(value, other, rel_tol=_TOLERANCE)


def _make_board(questions: Questions, scores: Sequence[Score]) -> Board | None:
    """Return the board of scores on the same questions; None without a metric that it shows."""
    complete = list(_keep_complete(scores))
    chosen = [score for score in complete if score.range == ALL] or complete
    main = make_grid(chosen, _METRICS, title=questions.title)
    if main is None:
        return None
    order = _rank_systems(main)
    ranked = sorted(complete, key=lambda score: order.get(score.system, len(order)))
    chosen = [score for score in ranked if score.range == ALL] or ranked
    shown = dict.fromkeys((column.task, column.metric) for column in main.columns)
    grids = [make_grid(ranked, [kind], title=f"{kind[0]}: {kind[1]}") for kind in shown]
    by_range = [grid for grid in grids if grid and len(grid.columns) > 1]
    final = make_grid(chosen, _METRICS, title=questions.title) or main
    return Board(final, tuple(by_range) if len(chosen) < len(ranked) else ())


def _keep_complete(scores: Sequence[Score]) -> Iterator[Score]:
    """Yield the scores of the cells that have all seeds that any system has there."""
    asked: dict[tuple[object, ...], set[int]] = {}
    answered: dict[tuple[object, ...], set[int]] = {}
    for score in scores:
        place = score.task, score.range, score.metric
        asked.setdefault(place, set()).add(score.seed)
        answered.setdefault((score.system, score.training, *place), set()).add(score.seed)
    for score in scores:
        place = score.task, score.range, score.metric
        if answered[score.system, score.training, *place] == asked[place]:
            yield score


def _rank_systems(grid: Grid) -> dict[str, int]:
    """Return the place of each system by its mean in the first column, the best first."""
    sign = 1 if grid.columns[0].low_is_good else -1
    means = {row.system: row.cells[0].summary.mean for row in grid.rows if row.cells[0]}
    ranked = sorted(means, key=lambda system: sign * means[system])
    return {system: place for place, system in enumerate(ranked)}


def boards_to_markdown(boards: Iterable[Board]) -> str:
    """Return every board as a Markdown table with its note."""
    return "\n".join(f"{to_markdown(board.main)}{_ORDER_NOTE}\n" for board in boards)


def _render_page(boards: Sequence[Board], paths: Sequence[Path], folder: Path) -> str:
    rows = [row for board in boards for row in board.main.rows]
    systems = Systems(tuple(pair_twins(row.system for row in rows)))
    names = " ".join(path.name for path in paths)
    return render_sections(
        "leaderboard.html.j2",
        folder=folder.resolve().name,
        headline=_make_headline(systems),
        systems=systems,
        sections=list(_make_sections(boards, systems)),
        command=f"numerate report --scores {names} --out {folder.name}",
    )


def _make_headline(systems: Systems) -> Headline:
    models = [name for name in systems.names if find_kind(name) == "probed"]
    labels = {SystemLabel.parse(name).name for name in models}
    n_controls = len(systems.names) - len(models)
    title = f"How numerate {'is one model' if len(labels) == 1 else f'are {len(labels)} models'}?"
    detail = (
        f"A row for each model, beside {n_controls} controls. Only scores on the same questions "
        "share a table: the same tasks, protocol, numbers and seeds."
    )
    return Headline(title, detail)


def _make_sections(boards: Sequence[Board], systems: Systems) -> Iterator[PageSection]:
    for place, board in enumerate(boards, 1):
        chart = chart_columns(board.main, systems, f"scores-{place}")
        note = f"{describe_grid(board.main)} {_ORDER_NOTE}"
        yield PageSection(
            name=f"board-{place}",
            title=board.main.title,
            html=to_html(board.main, systems),
            note=note,
        )
        title = f"The same at a glance: {board.main.title}"
        yield PageSection(name=chart.name, title=title, sentence=chart.sentence, chart=chart)
    for place, board in enumerate(boards, 1):
        for grid in board.by_range:
            yield PageSection(
                name=f"board-{place}-{grid.title}",
                title=f"{grid.title}. {board.main.title}",
                html=to_html(grid, systems),
                note=describe_grid(grid),
                folded=True,
            )
