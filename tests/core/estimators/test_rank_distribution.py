"""Maximum likelihood by hand and by loops, and maximum entropy by conditions of its optimum."""

import numpy as np
import pytest
from exact_probabilities import chances, dense
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.core.estimators.rank_distribution import (
    GAP,
    MaximumEntropy,
    MaximumLikelihood,
    expectation_maximisation,
    maximum_entropy,
)
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.outcomes import Outcomes, rank_classes
from sampled_metrics.errors import ConfigError, DataError

METRICS = [metric(label) for label in ("ap", "ndcg@3", "recall@2", "auc")]


def metrics_of(pi):
    """The metrics of a distribution over all ranks."""
    return [pi @ metric.values(len(pi)) for metric in METRICS]


def sample_of(n, m, events, replacement=False):
    """Counts of x from ranks that are mostly high."""
    rng = np.random.default_rng(1)
    better = np.floor((n - 1) * rng.random(events) ** 3).astype(int)
    x = (
        rng.binomial(m, better / (n - 1))
        if replacement
        else rng.hypergeometric(better, n - 1 - better, m)
    )
    return np.bincount(x, minlength=m + 1)


def distribution_of_class(prior, ranks):
    """The distribution over the ranks of the only class of users."""
    outcomes, which = Outcomes.observed(ranks)
    [users] = rank_classes(outcomes)
    nodes = users.nodes(tuple(METRICS))
    assert (nodes.weights == 1).all()
    counts = users.counts(np.bincount(which)[np.newaxis])
    [distribution] = prior.solver(users, nodes)(counts)
    return distribution


@st.composite
def sizes_and_counts(draw):
    """n, and counts of x = 0 … m, not all 0."""
    n = draw(st.integers(2, 25))
    m = draw(st.integers(1, n - 1))
    counts = st.lists(st.integers(0, 20), min_size=m + 1, max_size=m + 1)
    return n, draw(counts.filter(any))


def em(A, counts, iterations):
    """The distribution over all ranks after iterations of EM."""
    pi = np.full(len(A), 1 / len(A))
    h = counts / counts.sum()
    seen = counts > 0
    for _ in range(iterations):
        pi = pi * (A[:, seen] @ (h[seen] / (pi @ A[:, seen])))
    return pi


@given(sizes_and_counts(), st.booleans(), st.sampled_from([1, 2, 20]))
def test_expectation_maximisation_is_a_loop_over_all_ranks(sample, replacement, iterations):
    n, counts = sample
    A = chances(n, len(counts) - 1, replacement)
    counts = np.array(counts)
    [distribution] = expectation_maximisation(A, counts[np.newaxis], iterations, np.ones(n))
    np.testing.assert_allclose(distribution, em(A, counts, iterations), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(
    ("n", "m", "iterations"),
    [(2000, 30, 100), (20_000, 50, 5)],
)
def test_likelihood_on_nodes_is_that_over_all_ranks(n, m, iterations, replacement):
    counts = sample_of(n, m, 5000, replacement)
    fitted = MaximumLikelihood(iterations).fit(
        Outcomes.from_design(SamplingDesign(m, replacement), n), METRICS
    )
    pi = em(dense(n, m, replacement), counts, iterations)
    np.testing.assert_allclose(fitted.estimate(counts), metrics_of(pi), rtol=1e-7)
    means, variances = fitted.moments(counts.astype(float))
    np.testing.assert_allclose(means, metrics_of(pi), rtol=1e-7)
    auc = np.arange(n - 1, -1, -1) / (n - 1)
    assert variances[-1] == pytest.approx(pi @ auc**2 - (pi @ auc) ** 2, rel=1e-6)


# the events of a class, which differ in n and m
X = [0, 0, 2, 1, 3, 0, 0, 5, 2]
M = [4, 4, 4, 2, 3, 1, 0, 6, 6]
N = [10, 12, 10, 10, 12, 10, 11, 12, 11]
N_BY_M = {m: [n for event_m, n in zip(M, N, strict=True) if event_m == m] for m in M}


def mean_chances(m, replacement=False):
    """P(x | rank) of the users with this m, as the mean over those whose n has the rank."""
    total = np.zeros((max(N), m + 1))
    users = np.zeros((max(N), 1))
    for n in N_BY_M[m]:
        total[:n] += chances(n, m, replacement)
        users[:n] += 1
    return total / np.maximum(users, 1)


@pytest.mark.parametrize("replacement", [True, False])
def test_mixed_events_of_a_class_share_the_mean_likelihood_of_their_m(replacement):
    columns = [mean_chances(m, replacement)[:, x] for x, m in zip(X, M, strict=True)]
    expected = em(np.transpose(columns), np.ones(len(X)), 25)
    ranks = SampledRanks(X, M, N, replacement=replacement)
    distribution = distribution_of_class(MaximumLikelihood(25), ranks)
    np.testing.assert_allclose(distribution, expected, rtol=1e-9, atol=1e-14)


def excess(pi, A, h, scale, eta):
    """A bound of what the objective exceeds its smallest value by, from the gradient alone.

    η Σ π log π is η-strongly convex in the 1-norm (Pinsker), so that F(π) - min F ≤ max_r |g_r -
    c|² / 2η for any c.
    """
    gradient = 2 * A @ (scale * h * (pi @ A - h)) + eta * (1 + np.log(pi))
    return (np.ptp(gradient) / 2) ** 2 / (2 * eta)


def require_optimum(A, counts, eta):
    """Maximum entropy is at its optimum; returns the distribution."""
    pi, gap = maximum_entropy(A, counts, float(A.shape[1]), eta, np.ones(len(A)))
    assert pi.min() > 0
    assert pi.sum() == pytest.approx(1, rel=1e-12)
    assert -1e-13 < gap < GAP == 1e-8
    assert excess(pi, A, counts / counts.sum(), A.shape[1], eta) < 1e-8
    return pi


@pytest.mark.parametrize(
    ("n", "m", "eta"), [(50, 10, 1e-4), (60, 59, 1.0), (3541, 100, 0.01), (600, 300, 1.0)]
)
def test_nothing_is_better_by_more_than_the_gap_allows(n, m, eta):
    require_optimum(dense(n, m), sample_of(n, m, 6040), eta)


@given(sizes_and_counts())
def test_entropy_of_any_sample_is_at_its_optimum(sample):
    n, counts = sample
    require_optimum(chances(n, len(counts) - 1), np.array(counts), 0.01)


@pytest.mark.parametrize(("n", "m", "replacement"), [(2000, 30, False), (20_000, 20, True)])
def test_entropy_on_nodes_is_that_over_all_ranks(n, m, replacement):
    counts = sample_of(n, m, 5000, replacement)
    expected = metrics_of(require_optimum(dense(n, m, replacement), counts, 0.01))
    outcomes = Outcomes.from_design(SamplingDesign(m, replacement), n)
    estimates = MaximumEntropy().fit(outcomes, METRICS).estimate(counts)
    np.testing.assert_allclose(estimates, expected, rtol=1e-5)


def test_mixed_events_of_a_class_are_compared_by_x_together():
    A = np.zeros((12, 7))
    for m, sizes in N_BY_M.items():
        A[:, : m + 1] += len(sizes) / len(M) * mean_chances(m)
    A /= A.sum(axis=1, keepdims=True)  # of the m that are possible at a rank
    pi = distribution_of_class(MaximumEntropy(), SampledRanks(X, M, N))
    assert excess(pi, A, np.bincount(X, minlength=7) / len(X), np.mean(M) + 1, 0.01) < 1e-8


@pytest.mark.parametrize("x", [0, 300])
def test_entropy_of_one_user_whose_negatives_are_more_than_the_items(x):
    pi = distribution_of_class(MaximumEntropy(), SampledRanks([x], 300, 100, replacement=True))
    assert excess(pi, dense(100, 300, True), np.arange(301) == x, 301, 0.01) < 1e-8


def test_refusals():
    with pytest.raises(ConfigError, match="mle"):
        MaximumLikelihood(0)
    with pytest.raises(ConfigError, match="η"):
        MaximumEntropy(float("nan"))
    with pytest.raises(DataError, match="duality gap"):
        require_optimum(chances(20, 4), np.array([5, 3, 0, 2, 1]), 1e-20)
