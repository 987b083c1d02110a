"""The spread of seeds: by textbooks, in closed form, and by how often the intervals hold."""

import numpy as np
import pytest

from sampled_metrics.inference.means import Intervals, intervals
from sampled_metrics.inference.seeds import SeedSpread, with_seeds


def ends(of_one):
    return of_one.low[0], of_one.high[0]


FAR = np.array([[-99.0, 99.0]])


def of_seeds(rng, seeds, spread, both, users=200):
    """(seeds, 1, users) values: a part of the seed, and one of both."""
    return rng.normal(0, spread, (seeds, 1, 1)) + rng.normal(0, both, (seeds, 1, users))


def test_the_spread_is_that_of_the_two_way_analysis_of_variance():
    """Expected mean squares of textbooks: that between seeds is σ_c² + 30 σ_b², that of the interaction σ_c²."""
    y = of_seeds(np.random.default_rng(1), 4, 0.5, 1.0, users=30)
    table = y[:, 0]
    grand, rows, columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
    between = 30 * ((rows - grand) ** 2).sum() / 3
    rest = sum((table[s, u] - rows[s] - columns[u] + grand) ** 2 for s in range(4) for u in range(30)) / (3 * 29)
    spread, scaled = (SeedSpread.from_seeds(each.mean(axis=2), each) for each in (y, 1.2 * y))
    assert (spread.variance[0], spread.interaction[0]) == pytest.approx((between / 30 / 4, rest / 30 / 4))
    assert spread.freedom == 3
    again = spread.scaled(1.2)
    assert (again.variance[0], again.interaction[0]) == pytest.approx((scaled.variance[0], scaled.interaction[0]))
    assert again.freedom == 3
    same = np.repeat(y[:1], 3, axis=0)
    assert SeedSpread.from_seeds(same.mean(axis=2), same).variance[0] == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize(("seeds", "others"), [(2, 10), (3, 1)])
def test_an_interval_of_seeds_alone_is_that_of_behrens_and_fisher(seeds, others):
    """Users do not differ: the difference is that of two Student variables, drawn here."""
    rng = np.random.default_rng(4)
    one, other = rng.normal(0, 1, seeds), rng.normal(0.5, 0.5, others)
    several, gap = [each for each in (one, other) if len(each) > 1], np.array([other.mean() - one.mean()])
    spreads = [SeedSpread(np.array([each.var(ddof=1) / len(each)]), np.zeros(1), len(each) - 1) for each in several]
    widened = with_seeds(Intervals(gap, gap, np.zeros(1), np.zeros(1)), gap, spreads, FAR, 0.05)
    drawn = sum(np.sqrt(each.var(ddof=1) / len(each)) * rng.standard_t(len(each) - 1, 10**6) for each in several)
    reach = np.quantile(np.abs(drawn), 0.95)
    assert ends(widened) == pytest.approx((gap[0] - reach, gap[0] + reach), abs=0.03 * reach)
    assert widened.p_value[0] == pytest.approx(np.mean(np.abs(drawn) >= np.abs(gap)), rel=0.02)


MANY = [
    (*seeds, *parts, 600) for seeds in [(2, 2), (2, 20), (5, 5)] for parts in [(0.03, 0.0), (0.03, 3.0), (1.0, 0.1)]
]


@pytest.mark.parametrize(
    ("seeds", "others", "spread", "both", "simulations"),
    [(3, 3, 0.1, 0.4, 200), *(pytest.param(*each, marks=pytest.mark.slow) for each in MANY)],
)
def test_intervals_of_seeds_hold_the_truth(seeds, others, spread, both, simulations):
    """Equal recommenders, with an interaction from none to far above the seeds' part."""
    rng, held = np.random.default_rng([13, seeds, others, int(10 * both), int(10 * spread)]), np.zeros(2)
    for _ in range(simulations):
        user = rng.normal(0, 0.3, 200)
        one, other = (user + of_seeds(rng, number, spread, both) for number in (seeds, others))
        gap = other.mean(axis=0) - one.mean(axis=0)
        of_users = intervals(gap, gap, np.full((1, 2, 2), np.inf), FAR, 0.05, test=True)
        spreads = [SeedSpread.from_seeds(each.mean(axis=2), each) for each in (one, other)]
        widened = with_seeds(of_users, gap.mean(axis=1), spreads, FAR, 0.05)
        held += [low <= 0 <= high for low, high in map(ends, (widened, of_users))]
    assert held[0] / simulations >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / simulations)
    if (spread, both) == (0.1, 0.4):  # without the spread between seeds, far fewer hold
        assert held[1] / simulations < 0.75
