"""Smooth: power laws, its optimum by a general solver, its shape, and samples at the edges."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

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
    nodes, found = solved(n, m, 1e6 * truth @ likelihood(n, m))
    assert len(nodes.ranks) == n
    np.testing.assert_allclose(found[0], truth, rtol=5e-3)


def distribution(s, basis):
    pi = np.exp(-s @ basis.T)
    return pi / pi.sum(axis=-1, keepdims=True)


def objective(s, strength, counts, A, basis, penalty):
    fit = np.log(distribution(s, basis) @ A) @ counts
    return (
        fit - strength / 2 * np.sum(s @ penalty * s, axis=-1) + PRIOR * (np.log(s) - s).sum(axis=-1)
    )


def best_of(exponents, *options):
    """The optimum over log s."""
    return minimize(
        lambda logs: -objective(np.exp(logs), *options), np.zeros(exponents), options={"gtol": 1e-6}
    )


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_a_general_solver_finds_the_same(strength, monkeypatch):
    n = 30
    m = 8
    counts = samples(m, 300, number=1)[0]
    (basis, penalty) = spline(np.arange(1.0, n + 1), n)
    best = best_of(basis.shape[1], strength, counts, likelihood(n, m), basis, penalty)
    monkeypatch.setattr(smooth, "STRENGTHS", [strength])
    found = solved(n, m, counts)[1][0]
    np.testing.assert_allclose(found, distribution(np.exp(best.x), basis), rtol=1e-3)


def test_strengths_are_weighted_by_their_integrals(monkeypatch):
    """The share of a λ in the mean is ∫ exp(objective) ds λ^(rank of the penalty / 2), with log s
    on a fine grid.
    """
    n = 3
    m = 2
    counts = np.array([5455.0, 2727.0, 1818.0])
    given = (counts, likelihood(n, m), *spline(np.arange(1.0, n + 1), n))
    found = []
    integrals = []
    for strength in (10.0, 1.0):
        best = best_of(3, strength, *given)
        spread = np.linalg.cholesky(best.hess_inv)
        line = np.linspace(-6, 6, 49)
        logs = best.x + np.stack(np.meshgrid(line, line, line), axis=-1).reshape(-1, 3) @ spread.T
        of_grid = logsumexp(objective(np.exp(logs), strength, *given) + logs.sum(axis=1))
        integrals.append(of_grid + np.log(np.linalg.det(spread) * strength))
    for strengths in ([10.0], [1.0], [10.0, 1.0]):
        monkeypatch.setattr(smooth, "STRENGTHS", strengths)
        found.append(solved(n, m, counts)[1][0])
    smoother, rougher, both = found
    share = (both - rougher) @ (smoother - rougher) / np.sum((smoother - rougher) ** 2)
    assert np.log((1 - share) / share) == pytest.approx(integrals[1] - integrals[0], abs=0.1)


def test_a_sample_does_not_depend_on_the_others(monkeypatch):
    counts = samples(20, 300, number=7)
    _, together = solved(1000, 20, counts)
    np.testing.assert_allclose(solved(1000, 20, counts[3])[1][0], together[3], rtol=1e-9)
    monkeypatch.setattr(smooth, "_ENTRIES", 1)
    np.testing.assert_allclose(solved(1000, 20, counts)[1], together, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "m", "replacement"), [(2, 1, False), (40, 39, False), (3541, 1, True), (10**6, 50, True)]
)
@pytest.mark.parametrize("events", [1, 500_000])
def test_samples_at_the_edges(n, m, replacement, events):
    counts = np.zeros((4, m + 1))
    counts[[0, 1, 2], [0, m, m // 2]] = events
    counts[3, [0, m]] = events
    nodes, found = solved(n, m, counts, replacement)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert np.diff(found / nodes.weights, axis=1).max() <= 1e-12
    if events > 1:
        assert found[0, 0] > 0.9  # every user has x = 0
        np.testing.assert_allclose(found[1], nodes.weights / n, rtol=0.01)  # none does: uniform
