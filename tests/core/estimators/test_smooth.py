"""Smooth: power laws, its optimum by a general solver, its shape, and samples at the edges."""

import numpy as np
import pytest
from scipy.integrate import cubature
from scipy.optimize import minimize

from sampled_metrics.core.estimators import smooth
from sampled_metrics.core.estimators.smooth import PRIOR, Smooth, spline
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.outcomes import Outcomes, rank_classes

METRICS = (metric("recall@10"), metric("ap"))


def solved(n, m, counts, replacement=False):
    """The nodes and the distributions of samples that have the same n and m."""
    (users,) = rank_classes(Outcomes.from_design(SamplingDesign(m, replacement), n))
    nodes = users.nodes(METRICS)
    return nodes, Smooth().solver(users, nodes)(np.atleast_2d(counts).astype(float))


def likelihood(n, m):
    (users,) = rank_classes(Outcomes.from_design(SamplingDesign(m), n))
    return users.likelihood(np.arange(1.0, n + 1), None)


def samples(m, events, number=4, seed=1):
    rng = np.random.default_rng(seed)
    return np.stack([rng.multinomial(events, rng.dirichlet(np.ones(m + 1))) for _ in range(number)])


@pytest.mark.parametrize("exponent", [0.5, 1.3])
def test_expected_counts_of_a_power_law_give_the_power_law(exponent):
    n = 400
    m = 50
    truth = np.arange(2.0, n + 2) ** -exponent  # of r + 1
    truth /= truth.sum()
    nodes, [estimate] = solved(n, m, 1e6 * truth @ likelihood(n, m))
    assert len(nodes.ranks) == n
    np.testing.assert_allclose(estimate, truth, rtol=5e-3)


def distribution(s, basis):
    pi = np.exp(-s @ basis.T)
    return pi / pi.sum(axis=-1, keepdims=True)


def objective(s, strength, counts, A, basis, penalty):
    log_likelihood = np.log(distribution(s, basis) @ A) @ counts
    rough = np.sum(s @ penalty * s, axis=-1)
    log_prior = PRIOR * (np.log(s) - s).sum(axis=-1)
    return log_likelihood - strength / 2 * rough + log_prior


def optimum(exponents, *options):
    """The s of the largest objective, by a trust region over log s.

    The slope is by complex steps, so it is exact, and the curvature by differences of slopes.
    """

    def slope(logs):
        steps = 1e-30j * np.eye(exponents)
        return -objective(np.exp(logs + steps), *options).imag / 1e-30

    def curvature(logs):
        steps = 1e-5 * np.eye(exponents)
        rows = [slope(logs + step) - slope(logs - step) for step in steps]
        return np.array(rows) / 2e-5

    best = minimize(
        lambda logs: -objective(np.exp(logs), *options),
        np.zeros(exponents),
        method="trust-exact",
        jac=slope,
        hess=curvature,
        options={"gtol": 1e-6},
    )
    assert best.success, best.message
    assert np.abs(slope(best.x)).max() < 1e-6
    assert np.linalg.eigvalsh(curvature(best.x)).min() > 0
    return np.exp(best.x)


@pytest.mark.parametrize("strength", [0.01, 100.0])
def test_a_general_solver_finds_the_same(strength, monkeypatch):
    n = 30
    m = 8
    [counts] = samples(m, 300, number=1)
    basis, penalty = spline(np.arange(1.0, n + 1), n)
    best = optimum(basis.shape[1], strength, counts, likelihood(n, m), basis, penalty)
    monkeypatch.setattr(smooth, "STRENGTHS", [strength])
    _, [estimate] = solved(n, m, counts)
    np.testing.assert_allclose(estimate, distribution(best, basis), rtol=1e-3)


def test_strengths_are_weighted_by_their_integrals(monkeypatch):
    """The share of a λ in the mean is ∫ exp(objective) ds λ^(rank of the penalty / 2).

    The integrals are by adaptive cubature. The library's are Laplace's approximations.
    """
    n = 3
    m = 2
    counts = np.array([5455.0, 2727.0, 1818.0])
    problem = (counts, likelihood(n, m), *spline(np.arange(1.0, n + 1), n))
    perfect_fit = counts @ np.log(counts / counts.sum())

    def log_integral(strength, largest):
        result = cubature(
            lambda s: np.exp(objective(s, strength, *problem) - perfect_fit),
            np.zeros(3),
            np.full(3, largest),
            rtol=1e-3,
            atol=0,
        )
        assert result.status == "converged"
        return np.log(result.estimate * strength)

    def estimate(strengths):
        monkeypatch.setattr(smooth, "STRENGTHS", strengths)
        _, [distribution] = solved(n, m, counts)
        return distribution

    smoother = estimate([10.0])
    rougher = estimate([1.0])
    both = estimate([10.0, 1.0])
    share = (both - rougher) @ (smoother - rougher) / np.sum((smoother - rougher) ** 2)
    expected = log_integral(1.0, 5) - log_integral(10.0, 5)
    # all of the integrals is below 5
    assert log_integral(1.0, 10) - log_integral(10.0, 10) == pytest.approx(expected, abs=2e-3)
    assert np.log((1 - share) / share) == pytest.approx(expected, abs=0.02)


def test_a_sample_does_not_depend_on_the_others(monkeypatch):
    counts = samples(20, 300, number=3)
    _, together = solved(300, 20, counts)
    _, [alone] = solved(300, 20, counts[2])
    np.testing.assert_allclose(alone, together[2], rtol=1e-9)
    monkeypatch.setattr(smooth, "_ENTRIES", 1)
    _, in_parts = solved(300, 20, counts)
    np.testing.assert_allclose(in_parts, together, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "m", "replacement"), [(2, 1, False), (40, 39, False), (10**6, 50, True)]
)
@pytest.mark.parametrize("events", [1, 500_000])
def test_samples_at_the_edges(n, m, replacement, events):
    counts = np.zeros((4, m + 1))
    counts[0, 0] = events
    counts[1, m] = events
    counts[2, m // 2] = events
    counts[3, [0, m]] = events
    nodes, distributions = solved(n, m, counts, replacement)
    np.testing.assert_allclose(distributions.sum(axis=1), 1, rtol=1e-12)
    assert np.diff(distributions / nodes.weights, axis=1).max() <= 1e-12
    if events > 1:
        all_at_0, all_at_m, _, _ = distributions
        assert all_at_0[0] > 0.9
        np.testing.assert_allclose(all_at_m, nodes.weights / n, rtol=0.01)  # uniform
