"""Holding events of every user out: which, beside pandas; and what the split is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.split import read_split
from sampled_metrics_study.data.events import EventChunk, binarize
from sampled_metrics_study.data.split import (
    leave_last_out,
    shared_last_times,
    split_events,
    split_tables,
)

RNG = np.random.default_rng(1)


def events_of(rows, times=True, held_out=None):
    """Rows of (user, item, time)."""
    user, item, time = np.array(rows).T
    return binarize([EventChunk(user, item, None, time if times else None, held_out)], 0)


def made_up(seed=3):
    """Events of 40 users, with few distinct times and users with a single event, in no order."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "user": 10 * (rng.integers(40, size=260) ** 2 // 40),
            "item": 100 * rng.integers(60, size=260),
        }
    )
    table = table.drop_duplicates(ignore_index=True)
    return table.assign(time=rng.integers(12, size=len(table)))


def pairs(table):
    """(user, item) of the rows of a table."""
    return set(table[["user", "item"]].itertuples(index=False, name=None))


def assert_is(split, table, test):
    """Training and held-out pairs are those of (events,) whether an event is a test event.

    Candidates are all items less the training items and the other held-out items of the user.
    """
    training, held_out, *_ = split_tables(split).values()
    is_held_out = test & table["user"].isin(table.loc[~test, "user"])
    assert pairs(training) == pairs(table[~test])
    assert pairs(held_out) == pairs(table[is_held_out])
    events_of_user = table.loc[~test | is_held_out, "user"].value_counts()
    events = events_of_user[split.user_ids[split.user]]
    assert split.candidates.tolist() == (table["item"].nunique() - events + 1).tolist()


ROWS = ((0, 2, 5), (1, 0, 7), (0, 1, 9), (1, 2, 3), (0, 0, 1), (2, 3, 1))


@pytest.mark.parametrize(
    ("rows", "times", "strategy", "ties", "says"),
    [
        (
            ROWS[:2],
            True,
            "global-time",
            "first",
            "none of the 2 users has an event to hold out",
        ),
        (ROWS, False, "last-event", "first", "last-event needs .*strategy random-event"),
        (ROWS, False, "global-time", "first", r"^split\.strategy: global-time needs ti"),
    ],
    ids=[
        "nothing to train on",
        "no times",
        "no global times",
    ],
)
def test_refused(rows, times, strategy, ties, says):
    with pytest.raises(DataError if len(rows) == 2 else ConfigError, match=says):
        split_events(events_of(rows, times), strategy, ties, RNG, test_from=4)


@pytest.mark.parametrize("held_out", [1, 5])
@pytest.mark.parametrize("ties", ["first", "last"])
def test_the_last_k_events(held_out, ties):
    """The rule of ties changes the split of some users alone.

    They are those whose k-th last time is also the next one.
    """
    table = made_up()
    split = split_events(events_of(table), "last-event", ties, RNG, held_out=held_out)
    order = table if ties == "last" else table[::-1]
    last = order.sort_values("time", kind="stable").groupby("user").tail(held_out).index
    assert_is(split, table, pd.Series(table.index.isin(last)))
    assert (np.bincount(split.user) == held_out).all()
    ordered = table.sort_values("time").groupby("user")["time"].apply(list)
    shared = sum(
        len(times) > held_out and times[-held_out] == times[-held_out - 1] for times in ordered
    )
    assert shared_last_times(events_of(table), held_out) == shared > 0


@given(st.integers(0, 50), st.floats(0.01, 0.8), st.booleans())
def test_the_events_from_a_time_on_or_a_last_share_of_them(seed, share, is_share):
    """Users without an event before are left out, and users without one after only train."""
    table = made_up(seed)
    last = sorted(table["time"])[-max(1, round(share * len(table)))]
    test = table["time"] >= last
    split = split_events(
        events_of(table),
        "global-time",
        "first",
        RNG,
        **({"test_size": share} if is_share else {"test_from": last}),
    )
    assert_is(split, table, test)
    assert set(split.user_ids) == set(table.loc[~test, "user"])


def test_each_of_the_latest_events_and_each_of_several_random_ones_is_as_probable():
    """Within four standard deviations."""
    latest = events_of([(0, 0, 1), (0, 1, 9), (0, 2, 9), (0, 3, 9)])
    counts = np.bincount(
        [leave_last_out(latest, "random", RNG).item[0] for _ in range(600)], minlength=4
    )
    assert counts[0] == 0
    assert np.abs(counts[1:] - 200).max() < 4 * np.sqrt(600 * 2 / 9)
    events = events_of([(7, item, 0) for item in range(4)] + [(8, 0, 0), (8, 1, 0), (9, 0, 0)])
    counts = np.zeros(4)
    for _ in range(600):
        split = split_events(events, "random-event", "first", RNG, held_out=2)
        assert split.user_ids.tolist() == [7]  # user 8 has two events, user 9 one
        counts[split.item] += 1
    assert np.abs(counts - 300).max() < 4 * np.sqrt(600 / 4)


def test_a_ready_made_split_is_taken_as_the_file_says_whatever_the_strategy():
    table = made_up()
    test = pd.Series(RNG.random(len(table)) < 0.3)
    for strategy in ("last-event", "random-event"):
        split = split_events(events_of(table, held_out=test.to_numpy()), strategy, "first", RNG)
        assert_is(split, table, test)
    with pytest.raises(DataError, match=r"user 4 has item 1"):
        events_of(
            [(4, 1, 0), (4, 2, 0), (5, 1, 0), (4, 1, 0)],
            held_out=np.array([False, False, False, True]),
        )


def test_a_file_gives_back_what_was_written_and_is_the_same_bytes_twice(tmp_path):
    split = split_events(events_of(made_up()), "last-event", "first", RNG, held_out=3)
    split = replace(split, user_ids=np.array([f"é {user}" for user in split.user_ids]))
    for name in ("1.npz", "2.npz"):
        split.write(tmp_path / name)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    again = read_split(tmp_path / "1.npz")
    assert again.training.toarray().tolist() == split.training.toarray().tolist()
    for name in ("user", "item", "user_ids", "item_ids"):
        assert getattr(again, name).tolist() == getattr(split, name).tolist()
    assert again.training.indices.dtype == again.training.indptr.dtype == np.int32


# training events: 2 of user 0, 1 of user 1, 3 of user 2
EVENTS = events_of(
    [(0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 1), (1, 1, 2), *((2, item, item) for item in range(4))]
)
SPLIT = leave_last_out(EVENTS, "first", RNG)


@pytest.mark.parametrize(
    ("held_out", "says"),
    [
        (one_each([2, 1], 4), r"held_out has shape \(2, 4\)"),
        (one_each([2, 1, 4], 5), r"held_out has shape \(3, 5\)"),
        (one_each([1, 1, 3], 4), "user 0: the held-out item is one of the user's training items"),
        (
            csr_array(([1, 1], [2, 2], [0, 2, 2, 2]), shape=(3, 4)),
            "a user's held-out items are repeated",
        ),
    ],
)
def test_a_held_out_item_that_cannot_be_is_refused(held_out, says):
    with pytest.raises(DataError, match=says):
        replace(SPLIT, held_out=held_out)


def test_users_with_fewer_training_events_are_left_out():
    for min_events, users in ((1, [0, 1, 2]), (2, [0, 2]), (3, [2])):
        left = split_events(EVENTS, "last-event", "first", RNG, min_training_events=min_events)
        assert left.user_ids.tolist() == users
        for name in ("train", "held_out"):
            table = split_tables(SPLIT)[name]
            assert pairs(split_tables(left)[name]) == pairs(table[table["user"].isin(users)])
        assert left.item_ids.tolist() == SPLIT.item_ids.tolist()  # all stay candidates
    with pytest.raises(DataError, match=r"4 \(min_training_events\)"):
        split_events(EVENTS, "last-event", "first", RNG, min_training_events=4)


def test_the_split_as_tables_for_other_programs():
    """Training events have their times, and all have the ids of the file."""
    table = made_up()
    split = split_events(events_of(table), "last-event", "first", RNG, held_out=2)
    train, held_out, users, items = split_tables(split).values()
    with_times = train.merge(table.rename(columns={"time": "timestamp"}), how="inner")
    assert len(with_times) == len(train) == split.training.nnz
    assert len(held_out.merge(table, on=["user", "item"])) == len(held_out)
    assert users["user"].tolist() == split.user_ids.tolist()
    assert items["item"].tolist() == split.item_ids.tolist()
