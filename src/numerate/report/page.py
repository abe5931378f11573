"""Page: the report as one self-contained HTML file, which loads and sends nothing.

The template escapes names and texts from files, also in the JSON of the charts. The page's content
security policy allows only its own script and style, which it identifies by their hashes.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from numerate.progress import format_seconds
from numerate.report.figures.charts import MOST_BANDS, Chart, Systems, describe_chart
from numerate.report.headline import Headline
from numerate.report.run_folder import RunFiles, StepRecord
from numerate.report.tables.formats import render_template


@dataclass(frozen=True, kw_only=True)
class PageSection:
    """A section of the page: a chart that the script draws, or HTML; a table has a note."""

    name: str
    title: str
    sentence: str = ""
    chart: Chart | None = None
    html: str = ""
    note: str = ""
    folded: bool = False
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """A small table of texts below the chart."""


def render_page(
    run: RunFiles,
    *,
    headline: Headline,
    systems: Systems,
    sections: Sequence[PageSection],
    command: str,
) -> str:
    """Return the page; folded sections come last, and `command` is what makes the page again."""
    return render_sections(
        "page.html.j2",
        folder=run.name,
        headline=headline,
        systems=systems,
        sections=sections,
        notes=run.notes,
        corpus=_name_corpus(run),
        base=run.config.get("base"),
        facts=_list_facts(run),
        settings=json.dumps(run.config, indent=2, ensure_ascii=False, sort_keys=True),
        steps=[(step, format_seconds(step.seconds)) for step in run.steps],
        total=format_seconds(sum(step.seconds for step in run.steps)),
        versions=_merge_versions(run.steps),
        command=command,
    )


def render_sections(
    template: str,
    *,
    folder: str,
    headline: Headline,
    systems: Systems,
    sections: Sequence[PageSection],
    **values: object,
) -> str:
    """Return a page of sections by a template, with style and script; folded sections come last."""
    style, script = _read("page.css"), _read("page.js")
    charts = [describe_chart(section.chart) for section in sections if section.chart]
    return render_template(
        template,
        **values,
        folder=folder,
        headline=headline,
        systems=systems,
        sections=[section for section in sections if not section.folded],
        folded=[section for section in sections if section.folded],
        data={"charts": charts, "systems": systems.names, "most": MOST_BANDS},
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _list_facts(run: RunFiles) -> list[tuple[str, str, str]]:
    """Return the key figures of the run: a label, a number, and more on it."""
    facts = []
    if run.counts:
        counts = run.counts
        corpus = f"in {counts.documents:,} documents of {counts.words:,} words"
        facts.append(("numerals", f"{counts.numerals:,}", corpus))
        low, high = counts.values[0], counts.values[-1]
        facts.append(("distinct", f"{len(counts.counts):,}", f"from {low:,g} to {_count(high)}"))
    facts += [
        (f"anchors, {name}", f"{len(anchors.values):,}", f"on the {anchors.scale} scale")
        for name, anchors in run.anchors.items()
    ]
    n_systems = len({score.system for score in run.scores})
    seeds = len({score.seed for score in run.scores})
    protocols = ", ".join(dict.fromkeys(score.protocol for score in run.scores))
    trainings = "one training" if run.n_trainings == 1 else f"{run.n_trainings} trainings"
    asked = f"{trainings} and {seeds} seed{'' if seeds == 1 else 's'} each, protocol {protocols}"
    return [*facts, ("systems probed", f"{n_systems:,}", asked)]


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,g}"


def _name_corpus(run: RunFiles) -> str:
    """Return the sources of the corpus, from the counts or from the config."""
    sources = run.counts.sources if run.counts else ()
    names = [str(name) for name in sources or run.config.get("corpus") or ()]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _merge_versions(steps: Sequence[StepRecord]) -> dict[str, str]:
    """Return the versions of all packages; where steps differ, all that were used."""
    found: dict[str, dict[str, None]] = {}
    for step in steps:
        for name, version in step.versions.items():
            found.setdefault(name, {})[version] = None
    return {name: ", ".join(versions) for name, versions in sorted(found.items())}


def _read(name: str) -> str:
    return resources.files("numerate").joinpath("data", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which a content security policy allows an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
