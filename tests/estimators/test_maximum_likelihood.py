"""Maximum likelihood: EM by hand, by loops, and what holds for it on any sample."""

import numpy as np
import pytest
from exact_probabilities import chances, dense
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators.rank_distribution import MaximumLikelihood, expectation_maximisation
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes, rank_classes

METRICS = [metric(label) for label in ("ap", "ndcg@3", "recall@2", "auc")]


def em_by_definition(x, m, n, replacement, iterations):
    """EM over the events of one class, each with the mean P(x | rank) of the users with its m whose n has the rank."""
    largest, columns = max(n), {}
    for mm in set(m):
        sizes = [nn for other, nn in zip(m, n, strict=True) if other == mm]
        sums, users = np.zeros((largest, mm + 1)), np.zeros((largest, 1))
        for nn in sizes:
            sums[:nn] += chances(nn, mm, replacement)
            users[:nn] += 1
        columns |= {(xx, mm): (sums / np.maximum(users, 1))[:, xx] for xx in range(mm + 1)}
    pi = np.full(largest, 1 / largest)
    for _ in range(iterations):
        joint = [pi * columns[event] for event in zip(x, m, strict=True)]
        pi = np.mean([one / one.sum() for one in joint], axis=0)
    return pi


def distribution_of(prior, outcomes, counts):
    """The (ranks,) distribution of the only class, at every rank."""
    [users] = rank_classes(outcomes)
    nodes = users.nodes(tuple(METRICS))
    assert (nodes.weights == 1).all()
    return prior.solver(users, nodes)(users.counts(np.atleast_2d(counts)))


class TestByHand:
    """3 candidates, 1 negative without replacement: P(x = 0) is 1, 1/2, 0 at ranks 1, 2, 3; x = 0 three times of four.

    Uniform: P(x) = 1/2, 1/2, so that π becomes 1/3 · (3/2, 3/2 · 1/2 + 1/2 · 1/2, 1/2) = (1/2, 1/3, 1/6). Then P(x) =
    2/3, 1/3, and π becomes (1/2 · 9/8, 1/3 · (9/16 + 3/8), 1/6 · 3/4) = (9/16, 5/16, 1/8).
    """

    @pytest.mark.parametrize(("iterations", "wanted"), [(1, [1 / 2, 1 / 3, 1 / 6]), (2, [9 / 16, 5 / 16, 1 / 8])])
    def test_iterations(self, iterations, wanted):
        outcomes, counts = Outcomes.from_design(SamplingDesign(1), 3), np.array([[3, 1]])
        ours = distribution_of(MaximumLikelihood(iterations), outcomes, counts)
        np.testing.assert_allclose(ours, [wanted], rtol=1e-14)

    def test_metrics(self):
        fitted = MaximumLikelihood(2).fit(Outcomes.from_design(SamplingDesign(1), 3), METRICS)
        wanted = [9 / 16 + 5 / 32 + 1 / 24, 9 / 16 + 5 / 16 / np.log2(3) + 1 / 16, 14 / 16, 9 / 16 + 5 / 32]
        np.testing.assert_allclose(fitted.estimate(np.array([3, 1])), wanted, rtol=1e-14)
        mean, variance = fitted.moments(np.array([3.0, 1.0]))
        np.testing.assert_allclose(mean, wanted, rtol=1e-14)
        assert variance[-1] == pytest.approx(9 / 16 + 5 / 64 - (9 / 16 + 5 / 32) ** 2)  # of AUC: 1, 1/2 and 0


samples = st.integers(2, 25).flatmap(
    lambda n: st.integers(1, n - 1).flatmap(
        lambda m: st.tuples(
            st.just(n), st.just(m), st.lists(st.integers(0, 20), min_size=m + 1, max_size=m + 1).filter(any)
        )
    )
)


class TestLikelihood:
    @given(samples, st.booleans())
    def test_never_falls(self, sample, replacement):
        n, m, counts = sample
        A, counts = chances(n, m, replacement), np.array(counts)
        seen, last = counts > 0, -np.inf
        for iterations in (1, 2, 3, 5, 20, 21, 100):
            pi = expectation_maximisation(A, counts[np.newaxis], iterations, np.ones(len(A)))[0]
            assert (pi >= 0).all()
            assert pi.sum() == pytest.approx(1, rel=1e-12)
            log = counts[seen] @ np.log(pi @ A[:, seen])
            assert log >= last - 1e-10 * abs(log)
            last = log


class TestSamples:
    def test_of_a_batch_equal_one_by_one(self):
        outcomes = Outcomes.from_design(SamplingDesign(9), 40)
        counts = np.random.default_rng(1).poisson(1.5, size=(2, 5, 10))
        counts[0, 0] = np.eye(10)[3] * 7  # one outcome alone, which others do not have
        counts[1, :, 3] = 0
        fitted = MaximumLikelihood(60).fit(outcomes, METRICS)
        together = fitted.estimate(counts)
        assert together.shape == (2, 5, 4)
        for repetition in np.ndindex(2, 5):
            np.testing.assert_allclose(fitted.estimate(counts[repetition]), together[repetition], rtol=1e-12)


class TestNodes:
    """A node that stands for several ranks."""

    def test_is_as_many_equal_ranks(self):
        A, counts = chances(12, 3), np.array([[40, 10, 25, 5], [0, 1, 0, 7]])
        weights = np.array([1, 3, 2, 1, 1, 4, 1, 1, 2, 1, 1, 5])
        ours = expectation_maximisation(A, counts, 30, weights)
        every_rank = expectation_maximisation(np.repeat(A, weights, axis=0), counts, 30, np.ones(weights.sum()))
        ends = np.cumsum(weights)
        wanted = np.add.reduceat(every_rank, ends - weights, axis=1)
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)

    @pytest.mark.parametrize("replacement", [True, False])
    @pytest.mark.parametrize(
        ("n", "m", "iterations"),
        [(2000, 30, 100), (100_000, 100, 5), pytest.param(100_000, 100, 100, marks=pytest.mark.slow)],
    )
    def test_estimates_are_those_of_em_over_all_ranks(self, n, m, iterations, replacement):
        rng = np.random.default_rng(3)
        better = np.floor((n - 1) * rng.random(5000) ** 4).astype(int)
        counts = np.bincount(rng.binomial(m, better / (n - 1)), minlength=m + 1)
        A, r = dense(n, m, replacement), np.arange(1, n + 1)
        pi, h = np.full(n, 1 / n), counts / counts.sum()
        for _ in range(iterations):
            expected = pi @ A
            ratio = [share / chance if share else 0.0 for share, chance in zip(h, expected, strict=True)]
            pi = pi * (A @ ratio)
        wanted = [pi @ (1 / r), pi[:3] @ (1 / np.log2(r[:3] + 1)), pi[:2].sum(), pi @ (n - r) / (n - 1)]
        ours = MaximumLikelihood(iterations).fit(Outcomes.from_design(SamplingDesign(m, replacement), n), METRICS)
        np.testing.assert_allclose(ours.estimate(counts), wanted, rtol=1e-7)


class TestMixedEvents:
    X, M, N = [0, 0, 2, 1, 3, 0, 0, 5, 2], [4, 4, 4, 2, 3, 1, 0, 6, 6], [10, 12, 10, 10, 12, 10, 11, 12, 11]

    @pytest.mark.parametrize("replacement", [True, False])
    def test_of_a_class_share_the_mean_likelihood_of_their_m(self, replacement):
        outcomes, which = Outcomes.observed(SampledRanks(self.X, self.M, self.N, replacement=replacement))
        wanted = em_by_definition(self.X, self.M, self.N, replacement, 25)
        ours = distribution_of(MaximumLikelihood(25), outcomes, np.bincount(which))
        np.testing.assert_allclose(ours, [wanted], rtol=1e-9, atol=1e-14)

    @pytest.mark.parametrize("replacement", [True, False])
    def test_of_classes_far_apart_are_the_mean_of_each_class_alone(self, replacement):
        # 30 | 16, 14, 13 | 12: from the largest down, by a factor of at most 1.25
        rng = np.random.default_rng(4)
        n = rng.choice([30, 16, 14, 13, 12], size=60)
        m = rng.choice([2, 5, 9], size=60)
        x = rng.integers(0, m + 1)
        classes = [n == 30, (n <= 16) & (n >= 13), n == 12]

        def estimated(some):
            columns = x[some], m[some], n[some]
            outcomes, which = Outcomes.observed(SampledRanks(*columns, replacement=replacement))
            return MaximumLikelihood(25).fit(outcomes, METRICS).estimate(np.bincount(which))

        wanted = sum(some.sum() / 60 * estimated(some) for some in classes)
        np.testing.assert_allclose(estimated(np.full(60, True)), wanted, rtol=1e-12)
        assert np.abs(estimated(n > 0) - sum(estimated(n == each) * (n == each).mean() for each in set(n))).max() > 1e-6


def test_refuses_no_iterations():
    with pytest.raises(ConfigError, match="iterations of mle must be 1 or more, not 0"):
        MaximumLikelihood(0)
