"""The spread of seeds: by textbooks, in closed form, by an integral, and by coverage.

benchmarks/seeds.py counts the false verdicts of families.
"""

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.core.inference.means import Intervals, intervals
from sampled_metrics.core.inference.seeds import SeedSpread, pooled, with_seeds


def ends(interval):
    return interval.low[0], interval.high[0]


FAR = np.array([[-99.0, 99.0]])
FARTHER = np.array([[-1e30, 1e30]])


def values_of_seeds(rng, seeds, spread, both, users=200):
    """(seeds, 1, users) values: a part of the seed, and one of both."""
    return rng.normal(0, spread, (seeds, 1, 1)) + rng.normal(0, both, (seeds, 1, users))


def test_the_spread_is_that_of_the_two_way_analysis_of_variance():
    """Expected mean squares of textbooks: σ_c² + 30 σ_b² between seeds, σ_c² of the interaction."""
    y = values_of_seeds(np.random.default_rng(1), 4, 0.5, 1.0, users=30)
    table = y[:, 0]
    grand = table.mean()
    rows = table.mean(axis=1)
    columns = table.mean(axis=0)
    between = 30 * ((rows - grand) ** 2).sum() / 3
    rest = sum(
        (table[s, u] - rows[s] - columns[u] + grand) ** 2 for s in range(4) for u in range(30)
    ) / (3 * 29)
    spread = SeedSpread.from_seeds(y.mean(axis=2), y)
    assert spread.variance[0] == pytest.approx(between / 30 / 4)
    assert spread.interaction[0] == pytest.approx(rest / 30 / 4)
    assert spread.freedom == 3
    same = np.repeat(y[:1], 3, axis=0)
    assert SeedSpread.from_seeds(same.mean(axis=2), same).variance[0] == pytest.approx(0, abs=1e-20)


def spread_of(*metrics):
    """The spread of a recommender by (metrics, seeds) estimates, without interaction."""
    points = np.array(metrics)
    return SeedSpread(
        points.var(axis=1, ddof=1) / points.shape[1], np.zeros(len(points)), points.shape[1] - 1
    )


def widened_by(spreads, mean, error, alpha=0.05):
    """The widened intervals of (metrics,) means, if those over users have no width of their own."""
    mean = np.atleast_1d(np.asarray(mean, dtype=float))
    zeros = np.zeros_like(mean)
    interval = Intervals(low=mean, high=mean, standard_error=zeros + error, p_value=zeros)
    return with_seeds(interval, mean, spreads, np.repeat(FARTHER, len(mean), axis=0), alpha)


def half_width(spreads, error, alpha=0.05):
    widened = widened_by(spreads, 0.0, error, alpha)
    return (widened.high[0] - widened.low[0]) / 2


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 45])
def test_the_interval_of_seeds_alone_is_that_of_student(alpha):
    seeds = [0.21, 0.25, 0.19, 0.24, 0.28]
    expected = stats.ttest_1samp(seeds, 0.0)
    widened = widened_by([spread_of(seeds)], np.mean(seeds), error=0.0, alpha=alpha)
    assert ends(widened) == pytest.approx(expected.confidence_interval(1 - alpha))
    assert widened.p_value[0] == pytest.approx(expected.pvalue)
    assert widened.standard_error[0] == pytest.approx(stats.sem(seeds))


@pytest.mark.parametrize("number", [1, 2])
def test_seeds_that_do_not_differ_leave_the_users_alone(number):
    widened = widened_by([spread_of([0.3, 0.3, 0.3])] * number, 0.2, error=0.1)
    assert ends(widened) == pytest.approx((0.2 - 1.959964 * 0.1, 0.2 + 1.959964 * 0.1))
    assert widened.p_value[0] == pytest.approx(2 * stats.norm.sf(2.0))
    wider = Intervals(
        low=np.array([-0.4]),
        high=np.array([0.9]),
        standard_error=np.array([0.1]),
        p_value=np.array([0.3]),
    )
    kept = with_seeds(wider, np.array([0.2]), [spread_of([0.3, 0.3, 0.3])] * number, FAR, 0.05)
    assert (*ends(kept), kept.p_value[0]) == (-0.4, 0.9, 0.3)


def test_what_both_users_and_seeds_show_counts_once():
    """Of the users' variance of 25, the interaction is 9, and is in the seeds' variance, too."""
    spread = SeedSpread(np.array([16.0]), np.array([9.0]), freedom=10**6)
    assert half_width([spread], 5.0) == pytest.approx(1.959964 * np.sqrt(25 - 9 + 16), rel=1e-5)


def tail_by_integral(points_a, points_b, distance):
    """P(|d| >= distance) by a sum over both deviations.

    The prior is that of their ratio, and a flat one of their product. A coarser and a narrower grid
    give the same.
    """
    logs = np.linspace(-14, 14, 351)
    log_a, log_b = np.meshgrid(logs, logs, indexing="ij")
    seeds = np.array([len(points_a), len(points_b)])
    scale = 0.7 + 2 * (1 - seeds.min() / seeds.max())
    weight = np.exp(-(((log_a - log_b) / scale) ** 2) / 2) + 0.01 * (seeds.sum() - 2)
    for points, log in ((points_a, log_a), (points_b, log_b)):
        freedom = len(points) - 1
        weight *= np.exp(-freedom * log - freedom * np.var(points, ddof=1) / np.exp(2 * log) / 2)
    deviation = np.sqrt(np.exp(2 * log_a) / seeds[0] + np.exp(2 * log_b) / seeds[1])
    tail = weight * 2 * stats.norm.sf(distance / deviation)

    def integral(points):
        return tail[points, points].sum() / weight[points, points].sum()

    every_second = slice(None, None, 2)
    narrower = slice(25, -25)
    for points in (every_second, narrower):
        assert integral(points) == pytest.approx(integral(slice(None)), rel=5e-4)
    return integral(slice(None))


PAIRS = {
    "two each": ([0.1, 1.3], [0.4, 1.4]),
    "two, one steady": ([0.1, 1.3], [0.40, 0.41]),
    "two and four": ([0.0, 0.9], [0.4, 1.4, 0.2, 3.1]),
    "five and three": ([0.0, 0.9, 0.3, 1.4, 0.2], [1.3, 1.2, 0.7]),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("distance", [0.5, 3.0, 20.0])
def test_the_p_value_of_two_recommenders_is_an_integral_over_their_deviations(pair, distance):
    spreads = [spread_of(points) for points in pair]
    p_value = widened_by(spreads, distance, error=0.0).p_value[0]
    assert p_value == pytest.approx(tail_by_integral(*pair, distance), rel=1e-3)
    assert half_width(spreads, 0.0, alpha=p_value) == pytest.approx(distance, rel=1e-9)


def test_many_seeds_are_known_as_users_are():
    rng = np.random.default_rng(3)
    a = rng.normal(0, 1, 2000)
    b = rng.normal(0, 2, 1000)
    expected = 1.96 * np.sqrt(a.var() / 2000 + b.var() / 1000 + 0.05**2)
    assert half_width([spread_of(a), spread_of(b)], 0.05) == pytest.approx(expected, rel=3e-3)


def random_cases(count):
    """Means, spreads of two recommenders, and users' errors, of deviations from .01 to 100."""
    rng = np.random.default_rng(7)
    spreads = [
        SeedSpread(np.exp(rng.normal(0, 2, count)), np.zeros(count), freedom) for freedom in (1, 4)
    ]
    return rng.normal(0, 4, count), spreads, np.exp(rng.normal(0, 2, count))


@pytest.mark.parametrize("number", [1, 2])
def test_the_p_value_is_the_interval_inverted(number):
    means, spreads, error = random_cases(60)
    at_five = widened_by(spreads[:number], means, error)
    assert ((at_five.p_value < 0.05) == ((at_five.low > 0) | (at_five.high < 0))).all()
    at_p_value = widened_by(spreads[:number], means, error, alpha=at_five.p_value)
    nearest = np.where(means > 0, at_p_value.low, at_p_value.high)
    assert np.abs(nearest) == pytest.approx(np.zeros(60), abs=1e-8)


def test_neither_the_order_of_recommenders_nor_the_unit_matters():
    means, spreads, error = random_cases(20)
    widened = widened_by(spreads, means, error)
    swapped = widened_by(spreads[::-1], means, error)
    scaled = widened_by([spread.scaled(0.01) for spread in spreads], 0.01 * means, 0.01 * error)
    for name, unit in (("high", 0.01), ("p_value", 1.0)):
        expected = getattr(widened, name)
        assert getattr(swapped, name) == pytest.approx(expected, rel=1e-9)
        assert getattr(scaled, name) == pytest.approx(unit * expected, rel=1e-9)


def test_a_metric_that_is_not_defined_has_no_interval_and_leaves_the_others():
    missing = SeedSpread(np.array([np.nan, 1.0]), np.zeros(2), 1)
    whole = SeedSpread(np.array([1.0, 1.0]), np.zeros(2), 1)
    widened = widened_by([missing, whole], [1.0, 1.0], error=0.5)
    alone = widened_by([whole, whole], [1.0, 1.0], error=0.5)
    assert np.isnan([widened.low[0], widened.high[0], widened.p_value[0]]).all()
    assert (widened.low[1], widened.p_value[1]) == (alone.low[1], alone.p_value[1])


def test_the_spread_of_a_family_is_that_of_its_equation():
    """Unequal numbers of seeds, with each sum of the equation written out.

    The seeds of the first two recommenders are equal, so that their spread is that of the others.
    The last pair is compared as by a relative margin: b - 2 a.
    """
    rng = np.random.default_rng(15)
    seeds = np.array([2, 3, 10, 5])
    squares = np.array([0.0, 0.0, *rng.chisquare(2, 2)])
    d = 3 * np.minimum(1, seeds / seeds.mean()) ** 2
    weights = (seeds - 1) / (d + seeds - 1)
    mean_square = weights @ squares / weights.sum()
    moderated = weights * squares + (1 - weights) * mean_square
    own = [
        SeedSpread(np.array([square / number]), np.zeros(1), int(number) - 1)
        for square, number in zip(squares, seeds, strict=True)
    ]
    family = pooled(own)
    for i, j, ratio in [(0, 1, 1.0), (2, 0, 1.0), (3, 2, 1.0), (0, 3, 2.0)]:
        variance = moderated[i] / seeds[i] + ratio**2 * moderated[j] / seeds[j]
        uncertainty = 0.0
        for k in range(4):
            coefficient = 0.0
            for member, factor in ((i, 1.0), (j, ratio)):
                share = (1 - weights[member]) * weights[k] / weights.sum()
                share += weights[k] * (k == member)
                coefficient += factor**2 * share / seeds[member]
            uncertainty += (coefficient * moderated[k]) ** 2 / (seeds[k] - 1)
        t = -stats.t.ppf(0.025, 0.8 * variance**2 / uncertainty)
        expected = t * np.sqrt(variance)
        pair = [family[i], family[j].scaled(ratio)]
        assert half_width(pair, error=0.0) == pytest.approx(expected)
        assert widened_by(pair, expected, 0.0).p_value[0] == pytest.approx(0.05)


def test_a_family_whose_seeds_do_not_differ_has_the_users_alone():
    same = pooled([spread_of([0.3, 0.3, 0.3])] * 3)
    assert half_width(same[:2], error=0.1) == pytest.approx(1.959964 * 0.1)


def test_intervals_of_seeds_hold_the_truth():
    """Equal recommenders with three seeds each, and an interaction of users and seeds."""
    rng = np.random.default_rng(13)
    simulations = 150
    held = np.zeros(2)
    for _ in range(simulations):
        user = rng.normal(0, 0.3, 200)
        a = user + values_of_seeds(rng, 3, 0.1, 0.4)
        b = user + values_of_seeds(rng, 3, 0.1, 0.4)
        gap = b.mean(axis=0) - a.mean(axis=0)
        over_users = intervals(gap, gap, np.full((1, 2, 2), np.inf), FAR, 0.05, test=True)
        spreads = [SeedSpread.from_seeds(values.mean(axis=2), values) for values in (a, b)]
        widened = with_seeds(over_users, gap.mean(axis=1), spreads, FAR, 0.05)
        held += [low <= 0 <= high for low, high in map(ends, (widened, over_users))]
    assert held[0] / simulations >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / simulations)
    assert held[1] / simulations < 0.75  # without the spread between seeds
