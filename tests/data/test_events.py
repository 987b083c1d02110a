"""Binarizing ratings and numbering users and items."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.data.events import EventChunk, binarize
from sampled_metrics.errors import DataError


def chunk(*rows):
    """Rows of (user, item, rating, timestamp)."""
    users, items, ratings, timestamps = zip(*rows, strict=True) if rows else ((), (), (), ())
    return EventChunk(
        np.array(users, dtype=np.int64),
        np.array(items, dtype=np.int64),
        np.array(ratings, dtype=np.float64),
        np.array(timestamps, dtype=np.int64),
    )


def listed(events):
    """The events as the ids of the file: (user, item, timestamp)."""
    return list(
        zip(
            events.user_ids[events.users].tolist(),
            events.item_ids[events.items].tolist(),
            events.timestamps.tolist(),
            strict=True,
        )
    )


def test_numbers_users_and_items_in_the_order_of_their_ids():
    events = binarize([chunk((70, 5, 3, 1), (8, 900, 1, 2), (70, 40, 5, 3))], 0)
    assert events.user_ids.tolist() == [8, 70]
    assert events.item_ids.tolist() == [5, 40, 900]
    assert events.users.tolist() == [1, 0, 1]
    assert events.items.tolist() == [0, 2, 1]
    assert events.timestamps.tolist() == [1, 2, 3]
    assert len(events) == 3


def test_chunks_are_one_file():
    rows = [(2, 1, 4, 10), (1, 1, 4, 11), (2, 3, 4, 12)]
    assert listed(binarize([chunk(*rows[:1]), chunk(), chunk(*rows[1:])], 0)) == listed(binarize([chunk(*rows)], 0))


@pytest.mark.parametrize(("least", "kept"), [(0, [1, 2, 3, 4]), (3, [2, 3, 4]), (3.5, [3, 4]), (5, [4])])
def test_keeps_ratings_from_the_least_on(least, kept):
    events = binarize([chunk((1, 1, 1, 0), (1, 2, 3, 0), (2, 3, 3.5, 0), (3, 4, 5, 0))], least)
    assert events.item_ids.tolist() == kept


def test_users_and_items_without_a_kept_rating_have_no_number():
    events = binarize([chunk((1, 7, 2, 0), (2, 8, 5, 0))], 4)
    assert (events.user_ids.tolist(), events.item_ids.tolist()) == ([2], [8])


def test_of_a_repeated_pair_the_first_listed_is_kept():
    events = binarize([chunk((1, 7, 4, 50), (1, 8, 4, 51)), chunk((1, 7, 5, 99), (2, 7, 5, 3))], 0)
    assert listed(events) == [(1, 7, 50), (1, 8, 51), (2, 7, 3)]


def test_of_a_repeated_pair_the_first_that_is_rated_high_enough_is_kept():
    events = binarize([chunk((1, 7, 1, 50), (1, 7, 5, 99), (1, 7, 5, 100))], 4)
    assert listed(events) == [(1, 7, 99)]


@pytest.mark.parametrize("chunks", [[], [chunk()], [chunk((1, 1, 4.5, 0))]], ids=["no chunk", "empty", "low"])
def test_refuses_if_nothing_is_left(chunks):
    with pytest.raises(DataError, match=r"no event has a rating of 5 \(min_rating\) or more"):
        binarize(chunks, 5)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 5), st.integers(0, 9)), min_size=1),
    st.integers(0, 5),
)
def test_keeps_each_pair_once_and_in_order(rows, least):
    wanted = {}
    for user, item, rating, timestamp in rows:
        if rating >= least:
            wanted.setdefault((user, item), timestamp)
    if wanted:
        events = binarize([chunk(*rows)], least)
        assert listed(events) == [(*pair, timestamp) for pair, timestamp in wanted.items()]
    else:
        with pytest.raises(DataError):
            binarize([chunk(*rows)], least)


@pytest.mark.parametrize(("repeated", "times"), [("first", [10, 11, 13]), ("last", [11, 14, 15])])
def test_of_repeated_pairs_the_first_or_the_last_in_the_file_counts(repeated, times):
    rows = [(1, 1, 4, 10), (1, 2, 4, 11), (1, 1, 4, 12), (2, 1, 4, 13), (1, 1, 4, 14), (2, 1, 4, 15), (1, 2, 1, 16)]
    events = binarize([chunk(*rows[:3]), chunk(*rows[3:])], 2, repeated)
    assert [time for _, _, time in listed(events)] == times


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1), st.sampled_from(["first", "last"]))
def test_repeated_pairs_are_those_of_pandas(pairs, repeated):
    rows = [(user, item, 5, at) for at, (user, item) in enumerate(pairs)]
    expected = pd.DataFrame(pairs).drop_duplicates(keep=repeated).index
    assert [time for _, _, time in listed(binarize([chunk(*rows)], 0, repeated))] == expected.tolist()
