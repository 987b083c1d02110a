"""Maximum entropy: its optimum by conditions, by a general solver, and in closed form where every negative is seen."""

from functools import cache

import numpy as np
import pytest
from exact_probabilities import chances
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, brentq, minimize
from scipy.special import binom, wrightomega

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.maximum_entropy import GAP, MaximumEntropy, maximum_entropy
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks

METRICS = [metric(label) for label in ("ap", "ndcg@3", "recall@2", "auc")]


def primal(pi, A, h, scale, eta):
    """What is minimised, as it is written in the source."""
    fit = scale * sum(h[x] * (sum(A[r, x] * pi[r] for r in range(len(pi))) - h[x]) ** 2 for x in range(len(h)))
    return fit + eta * sum(p * np.log(p) for p in pi)


def slope(pi, A, h, scale, eta):
    """Its gradient."""
    return 2 * A @ (scale * h * (pi @ A - h)) + eta * (1 + np.log(pi))


def excess(pi, A, h, scale, eta):
    """A bound of what the objective exceeds its least value by, from the gradient alone.

    η Σ π log π is η-strongly convex in the 1-norm (Pinsker), so that F(π) - min F ≤ max_r |g_r - c|² / 2η for any c.
    """
    g = slope(pi, A, h, scale, eta)
    return (np.ptp(g) / 2) ** 2 / (2 * eta)


@cache
def hypergeometric(n, m):
    better, x = np.arange(n)[:, np.newaxis], np.arange(m + 1)
    return binom(better, x) * binom(n - 1 - better, m - x) / binom(n - 1, m)


def sample(n, m, events, power=3):
    rng = np.random.default_rng(1)
    better = np.floor((n - 1) * rng.random(events) ** power).astype(int)
    return np.bincount(rng.hypergeometric(better, n - 1 - better, m), minlength=m + 1)


class TestOptimum:
    @pytest.mark.parametrize("eta", [1e-4, 0.01, 1.0])
    @pytest.mark.parametrize(("n", "m"), [(50, 10), (60, 59), (3541, 100)])
    def test_nothing_is_better_by_more_than_the_gap_allows(self, n, m, eta):
        A, counts = hypergeometric(n, m), sample(n, m, 6040)
        pi, gap = maximum_entropy(A, counts, m + 1, eta)
        assert pi.min() > 0
        assert pi.sum() == pytest.approx(1, rel=1e-12)
        assert -1e-13 < gap < GAP == 1e-8
        assert excess(pi, A, counts / counts.sum(), m + 1, eta) < 1e-8

    def test_the_slope_is_the_same_at_every_rank_at_the_papers_size(self):
        n, m, eta = 3541, 100, 0.01
        A, counts = hypergeometric(n, m), sample(n, m, 6040)
        pi, _ = maximum_entropy(A, counts, m + 1, eta)
        h = counts / counts.sum()
        scale = np.abs(slope(np.full(n, 1 / n), A, h, m + 1, 0)).max()  # of the uniform distribution, without entropy
        assert np.ptp(slope(pi, A, h, m + 1, eta)) < 1e-6 * scale

    @pytest.mark.parametrize("eta", [0.01, 0.1])
    def test_is_what_a_general_solver_finds(self, eta):
        n, m = 50, 10
        A, counts = chances(n, m), sample(n, m, 500)
        h = counts / counts.sum()
        pi, _ = maximum_entropy(A, counts, m + 1, eta)
        found = minimize(
            lambda p: (m + 1) * h @ (p @ A - h) ** 2 + eta * p @ np.log(p),
            np.full(n, 1 / n),
            jac=lambda p: slope(p, A, h, m + 1, eta),
            method="SLSQP",
            bounds=[(1e-12, 1)] * n,
            constraints=LinearConstraint(np.ones((1, n)), 1, 1),
            options={"ftol": 1e-15, "maxiter": 2000},
        )
        assert found.success
        assert primal(pi, A, h, m + 1, eta) <= primal(found.x, A, h, m + 1, eta) + 1e-10
        assert primal(found.x, A, h, m + 1, eta) == pytest.approx(primal(pi, A, h, m + 1, eta), abs=1e-8)
        np.testing.assert_allclose(pi, found.x, atol=2e-4)

    @given(st.integers(2, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1))), st.data())
    def test_of_any_sample(self, size, data):
        n, m = size
        counts = np.array(data.draw(st.lists(st.integers(0, 30), min_size=m + 1, max_size=m + 1).filter(any)))
        A = chances(n, m)
        pi, gap = maximum_entropy(A, counts, m + 1, 0.01)
        assert gap < 1e-8
        assert excess(pi, A, counts / counts.sum(), m + 1, 0.01) < 1e-8


class TestClosedForms:
    @pytest.mark.parametrize("eta", [0.001, 0.01, 1])
    def test_where_every_negative_is_seen(self, eta):
        # A is the identity: 2 v (π - h) + η (1 + log π) = c, so that π = ω(log(2v/η) + (c - η + 2 v h)/η) η / 2v with
        # Wright's ω, and exp(c/η - 1) where h = 0; c from Σ π = 1
        n = 12
        counts = np.array([50, 0, 20, 10, 5, 5, 0, 3, 3, 2, 1, 1])
        h = counts / counts.sum()
        v, seen = n * h, counts > 0

        def distribution(c):
            pi = np.full(n, np.exp(c / eta - 1))
            of_seen = 2 * v[seen]
            pi[seen] = wrightomega(np.log(of_seen / eta) + (c - eta + of_seen * h[seen]) / eta).real * eta / of_seen
            return pi

        wanted = distribution(brentq(lambda c: distribution(c).sum() - 1, -20, 5 * eta, xtol=1e-15))
        pi, _ = maximum_entropy(np.eye(n), counts, n, eta)
        np.testing.assert_allclose(pi, wanted, atol=1e-7)

    def test_one_negative(self):
        # n = 2 = m + 1, h = (1, 0): 4 (π - 1) + η (1 + log π) = η (1 + log(1 - π)), found by bisection
        eta = 0.5
        wanted = brentq(lambda p: 4 * (p - 1) + eta * np.log(p / (1 - p)), 1e-9, 1 - 1e-9)
        pi, _ = maximum_entropy(np.eye(2), np.array([7, 0]), 2.0, eta)
        np.testing.assert_allclose(pi, [wanted, 1 - wanted], atol=1e-8)

    def test_a_high_price_of_entropy_leaves_the_uniform_distribution(self):
        pi, _ = maximum_entropy(chances(20, 5), np.array([9, 1, 0, 0, 0, 0]), 6.0, 1e6)
        np.testing.assert_allclose(pi, 1 / 20, rtol=1e-5)

    def test_a_lower_price_of_entropy_fits_better_and_is_less_flat(self):
        A, counts = chances(50, 10), sample(50, 10, 500)
        h = counts / counts.sum()
        found = [maximum_entropy(A, counts, 11.0, eta)[0] for eta in (1, 0.1, 0.01, 0.001)]
        misfits = [h @ (pi @ A - h) ** 2 for pi in found]
        entropies = [-pi @ np.log(pi) for pi in found]
        assert sorted(misfits, reverse=True) == misfits
        assert sorted(entropies, reverse=True) == entropies


class TestSamples:
    def test_one_by_one_equals_a_batch(self):
        counts = np.random.default_rng(1).poisson(3, size=(2, 3, 10))
        fitted = MaximumEntropy().fit(Outcomes.of(SamplingDesign(9), 40), METRICS)
        together = fitted.estimate(counts)
        assert together.shape == (2, 3, 4)
        for repetition in np.ndindex(2, 3):
            np.testing.assert_allclose(fitted.estimate(counts[repetition]), together[repetition], rtol=1e-12)

    def test_metrics_are_means_under_the_distribution(self):
        counts = np.array([5, 3, 0, 2, 1])
        pi, _ = maximum_entropy(chances(20, 4), counts, 5.0, 0.01)
        r = np.arange(1, 21)
        wanted = [sum(pi / r), sum((pi / np.log2(r + 1))[:3]), sum(pi[:2]), sum(pi * (20 - r) / 19)]
        ours = MaximumEntropy().fit(Outcomes.of(SamplingDesign(4), 20), METRICS).estimate(counts)
        np.testing.assert_allclose(ours, wanted, rtol=1e-6)

    def test_mixed_events_are_compared_by_x_together(self):
        x, m, n = [0, 0, 2, 1, 3, 0, 0, 5, 2], [4, 4, 4, 2, 3, 1, 0, 6, 6], [9, 12, 9, 9, 12, 5, 7, 12, 7]
        A, allowed, h = np.zeros((12, 7)), np.zeros(12), np.zeros(7)
        for of_event, mm, nn in zip(x, m, n, strict=True):
            table = chances(nn, mm)
            for r in range(nn):
                allowed[r] += 1
                for value in range(mm + 1):
                    A[r, value] += table[r, value]
            h[of_event] += 1 / len(x)
        A /= allowed[:, np.newaxis]
        outcomes, which = Outcomes.observed(SampledRanks(x, m, n))
        pi = MaximumEntropy().solve(outcomes, np.bincount(which)[np.newaxis])[0]
        assert excess(pi, A, h, np.mean(m) + 1, 0.01) < 1e-8


class TestRefusals:
    def test_adaptive_samples(self):
        outcomes, _ = Outcomes.observed(SampledRanks([0, 1], [4, 2], 9, adaptive=True))
        with pytest.raises(DataError) as caught:
            MaximumEntropy().fit(outcomes, METRICS)
        assert str(caught.value) == "mes is not valid on an adaptive sample; mle is valid"

    @pytest.mark.parametrize("eta", [0, -1, float("nan")])
    def test_a_price_that_is_not_more_than_0(self, eta):
        with pytest.raises(ConfigError, match="η of mes must be more than 0"):
            MaximumEntropy(eta)

    def test_a_solution_with_too_wide_a_gap(self):
        with pytest.raises(DataError) as caught:
            maximum_entropy(chances(20, 4), np.array([5, 3, 0, 2, 1]), 5.0, 1e-20)
        message = str(caught.value)
        assert message.startswith("mes: the duality gap is ")
        assert message.endswith("; is η = 1e-20 too small?")
        assert "\n" not in message
