"""Classes of users with similar numbers of candidates, and the means over their users."""

import numpy as np
import pytest
from exact_probabilities import chances
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.outcomes import FACTOR, Outcomes, rank_classes

X, M, N = [0, 0, 2, 1, 3, 0, 2, 1], [4, 4, 4, 2, 3, 0, 3, 2], [8, 10, 8, 10, 9, 8, 9, 8]


def observed(x, m, n, **options):
    outcomes, which = Outcomes.observed(SampledRanks(x, m, n, **options))
    return outcomes, np.bincount(which, minlength=len(outcomes))


def sizes(outcomes):
    """The n of the groups of each class."""
    return [[group.candidates for group in users.groups] for users in rank_classes(outcomes)]


class TestWhoIsInAClass:
    def test_by_hand(self):
        # from the largest: 100 down to 80, 79 down to 64 (63.2), 63
        outcomes, _ = observed([0] * 7, 2, [80, 100, 63, 79, 64, 90, 100])
        assert sizes(outcomes) == [[100, 90, 80], [79, 64], [63]]
        assert [users.candidates for users in rank_classes(outcomes)] == [100, 79, 63]
        assert FACTOR == 1.25

    @given(st.lists(st.integers(2, 400), min_size=1, max_size=40))
    def test_every_outcome_is_in_one_and_classes_are_as_wide_as_they_may(self, n):
        outcomes, _ = Outcomes.observed(SampledRanks(np.zeros(len(n), dtype=int), 1, n))
        found = rank_classes(outcomes)
        assert sorted(np.concatenate([users.outcomes for users in found]).tolist()) == list(range(len(outcomes)))
        above = np.inf
        for users in found:
            of_class = outcomes.candidates[users.outcomes]
            assert users.candidates == of_class.max() <= 1.25 * of_class.min()
            assert above > 1.25 * of_class.max()  # the largest of this class would not fit into the one above
            above = of_class.max()


class TestCounts:
    def test_of_many_samples_and_classes(self):
        rng = np.random.default_rng(1)
        n = rng.choice([20, 30, 31, 60], size=80)
        outcomes, _ = observed(rng.integers(0, 4, size=80), 5, n)
        counts = rng.integers(0, 9, size=(3, len(outcomes)))
        total = 0
        for users in rank_classes(outcomes):
            ours = users.counts(counts)
            m, x, _ = users.columns
            for column, (mm, xx) in enumerate(zip(m, x, strict=True)):
                same = [at for at in users.outcomes if (outcomes.negatives[at], outcomes.x[at]) == (mm, xx)]
                np.testing.assert_array_equal(ours[:, column], counts[:, same].sum(axis=1))
            total = total + ours.sum(axis=1)
        np.testing.assert_array_equal(total, counts.sum(axis=1))


def mean_by_loops(of_user, ranks, m=None):
    """Mean over the events whose n allows the rank; with m, over those with so many negatives."""
    rows = []
    for r in ranks:
        found = [of_user(r, nn) for mm, nn in zip(M, N, strict=True) if r <= nn and m in (None, mm)]
        rows.append(np.mean(found, axis=0) if found else 0 * np.asarray(of_user(1, max(N))))
    return np.array(rows)


class TestMeans:
    RANKS = np.arange(1.0, 11)

    @pytest.mark.parametrize("assumed", [True, False, None])
    @pytest.mark.parametrize("drawn", [True, False])
    def test_likelihood_is_the_mean_over_the_users_with_the_same_m(self, drawn, assumed):
        outcomes, _ = observed(X, M, N, replacement=drawn)
        [users] = rank_classes(outcomes)
        m, x, _ = users.columns
        ours = users.likelihood(self.RANKS, assumed)
        assert ours.shape == (10, len(x))
        of_design = drawn if assumed is None else assumed
        for mm in set(M):
            table = mean_by_loops(lambda r, nn, mm=mm: chances(nn, mm, of_design)[r - 1], range(1, 11), mm)
            np.testing.assert_allclose(users.probabilities(self.RANKS, mm, assumed), table, rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(ours[:, m == mm], table[:, x[m == mm]], rtol=1e-12, atol=1e-14)

    def test_values_are_means_over_all_users(self):
        outcomes, _ = observed(X, M, N)
        [users] = rank_classes(outcomes)
        ours = users.values(tuple(metric(label) for label in ("ap", "recall@9", "auc")), self.RANKS)
        wanted = mean_by_loops(lambda r, nn: np.array([1 / r, r <= 9, (nn - r) / (nn - 1)]), range(1, 11))
        np.testing.assert_allclose(ours, wanted, rtol=1e-14, atol=1e-16)


class TestNodes:
    def test_are_those_of_the_largest_n_and_m(self):
        outcomes, _ = observed([0, 0, 0], [3, 50, 9], [900, 1000, 1000])
        [users] = rank_classes(outcomes)
        nodes = users.nodes((metric("ap"), metric("recall@77")))
        assert nodes.weights.sum() == pytest.approx(1000)
        assert nodes.weights @ (nodes.ranks <= 77) == pytest.approx(77, rel=1e-12)
        assert len(nodes.ranks) < 1000
