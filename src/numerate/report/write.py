"""Report: from the files of a run to tables, figures and one page that holds them all (section 4).

Input: a run folder. Output: `report/` in it, with `tables/` (Markdown, LaTeX, HTML), `figures/`
(PNG, SVG) and `index.html`. Every number comes from a file of the run; what the run did not make is
left out. The same run gives the same bytes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Literal

from numerate.errors import InputError
from numerate.files import write_file
from numerate.probe.scores import Score
from numerate.report.charts import Cast, Chart
from numerate.report.claims import Claim, claims_to_html, claims_to_markdown, judge_claims
from numerate.report.corpus_charts import (
    chart_anchors,
    chart_curves,
    chart_lessons,
    chart_sweeps,
    tell_examples,
)
from numerate.report.draw import draw_chart
from numerate.report.formats import to_html, to_latex, to_markdown
from numerate.report.headline import Headline, compare_twins, tell_headline
from numerate.report.page import Section, render_page
from numerate.report.paper_tables import PAPER_METRICS, Grid, lay_out_scores
from numerate.report.primed_examples import (
    Example,
    choose_sentences,
    examples_to_html,
    examples_to_markdown,
    make_examples,
)
from numerate.report.run_folder import RunFiles, read_run
from numerate.report.system_charts import (
    chart_cosines,
    chart_layers,
    chart_lines,
    chart_magnitudes,
    chart_neighbours,
    chart_scores,
    find_cast,
    find_neighbours,
    tabulate_neighbours,
)
from numerate.report.tables import find_paper_scores

_DOMAINS = {"in": ("table-1", "in-domain"), "out": ("table-2", "out-of-domain")}
_FIRST = ("neighbours", "scores", "number-line", "cosines")
"""Charts that come before the tables."""
_CLAIMS_NOTE = (
    "Every comparison is a difference with its 95 % interval, above zero where it is as claimed: "
    "paired over seeds, for heatmaps over the numerals. A claim holds if all of it does."
)
_MORE = ("ridge log-rmse", "rmse-ln", "r2")


def write_report(
    run_folder: Path,
    *,
    compare: str | None = None,
    examples: Literal["own", "corpus"] = "own",
) -> Path:
    """Write the report of a run into its folder, and return the path of the page.

    Args:
        run_folder: What `numerate run` wrote.
        compare: `paper` for the paper's own numbers beside, set apart.
        examples: Sentences of ours, or the first short ones of the run's corpus.
    """
    if compare not in (None, "paper"):
        raise InputError(f"compare must be paper, got {compare!r}")
    run = read_run(run_folder)
    cast = find_cast(run)
    grids = lay_out_domains(run.scores, compare)
    if not grids:
        raise InputError(f"{run_folder}: no scores of the paper's tasks; run 'numerate run'")
    shown = make_examples(choose_sentences(examples, run.primed), run.anchors)
    charts = make_charts(run, grids[0], cast)
    folder = run_folder / "report"
    claims = _judge(run) if compare else []
    _write_tables(folder, grids, shown, claims, cast)
    for chart in charts:
        draw_chart(chart, folder / "figures")
    page = render_page(
        run,
        headline=choose_headline(run),
        cast=cast,
        sections=list(_make_sections(run, charts, grids, shown, cast, claims)),
        command=_tell_command(run_folder, compare, examples),
    )
    _write_text(folder / "index.html", page)
    return folder / "index.html"


def choose_headline(run: RunFiles) -> Headline:
    """Return the main result: what training adds to its twin or, without twins, the best score."""
    return compare_twins(find_neighbours(run.portraits)) or tell_headline(
        lay_out_domains(run.scores, None)[0],
        _of(run.scores, *_kinds(run.scores)[0]),
        find_cast(run),
    )


def _tell_command(folder: Path, compare: str | None, examples: str) -> str:
    options = f" --compare {compare}" if compare else ""
    options += f" --examples {examples}" if examples != "own" else ""
    return f"numerate report {folder.name}{options}"


def _of(scores: Sequence[Score], domain: str, protocol: str) -> list[Score]:
    return [score for score in scores if (score.domain, score.protocol) == (domain, protocol)]


def _kinds(scores: Sequence[Score]) -> list[tuple[str, str]]:
    """The domains and protocols that have scores of the paper's tasks; in-domain first."""
    found = dict.fromkeys(
        (score.domain, score.protocol) for score in scores if score.task in PAPER_METRICS
    )
    return sorted(
        (kind for kind in found if kind[0] in _DOMAINS),
        key=lambda kind: list(_DOMAINS).index(kind[0]),
    )


def lay_out_domains(scores: Sequence[Score], compare: str | None) -> list[Grid]:
    """Return tables 1 and 2, for each protocol that was asked; with `compare` the paper's rows."""
    grids = []
    paper = find_paper_scores(scores) if compare else []
    several = len({protocol for _, protocol in _kinds(scores)}) > 1
    for domain, protocol in _kinds(scores):
        name, title = _DOMAINS[domain]
        grid = lay_out_scores(
            _of(scores, domain, protocol),
            name=f"{name}-{_slug(protocol)}" if several else name,
            title=f"{name.replace('-', ' ').capitalize()}: {title} numerals, protocol {protocol}",
            metrics=_choose_metrics(scores),
            paper=[score for score in paper if score.domain == domain],
        )
        if grid:
            grids.append(grid)
    return grids


def _choose_metrics(scores: Sequence[Score]) -> dict[str, str]:
    """The paper's metrics, or ridge regression's where a run did without trees."""
    found = {(score.task, score.metric) for score in scores}
    return {
        task: metric if (task, metric) in found else f"ridge {metric}"
        for task, metric in PAPER_METRICS.items()
    }


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]


def _lay_out_more(scores: Sequence[Score]) -> Iterator[Grid]:
    """The other metrics of decoding and addition, a table each."""
    shown = _choose_metrics(scores).values()
    for metric in (metric for metric in _MORE if metric not in shown):
        for domain, protocol in _kinds(scores):
            grid = lay_out_scores(
                _of(scores, domain, protocol),
                name=_slug(f"{metric}-{domain}-{protocol}"),
                title=f"{metric}, {_DOMAINS[domain][1]} numerals, protocol {protocol}",
                metrics=dict.fromkeys(("decoding", "addition"), metric),
            )
            if grid:
                yield grid


def make_charts(run: RunFiles, grid: Grid, cast: Cast) -> list[Chart]:
    """Return the charts that the run has data for, in the order of the page."""
    charts = (
        chart_neighbours(run.portraits, cast),
        chart_scores(grid, cast),
        chart_lines(run.portraits, cast),
        chart_cosines(run.portraits, cast),
        chart_magnitudes(run.portraits, cast),
        chart_layers(run.portraits, cast),
        chart_anchors(run.counts, run.anchors),
        chart_sweeps(run.sweeps),
        chart_curves(run.curves, cast),
        chart_lessons(run.lessons),
    )
    return [chart for chart in charts if chart]


def _make_sections(
    run: RunFiles,
    charts: Sequence[Chart],
    grids: Sequence[Grid],
    shown: Sequence[Example],
    cast: Cast,
    claims: Sequence[Claim],
) -> Iterator[Section]:
    first = [chart for chart in charts if chart.name in _FIRST]
    for chart in first:
        table = tabulate_neighbours(run.portraits) if chart.name == "neighbours" else ((), ())
        yield Section(
            chart.name, chart.title, chart.sentence, chart, header=table[0], rows=table[1]
        )
    for grid in grids:
        yield _section_of_table(grid, cast)
    if claims:
        title = "What this run says to the claims of the paper"
        yield Section("claims", title, "", html=claims_to_html(claims), note=_CLAIMS_NOTE)
    for chart in charts[len(first) :]:
        yield Section(chart.name, chart.title, chart.sentence, chart)
        if chart.name == "anchors" and shown:
            yield _section_of_examples(shown)
    for grid in _lay_out_more(run.scores):
        yield replace(_section_of_table(grid, cast), folded=True)


def _section_of_table(grid: Grid, cast: Cast) -> Section:
    return Section(grid.name, grid.title, "", html=to_html(grid, cast), note=grid.note())


def _section_of_examples(shown: Sequence[Example]) -> Section:
    title = "The same sentences plain, primed, and primed with direction"
    return Section("sentences", title, tell_examples(shown), html=examples_to_html(shown))


def _judge(run: RunFiles) -> list[Claim]:
    """The paper's claims by the first of a run's protocols."""
    protocol = _kinds(run.scores)[0][1]
    return judge_claims(
        [score for score in run.scores if score.protocol == protocol], run.portraits
    )


def _write_tables(
    folder: Path,
    grids: Sequence[Grid],
    shown: Sequence[Example],
    claims: Sequence[Claim],
    cast: Cast,
) -> None:
    for grid in grids:
        _write_text(folder / "tables" / f"{grid.name}.md", to_markdown(grid))
        _write_text(folder / "tables" / f"{grid.name}.tex", to_latex(grid))
        note = f'<p class="note">{escape(grid.note())}</p>\n'
        _write_text(folder / "tables" / f"{grid.name}.html", to_html(grid, cast) + note)
    if claims:
        _write_text(folder / "tables" / "claims.md", claims_to_markdown(claims))
    if shown:
        _write_text(folder / "tables" / "sentences.md", examples_to_markdown(shown))
        _write_text(folder / "figures" / "sentences.html", examples_to_html(shown) + "\n")


def _write_text(path: Path, text: str) -> None:
    """Write text whole; a name may hold half of a surrogate pair, which UTF-8 cannot."""
    write_file(path, text.encode("utf-8", "replace"))
