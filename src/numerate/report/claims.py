"""Claims: whether a run supports each of the paper's claims.

Input: the scores and diagnostics of a run that has the paper's four variants. Output: the claims,
each with the comparisons behind it. A comparison is a difference with its 95 % interval, and it is
positive if the claim is right: paired over seeds, or over numerals where there are no seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from numerate.extract.ranges import ALL, OUT_RANGES
from numerate.markdown import format_table
from numerate.models.labels import SystemLabel
from numerate.options import Anchor
from numerate.prime.variants import PAPER_VARIANTS
from numerate.probe.diagnostics import Diagnostics
from numerate.probe.scores import Score
from numerate.probe.statistics import (
    SeedValues,
    Summary,
    compare_seeds,
    correlate_with_nearness,
    group_by_seed,
    summarize_values,
)
from numerate.report.formats import render_template
from numerate.report.numbers import format_summary

if TYPE_CHECKING:
    from markupsafe import Markup

Verdict = Literal["holds", "does not hold", "undecided"]
_SMALL, _LARGE = OUT_RANGES
_WITHOUT = ("base", "GenBERT recipe", "MWP-BERT recipe")


@dataclass(frozen=True)
class Check:
    """One comparison: its text, and its difference, which is positive if the claim is right."""

    what: str
    difference: Summary

    @property
    def amount(self) -> str:
        """The difference with its interval, as text."""
        return format_summary(self.difference).replace("-", "−")

    @property
    def verdict(self) -> Verdict:
        """The side of zero on which the interval lies; open if it includes zero or is missing."""
        mean, half = self.difference.mean, self.difference.half
        if mean - half > 0:
            return "holds"
        return "does not hold" if mean + half < 0 else "undecided"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, for one way of showing the anchors."""

    number: int
    title: str
    shown: str
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """The claim holds if all comparisons do, and does not hold if one of them does not."""
        found = {check.verdict for check in self.checks}
        if found == {"holds"}:
            return "holds"
        return "does not hold" if "does not hold" in found else "undecided"

    @property
    def tally(self) -> str:
        """The number of comparisons that agree with the claim, and that contradict it."""
        verdicts = [check.verdict for check in self.checks]
        as_claimed, other = verdicts.count("holds"), verdicts.count("does not hold")
        return f"{as_claimed} of {len(verdicts)} as claimed, {other} against"


def check_claims(scores: Sequence[Score], diagnostics: Sequence[Diagnostics]) -> list[Claim]:
    """Return the seven claims, for each way of showing anchors that all four variants have.

    The scores must be of one protocol, and the diagnostics of the same systems.
    """
    cells = group_by_seed(scores)
    systems = {place[0] for place in cells}
    claims = []
    for shown in get_args(Anchor):
        names = {name: str(SystemLabel(name=name, shown=shown)) for name in PAPER_VARIANTS}
        if systems.issuperset(names.values()):
            for number, (title, find) in enumerate(_CLAIMS, 1):
                checks = tuple(find(_Evidence(cells, names, diagnostics)))
                if checks:
                    claims.append(Claim(number, title, shown, checks))
    return sorted(claims, key=lambda claim: claim.number)


def claims_to_markdown(claims: Sequence[Claim]) -> str:
    """Return two tables: the verdict on each claim, and the comparisons behind it."""
    verdicts = [
        [f"{claim.number}. {claim.title}", claim.shown, f"**{claim.verdict}**", claim.tally]
        for claim in claims
    ]
    checks = [
        [str(claim.number), claim.shown, check.what, check.amount, check.verdict]
        for claim in claims
        for check in claim.checks
    ]
    first = format_table(["claim", "anchor", "verdict", "comparisons"], verdicts)
    heads = ["claim", "anchor", "compared", "difference, positive as claimed", ""]
    return f"{first}\n{format_table(heads, checks)}"


def claims_to_html(claims: Sequence[Claim]) -> "Markup":
    """Return the verdicts as an HTML table; each row can be unfolded to its comparisons."""
    return render_template("claims.html.j2", claims=claims)


@dataclass(frozen=True)
class _Evidence:
    """The scores by cell, the systems of the four variants, and the diagnostics of a run."""

    cells: Mapping[tuple[str, ...], SeedValues]
    names: Mapping[str, str]
    diagnostics: Sequence[Diagnostics]

    def seeds(
        self, system: str, task: str, place: str, domain: str = "in", metric: str = "log-rmse"
    ) -> SeedValues:
        """Return the values of a score by seed, or none; `place` is a range."""
        return self.cells.get((system, task, domain, place, metric), {})


def _check(what: str, more: SeedValues, less: SeedValues) -> Iterator[Check]:
    difference = compare_seeds(more, less)
    if difference is not None:
        yield Check(what, difference)


def _grow(run: _Evidence) -> Iterator[Check]:
    """Claim 1: compare the errors of decoding above and below 10k."""
    for system in (*_WITHOUT, *run.names.values()):
        small, large = (run.seeds(system, "decoding", name) for name in (_SMALL, _LARGE))
        if system in _WITHOUT:
            yield from _check(f"{system}: error at {_LARGE} − at {_SMALL}", large, small)
        else:
            yield from _check(f"{system}: error at {_SMALL} − at {_LARGE}", small, large)


def _prefer_ln(run: _Evidence) -> Iterator[Check]:
    """Claim 2: compare ln with linear anchors, with and without direction."""
    for task in ("decoding", "addition"):
        for linear, ln in (("anchors", "ln-anchors"), ("anchors-lr", "ln-anchors-lr")):
            errors = (run.seeds(run.names[name], task, ALL) for name in (linear, ln))
            yield from _check(f"{task}, {ALL}: {linear} − {ln}", *errors)


def _prefer_direction(run: _Evidence) -> Iterator[Check]:
    """Claim 3: compare ln anchors with the paper's best row above 10k, linear with direction."""
    for task in ("decoding", "addition"):
        for ln in ("ln-anchors", "ln-anchors-lr"):
            errors = (run.seeds(run.names[name], task, _LARGE) for name in (ln, "anchors-lr"))
            yield from _check(f"{task}, {_LARGE}: {ln} − anchors-lr", *errors)


def _best_on_lists(run: _Evidence) -> Iterator[Check]:
    """Claim 4: compare ln anchors with direction with each of the other three."""
    best = "ln-anchors-lr"
    for task in ("list-maximum", "list-minimum"):
        for other in (name for name in run.names if name != best):
            pair = run.names[best], run.names[other]
            shares = (run.seeds(name, task, ALL, metric="accuracy") for name in pair)
            yield from _check(f"{task}, {ALL}: {best} − {other}", *shares)


def _compare_domains(run: _Evidence) -> Iterator[Check]:
    """Claim 5: compare the errors of decoding in and out of the domain."""
    for system in run.names.values():
        for name in OUT_RANGES:
            inside, outside = (run.seeds(system, "decoding", name, d) for d in ("in", "out"))
            yield from _check(f"{system}, {name}: in-domain − out-of-domain", inside, outside)


def _compare_layers(run: _Evidence) -> Iterator[Check]:
    """Claim 6: compare the errors of ridge regression on the same numerals."""
    for one in run.diagnostics:
        if one.system in ("base", *run.names.values()) and one.layers and one.pooled:
            last, pooled = (
                {(0, seed): value for seed, value in enumerate(values)}
                for values in (one.layers[-1].values, one.pooled)
            )
            what = f"{one.system}: error of the last layer − of the last four"
            yield from _check(what, last, pooled)


def _find_diagonals(run: _Evidence) -> Iterator[Check]:
    """Claim 7: compare with the base model, numeral by numeral from 1 to 100."""
    known = {one.system: one.cosines for one in run.diagnostics if one.cosines is not None}
    base = known.get("base")
    for system in run.names.values():
        if base is not None and system in known:
            gains = correlate_with_nearness(known[system]) - correlate_with_nearness(base)
            what = f"{system} − base: rank correlation of cosine and nearness"
            yield Check(what, summarize_values(gains))


_CLAIMS = (
    ("Errors grow with magnitude without anchors, and do not with them", _grow),
    ("ln anchors beat linear ones on decoding and addition", _prefer_ln),
    (f"Linear anchors with direction beat ln anchors at {_LARGE}", _prefer_direction),
    ("ln anchors with direction are best on lists", _best_on_lists),
    ("Out-of-domain is no worse than in-domain", _compare_domains),
    ("The sum of the last four layers beats the last layer", _compare_layers),
    ("Heatmaps of cosines show a diagonal, more than the base model's", _find_diagonals),
)
