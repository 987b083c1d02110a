"""Intervals of means: against a general solver, closed forms, scipy, and coverage by enumeration."""

import numpy as np
import pytest
from scipy import optimize, stats

from sampled_metrics.errors import DataError
from sampled_metrics.inference.means import (
    SMALLEST_P_VALUE,
    LowerSide,
    intervals,
    mean_interval,
    p_value_of_zero,
    threshold,
)

USERS = np.repeat([0.0, 0.1, 0.2, 0.5, 1.0], [31, 9, 5, 4, 2])
UNIT, ANY = (0.0, 1.0), (-np.inf, np.inf)


def deviance(values, counts, mean, bound):
    """max over λ of Σ log(1 + λ (y - mean)) with 1 + λ (bound - mean) >= 0, by a general solver."""
    most = (1 - 1e-13) / abs(mean - bound)
    sign = np.sign(mean - bound)
    solved = optimize.minimize_scalar(
        lambda size: -(counts @ np.log1p(sign * size * (values - mean))),
        bounds=(0, most),
        method="bounded",
        options={"xatol": 1e-14},
    )
    return max(-solved.fun, counts @ np.log1p(sign * most * (values - mean)))


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


@pytest.mark.parametrize("number", range(30))
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


def found(low, high=None, bounds=UNIT, limits=None, alpha=0.05):
    """The intervals of (metrics, users) values of as many metrics with the same bounds."""
    low = np.atleast_2d(low).astype(float)
    high = low if high is None else np.atleast_2d(high).astype(float)
    limits = [bounds if limits is None else limits] * len(low)
    return intervals(low, high, np.array([[bounds, bounds]] * len(low)), np.array(limits), alpha, test=True)


def ends(of_one):
    return of_one.low[0], of_one.high[0]


class TestIntervals:
    @pytest.mark.parametrize("alpha", [0.5, 0.05])
    def test_of_values_are_those_of_their_counts(self, alpha):
        values, counts = np.unique(USERS, return_counts=True)
        of_values = found(USERS, alpha=alpha)
        assert ends(of_values) == mean_interval(values, counts, UNIT, alpha)
        assert of_values.p_value[0] == p_value_of_zero(values, counts, UNIT)
        assert of_values.standard_error[0] == pytest.approx(stats.sem(USERS))

    def test_between_two_means_are_from_the_end_of_one_to_that_of_the_other(self):
        both = found(USERS - 0.2, USERS + 0.1, (-1.0, 2.0))
        low, high = found(USERS - 0.2, bounds=(-1.0, 2.0)), found(USERS + 0.1, bounds=(-1.0, 2.0))
        assert ends(both) == (low.low[0], high.high[0])
        assert np.isnan(both.standard_error[0])

    @pytest.mark.parametrize("shift", [-0.5, -0.1, 0.2])
    def test_between_two_means_have_the_p_value_that_is_the_interval_inverted(self, shift):
        given = USERS + shift - 0.05, USERS + shift + 0.05, (-2.0, 2.0)
        [p_value] = found(*given).p_value
        assert (p_value == 1) == (given[0].mean() <= 0 <= given[1].mean())
        for factor, excludes in ((0.999, False), (1.001, True)) if p_value < 1 else ((1 - 1e-9, False),):
            low, high = ends(found(*given, alpha=factor * p_value))
            assert (low > 0 or high < 0) == excludes

    def test_of_a_metric_that_is_not_defined_are_missing_and_the_others_are_not(self):
        rows = np.stack((USERS, np.append(USERS[1:], np.nan), USERS))
        of_three = found(rows, alpha=np.array([0.05, 0.05, 0.5]))
        alone = found(USERS), found(USERS, alpha=0.5)
        for name in ("low", "high", "standard_error", "p_value"):
            first, second, third = getattr(of_three, name)
            assert np.isnan(second)
            assert (first, third) == tuple(getattr(one, name)[0] for one in alone)

    def test_are_within_the_limits(self):
        """A mean of values from 0 to 1 is within these, and one of weights from -3 to 3 need not be."""
        values = [0.0, 0.0, 0.0, 1.0]
        assert found(values, bounds=(-3.0, 3.0)).low[0] < 0
        low, high = ends(found(values, bounds=(-3.0, 3.0), limits=UNIT))
        assert 0 == low < 1 / 4 < high <= 1

    @pytest.mark.parametrize("values", [USERS, np.ones(4)], ids=len)
    @pytest.mark.parametrize("bounds", [(0.0, 1.0), (-0.5, 2.0), ANY])
    def test_of_values_with_the_other_sign_are_mirrored(self, values, bounds):
        one = found(values, bounds=bounds, limits=(-0.5, 2.0))
        other = found(-values, bounds=(-bounds[1], -bounds[0]), limits=(-2.0, 0.5))
        assert ends(other) == pytest.approx((-one.high[0], -one.low[0]), rel=1e-12, abs=1e-15)
        assert other.p_value[0] == pytest.approx(one.p_value[0], rel=1e-9)

    def test_need_two_users(self):
        assert np.isfinite(ends(found([0.0, 1.0]))).all()
        with pytest.raises(DataError, match="two users or more, not 1"):
            found([0.5])


class TestWithoutBounds:
    """The interval of Student, for pseudo-values."""

    @pytest.mark.parametrize("confidence", [0.5, 0.95])
    def test_of_any_values_are_those_of_scipy(self, confidence):
        values = np.random.default_rng(2).normal(0.05, 0.2, 30)
        of_values, test = (
            found(values, bounds=ANY, limits=(-9.0, 9.0), alpha=1 - confidence),
            stats.ttest_1samp(values, 0),
        )
        expected = test.confidence_interval(confidence)
        assert ends(of_values) == pytest.approx((expected.low, expected.high))
        assert of_values.p_value[0] == pytest.approx(test.pvalue)
        assert of_values.standard_error[0] == pytest.approx(stats.sem(values))

    @pytest.mark.parametrize("value", [0.0, 0.3, 1.0, -0.02])
    def test_of_users_who_are_all_alike_are_those_with_a_few_more_at_the_limits(self, value):
        t = stats.t.ppf(0.975, 39)
        of_values = found(np.full(40, value), bounds=ANY, limits=(-1.0, 1.0))
        expected = [(40 * value + t**2 * limit) / (40 + t**2) for limit in (-1.0, 1.0)]
        assert ends(of_values) == pytest.approx(tuple(expected))
        [p_value] = of_values.p_value
        assert (p_value == 1) == (value == 0)
        if value:
            low, high = ends(found(np.full(40, value), bounds=ANY, limits=(-1.0, 1.0), alpha=p_value))
            assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-9)


class TestCoverage:
    @pytest.mark.parametrize(("users", "least", "most"), [(400, 0.93, 0.97), (10, 0.92, 1)])
    @pytest.mark.parametrize("share", [0.1, 0.5])
    def test_of_a_share_by_enumeration(self, users, least, most, share):
        """The sum over all numbers of hits, not a simulation."""
        hits = np.arange(users + 1)
        chances = stats.binom.pmf(hits, users, share)
        low, high = np.transpose([ends(found(np.arange(users) < hit)) for hit in hits[chances > 1e-4]])
        covered = chances[chances > 1e-4] @ ((low <= share) & (share <= high))
        assert least < covered <= most

    @pytest.mark.parametrize("users", [5, 40])
    @pytest.mark.parametrize("alike", [0.0, 0.7])
    def test_false_alarms(self, users, alike):
        """600 comparisons at once of two recommenders that are equal in the population; some users do not differ."""
        rng = np.random.default_rng([8, users, int(10 * alike)])
        ranks = np.arange(1, 201)
        values, chances = np.where(ranks <= 10, 1 / np.log2(ranks + 1), 0), 1 / (ranks + 5)
        one, other = rng.choice(values, size=(2, 600, users), p=chances / chances.sum())
        of_all = found(np.where(rng.random((600, users)) < alike, 0, other - one), bounds=(-1.0, 1.0))
        alarms = (of_all.low > 0) | (of_all.high < 0)
        assert ((of_all.p_value < 0.05) == alarms).all()
        assert alarms.mean() <= 0.07


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
    side = LowerSide.from_values(values, np.ones(1000, dtype=int), np.array([0.0, 1.0]))
    seen, original = [], LowerSide._deviance
    try:
        LowerSide._deviance = lambda self, tilt: seen.append(tilt) or original(self, tilt)
        side.depth(0.05)
    finally:
        LowerSide._deviance = original
    assert len(seen) <= 10


@pytest.mark.parametrize("users", [30, 100, 400])
@pytest.mark.parametrize("share", [0.004, 0.03, 0.1])
def test_false_verdicts_of_rare_hits_are_rare_for_equal_means(users, share):
    """A share of the users has the value 1, and others a small one, beside a constant with the same mean."""
    rng = np.random.default_rng([4, users, int(1000 * share)])
    small, simulations = 1 / np.arange(501, 1001), 300
    mean = share + (1 - share) * small.mean()
    values = np.where(rng.random((simulations, users)) < share, 1.0, rng.choice(small, (simulations, users))) - mean
    of_all = found(values, bounds=(-1.0, 1.0))
    false = ((of_all.low > 0) | (of_all.high < 0)).mean()
    assert false <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / simulations)
