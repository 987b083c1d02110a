"""Smooth: power laws, its optimum by a general solver, its shape, and samples at the edges."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sampled_metrics.estimators import smooth
from sampled_metrics.estimators.smooth import PRIOR, Smooth, spline
from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes, rank_classes

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


class TestDistribution:
    @pytest.mark.parametrize("exponent", [0.5, 1.0, 1.3])
    def test_expected_counts_of_a_power_law_give_the_power_law(self, exponent):
        n, m = 400, 50
        truth = np.arange(2.0, n + 2) ** -exponent  # of r + 1
        truth /= truth.sum()
        nodes, found = solved(n, m, 1e6 * truth @ likelihood(n, m))
        assert len(nodes.ranks) == n
        np.testing.assert_allclose(found[0], truth, rtol=5e-3)


class TestOptimum:
    @pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
    def test_a_general_solver_finds_the_same(self, strength, monkeypatch):
        n, m = 30, 8
        A, counts = likelihood(n, m), samples(m, 300, number=1)[0]
        basis, penalty = spline(np.arange(1.0, n + 1), n)

        def distribution(logs):
            pi = np.exp(-basis @ np.exp(logs))
            return pi / pi.sum()

        def objective(logs):
            s = np.exp(logs)
            fit = counts @ np.log(distribution(logs) @ A)
            return -fit + strength / 2 * s @ penalty @ s - PRIOR * (logs - s).sum()

        best = minimize(objective, np.zeros(basis.shape[1]), method="BFGS", options={"gtol": 1e-6})
        monkeypatch.setattr(smooth, "STRENGTHS", [strength])
        found = solved(n, m, counts)[1][0]
        np.testing.assert_allclose(found, distribution(best.x), rtol=1e-3)

    def test_a_large_penalty_gives_a_power_law(self, monkeypatch):
        monkeypatch.setattr(smooth, "STRENGTHS", [1e9])
        found = solved(200, 20, samples(20, 1000))[1]
        exponents = -np.diff(np.log(found), axis=1) / np.diff(np.log(np.arange(2.0, 202)))
        assert np.ptp(exponents, axis=1).max() < 1e-4


class TestSamples:
    def test_a_sample_does_not_depend_on_the_others(self, monkeypatch):
        counts = samples(20, 300, number=7)
        _, together = solved(1000, 20, counts)
        _, reverse = solved(1000, 20, counts[::-1])
        np.testing.assert_allclose(reverse[::-1], together, rtol=1e-9)
        np.testing.assert_allclose(solved(1000, 20, counts[3])[1][0], together[3], rtol=1e-9)
        monkeypatch.setattr(smooth, "_ENTRIES", 1)
        np.testing.assert_allclose(solved(1000, 20, counts)[1], together, rtol=1e-9)

    @pytest.mark.parametrize("replacement", [False, True])
    @pytest.mark.parametrize(("n", "m"), [(2, 1), (5, 4), (40, 39), (3541, 1), (10**7, 100)])
    @pytest.mark.parametrize("events", [1, 500_000])
    def test_samples_at_the_edges(self, n, m, replacement, events):
        counts = np.zeros((4, m + 1))
        counts[[0, 1, 2], [0, m, m // 2]] = events
        counts[3, [0, m]] = events
        nodes, found = solved(n, m, counts, replacement)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        assert np.diff(found / nodes.weights, axis=1).max() <= 1e-12
        if events > 1:
            assert found[0, 0] > 0.9  # every user has x = 0
            np.testing.assert_allclose(found[1], nodes.weights / n, rtol=0.01)  # none does: uniform
