"""Values by user of staged ranks: their bounds, their differences, and those of users who were not
seen.
"""

import warnings

import numpy as np
import pytest
from user_values import USERS, places, require_difference, require_within_bounds, table_of, values

import sampled_metrics as sm


def staged(seed=0):
    scores = np.random.default_rng(seed).random((USERS, 400))
    scores[:, 7] += 0.9
    given = np.zeros((USERS, 400)), np.full(USERS, 7)
    return sm.staged_ranks(lambda users, items: scores[users, items], *given, k=5, depth=60)


def test_have_the_point_as_mean_and_are_within_their_bounds():
    require_within_bounds(values(staged()), "staged")


@pytest.mark.parametrize("other", [table_of("exact"), staged()], ids=["exact", "staged"])
def test_a_difference_is_that_of_each_user_with_bounds_of_every_difference(other):
    require_difference(values(other, "exact"), values(staged(1)))


def test_places_are_not_known():
    assert np.isnan(places(staged(), of=values(staged()))).all()


def test_of_staged_ranks_without_a_completed_user_have_the_bound_of_those_who_were_not_seen():
    """No user of 40 was completed, so each value is 0.

    With a share p of users who have 1 / P, (1 - p)^40 is .025.
    """
    scores = np.random.default_rng(1).random((40, 900))
    given = (np.zeros((40, 900)), np.full(40, 7))
    seeds = (seed for seed in range(99) if not staged_of(scores, given, seed).completed_users)
    ranks = staged_of(scores, given, next(seeds))
    found = values(ranks)
    assert not found.low.any()
    ends = found.interval(0.05, test=True)
    last = 300  # the last boundary below half of 900 candidates
    most = (1 - 0.025 ** (1 / 40)) * (last / 40) ** 0.75
    assert ends.low.tolist() == [0, 0]
    assert ends.high == pytest.approx([most, most])
    assert ends.p_value.tolist() == [1, 1]


def staged_of(scores, given, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sm.staged_ranks(
            lambda users, items: scores[users, items], *given, k=5, depth=40, seed=seed
        )
