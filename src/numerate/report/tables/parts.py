"""Parts: what reading digits, blank places, a visible anchor and training each give.

Input: the scores of a run. Output: a table for each trained system that is shown masks, with the
steps that lead from the base model to it: two systems that differ in one thing, and the paired
difference of their errors of decoding.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from numerate.extract.ranges import PROBE_RANGES
from numerate.markdown import escape_markdown, format_table
from numerate.models.labels import READ_BY_DIGITS, SystemLabel
from numerate.probe.scores import Score
from numerate.probe.statistics import SeedValues, compare_seeds, group_by_seed, summarize_errors
from numerate.report.tables.comparisons import Gain
from numerate.report.tables.notes import describe_repeats
from numerate.report.tables.numbers import format_gain, format_summary

PARTS_TITLE = "What each part gives"
_BASE = "base"
_PROBES = {"log-rmse": "trees", "ridge log-rmse": "ridge regression"}


@dataclass(frozen=True)
class Part:
    """Two systems that differ in one thing, and what this gives in each range."""

    title: str
    before: str
    after: str
    gains: tuple[Gain | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PartsTable:
    """The steps from the base model to a trained system, by one probe."""

    system: str
    metric: str
    ranges: tuple[str, ...]
    first: tuple[str, ...]
    """The errors of the base model, as text."""
    parts: tuple[Part, ...]
    last: tuple[str, ...]
    """The errors of the trained system."""
    note: str

    @property
    def header(self) -> tuple[str, ...]:
        """The decoding that is measured, and the ranges."""
        return f"decoding by {_PROBES[self.metric]}, {self.metric}", *self.ranges

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The base model, the parts and the trained system, as texts."""
        parts = [(part.title, *map(format_gain, part.gains)) for part in self.parts]
        return [(_BASE, *self.first), *parts, (self.system, *self.last)]


def make_parts(scores: Sequence[Score], digits: Collection[str]) -> list[PartsTable]:
    """Return a table for each trained system whose anchors are hidden, and each probe.

    The scores must be of one protocol. `digits` are the variants that read numbers digit by digit;
    they have a table only if the base model was also probed so. Systems without a twin have no
    table, and parts whose systems were not probed are left out.
    """
    seeds = group_by_seed(s for s in scores if (s.task, s.domain) == ("decoding", "in"))
    systems = dict.fromkeys(place[0] for place in seeds)
    trained = [
        system
        for system in systems
        if SystemLabel.parse(system).shown in ("masked", "unsaid")
        and str(SystemLabel.parse(system).twin) in systems
    ]
    tables = [
        _make_table(seeds, system, metric, SystemLabel.parse(system).name in digits)
        for system in trained
        for metric in _PROBES
    ]
    return [table for table in tables if table and table.parts[0].before == _BASE]


def list_parts(system: str, *, by_digits: bool) -> list[Part]:
    """Return the steps from the base model to a system, and those with the anchor visible.

    >>> [part.title for part in list_parts("ln-anchors (masked)", by_digits=False)][:2]
    ['blank places', 'training']
    """
    hidden = SystemLabel.parse(system)
    visible = replace(hidden, shown="visible")
    start = READ_BY_DIGITS if by_digits else _BASE
    return [
        *([Part("reading digits", _BASE, start)] if by_digits else []),
        Part("blank places", start, str(hidden.twin)),
        Part("training", str(hidden.twin), system),
        Part("untrained: a visible anchor in place of blanks", str(hidden.twin), str(visible.twin)),
        Part("training, with the anchor visible", str(visible.twin), str(visible)),
    ]


def _make_table(
    seeds: Mapping[tuple[str, ...], SeedValues], system: str, metric: str, by_digits: bool
) -> PartsTable | None:
    def find(name: str, place: str) -> SeedValues:
        return seeds.get((name, "decoding", "in", place, metric), {})

    ranges = tuple(place for place in PROBE_RANGES if find(system, place) and find(_BASE, place))
    parts = []
    for part in list_parts(system, by_digits=by_digits):
        pairs = [compare_seeds(find(part.after, p), find(part.before, p)) for p in ranges]
        gains = tuple(Gain(difference, True) if difference else None for difference in pairs)
        if any(gains):
            parts.append(replace(part, gains=gains))
    if not parts:
        return None
    first, last = (
        tuple(format_summary(summarize_errors(find(name, place))) for place in ranges)
        for name in (_BASE, system)
    )
    return PartsTable(
        system=system,
        metric=metric,
        ranges=ranges,
        first=first,
        parts=tuple(parts),
        last=last,
        note=_describe(parts),
    )


def _describe(parts: Sequence[Part]) -> str:
    found = [gain.difference for part in parts for gain in part.gains if gain]
    repeats = describe_repeats(max(found, key=lambda one: (one.n_trainings, one.n_seeds)))
    return (
        "Each row is the paired difference of two systems that differ in one thing, with its 95 % "
        f"interval {repeats}; less error is better, and better or worse is said where the interval "
        "excludes zero. Blank places are the marker and the masks behind the number, and reading "
        "where the trained system is read."
    )


def parts_to_markdown(tables: Sequence[PartsTable]) -> str:
    """Return the tables of all systems in Markdown, with one note."""
    texts = [
        format_table(
            [escape_markdown(cell) for cell in table.header],
            [[escape_markdown(cell) for cell in row] for row in table.rows],
            right=True,
        )
        for table in tables
    ]
    title = f"**{PARTS_TITLE}**"
    return "\n".join([f"{title}\n", *texts, escape_markdown(tables[0].note), ""])
