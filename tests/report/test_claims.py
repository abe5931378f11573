from dataclasses import replace

import numpy as np
import pytest

from numerate.prime.variants import PAPER_VARIANTS
from numerate.probe.diagnostics import Diagnostics, LayerErrors
from numerate.probe.statistics import Summary, find_p_value
from numerate.report.claims import (
    Check,
    Claim,
    check_claims,
    check_paper,
    claims_to_html,
    claims_to_markdown,
)
from numerate.report.paper import read_paper_scores
from numerate.report.paper_claims import Contrast

RECIPES = {"genbert": "GenBERT recipe", "mwp-bert": "MWP-BERT recipe"}
NOISE = {"[1k,10k]": 0.065, "[10k,10^10]": 0.18}  # of our corpus


def find_r2(score):
    return 0.95 if score.domain == "in" else 0.96


def make_scores(shown="visible", trainings=5, value_of=None, r2_of=find_r2):
    """The paper's scores for each of some trainings, nearly the same, and R² beside decoding.

    `value_of` gives other values to the systems with anchors.
    """
    rng, scores = np.random.default_rng(0), []
    for score in read_paper_scores():
        model = score.system.removeprefix("paper: ")
        system = RECIPES.get(model, f"{model} ({shown})")
        value = score.value if model in RECIPES or not value_of else value_of(score)
        metrics = {score.metric: value}
        if score.task == "decoding":
            metrics["r2"] = r2_of(score)
        scores += [
            replace(
                score,
                system=system,
                metric=metric,
                training=training,
                seed=seed,
                value=mean + rng.normal(0, 1e-4),
            )
            for training in range(trainings)
            for seed in range(3)
            for metric, mean in metrics.items()
        ]
    return scores


def make_cosines(sharpness, seed):
    logs = np.log(np.arange(1, 101))
    noise = np.random.default_rng(seed).normal(size=(100, 100))
    return -sharpness * np.abs(logs[:, None] - logs) + noise


def make_diagnostics(system, sharpness, training=0, last=0.05, pooled=0.03):
    step = training / 10_000
    layers = tuple(LayerErrors(n, "all", (last, last + step)) for n in (0, 1))
    return Diagnostics(
        system=system,
        training=training,
        cosines=make_cosines(sharpness, training),
        layers=layers,
        pooled=(pooled, pooled),
    )


def diagnose(trainings):
    return [make_diagnostics("base", 0.1)] + [
        make_diagnostics(f"{name} (visible)", 2, training)
        for name in PAPER_VARIANTS
        for training in range(trainings)
    ]


def check(scores, diagnostics=()):
    return {claim.number: claim for claim in check_claims(scores, diagnostics)}


def test_every_claim_on_scores_is_as_claimed_in_the_papers_own_tables():
    """Its layers and heatmaps are not in the tables."""
    assert check_paper() == [True, True, True, True, True, None, None]


def test_a_run_with_the_papers_scores_supports_every_claim():
    claims = check(make_scores(), diagnose(5))
    assert {number: claim.outcome for number, claim in claims.items()} == dict.fromkeys(
        range(1, 8), "holds"
    )
    assert [claim.in_paper for claim in claims.values()] == ["yes"] * 5 + ["–"] * 2
    assert {check.basis for claim in claims.values() for check in claim.checks} == {"5 trainings"}


def test_differences_are_those_of_the_papers_tables():
    claims = check(make_scores())

    def means(number):
        return [check.difference.mean for check in claims[number].checks]

    growth_without = (0.0639 - 0.0215 + 0.054 - 0.015) / 2
    growth_with = (0.0344 + 0.029 + 0.0375 + 0.0375 - 0.0074 - 0.0057 - 0.0049 - 0.0054) / 4
    assert means(1)[0] == pytest.approx(growth_without - growth_with, abs=1e-4)
    assert means(1)[2] == pytest.approx(0.08125 + 0.01375, abs=1e-4)  # lost and gained accuracy
    assert means(2) == pytest.approx([0.0118, 0.0049, 0.012, 0.0072], abs=1e-4)
    assert means(3) == pytest.approx([0.0085, 0.0146, 0.0085, 0.0159], abs=1e-4)
    assert means(4) == pytest.approx([0.02875, 0.015, 0.0125], abs=1e-4)
    assert means(5) == pytest.approx([0.01, 0.96, 0.01, 0.96], abs=1e-4)


def test_noise_supports_neither_claim_on_anchors_in_general():
    def noise(score):
        error = NOISE.get(score.range, 0.1) * (0.6 if score.domain == "out" else 1)
        return 0.2 if score.metric == "accuracy" else error

    claims = check(make_scores(value_of=noise, r2_of=lambda score: -0.01))
    assert claims[1].verdict == claims[5].verdict == "does not hold"


def test_a_perfect_model_supports_that_errors_grow_less():
    """Its errors grow too, since the range above 10k is wider."""

    def value_of(score):
        if score.metric == "accuracy":
            return 0.99
        return 0.0019 if score.range == "[10k,10^10]" else 0.0003

    assert check(make_scores(value_of=value_of))[1].verdict == "holds"


def test_less_error_by_the_same_factor_everywhere_is_not_enough():
    genbert = {
        (score.task, score.domain, score.range): score.value
        for score in read_paper_scores()
        if score.system in ("paper: genbert", "paper: mwp-bert")
    }

    def value_of(score):
        value = genbert[score.task, score.domain, score.range]
        return value if score.metric == "accuracy" else value / 2

    scores = [score for score in make_scores(value_of=value_of) if score.system != "GenBERT recipe"]
    claim = check(scores)[1]
    assert [one.verdict for one in claim.checks] == ["holds", "holds", "no difference"]
    assert claim.verdict == "no difference"


def test_worse_out_of_domain_by_more_than_the_bound_is_worse():
    for loss, verdict in ((0.01, "holds"), (0.03, "does not hold")):

        def r2_of(score, loss=loss):
            return 0.95 if score.domain == "in" else 0.95 - loss

        assert check(make_scores(r2_of=r2_of))[5].verdict == verdict


def test_with_one_training_there_are_seeds_of_the_probe_at_most():
    claims = check(make_scores(trainings=1), diagnose(1))
    assert claims[1].outcome == "holds (one training)"
    assert {one.basis for one in claims[1].checks} == {"one training, 3 probe seeds"}
    [heatmap] = claims[7].checks
    assert heatmap.basis == "one training"
    assert "±" not in heatmap.amount
    assert heatmap.outcome == "undecided: it takes at least two trainings to know"


def make_check(mean, half, p_value, null=0.0, trainings=5):
    cell = "anchors", "decoding", "in", "all", "log-rmse"
    return Check(Contrast("a − b", ((1, cell),), null), Summary(mean, half, 3, trainings), p_value)


def test_the_corrected_p_value_decides_and_then_the_bounds():
    assert make_check(0.2, 0.1, 0.01).verdict == "holds"
    assert make_check(-0.2, 0.1, 0.01).verdict == "does not hold"
    assert make_check(0.2, 0.1, 0.06).verdict == "undecided"
    assert make_check(0.001, 0.0019, 0.06).verdict == "no difference"
    assert make_check(0.001, 0.0021, 0.06).verdict == "undecided"  # up to 0.0031
    assert make_check(0.1, float("nan"), 1.0).verdict == "undecided"
    assert make_check(-0.002, 0.0005, 0.01, null=-0.003).verdict == "holds"
    assert make_check(-0.004, 0.0005, 0.01, null=-0.003).verdict == "does not hold"


def test_undecided_stands_beside_the_number_of_trainings_it_takes():
    """For half a standard deviation it takes 34; t(0.975, 4) is 2.7764."""
    half = 2.776445 * 0.006 / 5**0.5
    assert make_check(0.004, half, 0.5).outcome == "undecided: it takes 34 trainings"
    assert make_check(0.004, half / 100, 0.5).outcome == "undecided: it takes 6 trainings"


def test_the_worst_comparison_is_the_verdict():
    good, same = make_check(0.2, 0.1, 0.01), make_check(0, 0.001, 1)
    open_, bad = make_check(0, 0.1, 1), make_check(-0.2, 0.1, 0.01)

    def judge(*checks):
        return Claim(number=1, title="", shown="visible", checks=checks, on_paper=None)

    assert judge(good, same).verdict == "no difference"
    assert judge(good, same, open_).verdict == "undecided"
    assert judge(good, bad, open_).verdict == "does not hold"
    assert judge(good, good, open_).tally == "of 3: 2 as claimed, 1 undecided"


def test_p_values_are_corrected_over_all_claims():
    checks = [one for claim in check_claims(make_scores(), ()) for one in claim.checks]
    first = min(checks, key=lambda one: find_p_value(one.difference, one.contrast.null))
    raw = find_p_value(first.difference, first.contrast.null)
    assert len(checks) == 18
    assert first.p_value == pytest.approx(18 * raw)


def test_each_way_to_show_anchors_is_judged_by_itself_if_all_variants_have_it():
    scores = [*make_scores(), *make_scores("masked")]
    assert {claim.shown for claim in check_claims(scores, ())} == {"visible", "masked"}
    some = [score for score in scores if score.system != "anchors (masked)"]
    assert {claim.shown for claim in check_claims(some, ())} == {"visible"}
    assert check_claims([score for score in scores if score.system in RECIPES.values()], ()) == []


def test_tables_have_every_claim_and_every_comparison():
    claims = check_claims(make_scores(trainings=2), ())
    text, html = claims_to_markdown(claims), claims_to_html(claims)
    for claim in claims:
        for table in (text, html):
            assert claim.title in table
            for one in claim.checks:
                assert one.contrast.what in table
                assert one.amount in table
    assert text.count("| 2 trainings |") == sum(len(claim.checks) for claim in claims)
