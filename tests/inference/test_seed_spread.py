"""Several seeds: variances by the analysis of variance, ends of Behrens and Fisher, and how often intervals hold."""

import numpy as np
import pytest

from sampled_metrics.inference.means import Intervals, SeedSpread, intervals, with_seeds

ALPHA, FAR = 0.05, np.array([[-99.0, 99.0]])


def values(rng, seeds, spread, both, users=200):
    """Values of users and seeds: a part of the seed, and one of both."""
    return rng.normal(0, spread, (seeds, 1, 1)) + rng.normal(0, both, (seeds, 1, users))


def interval(one, other):
    """The interval of the difference of (seeds, 1, users) values, with the spread between seeds and without it."""
    gap = other.mean(axis=0) - one.mean(axis=0)
    of_users = intervals(gap, gap, np.full((1, 2, 2), np.inf), FAR, ALPHA, test=True)
    spreads = [SeedSpread.from_seeds(each.mean(axis=2), each) for each in (one, other)]
    return with_seeds(of_users, gap.mean(axis=1), spreads, FAR, ALPHA), of_users


def of_normal(points):
    """The spread of (seeds,) normal numbers, where users do not differ."""
    return SeedSpread(np.array([points.var(ddof=1) / len(points)]), np.zeros(1), len(points) - 1)


def between(gap, error, spreads, limits=FAR):
    """The interval with the spread of a difference with a standard error over users."""
    gap = np.array([gap])
    return with_seeds(Intervals(gap, gap, np.array([error]), np.zeros(1)), gap, spreads, limits, ALPHA)


class TestSpread:
    def test_is_that_of_the_two_way_analysis_of_variance(self):
        """Expected mean squares of textbooks: that between seeds is σ_c² + 30 σ_b², that of the interaction σ_c²."""
        y = values(np.random.default_rng(1), 4, 0.5, 1.0, users=30)
        table = y[:, 0]
        grand, rows, columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
        between = 30 * ((rows - grand) ** 2).sum() / 3
        rest = sum((table[s, u] - rows[s] - columns[u] + grand) ** 2 for s in range(4) for u in range(30)) / (3 * 29)
        found = SeedSpread.from_seeds(y.mean(axis=2), y)
        assert found.variance[0] == pytest.approx(between / 30 / 4)
        assert found.interaction[0] == pytest.approx(rest / 30 / 4)
        assert found.freedom == 3

    def test_of_equal_seeds_is_none(self):
        same = np.repeat(np.random.default_rng(3).normal(size=(1, 1, 200)), 3, axis=0)
        assert SeedSpread.from_seeds(same.mean(axis=2), same).variance[0] == pytest.approx(0, abs=1e-20)

    def test_of_scaled_values_is_scaled(self):
        y = values(np.random.default_rng(5), 3, 0.5, 0.1)
        one, other = (SeedSpread.from_seeds(each.mean(axis=2), each) for each in (y, 1.2 * y))
        assert one.scaled(1.2).variance == pytest.approx(other.variance)
        assert one.scaled(1.2).interaction == pytest.approx(other.interaction)
        assert one.scaled(1.2).freedom == other.freedom == 2


class TestIntervals:
    @pytest.mark.parametrize(("seeds", "others"), [(2, 10), (4, 3), (3, 1)])
    def test_of_seeds_alone_is_that_of_behrens_and_fisher(self, seeds, others):
        """Users do not differ: the difference is that of two Student variables, drawn here a million times."""
        rng = np.random.default_rng(4)
        one, other = rng.normal(0, 1, seeds), rng.normal(0.5, 0.5, others)
        several = [each for each in (one, other) if len(each) > 1]
        gap = other.mean() - one.mean()
        found = between(gap, 0.0, list(map(of_normal, several)))
        drawn = sum(np.sqrt(each.var(ddof=1) / len(each)) * rng.standard_t(len(each) - 1, 10**6) for each in several)
        reach = np.quantile(np.abs(drawn), 0.95)
        assert (found.low[0], found.high[0]) == pytest.approx((gap - reach, gap + reach), abs=0.03 * reach)
        assert found.p_value[0] == pytest.approx(np.mean(np.abs(drawn) >= abs(gap)), rel=0.02)

    def test_are_never_narrower_than_those_over_users_and_within_the_limits(self):
        spreads = [SeedSpread(np.array([variance]), np.zeros(1), 1) for variance in (1e-12, 4.0)]
        gap, error = np.array([0.1]), np.array([0.001])
        of_users = Intervals(gap - 0.2, gap + 0.3, error, np.array([0.4]))
        ends = [with_seeds(of_users, gap, [spread], np.array([[-1.0, 1.0]]), ALPHA) for spread in spreads]
        assert [(one.low[0], one.high[0]) for one in ends] == [(of_users.low[0], of_users.high[0]), (-1.0, 1.0)]
        assert ends[0].p_value[0] == 0.4

    @pytest.mark.parametrize(
        ("seeds", "spread", "both"),
        [(3, 0.1, 0.4), *(pytest.param(*each, marks=pytest.mark.slow) for each in [(3, 0.02, 0.4), (5, 0.0, 0.4)])],
    )
    def test_hold_the_truth(self, seeds, spread, both):
        """300 comparisons of equal recommenders; without the spread between seeds, far fewer hold."""
        rng = np.random.default_rng([7, seeds, int(100 * spread)])
        held = np.zeros(2)
        for _ in range(300):
            user = rng.normal(0, 0.3, 200)
            both_found = interval(*(user + values(rng, seeds, spread, both) for _ in range(2)))
            held += [each.low[0] <= 0 <= each.high[0] for each in both_found]
        assert held[0] / 300 >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 300)
        if spread == 0.1:
            assert held[1] / 300 < 0.75

    @pytest.mark.slow
    @pytest.mark.parametrize(("seeds", "others"), [(2, 2), (2, 10), (2, 20), (3, 20), (5, 5)])
    @pytest.mark.parametrize(("spread", "both"), [(0.03, 0.0), (0.03, 0.4), (0.03, 3.0), (0.3, 0.1), (1.0, 0.1)])
    def test_of_unequal_numbers_of_seeds_hold_the_truth(self, seeds, others, spread, both):
        """600 comparisons of equal recommenders, with an interaction from none to far above the seeds' part."""
        rng, held = np.random.default_rng([13, seeds, others, int(10 * both), int(10 * spread)]), 0
        for _ in range(600):
            user = rng.normal(0, 0.3, 200)
            found, _ = interval(*(user + values(rng, count, spread, both) for count in (seeds, others)))
            held += found.low[0] <= 0 <= found.high[0]
        assert held / 600 >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 600)
