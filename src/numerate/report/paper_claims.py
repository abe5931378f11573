"""The paper's seven claims, each as comparisons of scores that are positive if the claim is right.

A comparison is a weighted sum of cells, so that the same one can be made on the scores of a run and
on the paper's own tables, where every claim comes out as the paper has it. A statement on anchors
in general is about the mean of the paper's four variants, and one on lists about the mean of the
two tasks, so that few comparisons are made. `claims` makes them and judges.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from numerate.extract.ranges import ALL, OUT_RANGES
from numerate.prime.variants import PAPER_VARIANTS
from numerate.probe.statistics import SeedValues

Cell = tuple[str, ...]
"""System, task, domain, range and metric; a variant is called by its name alone."""
Cells = Mapping[Cell, SeedValues]
Terms = tuple[tuple[float, Cell], ...]

WITHOUT = ("base", "GenBERT recipe", "MWP-BERT recipe")
"""The systems without anchors, as runs call them."""
BOUNDS = {"log-rmse": 0.003, "accuracy": 0.02, "r2": 0.02, "rank correlation": 0.05}
"""The smallest difference that matters: two points of accuracy or of the variance explained."""
CLAIMS_NOTE = (
    "The third column says whether the paper's own tables have the claim, by the signs of their "
    "differences. Each comparison is a difference with its 95 % interval; it is positive if the "
    "claim is right, or above the value that it names. Differences are paired by training and "
    "seed. The interval is over trainings, or over seeds of the probe if there is one training. "
    "Holm's method corrects for the number of comparisons. There is no difference if the interval "
    f"lies within ±{BOUNDS['log-rmse']} of log-RMSE, ±{BOUNDS['accuracy']} of accuracy, "
    f"±{BOUNDS['r2']} of R² or ±{BOUNDS['rank correlation']} of rank correlation. Undecided stands "
    "beside the number of trainings that would find a difference as large in four of five cases, "
    "with a single test at 5 %. A claim holds if all of its comparisons do."
)
_SMALL, _LARGE = OUT_RANGES
_LISTS = ("list-maximum", "list-minimum")


@dataclass(frozen=True)
class Contrast:
    """A comparison: a weighted sum of cells, which is above `null` if the claim is right.

    `null` is minus the bound for "no worse", and the bound itself for "clearly above zero".
    """

    what: str
    terms: Terms
    null: float = 0.0

    @property
    def bound(self) -> float:
        """The smallest difference that matters in the metric of the comparison."""
        return BOUNDS[self.terms[0][1][-1]]


def name_layers(system: str, pooling: str) -> Cell:
    """Return the cell of the errors of ridge regression on some layers of a system."""
    return system, pooling, "in", ALL, "log-rmse"


def name_cosines(system: str) -> Cell:
    """Return the cell of the rank correlation of cosines and nearness, for 1 to 100."""
    return system, "cosines", "in", "[1,100]", "rank correlation"


def _mean(
    weight: float, systems: Iterable[str], tasks: Sequence[str], place: tuple[str, str, str]
) -> Terms:
    """Return a mean over systems and tasks, times a weight; `place` is domain, range and metric."""
    cells = [(system, task, *place) for system in systems for task in tasks]
    return tuple((weight / len(cells), cell) for cell in cells)


def _subtract(more: Cell, less: Cell) -> Terms:
    return (1, more), (-1, less)


def _compare_growth(cells: Cells) -> Iterator[Contrast]:
    """Claim 1: how much worse systems are above 10k than below, without anchors and with them.

    Errors cannot be compared across ranges by themselves: one range has six decades, the other one,
    so that those of noise and of a perfect model grow too, and so do the paper's with anchors. What
    its tables show is that errors grow less with anchors, in differences of log-RMSE. Relative
    to the error below 10k, or to noise, they grow more. A model that is better by the same factor
    in both ranges would pass this; lists decide then, where chance is one in five in both.
    """
    for title, tasks, metric in (
        ("decoding", ("decoding",), "log-rmse"),
        ("addition", ("addition",), "log-rmse"),
        ("lists", _LISTS, "accuracy"),
    ):
        small, large = ("in", _SMALL, metric), ("in", _LARGE, metric)
        known = [name for name in WITHOUT if all((name, task, *large) in cells for task in tasks)]
        sign = -1 if metric == "accuracy" else 1
        terms = (
            *(*_mean(sign, known, tasks, large), *_mean(-sign, known, tasks, small)),
            *_mean(-sign, PAPER_VARIANTS, tasks, large),
            *_mean(sign, PAPER_VARIANTS, tasks, small),
        )
        change = "loss of accuracy" if metric == "accuracy" else "growth of log-RMSE"
        if known:
            what = f"{title}, {change} from {_SMALL} to {_LARGE}: without anchors − with anchors"
            yield Contrast(what, terms)


def _prefer_ln(_: Cells) -> Iterator[Contrast]:
    """Claim 2: ln against direction, each added to linear anchors; and ln against neither."""
    for other in ("anchors-lr", "anchors"):
        for task in ("decoding", "addition"):
            pair = [(name, task, "in", ALL, "log-rmse") for name in (other, "ln-anchors")]
            yield Contrast(f"{task}, {ALL}: error of {other} − of ln-anchors", _subtract(*pair))


def _prefer_direction(_: Cells) -> Iterator[Contrast]:
    """Claim 3: direction alone against ln, where anchors are far apart."""
    for ln in ("ln-anchors", "ln-anchors-lr"):
        for task in ("decoding", "addition"):
            pair = [(name, task, "in", _LARGE, "log-rmse") for name in (ln, "anchors-lr")]
            yield Contrast(f"{task}, {_LARGE}: error of {ln} − of anchors-lr", _subtract(*pair))


def _prefer_both_on_lists(_: Cells) -> Iterator[Contrast]:
    """Claim 4: ln anchors with direction against each of the other three."""
    best, place = "ln-anchors-lr", ("in", ALL, "accuracy")
    for other in (name for name in PAPER_VARIANTS if name != best):
        terms = (*_mean(1, [best], _LISTS, place), *_mean(-1, [other], _LISTS, place))
        yield Contrast(f"lists, {ALL}: accuracy of {best} − of {other}", terms)


def _compare_domains(cells: Cells) -> Iterator[Contrast]:
    """Claim 5: decoding is no worse out of the domain than in it, and no guessing.

    In-domain numerals of a range are spread more widely than the others, and the errors even of
    noise are larger for them; so R² is compared. The paper prints errors only.
    """
    metric = "r2" if ("anchors", "decoding", "out", _LARGE, "r2") in cells else "log-rmse"
    sign, bound = (1 if metric == "r2" else -1), BOUNDS[metric]
    name = "R²" if metric == "r2" else "minus log-RMSE"
    for place in OUT_RANGES:
        outside = _mean(sign, PAPER_VARIANTS, ["decoding"], ("out", place, metric))
        inside = _mean(-sign, PAPER_VARIANTS, ["decoding"], ("in", place, metric))
        what = f"decoding, {place}, with anchors: {name} out-of-domain"
        yield Contrast(f"{what} − in-domain, above −{bound:g}", (*outside, *inside), -bound)
        if metric == "r2":
            yield Contrast(f"{what}, above {bound:g}", outside, bound)


def _compare_layers(_: Cells) -> Iterator[Contrast]:
    """Claim 6: ridge regression on the last layer and on the sum of the last four."""
    terms = tuple(
        (sign / len(PAPER_VARIANTS), name_layers(name, pooling))
        for sign, pooling in ((1, "last layer"), (-1, "last four layers"))
        for name in PAPER_VARIANTS
    )
    what = f"ridge, {ALL}, with anchors: error of the last layer − of the last four"
    yield Contrast(what, terms)


def _compare_cosines(_: Cells) -> Iterator[Contrast]:
    """Claim 7: whether near numbers have more similar vectors than in the base model."""
    weight = 1 / len(PAPER_VARIANTS)
    terms = (*((weight, name_cosines(name)) for name in PAPER_VARIANTS), (-1, name_cosines("base")))
    yield Contrast("rank correlation of cosine and nearness: with anchors − base", terms)


CLAIMS: tuple[tuple[str, Callable[[Cells], Iterator[Contrast]]], ...] = (
    ("Errors grow less with magnitude with anchors than without", _compare_growth),
    ("ln contributes more than direction to decoding and addition", _prefer_ln),
    (f"Linear anchors with direction beat ln anchors at {_LARGE}", _prefer_direction),
    ("ln anchors with direction are best on lists", _prefer_both_on_lists),
    ("Decoding is no worse out-of-domain than in-domain", _compare_domains),
    ("The sum of the last four layers beats the last layer", _compare_layers),
    ("Cosines show a diagonal, more than the base model's", _compare_cosines),
)
