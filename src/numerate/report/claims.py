"""Claims: whether a run supports each of the paper's claims.

Input: the scores and diagnostics of a run that has the paper's four variants. Output: the claims,
each with the comparisons behind it. A comparison is a difference with its 95 % interval, paired by
training and seed; it is over trainings, or over the seeds of the probe if there is one training.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from numerate.markdown import format_table
from numerate.models.labels import SystemLabel
from numerate.options import Anchor
from numerate.prime.variants import PAPER_VARIANTS
from numerate.probe.diagnostics import Diagnostics
from numerate.probe.scores import Score
from numerate.probe.statistics import (
    Summary,
    adjust_p_values,
    combine_seeds,
    correlate_with_nearness,
    count_values_needed,
    find_p_value,
    group_by_seed,
    is_equivalent,
    summarize_seeds,
)
from numerate.report.paper import read_paper_scores
from numerate.report.paper_claims import (
    CLAIMS,
    WITHOUT,
    Cell,
    Cells,
    Contrast,
    name_cosines,
    name_layers,
)
from numerate.report.tables.formats import render_template
from numerate.report.tables.numbers import MISSING, format_summary

if TYPE_CHECKING:
    from markupsafe import Markup

Verdict = Literal["holds", "no difference", "undecided", "does not hold"]
_PAPER_RECIPES = {"genbert": "GenBERT recipe", "mwp-bert": "MWP-BERT recipe"}


@dataclass(frozen=True)
class Check:
    """A comparison with its result; its p-value is corrected for the number of comparisons."""

    contrast: Contrast
    difference: Summary
    p_value: float

    @property
    def amount(self) -> str:
        """The difference with its interval, as text."""
        return format_summary(self.difference).replace("-", "−")

    @property
    def basis(self) -> str:
        """The number of trainings; of a single one, the number of seeds of the probe too."""
        if self.difference.n_trainings > 1:
            return f"{self.difference.n_trainings} trainings"
        n_seeds = self.difference.n_seeds
        return f"one training, {n_seeds} probe seeds" if n_seeds > 1 else "one training"

    @property
    def verdict(self) -> Verdict:
        """The side of zero (or of another null value) on which the difference surely lies.

        If it is sure neither way, there is no difference if the interval lies within the bounds.
        """
        if self.p_value < 0.05:
            return "holds" if self.difference.mean > self.contrast.null else "does not hold"
        equal = not self.contrast.null and is_equivalent(self.difference, self.contrast.bound)
        return "no difference" if equal else "undecided"

    @property
    def n_needed(self) -> int:
        """The number of trainings that would find a difference as large as the bound.

        With one training it is 2, the fewest: how much trainings vary is not known then.
        """
        n_trainings = self.difference.n_trainings
        if n_trainings == 1:
            return 2
        sd = self.difference.error * math.sqrt(n_trainings)
        return max(n_trainings + 1, count_values_needed(sd, self.contrast.bound))

    @property
    def outcome(self) -> str:
        """The verdict in words; if it is undecided, with the number of trainings it would take."""
        one = self.difference.n_trainings == 1
        if self.verdict != "undecided":
            return f"{self.verdict} (one training)" if one else self.verdict
        how_many = "at least two trainings to know" if one else f"{self.n_needed} trainings"
        return f"undecided: it takes {how_many}"

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the comparison's row in a table."""
        p_value = f"{self.p_value:.2g}"
        return self.contrast.what, self.amount, self.basis, p_value, self.outcome


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of the paper, for one way of showing the anchors."""

    number: int
    title: str
    shown: str
    checks: tuple[Check, ...]
    on_paper: bool | None
    """Whether the paper's own tables have it as claimed; None if they do not show it."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the comparison that is the worst for the claim; it holds if all do."""
        found = {check.verdict for check in self.checks}
        return max(found, key=get_args(Verdict).index)

    @property
    def outcome(self) -> str:
        """The verdict in words, that of the comparison that takes the most trainings."""
        decisive = [check for check in self.checks if check.verdict == self.verdict]
        return max(decisive, key=lambda check: check.n_needed).outcome

    @property
    def in_paper(self) -> str:
        """Whether the paper's own tables have it as claimed, in words."""
        return MISSING if self.on_paper is None else "yes" if self.on_paper else "no"

    @property
    def tally(self) -> str:
        """How many comparisons have each verdict."""
        verdicts = [check.verdict for check in self.checks]
        names = {"holds": "as claimed", "does not hold": "against"}
        counts = ((names.get(name, name), verdicts.count(name)) for name in get_args(Verdict))
        found = ", ".join(f"{count} {name}" for name, count in counts if count)
        return f"of {len(verdicts)}: {found}"


def check_claims(scores: Sequence[Score], diagnostics: Sequence[Diagnostics]) -> list[Claim]:
    """Return the seven claims, for each way of showing anchors that all four variants have.

    The scores must be of one protocol. Scores and diagnostics may be of several trainings. All
    comparisons for one way of showing anchors are corrected together, by Holm's method.
    """
    cells = {**group_by_seed(scores), **measure_diagnostics(diagnostics)}
    systems = {cell[0] for cell in cells}
    claims: list[Claim] = []
    for shown in get_args(Anchor):
        names = {str(SystemLabel(name=name, shown=shown)): name for name in PAPER_VARIANTS}
        if systems.issuperset(names):
            named = _rename(cells, names | {name: name for name in WITHOUT})
            claims += _judge(_compare(named), shown)
    return sorted(claims, key=lambda claim: claim.number)


def check_paper() -> list[bool | None]:
    """Return for each claim whether the paper's own tables have it as claimed.

    There is one value of each score, so that the signs decide; None if the tables do not show it.
    """
    models = {name: name for name in PAPER_VARIANTS} | _PAPER_RECIPES
    names = {str(SystemLabel.of_paper(model)): name for model, name in models.items()}
    found = _compare(_rename(group_by_seed(read_paper_scores()), names))
    return [
        all(check.difference.mean > check.contrast.null for check in checks) if checks else None
        for checks in found
    ]


def measure_diagnostics(
    diagnostics: Sequence[Diagnostics],
) -> dict[Cell, dict[tuple[int, int], float]]:
    """Return the errors of layers by training and seed, and one rank correlation per training."""
    cells: dict[Cell, dict[tuple[int, int], float]] = {}
    for one in diagnostics:
        if one.cosines is not None:
            mean = float(correlate_with_nearness(one.cosines).mean())
            cells.setdefault(name_cosines(one.system), {})[one.training, 0] = mean
        if one.layers and one.pooled:
            errors = {"last layer": one.layers[-1].values, "last four layers": one.pooled}
            for pooling, values in errors.items():
                cell = cells.setdefault(name_layers(one.system, pooling), {})
                cell |= {(one.training, seed): value for seed, value in enumerate(values)}
    return cells


def claims_to_markdown(claims: Sequence[Claim]) -> str:
    """Return two tables: the verdict on each claim, and the comparisons behind it."""
    verdicts = [
        [f"{one.number}. {one.title}", one.shown, one.in_paper, f"**{one.outcome}**", one.tally]
        for one in claims
    ]
    checks = [
        [str(claim.number), claim.shown, *check.cells] for claim in claims for check in claim.checks
    ]
    heads = ["claim", "anchor", "in the paper's tables", "verdict here", "comparisons"]
    first = format_table(heads, verdicts)
    heads = ["claim", "anchor", "compared", "difference", "over", "p (Holm)", "verdict"]
    return f"{first}\n{format_table(heads, checks)}"


def claims_to_html(claims: Sequence[Claim]) -> "Markup":
    """Return the verdicts as an HTML table; each row can be unfolded to its comparisons."""
    return render_template("claims.html.j2", claims=claims)


def _rename(cells: Cells, names: Mapping[str, str]) -> Cells:
    """Return the cells of the systems in `names`, by their new names."""
    return {(names[cell[0]], *cell[1:]): cells[cell] for cell in cells if cell[0] in names}


def _compare(cells: Cells) -> list[list[Check]]:
    """Return the comparisons of each claim that the cells suffice for; p is not corrected yet."""
    found: list[list[Check]] = [[] for _ in CLAIMS]
    for checks, (_, list_contrasts) in zip(found, CLAIMS, strict=True):
        for contrast in list_contrasts(cells):
            if all(cell in cells for _, cell in contrast.terms):
                values = combine_seeds([(weight, cells[cell]) for weight, cell in contrast.terms])
                if values:
                    summary = summarize_seeds(values)
                    checks.append(Check(contrast, summary, find_p_value(summary, contrast.null)))
    return found


def _judge(found: Sequence[Sequence[Check]], shown: str) -> list[Claim]:
    """Return the claims that have comparisons, with p-values corrected over all of them."""
    adjusted = iter(adjust_p_values([check.p_value for checks in found for check in checks]))
    judged = [tuple(replace(check, p_value=next(adjusted)) for check in row) for row in found]
    rows = zip(CLAIMS, judged, check_paper(), strict=True)
    return [
        Claim(number=number, title=title, shown=shown, checks=checks, on_paper=on_paper)
        for number, ((title, _), checks, on_paper) in enumerate(rows, 1)
        if checks
    ]
