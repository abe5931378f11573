"""Page: one self-contained HTML file from what a report found; it loads and sends nothing.

Names and texts from files are escaped by the template. The charts go into the page as JSON that
cannot end its element, and the page's policy lets no script run but its own, known by its hash.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from numerate.errors import InputError
from numerate.progress import tell_seconds
from numerate.report.charts import MOST_BANDS, Cast, Chart, describe_chart
from numerate.report.headline import Headline
from numerate.report.run_folder import RunFiles, Step


@dataclass(frozen=True)
class Section:
    """A part of the page: a chart that its script draws, or ready HTML; a table has a note."""

    name: str
    title: str
    sentence: str
    chart: Chart | None = None
    html: str = ""
    note: str = ""
    folded: bool = False
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """A small table of texts, below the chart."""


def render_page(
    run: RunFiles, *, headline: Headline, cast: Cast, sections: Sequence[Section], command: str
) -> str:
    """Return the page.

    Args:
        run: What the report is on.
        headline: The main result, said first.
        cast: The systems, which get a button each.
        sections: What comes one below the other.
        command: What to type to make the page again.
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise InputError("the page needs jinja2: pip install 'numerate[report]'") from None
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style, script = _read("page.css"), _read("page.js")
    charts = [describe_chart(section.chart) for section in sections if section.chart]
    return environment.from_string(_read("page.html.j2")).render(
        run=run,
        headline=headline,
        corpus=_name_corpus(run),
        base=run.config.get("base"),
        facts=_list_facts(run),
        cast=cast,
        sections=[section for section in sections if not section.folded],
        folded=[section for section in sections if section.folded],
        data=embed_json({"charts": charts, "systems": cast.names, "most": MOST_BANDS}),
        settings=json.dumps(run.config, indent=2, ensure_ascii=False, sort_keys=True),
        steps=[(step, tell_seconds(step.seconds)) for step in run.steps],
        total=tell_seconds(sum(step.seconds for step in run.steps)),
        versions=_merge_versions(run.steps),
        command=command,
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def embed_json(document: Mapping[str, Any]) -> str:
    r"""Return a JSON document that can stand in a script element, whatever its strings hold.

    >>> embed_json({"name": "</script><b>&"})
    '{"name":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    """
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _list_facts(run: RunFiles) -> list[tuple[str, str, str]]:
    """What the run is about: a label, a number, and more on it."""
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
    asked = f"{seeds} seed{'s'[: seeds != 1]} each, protocol {protocols}"
    return [*facts, ("systems probed", f"{n_systems:,}", asked)]


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,g}"


def _name_corpus(run: RunFiles) -> str:
    """What the corpus is called: its sources, as the counts or the config give them."""
    sources = run.counts.sources if run.counts else ()
    names = [str(name) for name in sources or run.config.get("corpus") or ()]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _merge_versions(steps: Sequence[Step]) -> dict[str, str]:
    """The versions of all steps; where steps differ, all that were used."""
    found: dict[str, dict[str, None]] = {}
    for step in steps:
        for name, version in step.versions.items():
            found.setdefault(name, {})[version] = None
    return {name: ", ".join(versions) for name, versions in sorted(found.items())}


def _read(name: str) -> str:
    return resources.files("numerate").joinpath("data", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a content security policy calls an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
