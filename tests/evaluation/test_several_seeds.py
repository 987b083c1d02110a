"""Several seeds: variances by the analysis of variance, and how often intervals hold the truth."""

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.evaluation.intervals import IntervalOptions, Uncertainty, linear, uncertainty
from sampled_metrics.evaluation.seeds import SeedSpread, with_seeds

ALPHA = np.array([0.05])
ONES = np.ones(200, dtype=np.int64)


def values(rng, seeds, spread, both, users=200):
    """Values of users and seeds: a part of the seed, and one of both."""
    return rng.normal(0, spread, (seeds, 1, 1)) + rng.normal(0, both, (seeds, 1, users))


def interval(one, other, test=False):
    """The interval of `compare` of the difference of (seeds, 1, users) values."""
    gap = other.mean(axis=0) - one.mean(axis=0)
    of_users = uncertainty(linear(gap), ONES, IntervalOptions(), bounds=(-9, 9), weights=gap, test=test)
    spreads = [SeedSpread.of(each.mean(axis=2), each, ONES) for each in (one, other)]
    return with_seeds(of_users, gap.mean(axis=1), spreads, 200, ALPHA), of_users


class TestSpread:
    def test_is_that_of_the_two_way_analysis_of_variance(self):
        """Expected mean squares of textbooks: σ_b² = (MS between seeds - MS of the interaction) / users."""
        y = values(np.random.default_rng(1), 4, 0.5, 1.0, users=30)
        table = y[:, 0]
        grand, rows, columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
        between = 30 * ((rows - grand) ** 2).sum() / 3
        rest = sum((table[s, u] - rows[s] - columns[u] + grand) ** 2 for s in range(4) for u in range(30)) / (3 * 29)
        found = SeedSpread.of(y.mean(axis=2), y, np.ones(30, dtype=np.int64))
        assert found.variance[0] == pytest.approx((between - rest) / 30 / 4)
        freedom = (between / 120) ** 2 / 3 + (rest / 120) ** 2 / (3 * 29)
        assert found.over_freedom[0] == pytest.approx(freedom)

    def test_of_groups_is_that_of_users(self):
        groups, counts = np.random.default_rng(2).normal(size=(3, 2, 5)), np.array([4, 1, 3, 7, 2])
        users = np.repeat(groups, counts, axis=2)
        of_groups = SeedSpread.of(users.mean(axis=2), groups, counts)
        of_users = SeedSpread.of(users.mean(axis=2), users, np.ones(17, dtype=np.int64))
        assert of_groups.variance == pytest.approx(of_users.variance)
        assert of_groups.over_freedom == pytest.approx(of_users.over_freedom)

    def test_of_one_seed_or_of_equal_ones_is_none(self):
        y = np.random.default_rng(3).normal(size=(1, 1, 200))
        for same in (y, np.repeat(y, 3, axis=0)):
            found = SeedSpread.of(same.mean(axis=2), same, ONES)
            assert (found.variance[0], found.over_freedom[0]) == pytest.approx((0, 0), abs=1e-20)


class TestIntervals:
    def test_of_seeds_alone_is_welchs(self):
        """Users do not differ, so that the means of the seeds are two samples, and Satterthwaite's is Welch's test."""
        rng = np.random.default_rng(4)
        one, other = rng.normal(0, 1, 4), rng.normal(0.5, 0.3, 3)
        spreads = [SeedSpread.of(each[:, np.newaxis], None, ONES) for each in (one, other)]
        gap, nothing = np.array([other.mean() - one.mean()]), np.zeros(1)
        found = with_seeds(Uncertainty(gap, gap, nothing, nothing), gap, spreads, 200, ALPHA)
        test = stats.ttest_ind(other, one, equal_var=False)
        ends = test.confidence_interval(0.95)
        assert (found.low[0], found.high[0], found.p_value[0]) == pytest.approx((ends.low, ends.high, test.pvalue))

    @pytest.mark.parametrize(("seeds", "spread", "both"), [(3, 0.1, 0.4), (5, 0.1, 0.4), (3, 0.02, 0.4), (5, 0.0, 0.4)])
    def test_hold_the_truth(self, seeds, spread, both):
        """500 comparisons of equal recommenders; without the spread between seeds, far fewer hold."""
        rng = np.random.default_rng([7, seeds, int(100 * spread)])
        held = np.zeros(2)
        for _ in range(500):
            user = rng.normal(0, 0.3, 200)
            both_found = interval(*(user + values(rng, seeds, spread, both) for _ in range(2)))
            held += [each.low[0] <= 0 <= each.high[0] for each in both_found]
        assert 0.93 <= held[0] / 500 <= 0.99
        if spread == 0.1:
            assert held[1] / 500 < 0.75
