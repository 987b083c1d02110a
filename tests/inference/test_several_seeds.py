"""Several seeds: variances by the analysis of variance, ends of Behrens and Fisher, and how often intervals hold."""

import numpy as np
import pytest

from sampled_metrics.inference.intervals import IntervalOptions, Uncertainty, evaluated, linear, uncertainty
from sampled_metrics.inference.seeds import SeedSpread, with_seeds

ALPHA = np.array([0.05])
ONES = np.ones(200, dtype=np.int64)


def values(rng, seeds, spread, both, users=200):
    """Values of users and seeds: a part of the seed, and one of both."""
    return rng.normal(0, spread, (seeds, 1, 1)) + rng.normal(0, both, (seeds, 1, users))


def interval(one, other, test=False):
    """The interval of `compare` of the difference of (seeds, 1, users) values."""
    gap = other.mean(axis=0) - one.mean(axis=0)
    values = evaluated(linear(gap), ONES, IntervalOptions(), gap)
    of_users = uncertainty(values, ONES, IntervalOptions(), bounds=(-2, 2), weights=gap, test=test)
    spreads = [SeedSpread.from_seeds(each.mean(axis=2), each, ONES) for each in (one, other)]
    return with_seeds(of_users, gap.mean(axis=1), spreads, ALPHA), of_users


class TestSpread:
    def test_is_that_of_the_two_way_analysis_of_variance(self):
        """Expected mean squares of textbooks: σ_b² = (MS between seeds - MS of the interaction) / users."""
        y = values(np.random.default_rng(1), 4, 0.5, 1.0, users=30)
        table = y[:, 0]
        grand, rows, columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
        between = 30 * ((rows - grand) ** 2).sum() / 3
        rest = sum((table[s, u] - rows[s] - columns[u] + grand) ** 2 for s in range(4) for u in range(30)) / (3 * 29)
        found = SeedSpread.from_seeds(y.mean(axis=2), y, np.ones(30, dtype=np.int64))
        assert found.variance[0] == pytest.approx((between - rest) / 30 / 4)
        assert found.freedom == 3

    def test_of_groups_is_that_of_users(self):
        groups, counts = np.random.default_rng(2).normal(size=(3, 2, 5)), np.array([4, 1, 3, 7, 2])
        users = np.repeat(groups, counts, axis=2)
        of_groups = SeedSpread.from_seeds(users.mean(axis=2), groups, counts)
        of_users = SeedSpread.from_seeds(users.mean(axis=2), users, np.ones(17, dtype=np.int64))
        assert of_groups.variance == pytest.approx(of_users.variance)
        assert of_groups.freedom == of_users.freedom == 2

    def test_of_one_seed_or_of_equal_ones_is_none(self):
        y = np.random.default_rng(3).normal(size=(1, 1, 200))
        for same in (y, np.repeat(y, 3, axis=0)):
            found = SeedSpread.from_seeds(same.mean(axis=2), same, ONES)
            assert found.variance[0] == pytest.approx(0, abs=1e-20)


class TestIntervals:
    @pytest.mark.parametrize(("seeds", "others"), [(2, 10), (4, 3), (3, 1)])
    def test_of_seeds_alone_is_that_of_behrens_and_fisher(self, seeds, others):
        """Users do not differ: the difference is that of two Student variables, drawn here a million times."""
        rng = np.random.default_rng(4)
        one, other = rng.normal(0, 1, seeds), rng.normal(0.5, 0.5, others)
        spreads = [SeedSpread.from_seeds(each[:, np.newaxis], None, ONES) for each in (one, other)]
        gap, nothing = np.array([other.mean() - one.mean()]), np.zeros(1)
        found = with_seeds(Uncertainty(gap, gap, nothing, nothing), gap, spreads, ALPHA)
        drawn = sum(
            np.sqrt(each.var(ddof=1) / len(each)) * rng.standard_t(len(each) - 1, 10**6)
            for each in (one, other)
            if len(each) > 1
        )
        reach = np.quantile(np.abs(drawn), 0.95)
        assert (found.low[0], found.high[0]) == pytest.approx((gap[0] - reach, gap[0] + reach), abs=0.03 * reach)
        assert found.p_value[0] == pytest.approx(np.mean(np.abs(drawn) >= abs(gap[0])), rel=0.02)

    @pytest.mark.parametrize(
        ("seeds", "spread", "both"),
        [(3, 0.1, 0.4), *(pytest.param(*each, marks=pytest.mark.slow) for each in [(3, 0.02, 0.4), (5, 0.0, 0.4)])],
    )
    def test_hold_the_truth(self, seeds, spread, both):
        """500 comparisons of equal recommenders; without the spread between seeds, far fewer hold."""
        rng = np.random.default_rng([7, seeds, int(100 * spread)])
        held = np.zeros(2)
        for _ in range(500):
            user = rng.normal(0, 0.3, 200)
            both_found = interval(*(user + values(rng, seeds, spread, both) for _ in range(2)))
            held += [each.low[0] <= 0 <= each.high[0] for each in both_found]
        assert held[0] / 500 >= 0.93
        if spread == 0.1:
            assert held[1] / 500 < 0.75

    @pytest.mark.slow
    @pytest.mark.parametrize(("seeds", "others"), [(2, 10), (2, 2), (3, 10)])
    @pytest.mark.parametrize("spread", [0.3, 1.0])
    def test_of_unequal_numbers_of_seeds_hold_the_truth(self, seeds, others, spread):
        """600 comparisons of equal recommenders whose seeds differ by more than the users do."""
        rng, held = np.random.default_rng([12, seeds, others, int(10 * spread)]), 0
        for _ in range(600):
            one, other = rng.normal(0, 1, (seeds, 1)), rng.normal(0, spread, (others, 1))
            gap = other.mean(axis=0) - one.mean(axis=0)
            spreads = [SeedSpread.from_seeds(each, None, ONES) for each in (one, other)]
            found = with_seeds(Uncertainty(gap, gap, np.full(1, 0.1), np.zeros(1)), gap, spreads, ALPHA)
            held += found.low[0] <= 0 <= found.high[0]
        assert held / 600 >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 600)
