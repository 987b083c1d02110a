"""Families of comparisons: Holm's method by hand, critical values by known distributions, groups, and false alarms."""

from itertools import combinations

import numpy as np
import pytest
from read_and import compare
from scipy import stats

from sampled_metrics.inference.families import groups, holm, max_t_rate, pairs_of
from sampled_metrics.inference.means import intervals


class TestHolm:
    def test_by_hand(self):
        """The example of Holm's rule with four hypotheses: 4 · .005, 3 · .01, 2 · .03, then no less than before."""
        assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_rejects_what_the_steps_reject(self):
        """Holm's procedure as he describes it: step down until p > α / (hypotheses that are left)."""
        rng = np.random.default_rng(3)
        for p_values in rng.beta(0.2, 2, size=(50, 8)):
            rejected = np.zeros(8, dtype=bool)
            for step, at in enumerate(np.argsort(p_values)):
                if p_values[at] >= 0.05 / (8 - step):
                    break
                rejected[at] = True
            assert (holm(p_values) < 0.05).tolist() == rejected.tolist()


class TestRate:
    """The critical value of the largest |t| of all pairs of K means is that of Tukey's studentised range, over √2."""

    @pytest.mark.parametrize("users", [12, 300])
    @pytest.mark.parametrize("recommenders", [3, 10])
    @pytest.mark.parametrize("alpha", [0.05, 0.2])
    def test_of_independent_recommenders_is_that_of_tukey(self, recommenders, users, alpha):
        """Their values are made to have no correlation and the same spread."""
        random = np.random.default_rng(1).normal(size=(users, recommenders))
        values, _ = np.linalg.qr(random - random.mean(axis=0))
        critical = stats.studentized_range.isf(alpha, recommenders, users - 1) / np.sqrt(2)
        assert max_t_rate(values.T, alpha) == pytest.approx(2 * stats.t.sf(critical, users - 1), rel=0.03)

    @pytest.mark.parametrize("recommenders", [2, 3, 7])
    def test_is_from_that_of_bonferroni_to_that_of_one_pair(self, recommenders):
        rng = np.random.default_rng(recommenders)
        common = rng.normal(size=(recommenders, 2)) @ rng.normal(size=(2, 60))
        values = common + 0.1 * rng.normal(size=common.shape)
        assert 0.05 / len(pairs_of(recommenders)) <= max_t_rate(values, 0.05) <= 0.05

    @pytest.mark.parametrize("alpha", [1e-4, 2e-4, 5e-4])
    def test_of_few_draws_beyond_it_is_not_below_that_of_bonferroni(self, alpha):
        """The quantile of 50 000 draws is uncertain: five of them are beyond it at α = .0001."""
        values, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(300, 7)))
        assert max_t_rate(values.T, alpha) >= alpha / 21

    def test_of_recommenders_of_which_two_are_the_same_is_that_of_one_pair(self):
        """X, X and Y: the pairs X, Y have the same t, and X, X has none."""
        x, y = np.random.default_rng(2).normal(size=(2, 300))
        assert max_t_rate(np.stack([x, x, y]), 0.05) == pytest.approx(0.05, rel=0.03)

    @pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
    def test_of_pairs_with_the_same_t_is_not_above_that_of_one_pair(self, alpha):
        """X, 2 X and 3 X: all differences are multiples of X, and only the uncertainty of the quantile is left."""
        x = np.random.default_rng(2).normal(size=5)
        assert 0.95 * alpha < max_t_rate(np.stack([x, 2 * x, 3 * x]), alpha) <= alpha

    @pytest.mark.parametrize("value", [0.0, 0.3, np.nan])
    def test_without_a_spread_is_that_of_bonferroni(self, value):
        values = np.full((4, 50), value)
        assert max_t_rate(values, 0.06) == pytest.approx(0.01)
        assert max_t_rate(values + 1e-14 * np.arange(50), 0.06) == pytest.approx(0.01)

    def test_is_the_same_for_differences_that_are_the_same(self):
        """What all recommenders have in common does not count, nor does the order of users."""
        rng = np.random.default_rng(3)
        values, common = rng.normal(size=(4, 80)), rng.normal(size=80)
        rate = max_t_rate(values, 0.05)
        assert max_t_rate(values + common, 0.05) == pytest.approx(rate, rel=0.03)
        assert max_t_rate(values[:, rng.permutation(80)], 0.05) == pytest.approx(rate, rel=1e-9)


class TestGroups:
    @pytest.mark.parametrize(
        ("undecided", "recommenders", "found"),
        [
            ([], 3, [(0,), (1,), (2,)]),
            ([(0, 1), (1, 2), (0, 2)], 3, [(0, 1, 2)]),
            ([(0, 1), (1, 2)], 3, [(0, 1), (1, 2)]),
            ([(0, 2)], 3, [(0, 2), (1,)]),
            ([(0, 1), (2, 3), (1, 2), (0, 2)], 5, [(0, 1, 2), (2, 3), (4,)]),
        ],
    )
    def test_by_hand(self, undecided, recommenders, found):
        assert groups(undecided, range(recommenders)) == found

    def test_are_the_largest_sets_of_all_subsets(self):
        rng = np.random.default_rng(5)
        for _ in range(20):
            undecided = [pair for pair in pairs_of(7) if rng.random() < 0.6]
            alike = [
                set(some)
                for size in range(1, 8)
                for some in combinations(range(7), size)
                if all(pair in undecided for pair in combinations(some, 2))
            ]
            largest = sorted(tuple(sorted(one)) for one in alike if not any(one < other for other in alike))
            assert groups(undecided, range(7)) == largest


RUNS = 100


class TestFalseAlarms:
    """Families of five equal recommenders; docs/coverage.md counts them in more and larger ones."""

    @pytest.mark.parametrize("share", [pytest.param(0.02, marks=pytest.mark.slow), 0.3])
    def test_are_in_five_families_of_a_hundred_at_most(self, share):
        one, other = np.transpose(pairs_of(5))
        limits, alarms = np.array([[-1.0, 1.0]] * 10), np.zeros(2)
        for seed in range(RUNS):
            hits = (np.random.default_rng([6, seed]).random((5, 200)) < share).astype(float)
            gaps = hits[other] - hits[one]
            rate = max_t_rate(hits, 0.05)
            found = intervals(gaps, gaps, np.stack((limits, limits), axis=1), limits, rate, test=True)
            if seed == 0:  # these are what `compare` says
                table = compare({f"R{at}": np.where(each, 1, 50) for at, each in enumerate(hits)},
                                candidates=100, metrics="recall@1")  # fmt: skip
                np.testing.assert_allclose(table[["low", "high"]].T, (found.low, found.high), atol=1e-12)
                assert table["p_value"].to_numpy() == pytest.approx(holm(found.p_value))
            alarms += ((found.low > 0) | (found.high < 0)).any(), (holm(found.p_value) < 0.05).any()
        assert (alarms / RUNS <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / RUNS)).all()
