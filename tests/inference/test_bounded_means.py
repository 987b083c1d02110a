"""The likelihood-ratio interval: against a general solver, closed forms, Poisson counts, and rare hits."""

import numpy as np
import pytest
from read_and import compare
from scipy import optimize, stats

from sampled_metrics.inference.bounded_means import (
    SMALLEST_P_VALUE,
    LowerSide,
    mean_interval,
    p_value_of_zero,
    threshold,
)


def deviance(values, counts, mean, bound):
    """max over λ of Σ log(1 + λ (y - mean)) with 1 + λ (bound - mean) >= 0, by a general solver."""
    most = (1 - 1e-13) / abs(mean - bound)
    sign = np.sign(mean - bound)
    found = optimize.minimize_scalar(
        lambda size: -(counts @ np.log1p(sign * size * (values - mean))),
        bounds=(0, most),
        method="bounded",
        options={"xatol": 1e-14},
    )
    return max(-found.fun, counts @ np.log1p(sign * most * (values - mean)))


def deciding(values, counts, bound):
    """k of the end on the side of a bound, as a loop over users."""
    users = np.repeat(values, counts)
    towards = np.sign(bound - users.mean()) * (users - users.mean())
    own = [*towards[towards > 1e-12], abs(bound - users.mean())]
    other = towards[towards < -1e-12]
    numbers = [np.sum(np.square(side)) ** 2 / np.sum(np.power(side, 4)) for side in (own, other) if len(side)]
    return min([numbers[0], *(number + 1 for number in numbers[1:])])


def tables(number):
    """Values with counts and bounds: some at a bound, some all alike."""
    rng = np.random.default_rng(number)
    size = rng.integers(2, 30)
    least, most = -0.2 - rng.random(), 0.2 + rng.random()
    values = rng.uniform(least, most, size)
    if number % 3 == 0:
        values[: rng.integers(0, size)] = least
    if number % 4 == 0:
        values[: rng.integers(0, size)] = most
    if number % 7 == 0:
        values[:] = values[0]
    return values, rng.integers(1, 4, size), (least, most), 10 ** -rng.uniform(0.3, 5)


@pytest.mark.parametrize("number", range(60))
class TestEnds:
    def test_are_where_a_general_solver_reaches_the_threshold(self, number):
        values, counts, bounds, alpha = tables(number)
        for end, bound in zip(mean_interval(values, counts, bounds, alpha), bounds, strict=True):
            if abs(end - bound) > 1e-9:
                limit = threshold(alpha, deciding(values, counts, bound))
                assert deviance(values, counts, end, bound) == pytest.approx(limit, rel=1e-5)

    def test_exclude_0_if_the_p_value_is_smaller_than_alpha(self, number):
        values, counts, bounds, _ = tables(number)
        p_value = p_value_of_zero(values, counts, bounds)
        assert SMALLEST_P_VALUE <= p_value <= 1
        if p_value < 1:
            low, high = mean_interval(values, counts, bounds, p_value * 1.001)
            assert low > 0 or high < 0
            low, high = mean_interval(values, counts, bounds, p_value * 0.999)
            assert low <= 0 <= high


class TestClosedForms:
    @pytest.mark.parametrize("users", [2, 5, 100, 10**6])
    @pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-6])
    def test_of_users_who_are_all_alike_a_bound_may_have_the_share_that_nobody_shows(self, users, alpha):
        unseen = 1 - (alpha / 2) ** (1 / users)
        for value in (0.0, 0.3, 1.0):
            low, high = mean_interval(np.array([value]), np.array([users]), (0.0, 1.0), alpha)
            assert (low, high) == pytest.approx((value * (1 - unseen), value + unseen * (1 - value)), rel=1e-9)

    @pytest.mark.parametrize(("hits", "users"), [(1, 6), (3, 20), (19, 20), (500, 3000)])
    def test_of_shares_are_those_of_the_binomial_deviance(self, hits, users):
        rarer = min(hits, users - hits) + 1

        def divergence(share):
            return hits * np.log(hits / users / share) + (users - hits) * np.log((1 - hits / users) / (1 - share))

        for end in mean_interval(np.array([0.0, 1.0]), np.array([users - hits, hits]), (0.0, 1.0), 0.05):
            assert divergence(end) == pytest.approx(threshold(0.05, rarer), rel=1e-9)

    def test_of_many_users_is_students(self):
        values = np.random.default_rng(1).normal(0.1, 0.2, 20_000).clip(-1, 1)
        ends = mean_interval(values, np.ones(20_000, dtype=int), (-1.0, 1.0), 0.05)
        expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
        assert ends == pytest.approx((expected.low, expected.high), abs=0.01 * (expected.high - expected.low))

    def test_threshold_is_that_of_chi_square_for_many_and_of_an_unseen_value_for_one(self):
        assert threshold(0.05, 1) == pytest.approx(np.log(40))
        assert threshold(0.05, 1e9) == pytest.approx(stats.chi2.isf(0.05, 1) / 2)
        assert threshold(0.05, 1e9, freedom=3) == pytest.approx(stats.chi2.isf(0.05, 3) / 2)


def test_coverage_of_poisson_counts():
    """By the sum over all counts: rare hits of many users, with expected numbers from .02 to 60."""
    users, hits = 10**7, np.arange(150)
    values = np.array([0.0, 1.0])
    ends = [mean_interval(values, np.array([users - hit, hit]), (0.0, 1.0), 0.05) for hit in hits]
    low, high = users * np.transpose(ends)
    expected = np.geomspace(0.02, 60, 400)[:, np.newaxis]
    covered = (stats.poisson.pmf(hits, expected) * ((low <= expected) & (expected <= high))).sum(axis=1)
    assert covered.min() > 0.94


def test_one_pass_over_the_users_decides_a_million_of_them():
    """The number of evaluations of the deviance is small, so that a million users take a fraction of a second."""
    values = np.random.default_rng(3).random(1000)
    side = LowerSide.from_distances(values - values.mean(), np.ones(1000, dtype=int), values.mean())
    seen, original = [], LowerSide._deviance
    try:
        LowerSide._deviance = lambda self, tilt: seen.append(tilt) or original(self, tilt)
        side.depth(0.05)
    finally:
        LowerSide._deviance = original
    assert len(seen) <= 10


class TestFalseVerdictsOfRareHits:
    @pytest.mark.parametrize("number", range(12))
    def test_a_recommender_without_a_hit_among_few_is_not_called_worse(self, number):
        """One user in a hundred is at rank 1: of 200 users, 13 % of samples have none."""
        rng = np.random.default_rng(number)
        hits = rng.random(200) < 0.01
        one = np.where(hits, 1, rng.integers(501, 1001, 200))
        found = compare(one, np.full(200, 88), candidates=1000, exact=True, metrics="ap")
        assert found["conclusion"].item() == "undecided"

    @pytest.mark.parametrize("users", [30, 100, 400])
    @pytest.mark.parametrize("share", [0.004, 0.03, 0.1])
    def test_are_rare_for_equal_means(self, users, share):
        """A share of the users has the value 1, and others a small one, beside a constant with the same mean."""
        rng = np.random.default_rng([4, users, int(1000 * share)])
        small, simulations, false = 1 / np.arange(501, 1001), 300, 0
        mean = share + (1 - share) * small.mean()
        for _ in range(simulations):
            hits = rng.random(users) < share
            values = np.where(hits, 1.0, rng.choice(small, users)) - mean
            low, high = mean_interval(values, np.ones(users, dtype=int), (-1.0, 1.0), 0.05)
            false += low > 0 or high < 0
        assert false / simulations <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / simulations)
