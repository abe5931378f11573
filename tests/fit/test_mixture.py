import warnings
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from numerate.fit import mixture as em
from numerate.fit.mixture import (
    Mixture,
    draw_start,
    fit_mixture,
    iterate_em,
    measure_likelihood,
    spread_start,
)


@st.composite
def observations(draw):
    """Distinct integers over many magnitudes, and how often each was seen."""
    values = draw(st.sets(st.integers(1, 10**7), min_size=1, max_size=80))
    counts = draw(st.lists(st.integers(1, 60), min_size=len(values), max_size=len(values)))
    return np.array(sorted(values), dtype=float), np.array(counts)


def zipf_numerals(seed, size):
    """Counts as a corpus has them: small numbers, years, and a long tail."""
    rng = np.random.default_rng(seed)
    numerals = np.concatenate(
        [
            rng.zipf(1.6, size) % 1000 + 1,
            rng.normal(1960, 60, size).astype(int),
            np.exp(rng.uniform(0, 20, size // 10)).astype(int) + 1,
        ]
    )
    values, counts = np.unique(numerals, return_counts=True)
    return values.astype(float), counts


def likelihoods_of_sklearn(values, counts, start, n_iterations):
    """Mean log-likelihood in each iteration of scikit-learn on the repeated data."""
    n, size = int(counts.sum()), int(start.copies.sum())
    model = GaussianMixture(
        size,
        covariance_type="full",
        reg_covar=1e-6,
        weights_init=np.full(size, 1 / n),
        means_init=np.repeat(start.means, start.copies)[:, None],
        precisions_init=np.full((size, 1, 1), 1e6),
    )
    observed = np.repeat(values, counts)[:, None]
    model._initialize_parameters(observed, np.random.RandomState(0))
    found = []
    for _ in range(n_iterations):
        log_likelihood, log_responsibilities = model._e_step(observed)
        model._m_step(observed, log_responsibilities)
        found.append(log_likelihood)
    return found


def make_mixture(means):
    """Components of variance 1 and equal weights."""
    ones = np.ones(len(means))
    return Mixture(
        means=np.array(means), variances=ones, weights=ones / len(means), copies=ones.astype(int)
    )


@pytest.mark.parametrize("scale", ["linear", "ln"])
def test_every_iteration_is_the_one_of_sklearn(scale):
    values, counts = zipf_numerals(0, 2000)
    if scale == "ln":
        values = 10 * (np.log(values) + 1)
    start = draw_start(values, counts, 100, np.random.default_rng(1))
    theirs = likelihoods_of_sklearn(values, counts, start, 30)
    ours = [mix.log_likelihood for mix in islice(iterate_em(values, counts, start), 30)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_the_end_of_a_fit_is_the_one_of_sklearn():
    values, counts = zipf_numerals(2, 500)
    start = draw_start(values, counts, 20, np.random.default_rng(3))
    ours = fit_mixture(values, counts, start)
    theirs = GaussianMixture(
        20,
        means_init=np.repeat(start.means, start.copies)[:, None],
        init_params="random_from_data",
        tol=1e-3,
        reg_covar=1e-6,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(np.repeat(values, counts)[:, None])
    assert ours.iterations == theirs.n_iter_
    means = np.repeat(ours.means, start.copies)
    np.testing.assert_allclose(means, theirs.means_.ravel(), rtol=1e-6)
    np.testing.assert_allclose(
        ours.log_likelihood, theirs.score(np.repeat(values, counts)[:, None]), rtol=1e-6
    )


@given(observations(), st.integers(1, 30), st.integers(0, 99))
def test_no_iteration_lowers_the_likelihood(data, n_components, seed):
    values, counts = data
    n_components = min(n_components, int(counts.sum()))
    start = draw_start(values, counts, n_components, np.random.default_rng(seed))
    steps = [mix.log_likelihood for mix in islice(iterate_em(values, counts, start), 15)]
    # The first likelihood is that of a start whose weights do not sum to one.
    assert all(after >= before - 1e-9 * abs(before) for before, after in pairwise(steps[1:]))


@given(observations(), st.integers(1, 30), st.integers(0, 99))
def test_leaving_out_what_is_zero_changes_nothing(data, n_components, seed):
    values, counts = data
    n_components = min(n_components, int(counts.sum()))
    start = draw_start(values, counts, n_components, np.random.default_rng(seed))
    mixture = next(iterate_em(values, counts, start))
    distance = values[:, None] - mixture.means
    densities = np.exp(-(distance**2) / (2 * mixture.variances)) / np.sqrt(
        2 * np.pi * mixture.variances
    )
    total = (densities * mixture.weights).sum(axis=1)
    assume(total.min() > 0)  # the obvious way underflows far from every mean
    expected = (counts * np.log(total)).sum() / counts.sum()
    assert measure_likelihood(values, counts, mixture) == pytest.approx(expected, rel=1e-9)


def test_the_number_of_strips_at_a_time_changes_nothing(monkeypatch):
    values, counts = zipf_numerals(4, 1000)
    start = draw_start(values, counts, 50, np.random.default_rng(0))
    whole = fit_mixture(values, counts, start)
    monkeypatch.setattr(em, "_CELLS", 100)
    parts = fit_mixture(values, counts, start)
    np.testing.assert_allclose(whole.means, parts.means, rtol=1e-12)
    assert whole.iterations == parts.iterations


def test_the_same_seed_gives_the_same_bytes():
    values, counts = zipf_numerals(5, 1000)
    fits = [
        fit_mixture(values, counts, draw_start(values, counts, 50, np.random.default_rng(7)))
        for _ in range(2)
    ]
    assert fits[0].means.tobytes() == fits[1].means.tobytes()


def test_a_spread_start_takes_the_values_next_to_even_points():
    start = spread_start(np.array([0.0, 1.0, 4.0, 90.0, 100.0]), 5)
    assert start.means.tolist() == [0.0, 4.0, 90.0, 100.0]  # next to 0; 25; 50 and 75; 100
    assert start.copies.tolist() == [1, 1, 2, 1]
    assert start.weights.tolist() == pytest.approx([0.2, 0.2, 0.4, 0.2])
    assert spread_start(np.array([5.0]), 4).copies.tolist() == [4]


def test_components_drawn_at_one_value_are_one_component():
    start = draw_start(np.array([5.0]), np.array([10]), 4, np.random.default_rng(0))
    assert start.means.tolist() == [5.0]
    assert start.weights.tolist() == [0.4]
    assert start.copies.tolist() == [4]


def test_one_value_gives_one_component_as_narrow_as_the_floor():
    values, counts = np.array([7.0]), np.array([100])
    fit = fit_mixture(values, counts, draw_start(values, counts, 100, np.random.default_rng(0)))
    assert fit.means.tolist() == [7.0]
    assert fit.variances == pytest.approx([1e-6])
    assert fit.weights == pytest.approx([1.0])
    assert fit.converged


def test_two_far_apart_groups_give_their_means_and_variances():
    values, counts = np.array([1.0, 3.0, 1000.0, 1004.0]), np.array([10, 10, 5, 5])
    start = make_mixture([1.0, 1000.0])
    fit = fit_mixture(values, counts, start)
    assert fit.means == pytest.approx([2.0, 1002.0])
    assert fit.variances == pytest.approx([1.0, 4.0], rel=1e-5)
    assert fit.weights == pytest.approx([2 / 3, 1 / 3])


def test_values_must_be_sorted():
    start = make_mixture([1.0])
    with pytest.raises(ValueError, match="strictly increasing"):
        measure_likelihood(np.array([2.0, 1.0]), np.array([1, 1]), start)


def test_a_fit_that_is_cut_short_says_so(monkeypatch):
    monkeypatch.setattr(em, "MAX_ITERATIONS", 2)
    values, counts = zipf_numerals(6, 1000)
    start = draw_start(values, counts, 50, np.random.default_rng(0))
    fit = fit_mixture(values, counts, start)
    assert (fit.iterations, fit.converged) == (2, False)


@pytest.mark.parametrize("n_components", [0, 11])
def test_components_must_fit_the_observations(n_components):
    with pytest.raises(ValueError, match=f"got {n_components} for 10"):
        draw_start(np.array([1.0]), np.array([10]), n_components, np.random.default_rng(0))


def test_a_start_is_drawn_without_replacement_from_any_number_of_observations():
    """A corpus may have more numerals than NumPy's hypergeometric distribution takes."""
    counts = np.array([10**9, 1, 3 * 10**9])
    start = draw_start(np.array([1.0, 2.0, 3.0]), counts, 4000, np.random.default_rng(0))
    by_mean = dict(zip(start.means.tolist(), start.copies.tolist(), strict=True))
    assert sum(by_mean.values()) == 4000
    assert 800 < by_mean[1.0] < 1200  # a quarter, within seven standard deviations
    assert by_mean.get(2.0, 0) <= 1
