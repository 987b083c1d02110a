"""Events: ratings binarized, numbered users and items, k-cores, and the memory of an event."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics_study.data.events import BYTES_OF_EVENT, EventChunk, binarize, k_core
from sampled_metrics_study.data.split import split_events


def chunk(users, items, ratings=None, timestamps=None):
    def ids(values):
        has_text = any(isinstance(value, str) for value in values)
        return np.array(values, dtype=object if has_text else np.int64)

    ratings = None if ratings is None else np.array(ratings, dtype=np.float64)
    times = None if timestamps is None else np.array(timestamps)
    return EventChunk(ids(users), ids(items), ratings, times)


def pairs(events):
    users = events.user_ids[events.users].tolist()
    items = events.item_ids[events.items].tolist()
    return list(zip(users, items, strict=True))


NUMBER = st.integers(0, 5)
ROWS = st.lists(
    st.tuples(NUMBER, NUMBER, st.sampled_from([-0.5, 1, 2.5, 3, 5]), st.integers(0, 9)), min_size=1
)


@given(
    ROWS,
    st.sampled_from([-1, 0, 1, 2.5, 5]),
    st.sampled_from(["earliest", "latest", "first", "last"]),
    NUMBER,
)
def test_each_pair_that_is_rated_high_enough_is_there_once_as_in_pandas(
    rows, min_rating, repeated, cut
):
    """0 keeps everything.

    Of a repeated pair one counts, by time or by the order of the file, whatever the chunks.
    """
    table = pd.DataFrame(rows, columns=["user", "item", "rating", "time"])
    kept = table if min_rating == 0 else table[table["rating"] >= min_rating]
    if repeated in ("earliest", "latest"):
        kept = kept.sort_values("time", kind="stable")
    keep = {"earliest": "first", "latest": "last"}.get(repeated, repeated)
    once = kept.drop_duplicates(["user", "item"], keep=keep).sort_index()
    chunks = [chunk(*zip(*part, strict=True)) for part in (rows[:cut], rows[cut:]) if part]
    if once.empty:
        with pytest.raises(DataError, match="min_rating"):
            binarize(chunks, min_rating, repeated)
        return
    events = binarize(chunks, min_rating, repeated)
    assert pairs(events) == list(zip(once["user"], once["item"], strict=True))
    assert events.timestamps.tolist() == once["time"].tolist()
    assert events.user_ids.tolist() == sorted(once["user"].unique())  # without an event, no number
    assert events.item_ids.tolist() == sorted(once["item"].unique())
    # half of the memory of 32 million events
    assert events.users.dtype == events.items.dtype == np.int32
    assert events.left_out == {
        "malformed": 0,
        "below_min_rating": len(table) - len(kept),
        "repeated": len(kept) - len(once),
    }


def test_files_without_times_or_ratings():
    for repeated, expected in (("earliest", [(1, 5), (2, 5)]), ("latest", [(2, 5), (1, 5)])):
        assert pairs(binarize([chunk([1, 2, 1], [5, 5, 5])], 0, repeated)) == expected
    with pytest.raises(ConfigError, match=r"^min_rating"):
        binarize([chunk([1, 2], [7, 8])], 4)


NO_NUMBERS = ["01", "", "+1", "-0", "1.0", " 1", "1_0", "²", "1" * 20, "x"]


@given(
    st.lists(
        st.sampled_from([[3, 10], [-7, 3], ["-7", "3"], *([text, "3"] for text in NO_NUMBERS)]),
        min_size=1,
    )
)
def test_text_of_whole_numbers_is_numbers_and_other_text_leaves_all_text(parts):
    """Also in other chunks."""
    events = binarize([chunk(ids, ids) for ids in parts], 0)
    texts = {str(value) for ids in parts for value in ids}
    expected = sorted(texts) if texts & {*NO_NUMBERS} else sorted(map(int, texts))
    assert events.user_ids.tolist() == events.item_ids.tolist() == expected
    assert {str(user) for user, _ in pairs(events)} == texts


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=6), st.integers(0, 3))
def test_a_core_is_the_largest_part_in_which_each_has_k(pairs_of_file, k):
    rows = sorted(pairs_of_file)
    left = pd.DataFrame(rows, columns=["user", "item"])
    for _ in range(10):  # of ten users and items, taking one out may take others with it
        users = left.groupby("user")["user"].transform("size")
        items = left.groupby("item")["item"].transform("size")
        left = left[(users >= k) & (items >= k)]
    events = binarize([chunk(*zip(*rows, strict=True), timestamps=range(len(rows)))], 0)
    if left.empty:
        with pytest.raises(DataError, match=f" {k} "):
            k_core(events, k)
        return
    core = k_core(events, k)
    assert pairs(core) == list(left.itertuples(index=False, name=None))
    assert core.user_ids.tolist() == sorted(set(left["user"]))
    assert core.item_ids.tolist() == sorted(set(left["item"]))
    assert core.timestamps.tolist() == left.index.tolist()


USERS = 1000
ITEMS = 2500
CHUNK_SIZE = 50_000
CHUNKS = 16


def chunks(rng):
    """Distinct pairs, one after the other in an order that jumps about."""
    for start in range(0, CHUNKS * CHUNK_SIZE, CHUNK_SIZE):
        pair = np.arange(start, start + CHUNK_SIZE) * 7919 % (USERS * ITEMS)  # 7919 is prime to it
        yield EventChunk(pair // ITEMS, pair % ITEMS, None, rng.integers(10**9, size=CHUNK_SIZE))


@pytest.mark.parametrize(("k", "held_out"), [(2, 1), (0, 3)])
def test_from_chunks_to_the_split_an_event_takes_the_memory_that_is_stated(k, held_out):
    """Users, items and times take 16 bytes, pair numbers 8, and the training matrix 12.

    The others are what these are made of.
    """
    rng = np.random.default_rng(1)
    tracemalloc.start()
    events = k_core(binarize(chunks(rng), 0), k)
    split = split_events(events, "last-event", "first", rng, held_out=held_out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert split.training.nnz == CHUNKS * CHUNK_SIZE - held_out * USERS
    assert peak / (CHUNKS * CHUNK_SIZE) < BYTES_OF_EVENT


def test_events_that_do_not_fit_into_the_memory_are_refused_with_the_bytes_that_they_need():
    most = BYTES_OF_EVENT * CHUNKS * CHUNK_SIZE
    assert len(binarize(chunks(np.random.default_rng(1)), 0, most_bytes=most))
    needed = f"{CHUNKS * CHUNK_SIZE:,} events need {most / 1e9:.1f} GB"
    with pytest.raises(DataError, match=needed):
        binarize(chunks(np.random.default_rng(1)), 0, most_bytes=most - 1)
