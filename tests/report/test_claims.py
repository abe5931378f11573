import numpy as np
import pytest

from numerate.prime.variants import PAPER_VARIANTS
from numerate.probe.diagnostics import Diagnostics, LayerErrors
from numerate.probe.scores import Score
from numerate.probe.statistics import Summary
from numerate.report.claims import Check, Claim, check_claims, claims_to_html, claims_to_markdown

NOISE = (0.0, 0.001, -0.001)
ERRORS = {"anchors": 0.04, "anchors-lr": 0.02, "ln-anchors": 0.03, "ln-anchors-lr": 0.03}
SHARES = {"anchors": 0.6, "anchors-lr": 0.6, "ln-anchors": 0.6, "ln-anchors-lr": 0.9}


def make_scores(shown="visible", **changes):
    """Scores of the paper's variants in which every claim on scores is as the paper has it."""
    settings = {"growth": -0.01, "outside": -0.01, **changes}
    scores = []
    for seed, noise in enumerate(NOISE):

        def add(system, task, domain, name, value, seed=seed, noise=noise):
            metric = "accuracy" if task.startswith("list") else "log-rmse"
            value += noise if system.startswith("ln") else -noise
            place = {"domain": domain, "range": name, "protocol": "laptop", "seed": seed}
            scores.append(Score(system=system, task=task, metric=metric, value=value, **place))

        for name, value in (("[1k,10k]", 0.02), ("[10k,10^10]", 0.09)):
            add("base", "decoding", "in", name, value)
        for variant in PAPER_VARIANTS:
            system, error = f"{variant} ({shown})", ERRORS[variant]
            add(system, "list-maximum", "in", "all", SHARES[variant])
            for task in ("decoding", "addition"):
                add(system, task, "in", "all", 0.05 if variant.startswith("anc") else 0.03)
                add(system, task, "in", "[10k,10^10]", error)
            add(system, "decoding", "in", "[1k,10k]", error - settings["growth"])
            for name, inside in (("[1k,10k]", error - settings["growth"]), ("[10k,10^10]", error)):
                add(system, "decoding", "out", name, inside + settings["outside"])
    return scores


def make_cosines(sharpness):
    logs = np.log(np.arange(1, 101))
    noise = np.random.default_rng(0).normal(size=(100, 100))
    return -sharpness * np.abs(logs[:, None] - logs) + noise


def make_diagnostics(system, sharpness, last=0.05, pooled=0.03):
    layers = tuple(LayerErrors(n, "all", (last, last + 0.001, last - 0.001)) for n in (0, 1))
    return Diagnostics(
        system=system,
        cosines=make_cosines(sharpness),
        layers=layers,
        pooled=(pooled, pooled - 0.001, pooled + 0.001),
    )


def check(scores, diagnostics=()):
    return {claim.number: claim for claim in check_claims(scores, diagnostics)}


def test_what_is_as_the_paper_claims_holds():
    diagnostics = [make_diagnostics("base", 0.1)]
    diagnostics += [make_diagnostics(f"{name} (visible)", 2) for name in PAPER_VARIANTS]
    claims = check(make_scores(), diagnostics)
    assert list(claims) == [1, 2, 3, 4, 5, 6, 7]
    assert {claim.verdict for claim in claims.values()} == {"holds"}
    assert len(claims[6].checks) == 5
    assert claims[6].checks[0].difference.mean == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("changes", "number", "tally"),
    [
        ({"growth": 0.02}, 1, "1 of 5 as claimed, 4 against"),  # as claimed of the base model
        ({"outside": 0.02}, 5, "0 of 8 as claimed, 8 against"),
    ],
)
def test_a_claim_that_is_contradicted_does_not_hold(changes, number, tally):
    claims = check(make_scores(**changes))
    assert claims[number].verdict == "does not hold"
    assert claims[number].tally == tally


def test_the_interval_decides():
    def verdict(mean, half):
        return Check("a − b", Summary(mean, half, 3)).verdict

    assert verdict(0.2, 0.1) == "holds"
    assert verdict(-0.2, 0.1) == "does not hold"
    assert verdict(0.1, 0.2) == verdict(-0.1, 0.2) == "undecided"
    assert verdict(0.1, float("nan")) == "undecided"


def test_half_of_a_claim_is_not_enough():
    good, open_, bad = (Check("a − b", Summary(mean, 0.1, 3)) for mean in (0.2, 0.0, -0.2))
    assert Claim(1, "", "visible", (good, open_)).verdict == "undecided"
    assert Claim(1, "", "visible", (good, bad, open_)).verdict == "does not hold"


def test_each_way_to_show_anchors_is_judged_by_itself_if_all_variants_have_it():
    scores = [*make_scores(), *make_scores("masked")]
    assert {claim.shown for claim in check_claims(scores, ())} == {"visible", "masked"}
    some = [score for score in scores if score.system != "anchors (masked)"]
    assert {claim.shown for claim in check_claims(some, ())} == {"visible"}
    assert check_claims([score for score in scores if score.system == "base"], ()) == []


def test_tables_have_every_claim_and_every_comparison():
    claims = check_claims(make_scores(), ())
    text, html = claims_to_markdown(claims), claims_to_html(claims)
    assert sum(len(claim.checks) for claim in claims) == text.count("| holds |")
    for claim in claims:
        assert claim.title in text
        assert claim.title in html
    assert "[10k,10^10] − at [1k,10k] | 0.0700\u00a0±\u00a0" in text
