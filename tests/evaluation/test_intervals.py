"""Intervals: against loops over users, scipy's bootstrap, enumeration, and what a binomial share must give."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.evaluation import intervals as module
from sampled_metrics.evaluation.intervals import IntervalOptions, linear, uncertainty

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


def of_values(options, counts=COUNTS, values=VALUES, **more):
    weights = values[np.newaxis]
    return uncertainty(linear(weights), counts, options, weights=weights, **more)


class TestDelta:
    def test_of_a_mean_is_the_standard_error_of_textbooks(self):
        sure = of_values(IntervalOptions(method="delta"))
        error = USERS.std(ddof=1) / np.sqrt(len(USERS))
        assert sure.standard_error[0] == pytest.approx(error, rel=1e-12)
        assert sure.low[0] == pytest.approx(USERS.mean() - 1.959963984540054 * error, rel=1e-12)
        assert sure.high[0] == pytest.approx(USERS.mean() + 1.959963984540054 * error, rel=1e-12)
        assert sure.positive[0] == pytest.approx(stats.norm.sf(0, USERS.mean(), error), rel=1e-12)

    def test_of_any_statistic_is_the_jackknife(self):
        sure = uncertainty(logarithm, COUNTS, IntervalOptions(method="delta"))
        assert sure.standard_error == pytest.approx(jackknife(of_users, list(USERS)), rel=1e-9)

    def test_does_not_mind_outcomes_that_nobody_had(self):
        counts = np.array([31, 0, 5, 0, 2])
        sure = uncertainty(logarithm, counts, IntervalOptions(method="delta"))
        assert sure.standard_error == pytest.approx(jackknife(of_users, list(np.repeat(VALUES, counts))), rel=1e-9)

    def test_is_wider_with_more_confidence(self):
        narrow, wide = (of_values(IntervalOptions(confidence, "delta")) for confidence in (0.5, 0.999))
        assert wide.low < narrow.low < narrow.high < wide.high
        assert narrow.standard_error == wide.standard_error
        reach = stats.norm.ppf(0.9995) / stats.norm.ppf(0.75)
        assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx([reach])

    def test_refuses_a_statistic_that_is_not_linear_of_too_many_outcomes(self):
        counts = np.ones(301, dtype=int)
        with pytest.raises(DataError, match="300 different outcomes or fewer, not 301; take the bootstrap"):
            uncertainty(lambda counts: counts[:, :1] / 301, counts, IntervalOptions(method="delta"))


class TestBootstrap:
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_of_a_mean_is_what_scipy_gives(self, confidence):
        sure = of_values(IntervalOptions(confidence, n_resamples=40_000))
        other = stats.bootstrap(
            (USERS,),
            np.mean,
            confidence_level=confidence,
            n_resamples=40_000,
            method="BCa",
            rng=np.random.default_rng(5),
        )
        assert sure.standard_error[0] == pytest.approx(other.standard_error, rel=0.02)
        width = other.confidence_interval.high - other.confidence_interval.low
        assert sure.low[0] == pytest.approx(other.confidence_interval.low, abs=0.02 * width)
        assert sure.high[0] == pytest.approx(other.confidence_interval.high, abs=0.02 * width)
        # the interval is not the symmetric one: the values are skewed
        assert sure.high[0] - USERS.mean() > 1.1 * (USERS.mean() - sure.low[0])

    def test_of_a_statistic_that_is_not_linear_is_what_scipy_gives(self):
        sure = uncertainty(logarithm, COUNTS, IntervalOptions(0.8, n_resamples=40_000))

        def variance(users, axis):
            return (users**2).mean(axis=axis) - users.mean(axis=axis) ** 2

        other = stats.bootstrap(
            (USERS,), variance, confidence_level=0.8, n_resamples=40_000, method="BCa", rng=np.random.default_rng(5)
        )
        assert sure.standard_error[1] == pytest.approx(other.standard_error, rel=0.02)
        width = other.confidence_interval.high - other.confidence_interval.low
        assert sure.low[1] == pytest.approx(other.confidence_interval.low, abs=0.04 * width)
        assert sure.high[1] == pytest.approx(other.confidence_interval.high, abs=0.04 * width)

    def test_of_more_outcomes_than_are_left_out_is_without_acceleration(self):
        """Without acceleration BCa is BC, whose levels are Φ(2 z0 ± 1.96); with 300 or fewer it is accelerated."""
        rng = np.random.default_rng(3)
        values = rng.exponential(size=400)
        ones = np.ones(400, dtype=int)

        def mean(counts):
            return (counts @ values / counts.sum(axis=1))[:, np.newaxis]

        without = uncertainty(mean, ones, IntervalOptions(n_resamples=20_000))
        with_it = of_values(IntervalOptions(n_resamples=20_000), ones, values)
        assert with_it.low > without.low
        assert with_it.high > without.high
        replicates = rng.choice(values, size=(20_000, 400)).mean(axis=1)
        shift = stats.norm.ppf((replicates < values.mean()).mean())
        for end, tail in ((without.low, 0.025), (without.high, 0.975)):
            level = stats.norm.cdf(2 * shift + stats.norm.ppf(tail))
            assert end[0] == pytest.approx(np.quantile(replicates, level), abs=0.1 * replicates.std())

    def test_chance_above_zero_is_that_of_enumeration(self):
        """Two users at +1, one at -1.5, one at 0: 4⁴ equally likely resamples; a sum of 0 is half a chance."""
        values, counts = np.array([-1.5, 0.0, 1.0]), np.array([1, 1, 2])
        users = np.repeat(values, counts)
        sums = np.array([sum(each) for each in product(users, repeat=4)])
        chance = (sums > 0).mean() + (sums == 0).mean() / 2
        sure = of_values(IntervalOptions(n_resamples=100_000), counts, values)
        assert sure.positive[0] == pytest.approx(chance, abs=4 * np.sqrt(0.25 / 100_000))
        assert sure.standard_error[0] == pytest.approx(users.std() / 2, rel=0.02)

    def test_percentiles_of_a_binomial_share(self):
        """200 users, 60 hits: a symmetric-looking share, whose BCa ends differ little from Wilson's score interval."""
        sure = of_values(IntervalOptions(n_resamples=20_000), np.array([140, 60]), np.array([0.0, 1.0]))
        wilson = stats.binomtest(60, 200).proportion_ci(method="wilson")
        assert sure.low[0] == pytest.approx(wilson.low, abs=0.006)
        assert sure.high[0] == pytest.approx(wilson.high, abs=0.006)

    def test_same_seed_same_numbers_and_another_seed_others(self):
        first, again, other = (of_values(IntervalOptions(seed=seed)) for seed in (7, 7, 8))
        assert (first.low, first.high, first.standard_error) == (again.low, again.high, again.standard_error)
        assert first.standard_error != other.standard_error

    def test_does_not_depend_on_the_block_size(self, monkeypatch):
        whole = of_values(IntervalOptions())
        monkeypatch.setattr(module, "_BLOCK", 5 * 37)  # 28 blocks of samples, the last one smaller
        assert of_values(IntervalOptions()).low == whole.low

    def test_watch_sees_the_blocks(self, monkeypatch):
        monkeypatch.setattr(module, "_BLOCK", 5 * 400)
        seen = []

        def progress(blocks):
            for block in blocks:
                seen.append(block)
                yield block

        of_values(IntervalOptions(n_resamples=1000), progress=progress)
        assert seen == [0, 400, 800]

    def test_draws_as_many_users_as_there_are(self):
        sizes = []

        def statistic(counts):
            sizes.extend(counts.sum(axis=1))
            return counts @ VALUES[:, np.newaxis] / counts.sum(axis=1, keepdims=True)

        uncertainty(statistic, COUNTS, IntervalOptions(n_resamples=100))
        assert sizes.count(51) == 101
        assert sizes.count(50) == 5  # each outcome left out once
        assert len(sizes) == 106


class TestWhereNothingVaries:
    @pytest.mark.parametrize("method", ["bootstrap", "delta"])
    @pytest.mark.parametrize(("value", "positive"), [(0.25, 1.0), (0.0, 0.5), (-0.25, 0.0)])
    def test_the_interval_is_the_value(self, method, value, positive):
        sure = of_values(IntervalOptions(method=method), np.array([5]), np.array([value]))
        assert (sure.low[0], sure.high[0], sure.standard_error[0]) == (value, value, 0)
        assert sure.positive[0] == positive

    def test_two_users_are_enough_and_one_is_not(self):
        assert np.isfinite(of_values(IntervalOptions(), np.array([1, 1]), np.array([0.0, 1.0])).low).all()
        with pytest.raises(DataError, match="two users or more, not 1"):
            of_values(IntervalOptions(), np.array([1]), np.array([0.5]))


class TestOptions:
    @pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.1, np.nan, np.inf, 1 - 1e-16, 95])
    def test_refuses_a_confidence_out_of_range(self, confidence):
        with pytest.raises(ConfigError, match="confidence_level must be above 0 and below 1"):
            IntervalOptions(confidence)

    @pytest.mark.parametrize("confidence", [1e-12, 0.5, 1 - 1e-12])
    def test_takes_every_confidence_between(self, confidence):
        for method in ("bootstrap", "delta"):
            sure = of_values(IntervalOptions(confidence, method))
            assert (sure.low <= sure.high).all()

    def test_refuses_an_unknown_method_and_names_those_there_are(self):
        with pytest.raises(ConfigError, match="unknown method 'bca'; it may be bootstrap, delta"):
            IntervalOptions(method="bca")

    @pytest.mark.parametrize("confidence", ["0.9", None, [0.9], True, np.array(0.9)])
    def test_refuses_a_confidence_that_is_no_number(self, confidence):
        with pytest.raises(ConfigError, match=r"^confidence_level must be a number above 0 and below 1, not "):
            IntervalOptions(confidence)

    @pytest.mark.parametrize("resamples", [100.5, 1000.0, "1000", None, True])
    def test_refuses_resamples_that_are_no_whole_number(self, resamples):
        with pytest.raises(ConfigError, match=r"^n_resamples must be a whole number, 100 or more, not "):
            IntervalOptions(n_resamples=resamples)

    @pytest.mark.parametrize("seed", [-1, 1.5, None, "1", True, [1, 2]])
    def test_refuses_a_seed_that_is_no_whole_number_from_0(self, seed):
        with pytest.raises(ConfigError, match=r"^seed must be a whole number, 0 or more, not "):
            IntervalOptions(seed=seed)

    @pytest.mark.parametrize("resamples", [99, 0, -1])
    def test_refuses_too_few_resamples(self, resamples):
        with pytest.raises(ConfigError, match="n_resamples must be from 100 to 1000000"):
            IntervalOptions(n_resamples=resamples)


class TestCoverage:
    """2000 evaluations of 400 users each, P(hit) = 0.1: nominal 95 %, standard error 0.5 %."""

    @pytest.mark.parametrize(("method", "resamples"), [("delta", 1000), ("bootstrap", 400)])
    def test_of_a_share(self, method, resamples):
        hits = np.random.default_rng(11).binomial(400, 0.1, size=2000)
        chance = dict(enumerate(stats.binom.pmf(np.arange(401), 400, 0.1)))
        covered = {}
        for hit in np.unique(hits):
            options = IntervalOptions(method=method, n_resamples=resamples, seed=int(hit))
            sure = of_values(options, np.array([400 - hit, hit]), np.array([0.0, 1.0]))
            covered[hit] = bool(sure.low[0] <= 0.1 <= sure.high[0])
        # the coverage is a sum over what can happen, not a simulation, but for the tails that were never drawn
        assert sum(chance[hit] for hit in covered) > 0.99
        assert 0.93 < sum(chance[hit] * covered[hit] for hit in covered) < 0.97


def test_linear_is_the_mean_of_weights():
    weights = np.array([[0.0, 1.0, 4.0], [1.0, 1.0, 1.0]])
    assert linear(weights)(np.array([[1, 2, 1], [0, 0, 5]])) == pytest.approx(np.array([[1.5, 1.0], [4.0, 1.0]]))


def test_the_bootstrap_of_a_share_is_binomial():
    """3 of 10 users hit: P(k hits in a resample) = C(10, k) 0.3^k 0.7^(10-k)."""
    seen = []

    def share(counts):
        seen.append(counts[:, 1])
        return counts[:, 1:] / 10.0

    uncertainty(share, np.array([7, 3]), IntervalOptions(n_resamples=50_000), weights=np.array([[0.0, 1.0]]))
    hits = np.concatenate([part for part in seen if len(part) > 1])
    for k in range(8):
        chance = comb(10, k) * 0.3**k * 0.7 ** (10 - k)
        assert (hits == k).mean() == pytest.approx(chance, abs=4 * np.sqrt(chance / 50_000))
