"""Write the report: from the files of a run to tables, figures and one page (section 4).

Input: a run folder. Output: `report/` in it, with `tables/` (Markdown, LaTeX, HTML), `figures/`
(PNG, SVG) and `index.html`. Every number comes from a file of the run; parts without files are left
out. The same run gives the same bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from numerate.errors import InputError
from numerate.files import hide_home, write_file
from numerate.report.claims import Claim, check_claims, claims_to_html, claims_to_markdown
from numerate.report.figures.charts import Chart, Systems
from numerate.report.figures.corpus_charts import (
    chart_anchors,
    chart_baseline_curves,
    chart_curves,
    chart_sweeps,
    describe_examples,
)
from numerate.report.figures.draw import draw_chart
from numerate.report.figures.neighbour_charts import (
    chart_neighbours,
    find_neighbours,
    tabulate_neighbours,
)
from numerate.report.figures.system_charts import (
    chart_cosines,
    chart_layers,
    chart_lines,
    chart_magnitudes,
    chart_scores,
)
from numerate.report.headline import Headline, compare_twins, summarize_scores
from numerate.report.page import PageSection, render_page
from numerate.report.paper_claims import CLAIMS_NOTE
from numerate.report.primed_examples import (
    PrimedExample,
    choose_sentences,
    examples_to_html,
    examples_to_markdown,
    make_examples,
)
from numerate.report.run_folder import RunFiles, read_run
from numerate.report.search_examples import (
    SEARCH_TITLE,
    describe_searches,
    make_searches,
    searches_to_html,
    searches_to_markdown,
)
from numerate.report.tables.formats import render_template, to_html, to_latex, to_markdown
from numerate.report.tables.grid import Grid
from numerate.report.tables.notes import describe_grid
from numerate.report.tables.parts import PARTS_TITLE, PartsTable, make_parts, parts_to_markdown
from numerate.report.tables.run_tables import (
    choose_scores,
    find_main_kind,
    make_more_tables,
    make_tables,
)

_FIRST = ("neighbours", "scores", "number-line", "cosines")
"""Charts that come before the tables."""
_ORDER = (*_FIRST, "magnitude", "layers", "anchors", "sweep", "curves", "baselines")


def write_report(
    run_folder: Path, *, compare: str | None = None, examples: Literal["own", "corpus"] = "own"
) -> Path:
    """Write the report of a run into its folder, and return the path of the page.

    `compare="paper"` adds the paper's scores and claims. The example sentences are numerate's own,
    or the first short ones of the run's corpus.
    """
    if compare not in (None, "paper"):
        raise InputError(f"compare must be paper, got {compare!r}")
    run = read_run(run_folder)
    systems = run.systems
    grids = make_tables(run.scores, compare)
    if not grids:
        raise InputError(f"{run_folder}: no scores of the paper's tasks or of texts; probe some")
    shown = make_examples(choose_sentences(examples, run.primed), run.anchors)
    charts = make_charts(run, grids[0], systems)
    folder = run_folder / "report"
    claims = _check_claims(run) if compare else []
    _write_tables(folder, grids, shown, claims, systems)
    if parts := _make_parts(run):
        _write_text(folder / "tables" / "parts.md", parts_to_markdown(parts))
    if searches := make_searches(run.diagnostics):
        _write_text(folder / "tables" / "searches.md", searches_to_markdown(searches))
    for chart in charts:
        draw_chart(chart, *(folder / "figures" / f"{chart.name}{end}" for end in (".png", ".svg")))
    page = render_page(
        run,
        headline=choose_headline(run),
        systems=systems,
        sections=list(_make_sections(run, charts, grids, shown, systems, claims)),
        command=_format_command(run_folder, compare, examples),
    )
    _write_text(folder / "index.html", page)
    return folder / "index.html"


def choose_headline(run: RunFiles) -> Headline:
    """Return the main result: the effect of training, or the best score without a comparison."""
    found = compare_twins(find_neighbours(run.diagnostics), run.n_trainings)
    if found:
        return found
    scores = choose_scores(run.scores, *find_main_kind(run.scores))
    return summarize_scores(make_tables(run.scores, None)[0], scores, run.systems.base)


def _format_command(folder: Path, compare: str | None, examples: str) -> str:
    options = f" --compare {compare}" if compare else ""
    options += f" --examples {examples}" if examples != "own" else ""
    return f"numerate report {folder.name}{options}"


def make_charts(run: RunFiles, grid: Grid, systems: Systems) -> list[Chart]:
    """Return the charts that the run has data for, in the order of the page."""
    of_one_training = (
        chart_neighbours(run.diagnostics, systems),
        chart_lines(run.diagnostics, systems),
        chart_cosines(run.diagnostics, systems),
        chart_magnitudes(run.diagnostics, systems),
        chart_layers(run.diagnostics, systems),
        chart_curves(run.curves, systems),
        chart_baseline_curves(run.baseline_curves),
    )
    charts = [_name_training(chart, run.n_trainings) for chart in of_one_training if chart]
    charts += filter(
        None,
        (
            chart_scores(grid, systems),
            chart_anchors(run.counts, run.anchors),
            chart_sweeps(run.sweeps),
        ),
    )
    return sorted(charts, key=lambda chart: _ORDER.index(chart.name))


def _name_training(chart: Chart, n_trainings: int) -> Chart:
    """Return a chart that says which one of several trainings it is of."""
    if n_trainings == 1:
        return chart
    said = f"{chart.sentence} Of the {n_trainings} trainings of each system, this is the first."
    return replace(chart, sentence=said)


def _make_parts(run: RunFiles) -> list[PartsTable]:
    """Return what each part gives, for the first protocol of a run."""
    variants = run.config.get("variants") or {}
    digits = [name for name, one in variants.items() if one["pretrain"]["pieces"] == "digits"]
    return make_parts(choose_scores(run.scores, *find_main_kind(run.scores)), digits)


def _make_sections(
    run: RunFiles,
    charts: Sequence[Chart],
    grids: Sequence[Grid],
    shown: Sequence[PrimedExample],
    systems: Systems,
    claims: Sequence[Claim],
) -> Iterator[PageSection]:
    first = [chart for chart in charts if chart.name in _FIRST]
    for chart in first:
        table = tabulate_neighbours(run.diagnostics) if chart.name == "neighbours" else ((), ())
        yield replace(_section_of_chart(chart), header=table[0], rows=table[1])
    yield from _section_of_searches(run)
    parts = _make_parts(run)
    if parts:
        html = render_template("parts.html.j2", tables=parts)
        yield PageSection(name="parts", title=PARTS_TITLE, html=html, note=parts[0].note)
    for grid in grids:
        yield _section_of_table(grid, systems)
    if claims:
        title, html = "Which claims of the paper this run supports", claims_to_html(claims)
        yield PageSection(name="claims", title=title, html=html, note=CLAIMS_NOTE)
    for chart in charts[len(first) :]:
        yield _section_of_chart(chart)
        if chart.name == "anchors" and shown:
            yield _section_of_examples(shown)
    for grid in make_more_tables(run.scores):
        yield replace(_section_of_table(grid, systems), folded=True)


def _section_of_table(grid: Grid, systems: Systems) -> PageSection:
    html = to_html(grid, systems)
    return PageSection(name=grid.name, title=grid.title, html=html, note=describe_grid(grid))


def _section_of_chart(chart: Chart) -> PageSection:
    return PageSection(name=chart.name, title=chart.title, sentence=chart.sentence, chart=chart)


def _section_of_examples(shown: Sequence[PrimedExample]) -> PageSection:
    title = "The same sentences plain, primed, and primed with direction"
    sentence, html = describe_examples(shown), examples_to_html(shown)
    return PageSection(name="sentences", title=title, sentence=sentence, html=html)


def _section_of_searches(run: RunFiles) -> Iterator[PageSection]:
    """Yield what sentence encoders find, if the run has any."""
    if found := make_searches(run.diagnostics):
        sentence, html = describe_searches(found), searches_to_html(found)
        yield PageSection(name="searches", title=SEARCH_TITLE, sentence=sentence, html=html)


def _check_claims(run: RunFiles) -> list[Claim]:
    """Return the paper's claims for the first protocol of a run."""
    protocol = find_main_kind(run.scores)[1]
    scores = [score for score in run.scores if score.protocol == protocol]
    return check_claims(scores, run.all_diagnostics)


def _write_tables(
    folder: Path,
    grids: Sequence[Grid],
    shown: Sequence[PrimedExample],
    claims: Sequence[Claim],
    systems: Systems,
) -> None:
    tables = folder / "tables"
    for grid in grids:
        _write_text(tables / f"{grid.name}.md", to_markdown(grid))
        _write_text(tables / f"{grid.name}.tex", to_latex(grid))
        _write_text(tables / f"{grid.name}.html", to_html(grid, systems, with_note=True))
    if claims:
        _write_text(tables / "claims.md", claims_to_markdown(claims))
    if shown:
        _write_text(tables / "sentences.md", examples_to_markdown(shown))
        _write_text(folder / "figures" / "sentences.html", examples_to_html(shown))


def _write_text(path: Path, text: str) -> None:
    """Write a text file; halves of surrogate pairs, which UTF-8 cannot hold, become `?`."""
    write_file(path, hide_home(text).encode("utf-8", "replace"))
