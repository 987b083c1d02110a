"""Binarizing ratings and numbering users and items."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.data.events import EventChunk, Events, binarize
from sampled_metrics.errors import ConfigError, DataError


def chunk(users, items, ratings=None, timestamps=None, held_out=None) -> EventChunk:
    def ids(values):
        return np.array(values, dtype=object if any(isinstance(value, str) for value in values) else np.int64)

    return EventChunk(
        ids(users),
        ids(items),
        None if ratings is None else np.array(ratings, dtype=np.float64),
        None if timestamps is None else np.array(timestamps),
        None if held_out is None else np.array(held_out),
    )


def pairs(events: Events) -> list[tuple]:
    return list(zip(events.user_ids[events.users].tolist(), events.item_ids[events.items].tolist(), strict=True))


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([-0.5, 1, 2.5, 3, 5]), st.integers(0, 9)),
        min_size=1,
    ),
    st.sampled_from([-1, 0, 1, 2.5, 4, 5]),
    st.sampled_from(["earliest", "latest", "first", "last"]),
    st.integers(0, 5),
)
def test_each_pair_that_is_rated_high_enough_is_there_once_as_in_pandas(rows, least, repeated, cut):
    """0 keeps everything. Of a repeated pair one counts, by time or by the order of the file, whatever the chunks."""
    table = pd.DataFrame(rows, columns=["user", "item", "rating", "time"])
    kept = table if least == 0 else table[table["rating"] >= least]
    if repeated in ("earliest", "latest"):
        kept = kept.sort_values("time", kind="stable")
    keep = {"earliest": "first", "latest": "last"}.get(repeated, repeated)
    kept = kept.drop_duplicates(["user", "item"], keep=keep).sort_index()
    chunks = [chunk(*zip(*part, strict=True)) for part in (rows[:cut], rows[cut:]) if part]
    if kept.empty:
        with pytest.raises(DataError, match=rf"^no event has a rating of {least} \(min_rating\) or more$"):
            binarize(chunks, least, repeated)
        return
    events = binarize(chunks, least, repeated)
    assert pairs(events) == list(zip(kept["user"], kept["item"], strict=True))
    assert events.timestamps.tolist() == kept["time"].tolist()
    assert events.user_ids.tolist() == sorted(kept["user"].unique())  # without an event, no number
    assert events.item_ids.tolist() == sorted(kept["item"].unique())
    assert events.users.dtype == events.items.dtype == np.int32  # half of the memory of 32 million events


@given(st.permutations(range(9)))
def test_the_order_of_lines_does_not_change_which_event_is_earliest(order):
    rows = [(1, 1, 7), (1, 1, 3), (2, 1, 9), (1, 2, 5), (1, 1, 1), (2, 1, 8), (1, 2, 2), (1, 2, 6), (2, 3, 4)]
    users, items, times = zip(*(rows[row] for row in order), strict=True)
    events = binarize([chunk(users, items, None, times)], 0)
    kept = dict(zip(pairs(events), events.timestamps.tolist(), strict=True))
    assert kept == {(1, 1): 1, (1, 2): 2, (2, 1): 8, (2, 3): 4}
    assert events.left_out["repeated"] == 5


def test_without_timestamps_the_earliest_is_the_first():
    events = binarize([chunk([1, 2, 1], [5, 5, 5])], 0, "earliest")
    assert pairs(events) == [(1, 5), (2, 5)]
    assert pairs(binarize([chunk([1, 2, 1], [5, 5, 5])], 0, "latest")) == [(2, 5), (1, 5)]


def test_text_of_whole_numbers_is_numbers():
    events = binarize([chunk(["10", "9"], ["a", "0"]), chunk(["0"], ["10"])], 0)
    assert events.user_ids.tolist() == [0, 9, 10]
    assert events.user_ids.dtype == np.int64
    assert events.item_ids.tolist() == ["0", "10", "a"]
    assert events.item_ids.dtype.kind == "U"
    assert pairs(events) == [(10, "a"), (9, "0"), (0, "10")]


@pytest.mark.parametrize("id_", ["01", "", "+1", "-1", "1.0", " 1", "1_0", "²", "1" * 19])
def test_other_text_leaves_all_text(id_):
    assert sorted(binarize([chunk(["1", id_], [1, 1])], 0).user_ids.tolist()) == sorted(["1", id_])


def test_ratings_are_needed_where_not_all_are_kept():
    without = [chunk([1, 2], [7, 8])]
    assert pairs(binarize(without, 0)) == [(1, 7), (2, 8)]
    with pytest.raises(ConfigError, match=r"^min_rating is 4, but the file has no ratings; it may be 0$"):
        binarize(without, 4)


@given(st.lists(st.sampled_from([[3, 10], [7, 3], ["7", "x"], ["07", "3"], ["10", "3"]]), min_size=1))
def test_chunks_with_numbers_or_text_are_of_the_same_ids(parts):
    events = binarize([chunk(ids, ids) for ids in parts], 0)
    texts = sorted({str(value) for ids in parts for value in ids})
    are_numbers = all(value == str(int(value)) for value in texts if value.isdigit()) and "x" not in texts
    assert events.user_ids.tolist() == (sorted(map(int, texts)) if are_numbers else texts)
    assert {str(user) for user, _ in pairs(events)} == set(texts)
