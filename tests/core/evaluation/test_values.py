"""Values by user of the ranks of the core: by hand, and what holds for all of their differences and
seeds.
"""

import numpy as np
import pytest
from user_values import KINDS, places, require_difference, require_within_bounds, table_of, values

import sampled_metrics as sm


@pytest.mark.parametrize("kind", KINDS)
def test_have_the_point_as_mean_and_are_within_their_bounds(kind):
    require_within_bounds(values(table_of(kind), kind), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_difference_is_that_of_each_user_with_bounds_of_every_difference(kind):
    require_difference(values(table_of(kind), kind), values(table_of(kind, 1), kind))


def test_places_are_means_of_ranks():
    table = table_of("bv-0.1")
    np.testing.assert_array_equal(places(table, of=values(table, "bv-0.1")), [table.x])
    with_ties = sm.exact_ranks(
        {"user": [1, 1, 2], "above": [0, 4, 9], "tied": [2, 0, 0]}, candidates=50
    )
    [[user_1, user_2]] = places(with_ties, of=values(table_of("exact"), "exact"))
    assert user_2 - user_1 == pytest.approx(9 - (1 + 4) / 2)
    second_seed = table_of("bv-0.1", 1)
    means = places(table, second_seed, of=values(table, "bv-0.1"))
    np.testing.assert_allclose(means, [(table.x + second_seed.x) / 2])
