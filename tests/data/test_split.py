"""Holding events of every user out: which, beside pandas; and what the split is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.data import split as splits
from sampled_metrics.data.events import EventChunk, Events, binarize
from sampled_metrics.data.split import (
    Split,
    leave_last_out,
    leave_users_out,
    read_split,
    shared_last_times,
    split_events,
    split_tables,
)
from sampled_metrics.errors import ConfigError, DataError

RNG = np.random.default_rng(1)


def events_of(rows, times=True, held_out=None) -> Events:
    """Rows of (user, item, time), numbered from 0; ids are 10 × and 100 × the numbers."""
    user, item, time = np.array(rows).T
    return binarize([EventChunk(10 * user, 100 * item, None, time if times else None, held_out)], 0)


def made_up(seed: int = 3) -> pd.DataFrame:
    """Events of 40 users, with few distinct times and users with a single event, in no order."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"user": rng.integers(40, size=260) ** 2 // 40, "item": rng.integers(60, size=260)})
    table = table.drop_duplicates(ignore_index=True)
    return table.assign(time=rng.integers(12, size=len(table)))


def pairs(split: Split) -> tuple[set, set]:
    """(user, item) numbers of the training events, and of the held-out ones."""
    users, items = split.training.nonzero()
    held_out = zip(split.user_ids[split.user] // 10, split.item_ids[split.item] // 100, strict=True)
    return set(zip(split.user_ids[users] // 10, split.item_ids[items] // 100, strict=True)), set(held_out)


def of_pandas(table: pd.DataFrame, test: pd.Series) -> tuple[set, set]:
    """The same from the (events,) whether an event is a test event."""
    trained = set(table.loc[~test, "user"])
    as_pairs = table[["user", "item"]].apply(tuple, axis=1)
    return set(as_pairs[~test]), set(as_pairs[test & table["user"].isin(trained)])


def candidates(table: pd.DataFrame, split: Split) -> list[int]:
    """All items less the training items and the other held-out items, of each row."""
    train, test = pairs(split)
    had = pd.Series([user for user, _ in train | test]).value_counts()
    return [table["item"].nunique() - had[user] + 1 for user in split.user_ids[split.user] // 10]


ROWS = ((0, 2, 5), (1, 0, 7), (0, 1, 9), (1, 2, 3), (0, 0, 1), (2, 3, 1))


@pytest.mark.parametrize("strategy", ["last-event", "random-event"])
def test_what_a_split_is(strategy):
    """User 2 has a single event and is left out; its item stays a candidate."""
    split = split_events(events_of(ROWS), strategy, "first", RNG)
    assert split.user_ids.tolist() == [0, 10]
    assert split.item_ids.tolist() == [0, 100, 200, 300]
    assert split.candidates.tolist() == [2, 3]
    if strategy == "last-event":
        assert split.item.tolist() == [1, 0]
        assert split.training.toarray().tolist() == [[1, 0, 1, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("events", "strategy", "ties", "error", "says"),
    [
        (events_of(ROWS[1::4]), "last-event", "first", DataError, "none of the 2 users has an event to train on and"),
        (
            events_of(ROWS),
            "last-event",
            "middle",
            ConfigError,
            "unknown tie rule 'middle'; it may be first, last",
        ),
        (events_of(ROWS, times=False), "last-event", "first", ConfigError, "last-event needs .*strategy random-event"),
        (events_of(ROWS, times=False), "global-time", "first", ConfigError, r"^split\.strategy: global-time needs ti"),
    ],
)
def test_refused(events, strategy, ties, error, says):
    with pytest.raises(error, match=says):
        split_events(events, strategy, ties, RNG, test_from=4)


@pytest.mark.parametrize("held_out", [1, 5])
@pytest.mark.parametrize("ties", ["first", "last"])
def test_the_last_k_events(held_out: int, ties: str) -> None:
    """The rule of ties changes the split of those users alone whose k-th last time is also the next one."""
    table = made_up()
    split = split_events(events_of(table), "last-event", ties, RNG, held_out=held_out)
    order = table if ties == "last" else table[::-1]
    last = order.sort_values("time", kind="stable").groupby("user").tail(held_out).index
    assert pairs(split) == of_pandas(table, table.index.isin(last))
    assert split.candidates.tolist() == candidates(table, split)
    assert (np.bincount(split.user) == held_out).all()
    ordered = table.sort_values("time").groupby("user")["time"].apply(list)
    shared = sum(len(times) > held_out and times[-held_out] == times[-held_out - 1] for times in ordered)
    assert shared_last_times(events_of(table), held_out) == shared > 0


@pytest.mark.parametrize("first", [4, 11])
def test_the_events_from_a_time_on(first: int) -> None:
    table = made_up()
    split = split_events(events_of(table), "global-time", "first", RNG, test_from=first)
    test = table["time"] >= first
    assert pairs(split) == of_pandas(table, test)
    assert split.candidates.tolist() == candidates(table, split)
    trained, tested = set(table.loc[~test, "user"]), set(table.loc[test, "user"])
    assert set(split.user_ids // 10) == trained
    assert tested - trained if first == 4 else trained - tested  # users left out, and users who only train


@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), st.floats(0.01, 0.99))
def test_the_last_share_of_the_events(times: list[int], share: float) -> None:
    table = pd.DataFrame({"user": 0, "item": range(len(times)), "time": times})
    wanted = max(1, round(share * len(times)))
    test = table["time"] >= sorted(times)[-wanted]
    if test.all():
        with pytest.raises(DataError, match="none of the 1 users has an event to train on and one to hold out"):
            split_events(events_of(table), "global-time", "first", RNG, test_size=share)
        return
    split = split_events(events_of(table), "global-time", "first", RNG, test_size=share)
    assert pairs(split) == of_pandas(table, test)
    assert split.held_out.nnz >= wanted


def test_each_of_the_latest_events_is_as_probable():
    """Within four standard deviations."""
    events = events_of([(0, 0, 1), (0, 1, 9), (0, 2, 9), (0, 3, 9)])
    counts = np.bincount([leave_last_out(events, "random", RNG).item[0] for _ in range(600)], minlength=4)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 200).max() < 4 * np.sqrt(600 * 2 / 9)


def test_each_of_several_random_events_is_as_probable():
    events, counts = events_of([(7, item, 0) for item in range(4)] + [(8, 0, 0), (8, 1, 0), (9, 0, 0)]), np.zeros(4)
    for _ in range(600):
        split = split_events(events, "random-event", "first", RNG, held_out=2)
        assert split.user_ids.tolist() == [70]  # user 8 has two events, user 9 one
        counts[split.item] += 1
    assert np.abs(counts - 300).max() < 4 * np.sqrt(600 / 4)


@pytest.mark.parametrize("strategy", ["last-event", "random-event"])
def test_a_ready_made_split_is_taken_as_the_file_says_whatever_the_strategy(strategy):
    table = made_up()
    test = pd.Series(RNG.random(len(table)) < 0.3)
    split = split_events(events_of(table, held_out=test.to_numpy()), strategy, "first", RNG)
    assert pairs(split) == of_pandas(table, test)
    assert split.training.has_sorted_indices
    with pytest.raises(DataError, match=r"^user 40 has item 100 both in training and held out$"):
        events_of([(4, 1, 0), (4, 2, 0), (5, 1, 0), (4, 1, 0)], held_out=np.array([False, False, False, True]))


@pytest.mark.parametrize("user_ids", [None, ["é", "x y"]])
def test_a_file_gives_back_what_was_written_and_is_the_same_bytes_twice(tmp_path, user_ids):
    split = split_events(events_of(made_up()), "last-event", "first", RNG, held_out=3)
    if user_ids is not None:
        split = replace(leave_last_out(events_of(ROWS), "first", RNG), user_ids=np.array(user_ids))
    for name in ("1.npz", "2.npz"):
        split.write(tmp_path / name)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    again = read_split(tmp_path / "1.npz")
    assert again.shape == split.shape
    assert (again.training != split.training).nnz == 0
    for name in ("user", "item", "user_ids", "item_ids", "candidates"):
        assert getattr(again, name).tolist() == getattr(split, name).tolist()
    assert again.training.indices.dtype == again.training.indptr.dtype == np.int32
    assert again.training.has_canonical_format


# training events: 2 of user 0, 1 of user 1, 3 of user 2
EVENTS = events_of([(0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 1), (1, 1, 2), *((2, item, item) for item in range(4))])
SPLIT = leave_last_out(EVENTS, "first", RNG)


def test_counts_that_do_not_add_up_to_the_events_are_refused(monkeypatch):
    dense = SPLIT.training.toarray()
    dense[0, 0] = 0  # a training event is lost
    monkeypatch.setattr(splits, "leave_last_out", lambda *events: replace(SPLIT, training=csr_array(dense)))
    says = "5 training events, 3 held out and 0 of users that are left out, which are not the 9 events"
    with pytest.raises(DataError, match=says):
        split_events(EVENTS, "last-event", "first", RNG)


@pytest.mark.parametrize(
    ("held_out", "says"),
    [
        (one_each([2, 1], 4), r"held_out has shape \(2, 4\)"),
        (one_each([2, 1, 4], 5), r"held_out has shape \(3, 5\)"),
        (one_each([1, 1, 3], 4), "user 0: the held-out item is one of the user's training items"),
        (csr_array(([1, 1], [2, 2], [0, 2, 2, 2]), shape=(3, 4)), "a user's held-out items are repeated"),
    ],
)
def test_a_held_out_item_that_cannot_be_is_refused(held_out, says):
    with pytest.raises(DataError, match=says):
        replace(SPLIT, held_out=held_out)


@pytest.mark.parametrize(("least", "users"), [(1, [0, 10, 20]), (2, [0, 20]), (3, [20])])
def test_users_with_fewer_training_events_are_left_out(least, users):
    left = leave_users_out(SPLIT, least)
    assert left.user_ids.tolist() == users
    for kept, all_ in zip(pairs(left), pairs(SPLIT), strict=True):
        assert kept == {pair for pair in all_ if 10 * pair[0] in users}
    assert left.item_ids.tolist() == SPLIT.item_ids.tolist()  # all stay candidates
    with pytest.raises(DataError, match=r"^no user has 4 \(split.min_training_events\) training events or more$"):
        leave_users_out(SPLIT, 4)


def test_the_split_as_tables_for_other_programs():
    """Training events with their times and the held-out items, by the ids of the file, are all events together."""
    table = made_up()
    split = split_events(events_of(table), "last-event", "first", RNG, held_out=2)
    tables = split_tables(split)
    assert list(tables) == ["train", "held_out", "users", "items"]
    both = pd.concat([tables["train"], tables["held_out"]])
    kept = table[(table["user"] * 10).isin(split.user_ids)]
    assert {*map(tuple, both[["user", "item"]].to_numpy())} == {
        *map(tuple, kept[["user", "item"]].to_numpy() * (10, 100))
    }
    times = {(user * 10, item * 100): time for user, item, time in table[["user", "item", "time"]].to_numpy()}
    assert all(times[user, item] == time for user, item, time in tables["train"].to_numpy())
    assert tables["users"]["user"].tolist() == split.user_ids.tolist()
    assert tables["items"]["item"].tolist() == split.item_ids.tolist()
