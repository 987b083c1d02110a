"""Families of comparisons: Holm's method by hand, critical values by known distributions, groups, and false alarms."""

from itertools import combinations

import numpy as np
import pytest
from read_and import compare
from scipy import stats

from sampled_metrics.inference.families import groups, holm, max_t_rates, pairs_of, replicate_rates
from sampled_metrics.inference.intervals import IntervalOptions, evaluated, linear, no_progress, resamples, uncertainty


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


class TestRates:
    """The critical value of the largest |t| of all pairs of K means is that of Tukey's studentised range, over √2."""

    USERS = 300

    def tukey(self, recommenders, alpha=0.05):
        critical = stats.studentized_range.isf(alpha, recommenders, 1e6) / np.sqrt(2)
        return 2 * stats.norm.sf(critical)

    @pytest.mark.parametrize("recommenders", [3, pytest.param(5, marks=pytest.mark.slow)])
    def test_of_independent_normal_values_are_those_of_tukey(self, recommenders):
        ones = np.ones(self.USERS, dtype=np.int64)
        weights = np.random.default_rng(1).normal(size=(recommenders, 2, self.USERS))
        samples = list(resamples(ones, IntervalOptions(n_resamples=20_000), no_progress))
        rates = max_t_rates(weights, ones, 0.05, samples)
        assert rates == pytest.approx(self.tukey(recommenders), rel=0.08)
        means = np.concatenate([each @ weights.reshape(-1, self.USERS).T for each in samples]) / self.USERS
        of_replicates = replicate_rates(weights.mean(axis=2), means.reshape(-1, recommenders, 2), 0.05)
        assert of_replicates == pytest.approx(self.tukey(recommenders), rel=0.08)

    def test_of_recommenders_of_which_two_are_the_same_are_those_of_one_pair(self):
        """X, X and Y: the pairs X, Y have the same t, and X, X has none."""
        ones = np.ones(self.USERS, dtype=np.int64)
        x, y = np.random.default_rng(2).normal(size=(2, self.USERS))
        samples = list(resamples(ones, IntervalOptions(n_resamples=20_000), no_progress))
        assert max_t_rates(np.stack([x, x, y])[:, np.newaxis], ones, 0.05, samples) == pytest.approx(0.05, rel=0.1)


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


class TestFalseAlarms:
    """Families of five equal recommenders; docs/coverage.md counts them in more and larger ones."""

    @pytest.mark.parametrize("share", [pytest.param(0.02, marks=pytest.mark.slow), 0.3])
    def test_are_in_five_families_of_a_hundred_at_most(self, share):
        ones, pairs = np.ones(200, dtype=np.int64), pairs_of(5)
        one, other = np.transpose(pairs)
        samples = list(resamples(ones, IntervalOptions(n_resamples=400), no_progress))
        alarms = np.zeros(2)
        for seed in range(200):
            hits = (np.random.default_rng([6, seed]).random((5, 1, 200)) < share).astype(float)
            rates = max_t_rates(hits, ones, 0.05, samples)
            gaps = (hits[other] - hits[one])[:, 0]
            values, options = evaluated(linear(gaps), ones, IntervalOptions(), gaps), IntervalOptions()
            found = uncertainty(values, ones, options, bounds=(-1, 1), weights=gaps, alpha=rates, test=True)
            if seed == 0:  # these are what `compare` says
                ranks = {f"R{at}": np.where(each, 1, 50) for at, each in enumerate(hits[:, 0])}
                table = compare(ranks, candidates=100, metrics="recall@1")
                assert table["p_value"].to_numpy() == pytest.approx(holm(found.p_value))
                width = found.high - found.low
                assert (table["high"] - table["low"]).to_numpy() == pytest.approx(width, rel=0.05)
            alarms += ((found.low > 0) | (found.high < 0)).any(), (holm(found.p_value) < 0.05).any()
        assert (alarms / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)).all()
