"""Values by user of staged ranks: their bounds, their differences, and those of users who were not
seen.
"""

import numpy as np
import pytest
from user_values import USERS, places, require_difference, require_within_bounds, table_of, values

import sampled_metrics as sm


def staged(seed=0):
    scores = np.random.default_rng(seed).random((USERS, 400))
    scores[:, 7] += 0.9
    training = np.zeros((USERS, 400))
    held_out = np.full(USERS, 7)
    return sm.staged_ranks(
        lambda users, items: scores[users, items], training, held_out, k=5, depth=60
    )


def test_have_the_point_as_mean_and_are_within_their_bounds():
    require_within_bounds(values(staged()), "staged")


@pytest.mark.parametrize("ranks", [table_of("exact"), staged()], ids=["exact", "staged"])
def test_a_difference_is_that_of_each_user_with_bounds_of_every_difference(ranks):
    require_difference(values(ranks, "exact"), values(staged(1)))


def test_places_are_not_known():
    assert np.isnan(places(staged(), of=values(staged()))).all()


@pytest.mark.filterwarnings("ignore:depth=")
def test_of_staged_ranks_without_a_completed_user_have_the_bound_of_those_who_were_not_seen():
    """No user of 40 was completed, so each value is 0.

    With a share p of users who have 1 / P, (1 - p)^40 is .025.
    """
    scores = np.random.default_rng(1).random((40, 900))
    runs = (
        sm.staged_ranks(
            lambda users, items: scores[users, items],
            np.zeros((40, 900)),
            np.full(40, 7),
            k=5,
            depth=40,
            seed=seed,
        )
        for seed in range(99)
    )
    ranks = next(run for run in runs if not run.completed_users)
    user_values = values(ranks)
    assert not user_values.low.any()
    interval = user_values.interval(0.05, test=True)
    last_boundary = 300  # below half of 900 candidates
    upper_bound = (1 - 0.025 ** (1 / 40)) * (last_boundary / 40) ** 0.75
    assert interval.low.tolist() == [0, 0]
    assert interval.high == pytest.approx([upper_bound, upper_bound])
    assert interval.p_value.tolist() == [1, 1]


def test_completed_items_that_tie_with_all_candidates_are_counted_in_joined_ranks_too():
    scores = np.random.default_rng(1).random((60, 300))
    scores[::3] = 0.5
    parts = [
        sm.staged_ranks(
            lambda users, items: scores[users, items],
            np.zeros((60, 300)),
            np.full(60, 7),
            k=5,
            depth=None,
            users=users,
        )
        for users in (slice(30), slice(30, 60))
    ]
    known = sm.StagedRanks.concat(parts)
    shallow = known.at_depth(40)
    for ranks, rows in ((parts[0], 10), (known, 20), (shallow, shallow.complete[::3].sum())):
        [finding] = ranks.findings
        assert (finding.kind, finding.values["rows"]) == ("all-tied", rows)
