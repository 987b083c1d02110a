"""Intervals: against loops over users, the bootstrap of scipy, and enumeration; means are in test_bounded_means.py."""

import numpy as np
import pytest
from read_and import correct
from scipy import stats

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.inference.bounded_means import mean_interval, p_value_of_zero
from sampled_metrics.inference.intervals import IntervalOptions, evaluated, linear, uncertainty

VALUES = np.array([0.0, 0.1, 0.2, 0.5, 1.0])
COUNTS = np.array([31, 9, 5, 4, 2])
USERS = np.repeat(VALUES, COUNTS)


def logarithm(counts):
    """A statistic that is not linear: log(1 + mean), and the variance."""
    users = counts.sum(axis=1)
    mean = counts @ VALUES / users
    return np.stack((np.log1p(mean), counts @ VALUES**2 / users - mean**2), axis=1)


def of_users(users):
    mean = sum(users) / len(users)
    return np.array([np.log1p(mean), sum(each**2 for each in users) / len(users) - mean**2])


def jackknife(statistic, users):
    """Standard error by leaving out one user after the other, as a loop."""
    left_out = [statistic([*users[:at], *users[at + 1 :]]) for at in range(len(users))]
    mean = sum(left_out) / len(users)
    return np.sqrt((len(users) - 1) / len(users) * sum((each - mean) ** 2 for each in left_out))


def of_values(options, counts=COUNTS, values=VALUES, bounds=(0.0, 1.0), **more):
    weights = values[np.newaxis]
    of_statistic = evaluated(linear(weights), counts, options, weights)
    return uncertainty(of_statistic, counts, options, bounds=bounds, weights=weights, **more)


def of_users_values(users, bounds, confidence=0.95, method="delta", **more):
    """The interval of (users,) values, or of (metrics, users) values of as many metrics."""
    weights = np.atleast_2d(users).astype(float)
    ones = np.ones(weights.shape[1], dtype=np.int64)
    options = IntervalOptions(confidence, method)
    values = evaluated(linear(weights), ones, options, weights)
    return uncertainty(values, ones, options, bounds=bounds, weights=weights, **more)


def widened(interval, estimate, users, confidence):
    """The ends of a bootstrap interval with the ratio of Student's and the normal quantile, and of the deviations."""
    tail = 0.5 + confidence / 2
    ratio = stats.t.ppf(tail, users - 1) / stats.norm.ppf(tail) * np.sqrt(users / (users - 1))
    return estimate + ratio * (interval.low - estimate), estimate + ratio * (interval.high - estimate)


class TestDelta:
    @pytest.mark.parametrize("confidence", [0.5, 0.95])
    def test_of_means_is_the_interval_of_bounded_means(self, confidence):
        sure = of_values(IntervalOptions(confidence), test=True)
        ends = mean_interval(VALUES, COUNTS, (0.0, 1.0), 1 - confidence)
        assert (sure.low[0], sure.high[0]) == ends
        assert sure.p_value[0] == p_value_of_zero(VALUES, COUNTS, (0.0, 1.0))
        assert sure.standard_error[0] == pytest.approx(jackknife(np.mean, list(USERS)))

    def test_of_any_statistic_is_the_jackknife(self):
        options = IntervalOptions(method="delta")
        values = evaluated(logarithm, COUNTS, options)
        sure = uncertainty(values, COUNTS, options, bounds=(-1.0, 1.0), differ=20, test=True)
        error, estimate = jackknife(of_users, list(USERS)), of_users(USERS)
        assert sure.standard_error == pytest.approx(error, rel=1e-9)
        ends = stats.t.interval(0.95, len(USERS) - 1, estimate, error)
        assert (sure.low, sure.high) == (pytest.approx(ends[0]), pytest.approx(ends[1]))
        assert sure.p_value == pytest.approx(2 * stats.t.sf(estimate / error, len(USERS) - 1))

    def test_refuses_a_statistic_that_is_not_linear_of_too_many_outcomes(self):
        counts, options = np.ones(301, dtype=int), IntervalOptions(method="delta")
        values = evaluated(lambda counts: counts[:, :1] / 301, counts, options)
        with pytest.raises(DataError, match="300 different outcomes or fewer, not 301; take the bootstrap"):
            uncertainty(values, counts, options, bounds=(0.0, 1.0))


class TestBootstrap:
    def test_of_a_mean_is_never_narrower_than_that_of_the_likelihood_ratio(self):
        low, high = mean_interval(VALUES, COUNTS, (0.0, 1.0), 0.05)
        sure = of_values(IntervalOptions(method="bootstrap"))
        assert sure.low[0] <= low + 1e-12
        assert sure.high[0] >= high - 1e-12
        assert sure.high[0] - sure.low[0] < 1.2 * (high - low)

    def test_of_a_statistic_that_is_not_linear_is_what_scipy_gives(self):
        options = IntervalOptions(0.8, n_resamples=40_000)
        sure = uncertainty(evaluated(logarithm, COUNTS, options), COUNTS, options, bounds=(-9, 9))

        def variance(users, axis):
            return (users**2).mean(axis=axis) - users.mean(axis=axis) ** 2

        other = stats.bootstrap(
            (USERS,), variance, confidence_level=0.8, n_resamples=40_000, method="BCa", rng=np.random.default_rng(5)
        )
        assert sure.standard_error[1] == pytest.approx(other.standard_error, rel=0.02)
        low, high = widened(other.confidence_interval, of_users(USERS)[1], len(USERS), 0.8)
        assert sure.low[1] == pytest.approx(low, abs=0.04 * (high - low))
        assert sure.high[1] == pytest.approx(high, abs=0.04 * (high - low))


class TestFewUsers:
    def test_two_users_are_enough_and_one_is_not(self):
        assert np.isfinite(of_values(IntervalOptions(), np.array([1, 1]), np.array([0.0, 1.0])).low).all()
        with pytest.raises(DataError, match="two users or more, not 1"):
            of_values(IntervalOptions(), np.array([1]), np.array([0.5]))


class TestBounds:
    @pytest.mark.parametrize("method", ["bootstrap", "delta"])
    def test_cut_the_ends(self, method):
        """A mean of values from 0 to 1 is within these, and one of weights from -3 to 3 need not be."""
        counts, values = np.array([3, 1]), np.array([0.0, 1.0])
        assert of_values(IntervalOptions(method=method), counts, values, (-3.0, 3.0)).low[0] < 0
        cut = of_values(IntervalOptions(method=method), counts, values, (0.0, 1.0))
        assert 0 <= cut.low[0] < 1 / 4 < cut.high[0] <= 1

    @pytest.mark.parametrize("counts", [COUNTS, np.array([1, 0, 1, 0, 2]), np.array([0, 0, 0, 0, 4])])
    @pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0), (-0.5, 2.0)])
    def test_of_values_with_the_other_sign_are_mirrored(self, counts, bounds):
        one = of_values(IntervalOptions(), counts, bounds=bounds, test=True)
        other = of_values(IntervalOptions(), counts, -VALUES, (-bounds[1], -bounds[0]), test=True)
        assert (other.low[0], other.high[0]) == pytest.approx((-one.high[0], -one.low[0]), rel=1e-12, abs=1e-15)
        assert other.p_value[0] == pytest.approx(one.p_value[0], rel=1e-9)


class TestOptions:
    @pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.1, np.nan, np.inf, 1 - 1e-16, 95])
    def test_refuses_a_confidence_out_of_range(self, confidence):
        with pytest.raises(ConfigError, match="confidence_level must be above 0 and below 1"):
            IntervalOptions(confidence)

    def test_refuses_an_unknown_method_and_names_those_there_are(self):
        with pytest.raises(ConfigError, match="unknown method 'bca'; it may be bootstrap, delta"):
            IntervalOptions(method="bca")

    @pytest.mark.parametrize("resamples", [100.5, 1000.0, "1000", None, True])
    def test_refuses_resamples_that_are_no_whole_number(self, resamples):
        with pytest.raises(ConfigError, match=r"^n_resamples must be a whole number, 100 or more, not "):
            IntervalOptions(n_resamples=resamples)

    @pytest.mark.parametrize("resamples", [99, 0, -1])
    def test_refuses_too_few_resamples(self, resamples):
        with pytest.raises(ConfigError, match="n_resamples must be from 100 to 1000000"):
            IntervalOptions(n_resamples=resamples)


class TestCoverage:
    """The coverage of a share is a sum over all numbers of hits, not a simulation."""

    @pytest.mark.parametrize(
        ("method", "users", "least", "most"),
        [("delta", 400, 0.93, 0.97), ("bootstrap", 400, 0.93, 0.97), ("delta", 10, 0.92, 1), ("bootstrap", 10, 0.9, 1)],
    )
    @pytest.mark.parametrize("share", [0.1, 0.5])
    def test_of_a_share(self, method, users, least, most, share):
        hits = np.arange(users + 1)
        chances = stats.binom.pmf(hits, users, share)
        covered = np.zeros(users + 1)
        for hit in hits[chances > 1e-4]:
            options = IntervalOptions(method=method, n_resamples=400, seed=int(hit))
            sure = of_values(options, np.array([users - hit, hit]), np.array([0.0, 1.0]))
            covered[hit] = sure.low[0] <= share <= sure.high[0]
        assert least < chances @ covered <= most

    @pytest.mark.parametrize("users", [5, 10, 40])
    @pytest.mark.parametrize("alike", [0.0, 0.7])
    def test_false_alarms(self, users, alike):
        """600 comparisons at once of two recommenders that are equal in the population; some users do not differ."""
        rng = np.random.default_rng([8, users, int(10 * alike)])
        ranks = np.arange(1, 201)
        values = np.where(ranks <= 10, 1 / np.log2(ranks + 1), 0)
        chances = 1 / (ranks + 5)
        one, other = rng.choice(values, size=(2, 600, users), p=chances / chances.sum())
        differences = np.where(rng.random((600, users)) < alike, 0, other - one)
        sure = of_users_values(differences, (-1.0, 1.0))
        assert ((sure.low > 0) | (sure.high < 0)).mean() <= 0.07

    @pytest.mark.parametrize(("differ", "kind"), [(5, "hits"), (10, "reciprocal ranks")])
    def test_false_alarms_of_the_bootstrap_if_few_of_200_users_differ(self, differ, kind):
        """Equal recommenders; BCa alone finds a difference in up to a third of these."""
        ranks = 1 + 1000 * np.random.default_rng([9, differ]).random((2, 120, differ)) ** 3
        values = (ranks <= 50).astype(float) if kind == "hits" else 1 / ranks
        weights = np.append(values[1] - values[0], np.zeros((120, 1)), axis=1)
        counts, options = np.append(np.ones(differ, dtype=int), 200 - differ), IntervalOptions(method="bootstrap")
        of_users = evaluated(linear(weights), counts, options, weights)
        found = uncertainty(of_users, counts, options, bounds=(-1, 1), weights=weights, test=True)
        alarms = (found.low > 0) | (found.high < 0)
        assert ((found.p_value < 0.05) == alarms).all()
        assert alarms.mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 120)


class TestRareHits:
    """30 users of whom nobody is among the first ranks, so that estimates are of the size of rounding errors."""

    RANKS = (7, 55, 20, 101, 3, 90, 44, 60, 12, 33, 71, 15, 88, 29, 50) * 2

    @pytest.mark.parametrize("label", ["mle", "mes", "mes-0.1"])
    def test_the_value_is_inside_and_there_is_a_width(self, label):
        found = correct(
            self.RANKS, candidates=3541, negatives=100, estimators=label, metrics=["recall@1", "recall@10"],
            n_resamples=100,
        )  # fmt: skip
        assert (found["low"] <= found["value"]).all()
        assert (found["value"] <= found["high"]).all()
        assert (found["high"] - found["low"] > 1e-5).all()
