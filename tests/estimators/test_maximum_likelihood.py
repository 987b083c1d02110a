"""Maximum likelihood: EM by hand, by loops, and what holds for it on any sample."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from exact_probabilities import chances, exact
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators.maximum_likelihood import MaximumLikelihood, expectation_maximisation
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks

METRICS = [metric(label) for label in ("ap", "ndcg@3", "recall@2", "auc")]


def em_by_loops(x, m, n, replacement, iterations):
    """EM over events, each with the likelihood of its own n and m; ranks up to the largest n."""
    largest = max(n)
    tables = {(nn, mm): exact(nn, mm, replacement) if mm else [[1]] * nn for nn, mm in zip(n, m, strict=True)}
    pi = [1 / largest] * largest
    for _ in range(iterations):
        new = [0.0] * largest
        for xx, mm, nn in zip(x, m, n, strict=True):
            joint = [pi[r] * float(tables[nn, mm][r][xx]) for r in range(nn)]
            total = sum(joint)
            for r in range(nn):
                new[r] += joint[r] / total / len(x)
        pi = new
    return pi


class TestByHand:
    """3 candidates, 1 negative without replacement: P(x = 0) is 1, 1/2, 0 at ranks 1, 2, 3; x = 0 three times of four.

    Uniform: P(x) = 1/2, 1/2, so that π becomes 1/3 · (3/2, 3/2 · 1/2 + 1/2 · 1/2, 1/2) = (1/2, 1/3, 1/6). Then P(x) =
    2/3, 1/3, and π becomes (1/2 · 9/8, 1/3 · (9/16 + 3/8), 1/6 · 3/4) = (9/16, 5/16, 1/8).
    """

    @pytest.mark.parametrize(("iterations", "wanted"), [(1, [1 / 2, 1 / 3, 1 / 6]), (2, [9 / 16, 5 / 16, 1 / 8])])
    def test_iterations(self, iterations, wanted):
        outcomes, counts = Outcomes.of(SamplingDesign(1), 3), np.array([[3, 1]])
        ours = MaximumLikelihood(iterations).solve(outcomes, counts)
        np.testing.assert_allclose(ours, [wanted], rtol=1e-14)

    def test_metrics(self):
        fitted = MaximumLikelihood(2).fit(Outcomes.of(SamplingDesign(1), 3), METRICS)
        wanted = [9 / 16 + 5 / 32 + 1 / 24, 9 / 16 + 5 / 16 / np.log2(3) + 1 / 16, 14 / 16, 9 / 16 + 5 / 32]
        np.testing.assert_allclose(fitted.estimate(np.array([3, 1])), wanted, rtol=1e-14)


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
            pi = expectation_maximisation(A, counts[np.newaxis], iterations)[0]
            assert (pi >= 0).all()
            assert pi.sum() == pytest.approx(1, rel=1e-12)
            log = counts[seen] @ np.log(pi @ A[:, seen])
            assert log >= last - 1e-10 * abs(log)
            last = log

    def test_is_greatest_in_the_end(self):
        # at the optimum Σ_x h_x A[r, x] / P(x) is 1 where π is positive, and at most 1 elsewhere
        A, counts = chances(12, 3), np.array([40, 10, 25, 5])
        pi = expectation_maximisation(A, counts[np.newaxis], 20_000)[0]
        slope = A @ (counts / counts.sum() / (pi @ A))
        assert slope.max() <= 1 + 1e-3
        np.testing.assert_allclose(slope[pi > 0.01], 1, atol=1e-3)

    @given(samples, st.lists(st.floats(1e-3, 1e3), min_size=25, max_size=25))
    def test_a_factor_of_a_column_changes_nothing(self, sample, factors):
        n, m, counts = sample
        A, counts = chances(n, m), np.array([counts])
        one, other = (expectation_maximisation(each, counts, 30) for each in (A, A * factors[: m + 1]))
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-14)

    def test_nor_does_a_factor_that_makes_all_of_it_tiny(self):
        A, counts = chances(12, 3), np.array([[40, 10, 25, 5]])
        one, other = (expectation_maximisation(each, counts, 30) for each in (A, A * [1e-30, 1, 1e-200, 1e100]))
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-14)


class TestSamples:
    def test_of_a_batch_equal_one_by_one(self):
        outcomes = Outcomes.of(SamplingDesign(9), 40)
        counts = np.random.default_rng(1).poisson(1.5, size=(2, 5, 10))
        counts[0, 0] = np.eye(10)[3] * 7  # one outcome alone, which others do not have
        counts[1, :, 3] = 0
        fitted = MaximumLikelihood(60).fit(outcomes, METRICS)
        together = fitted.estimate(counts)
        assert together.shape == (2, 5, 4)
        for repetition in np.ndindex(2, 5):
            np.testing.assert_allclose(fitted.estimate(counts[repetition]), together[repetition], rtol=1e-12)

    def test_only_shares_count(self):
        counts = np.array([5, 0, 2, 1])
        fitted = MaximumLikelihood().fit(Outcomes.of(SamplingDesign(3), 30), METRICS)
        np.testing.assert_allclose(fitted.estimate(counts), fitted.estimate(1000 * counts), rtol=1e-12)


class TestMixedEvents:
    X, M, N = [0, 0, 2, 1, 3, 0, 0, 5, 2], [4, 4, 4, 2, 3, 1, 0, 6, 6], [9, 12, 9, 9, 12, 5, 7, 12, 7]

    @pytest.mark.parametrize("replacement", [True, False])
    def test_have_the_likelihood_of_their_own_n_and_m(self, replacement):
        outcomes, which = Outcomes.observed(SampledRanks(self.X, self.M, self.N, replacement=replacement))
        counts = np.bincount(which, minlength=len(outcomes))
        wanted = em_by_loops(self.X, self.M, self.N, replacement, 25)
        ours = MaximumLikelihood(25).solve(outcomes, counts[np.newaxis])[0]
        np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-14)

    def test_metrics_of_the_rank_are_means_under_the_distribution(self):
        outcomes, which = Outcomes.observed(SampledRanks(self.X, self.M, self.N))
        pi = em_by_loops(self.X, self.M, self.N, False, 25)
        ours = MaximumLikelihood(25).fit(outcomes, METRICS[:3]).estimate(np.bincount(which))
        f = [lambda r: 1 / r, lambda r: (r <= 3) / np.log2(r + 1), lambda r: r <= 2]
        wanted = [sum(p * each(r) for r, p in enumerate(pi, start=1)) for each in f]
        np.testing.assert_allclose(ours, wanted, rtol=1e-9)

    def test_auc_is_the_mean_of_each_events_own_given_its_outcome(self):
        outcomes, which = Outcomes.observed(SampledRanks(self.X, self.M, self.N))
        pi = em_by_loops(self.X, self.M, self.N, False, 25)
        total = 0.0
        for x, m, n in zip(self.X, self.M, self.N, strict=True):
            likelihood = [float(row[x]) for row in exact(n, m, False)] if m else [1.0] * n
            joint = [pi[r] * likelihood[r] for r in range(n)]
            total += sum(p * (n - 1 - r) / (n - 1) for r, p in enumerate(joint)) / sum(joint)
        ours = MaximumLikelihood(25).fit(outcomes, [metric("auc")]).estimate(np.bincount(which))
        np.testing.assert_allclose(ours, [total / len(self.X)], rtol=1e-9)

    def test_events_without_negatives_leave_the_distribution_as_it_is(self):
        outcomes, which = Outcomes.observed(SampledRanks([0, 0], [0, 0], [4, 4]))
        ours = MaximumLikelihood().fit(outcomes, [metric("recall@1")]).estimate(np.bincount(which))
        assert ours.tolist() == pytest.approx([1 / 4])


class TestAdaptive:
    def test_is_accepted_and_no_different(self):
        x, m = [0, 1, 0, 2, 1], [8, 2, 8, 2, 4]
        estimates = []
        for adaptive in (True, False):
            outcomes, which = Outcomes.observed(SampledRanks(x, m, 20, adaptive=adaptive))
            estimates.append(MaximumLikelihood().fit(outcomes, METRICS).estimate(np.bincount(which)))
        assert estimates[0].tolist() == estimates[1].tolist()

    def test_the_likelihood_is_that_of_a_fixed_m_but_for_a_factor(self):
        # 5 negatives, drawn by 2, 2 and 1 until one of them is better: every order of drawing, counted
        likelihood = {}
        for better in range(6):
            found = Counter()
            for order in permutations(range(5)):
                for m in (2, 4, 5):
                    x = sum(item < better for item in order[:m])
                    if x > 0 or m == 5:
                        found[x, m] += 1
                        break
            for outcome, ways in found.items():
                likelihood.setdefault(outcome, np.zeros(6))[better] = ways / 120
        assert set(likelihood) == {(1, 2), (2, 2), (1, 4), (2, 4), (1, 5), (0, 5)}
        for (x, m), of_ranks in likelihood.items():
            fixed = chances(6, m)[:, x]
            np.testing.assert_allclose(of_ranks / of_ranks.max(), fixed / fixed.max(), atol=1e-14)


def test_assumes_what_it_is_told():
    counts = np.array([[5, 3, 1]])
    assumed = MaximumLikelihood(20, replacement=True).solve(Outcomes.of(SamplingDesign(2, False), 9), counts)
    drawn = MaximumLikelihood(20).solve(Outcomes.of(SamplingDesign(2, True), 9), counts)
    assert assumed.tolist() == drawn.tolist()


def test_refuses_no_iterations():
    with pytest.raises(ConfigError, match="iterations of mle must be 1 or more, not 0"):
        MaximumLikelihood(0)
