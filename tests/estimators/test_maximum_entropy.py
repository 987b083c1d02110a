"""Maximum entropy: its optimum by conditions, by a general solver, and in closed form where every negative is seen."""

import numpy as np
import pytest
from exact_probabilities import chances, dense
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import wrightomega

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.rank_distribution import GAP, MaximumEntropy, maximum_entropy
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes, rank_classes

METRICS = [metric(label) for label in ("ap", "ndcg@3", "recall@2", "auc")]


def slope(pi, A, h, scale, eta):
    """Its gradient."""
    return 2 * A @ (scale * h * (pi @ A - h)) + eta * (1 + np.log(pi))


def excess(pi, A, h, scale, eta):
    """A bound of what the objective exceeds its least value by, from the gradient alone.

    η Σ π log π is η-strongly convex in the 1-norm (Pinsker), so that F(π) - min F ≤ max_r |g_r - c|² / 2η for any c.
    """
    g = slope(pi, A, h, scale, eta)
    return (np.ptp(g) / 2) ** 2 / (2 * eta)


def sample(n, m, events, power=3):
    rng = np.random.default_rng(1)
    better = np.floor((n - 1) * rng.random(events) ** power).astype(int)
    return np.bincount(rng.hypergeometric(better, n - 1 - better, m), minlength=m + 1)


def solved(A, counts, scale, eta):
    """The distribution over ranks that each stand for themselves, and the gap."""
    return maximum_entropy(A, counts, scale, eta, np.ones(len(A)))


class TestOptimum:
    @pytest.mark.parametrize("eta", [1e-4, 0.01, 1.0])
    @pytest.mark.parametrize(("n", "m"), [(50, 10), (60, 59), (3541, 100)])
    def test_nothing_is_better_by_more_than_the_gap_allows(self, n, m, eta):
        A, counts = dense(n, m), sample(n, m, 6040)
        pi, gap = solved(A, counts, m + 1, eta)
        assert pi.min() > 0
        assert pi.sum() == pytest.approx(1, rel=1e-12)
        assert -1e-13 < gap < GAP == 1e-8
        assert excess(pi, A, counts / counts.sum(), m + 1, eta) < 1e-8

    @given(st.integers(2, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1))), st.data())
    def test_of_any_sample(self, size, data):
        n, m = size
        counts = np.array(data.draw(st.lists(st.integers(0, 30), min_size=m + 1, max_size=m + 1).filter(any)))
        A = chances(n, m)
        pi, gap = solved(A, counts, m + 1, 0.01)
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
        pi, _ = solved(np.eye(n), counts, n, eta)
        np.testing.assert_allclose(pi, wanted, atol=1e-7)


class TestSamples:
    def test_one_by_one_equals_a_batch_where_samples_have_other_shares_of_m(self):
        outcomes = Outcomes.observed(SampledRanks([0, 1, 2, 0, 1, 2], [3, 3, 3, 8, 8, 8], 20))[0]
        counts = np.where(outcomes.negatives == 3, [[9], [1]], [[1], [9]])
        fitted = MaximumEntropy().fit(outcomes, METRICS)
        one_by_one = [fitted.estimate(sample) for sample in counts]
        np.testing.assert_allclose(fitted.estimate(counts), one_by_one, rtol=1e-5)

    @pytest.mark.parametrize("eta", [0.01, 0.1])
    def test_a_node_is_as_many_equal_ranks(self, eta):
        A, counts = chances(12, 3), np.array([40, 10, 25, 5])
        weights = np.array([1, 3, 2, 1, 1, 4, 1, 1, 2, 1, 1, 5])
        ours, _ = maximum_entropy(A, counts, 4.0, eta, weights.astype(float))
        every_rank, _ = solved(np.repeat(A, weights, axis=0), counts, 4.0, eta)
        wanted = np.add.reduceat(every_rank, np.cumsum(weights) - weights)
        np.testing.assert_allclose(ours, wanted, rtol=1e-6)

    @pytest.mark.parametrize("replacement", [True, False])
    @pytest.mark.parametrize(("n", "m"), [(2000, 30), (20_000, 20)])
    def test_estimates_on_nodes_are_those_over_all_ranks(self, n, m, replacement):
        A, r = dense(n, m, replacement), np.arange(1, n + 1)
        better = np.floor((n - 1) * np.random.default_rng(1).random(5000) ** 3) / (n - 1)
        counts = np.bincount(np.random.default_rng(2).binomial(m, better), minlength=m + 1)
        pi, _ = solved(A, counts, m + 1.0, 0.01)
        assert excess(pi, A, counts / counts.sum(), m + 1, 0.01) < 1e-8
        wanted = [pi @ (1 / r), pi[:3] @ (1 / np.log2(r[:3] + 1)), pi[:2].sum(), pi @ (n - r) / (n - 1)]
        ours = MaximumEntropy().fit(Outcomes.from_design(SamplingDesign(m, replacement), n), METRICS).estimate(counts)
        np.testing.assert_allclose(ours, wanted, rtol=1e-5)

    @pytest.mark.parametrize(
        ("m", "n"),
        [
            ([4, 4, 4, 2, 3, 1, 0, 6, 6], [12] * 9),  # one n, and the means over m are those over all users
            ([6] * 9, [10, 12, 10, 10, 12, 10, 11, 12, 11]),
            ([4, 4, 4, 2, 4, 2, 2, 6, 6], [10, 12, 10, 10, 12, 12, 12, 12, 11]),
        ],
    )
    def test_mixed_events_of_a_class_are_compared_by_x_together(self, m, n):
        x, A = [0, 0, 2, 1, 3, 0, 0, 5, 2], np.zeros((12, 7))
        for mm in set(m):
            of_same = [nn for other, nn in zip(m, n, strict=True) if other == mm]
            for r in range(12):
                rows = [chances(nn, mm)[r] for nn in of_same if r < nn]
                A[r, : mm + 1] += len(of_same) / len(m) * np.mean(rows, axis=0)
        h = np.bincount(x, minlength=7) / len(x)
        np.testing.assert_allclose(A.sum(axis=1), 1, rtol=1e-12)
        outcomes, which = Outcomes.observed(SampledRanks(x, m, n))
        [users] = rank_classes(outcomes)
        counts = users.counts(np.bincount(which)[np.newaxis])
        pi = MaximumEntropy().solver(users, users.nodes(tuple(METRICS)))(counts)[0]
        assert excess(pi, A, h, np.mean(m) + 1, 0.01) < 1e-8

    @pytest.mark.parametrize("x", [0, 20, 300])
    def test_one_user_whose_negatives_are_more_than_the_items(self, x):
        # one outcome, h = 1: π ∝ exp(-a λ / η) with a_r = P(x | r), and λ = 2 (m + 1) (π a - 1), found by bisection
        n, m, eta = 100, 300, 0.01
        a, r = dense(n, m, True)[:, x], np.arange(1, n + 1)

        def distribution(size):
            exponents = -a * size / eta
            pi = np.exp(exponents - exponents.max())
            return pi / pi.sum()

        size = brentq(lambda size: size - 2 * (m + 1) * (distribution(size) @ a - 1), -2.0 * (m + 1), 0, xtol=1e-14)
        pi = distribution(size)
        outcomes, which = Outcomes.observed(SampledRanks([x], m, n, replacement=True))
        ours = MaximumEntropy(eta).fit(outcomes, METRICS).estimate(np.bincount(which))
        wanted = [pi @ (1 / r), pi[:3] @ (1 / np.log2(r[:3] + 1)), pi[:2].sum(), pi @ (n - r) / (n - 1)]
        np.testing.assert_allclose(ours, wanted, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("eta", [0, -1, float("nan")])
def test_refuses_a_price_that_is_not_more_than_0(eta):
    with pytest.raises(ConfigError, match="η of mes must be more than 0"):
        MaximumEntropy(eta)


def test_refuses_a_solution_with_too_wide_a_gap():
    with pytest.raises(DataError, match=r"^mes: the duality gap is .*; is η = 1e-20 too small\?$"):
        solved(chances(20, 4), np.array([5, 3, 0, 2, 1]), 5.0, 1e-20)
