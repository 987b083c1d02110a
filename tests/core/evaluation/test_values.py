"""Values by user of the ranks of the core: by hand, and what holds for all of their differences and
seeds.
"""

import numpy as np
import pytest
from user_values import KINDS, places, require_difference, require_within_bounds, table_of, values

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import mean_of_runs
from sampled_metrics.core.inference.means import intervals
from sampled_metrics.core.inference.seeds import SeedSpread, with_seeds


@pytest.mark.parametrize("kind", KINDS)
def test_have_the_point_as_mean_and_are_within_their_bounds(kind):
    require_within_bounds(values(table_of(kind), kind), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_difference_is_that_of_each_user_with_bounds_of_every_difference(kind):
    require_difference(values(table_of(kind), kind), values(table_of(kind, 1), kind))


@pytest.mark.parametrize("kind", ["exact", "mle"])
def test_of_seeds_are_the_mean_of_each_user_with_the_spread(kind):
    seeds = [values(table_of(kind, seed), kind) for seed in range(3)]
    found = mean_of_runs(seeds)
    np.testing.assert_allclose(found.low, np.mean([one.low for one in seeds], axis=0))
    np.testing.assert_allclose(found.point, np.mean([one.point for one in seeds], axis=0))
    assert found.assumes == seeds[0].assumes
    spread = SeedSpread.from_seeds(
        np.stack([one.point for one in seeds]), np.stack([one.low for one in seeds])
    )
    ends = found.interval(0.05, test=True)
    of_users = intervals(found.low, found.low, found.bounds, found.limits, 0.05, test=True)
    np.testing.assert_array_equal(
        ends.low, with_seeds(of_users, found.point, [spread], found.limits, 0.05).low
    )
    assert (ends.low <= of_users.low).all()
    assert (ends.p_value >= of_users.p_value).all()


@pytest.mark.parametrize("kind", ["free", "decreasing"])
def test_of_seeds_by_strict_bounds_are_mean_bounds_without_a_spread(kind):
    seeds = [values(table_of(kind, seed), kind) for seed in range(3)]
    found = mean_of_runs(seeds)
    assert not found.one_value
    assert found.spreads == ()
    assert found.assumes == seeds[0].assumes
    for name in ("low", "high", "bounds", "limits", "point"):
        np.testing.assert_allclose(
            getattr(found, name), np.mean([getattr(one, name) for one in seeds], axis=0)
        )


def test_of_these_runs_are_the_same_values_without_the_spread():
    found = mean_of_runs([values(table_of("exact", seed), "exact") for seed in range(3)])
    these = found.of_these_runs().interval(0.05, test=True)
    of_users = intervals(found.low, found.low, found.bounds, found.limits, 0.05, test=True)
    np.testing.assert_array_equal([these.low, these.high], [of_users.low, of_users.high])


def test_places_are_means_of_ranks():
    table = table_of("bv-0.1")
    np.testing.assert_array_equal(places(table, of=values(table, "bv-0.1")), [table.x])
    several = sm.exact_ranks(
        {"user": [1, 1, 2], "above": [0, 4, 9], "tied": [2, 0, 0]}, candidates=50
    )
    [[first, second]] = places(several, of=values(table_of("exact"), "exact"))
    assert second - first == pytest.approx(9 - (1 + 4) / 2)
    other = table_of("bv-0.1", 1)
    np.testing.assert_allclose(
        places(table, other, of=values(table, "bv-0.1")), [(table.x + other.x) / 2]
    )
