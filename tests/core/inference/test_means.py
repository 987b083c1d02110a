"""Intervals of means: by a general solver, in closed form, and by how often they hold."""

import numpy as np
import pytest
from scipy import optimize, stats

from sampled_metrics.core.inference.means import (
    SMALLEST_P_VALUE,
    intervals,
    mean_interval,
    p_value_of_zero,
    threshold,
)

USERS = np.repeat([0.0, 0.1, 0.2, 0.5, 1.0], [31, 9, 5, 4, 2])
UNIT = (0.0, 1.0)
ANY = (-np.inf, np.inf)


def intervals_of(low, high=None, bounds=UNIT, limits=None, alpha=0.05):
    """The intervals of (metrics, users) values of as many metrics with the same bounds."""
    low = np.atleast_2d(low).astype(float)
    high = low if high is None else np.atleast_2d(high).astype(float)
    bounds_of_all = np.array([[bounds, bounds]] * len(low))
    limits_of_all = np.array([bounds if limits is None else limits] * len(low))
    return intervals(low, high, bounds_of_all, limits_of_all, alpha, test=True)


def ends(interval):
    return interval.low[0], interval.high[0]


def deviance(values, counts, mean, bound):
    """max over λ of Σ log(1 + λ (y - mean)) with 1 + λ (bound - mean) >= 0."""
    largest = (1 - 1e-13) / abs(mean - bound)
    sign = np.sign(mean - bound)
    solution = optimize.minimize_scalar(
        lambda size: -(counts @ np.log1p(sign * size * (values - mean))),
        bounds=(0, largest),
        method="bounded",
        options={"xatol": 1e-14},
    )
    assert solution.success, solution.message
    return max(-solution.fun, counts @ np.log1p(sign * largest * (values - mean)))


def deciding(values, counts, bound):
    """k of the end on the side of a bound, as a loop over users."""
    users = np.repeat(values, counts)
    towards = np.sign(bound - users.mean()) * (users - users.mean())
    near_side = [*towards[towards > 1e-12], abs(bound - users.mean())]
    far_side = towards[towards < -1e-12]

    def number_of_users(distances):
        return np.sum(np.square(distances)) ** 2 / np.sum(np.power(distances, 4))

    if not len(far_side):
        return number_of_users(near_side)
    return min(number_of_users(near_side), number_of_users(far_side) + 1)


@pytest.mark.parametrize("number", range(16))
def test_ends_are_where_a_general_solver_reaches_the_threshold_and_the_p_value_inverts_them(number):
    """Values with counts and bounds: some at a bound, some all alike."""
    rng = np.random.default_rng(number)
    size = rng.integers(2, 30)
    smallest = -0.2 - rng.random()
    largest = 0.2 + rng.random()
    bounds = (smallest, largest)
    values = rng.uniform(*bounds, size)
    counts = rng.integers(1, 4, size)
    alpha = 10 ** -rng.uniform(0.3, 5)
    values[: rng.integers(0, size) * (number % 3 == 0)] = smallest
    values[: rng.integers(0, size) * (number % 4 == 0)] = largest
    values[: size * (number % 7 == 0)] = values[0]
    for end, bound in zip(mean_interval(values, counts, bounds, alpha), bounds, strict=True):
        if abs(end - bound) > 1e-9:
            limit = threshold(alpha, deciding(values, counts, bound))
            assert deviance(values, counts, end, bound) == pytest.approx(limit, rel=1e-5)
    p_value = p_value_of_zero(values, counts, bounds)
    assert SMALLEST_P_VALUE <= p_value <= 1
    for factor, excludes in ((1.001, True), (0.999, False)) if p_value < 1 else ():
        low, high = mean_interval(values, counts, bounds, p_value * factor)
        assert (low > 0 or high < 0) == excludes


@pytest.mark.parametrize(("users", "alpha"), [(2, 0.3), (100, 1e-6), (10**6, 0.05)])
def test_of_users_who_are_all_alike_a_bound_may_have_the_share_that_nobody_shows(users, alpha):
    unseen = 1 - (alpha / 2) ** (1 / users)
    for value in (0.0, 0.3, 1.0):
        low, high = mean_interval(np.array([value]), np.array([users]), UNIT, alpha)
        assert (low, high) == pytest.approx(
            (value * (1 - unseen), value + unseen * (1 - value)), rel=1e-9
        )


def test_the_threshold_is_that_of_chi_square_for_many_and_of_an_unseen_value_for_one():
    assert threshold(0.05, 1) == pytest.approx(np.log(40))
    assert threshold(0.05, 1e9) == pytest.approx(stats.chi2.isf(0.05, 1) / 2)


@pytest.mark.parametrize("alpha", [0.5, 0.05])
def test_intervals_without_bounds_are_those_of_student(alpha):
    values = np.random.default_rng(1).normal(0.1, 0.2, 30)
    interval = intervals_of(values, bounds=ANY, limits=(-9.0, 9.0), alpha=alpha)
    test = stats.ttest_1samp(values, 0)
    assert ends(interval) == pytest.approx([*test.confidence_interval(1 - alpha)])
    assert interval.p_value[0] == pytest.approx(test.pvalue)
    assert interval.standard_error[0] == pytest.approx(stats.sem(values))


def test_each_metric_has_the_interval_of_its_values_and_is_missing_where_it_is_not_defined():
    values, counts = np.unique(USERS, return_counts=True)
    metrics = np.stack((USERS, np.append(USERS[1:], np.nan), USERS))
    interval = intervals_of(metrics, alpha=np.array([0.05, 0.05, 0.5]))
    for name in ("low", "high", "standard_error", "p_value"):
        assert np.isnan(getattr(interval, name)).tolist() == [False, True, False]
    for at, alpha in ((0, 0.05), (2, 0.5)):
        assert (interval.low[at], interval.high[at]) == mean_interval(values, counts, UNIT, alpha)
        assert interval.p_value[at] == p_value_of_zero(values, counts, UNIT)
        assert interval.standard_error[at] == pytest.approx(stats.sem(USERS))


@pytest.mark.parametrize("shift", [-0.5, -0.1, 0.2])
def test_between_two_means_are_from_the_end_of_one_to_that_of_the_other(shift):
    smaller = USERS + shift - 0.05
    larger = USERS + shift + 0.05
    bounds = (-2.0, 2.0)
    between = intervals_of(smaller, larger, bounds)
    assert between.low[0] == intervals_of(smaller, bounds=bounds).low[0]
    assert between.high[0] == intervals_of(larger, bounds=bounds).high[0]
    assert np.isnan(between.standard_error[0])
    [p_value] = between.p_value
    assert (p_value == 1) == (smaller.mean() <= 0 <= larger.mean())
    for factor, excludes in (
        ((0.999, False), (1.001, True)) if p_value < 1 else ((1 - 1e-9, False),)
    ):
        low, high = ends(intervals_of(smaller, larger, bounds, alpha=factor * p_value))
        assert (low > 0 or high < 0) == excludes


def test_intervals_are_within_the_limits_and_a_single_user_has_none():
    """A mean of values from 0 to 1 is within these, and one of weights from -3 to 3 need not be."""
    values = [0.0, 0.0, 0.0, 1.0]
    assert intervals_of(values, bounds=(-3.0, 3.0)).low[0] < 0
    low, high = ends(intervals_of(values, bounds=(-3.0, 3.0), limits=UNIT))
    assert 0 == low < 1 / 4 < high <= 1
    single = intervals_of([0.5])
    assert np.isnan([single.low, single.high, single.standard_error, single.p_value]).all()


@pytest.mark.parametrize("value", [0.0, 0.3])
def test_without_bounds_users_who_are_all_alike_are_those_with_a_few_more_at_the_limits(value):
    t = stats.t.ppf(0.975, 39)
    options = {"bounds": ANY, "limits": (-1.0, 1.0)}
    interval = intervals_of(np.full(40, value), **options)
    assert ends(interval) == pytest.approx(
        tuple((40 * value + t**2 * limit) / (40 + t**2) for limit in (-1, 1))
    )
    low, _ = ends(intervals_of(np.full(40, value), **options, alpha=interval.p_value[0]))
    assert low == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("users", "smallest", "largest"), [(400, 0.93, 0.97), (10, 0.92, 1)])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_coverage_of_a_share_by_the_sum_over_all_numbers_of_hits(users, smallest, largest, share):
    hits = np.arange(users + 1)
    chances = stats.binom.pmf(hits, users, share)
    is_likely = chances > 1e-4
    low, high = np.transpose(
        [ends(intervals_of(np.arange(users) < number)) for number in hits[is_likely]]
    )
    coverage = chances[is_likely] @ ((low <= share) & (share <= high))
    assert smallest < coverage <= largest
