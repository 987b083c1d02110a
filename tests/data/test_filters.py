"""Filters of events."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.data.events import Events, k_core
from sampled_metrics.errors import DataError


def events_of(pairs):
    users, items = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    count = users.max(initial=-1) + 1, items.max(initial=-1) + 1
    ids = np.arange(count[0]) * 10, np.arange(count[1]) * 100
    return Events(users, items, np.arange(len(users)), *ids)


def pairs_of(events):
    return {
        (int(user), int(item))
        for user, item in zip(events.user_ids[events.users], events.item_ids[events.items], strict=True)
    }


def test_taking_one_out_may_take_others_with_it() -> None:
    # item 3 has one event; without it user 2 has one; without user 2 item 2 has one; users 0 and 1 keep items 0 and 1
    events = events_of([(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 2), (2, 3)])
    core = k_core(events, 2)
    assert pairs_of(core) == {(0, 0), (0, 100), (10, 0), (10, 100)}
    assert core.user_ids.tolist() == [0, 10]
    assert core.item_ids.tolist() == [0, 100]
    assert core.timestamps is not None
    assert core.timestamps.tolist() == [0, 1, 2, 3]


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1), st.integers(0, 3))
def test_what_is_left_is_the_largest_part_in_which_each_has_k(pairs, k) -> None:
    def naive(left):
        while True:
            users, items = [user for user, _ in left], [item for _, item in left]
            kept = {(user, item) for user, item in left if users.count(user) >= k and items.count(item) >= k}
            if kept == left:
                return left
            left = kept

    wanted = {(10 * user, 100 * item) for user, item in naive(pairs)}
    if wanted:
        assert pairs_of(k_core(events_of(sorted(pairs)), k)) == wanted
    else:
        with pytest.raises(DataError, match=f"no user and item has {k} "):
            k_core(events_of(sorted(pairs)), k)
