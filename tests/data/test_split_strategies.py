"""Splits with several held-out events of a user, beside pandas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.data.events import EventChunk, Events, binarize
from sampled_metrics.data.split import Split, read_shape, read_split, split_events
from sampled_metrics.errors import ConfigError, DataError

RNG = np.random.default_rng(1)


def events_of(table: pd.DataFrame, held_out: np.ndarray | None = None) -> Events:
    times = table["time"].to_numpy()
    return binarize([EventChunk(table["user"].to_numpy(), table["item"].to_numpy(), None, times, held_out)], 0)


def made_up(seed: int = 3) -> pd.DataFrame:
    """Events of 40 users, with few distinct times and users with a single event, in no order."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"user": rng.integers(40, size=260) ** 2 // 40, "item": rng.integers(60, size=260)})
    table = table.drop_duplicates(ignore_index=True)
    return table.assign(time=rng.integers(12, size=len(table)))


def pairs(split: Split) -> tuple[set, set]:
    """(user, item) ids of the training events, and of the held-out ones."""
    users, items = split.training.nonzero()
    held_out = zip(split.user_ids[split.user].tolist(), split.item_ids[split.item].tolist(), strict=True)
    return set(zip(split.user_ids[users].tolist(), split.item_ids[items].tolist(), strict=True)), set(held_out)


def of_pandas(table: pd.DataFrame, test: pd.Series) -> tuple[set, set]:
    """The same from the (events,) whether an event is a test event."""
    trained = set(table.loc[~test, "user"])
    as_pairs = table[["user", "item"]].apply(tuple, axis=1)
    return set(as_pairs[~test]), set(as_pairs[test & table["user"].isin(trained)])


def candidates(table: pd.DataFrame, split: Split) -> list[int]:
    """All items less the training items and the other held-out items, of each row."""
    train, test = pairs(split)
    had = pd.Series([user for user, _ in train | test]).value_counts()
    return [table["item"].nunique() - had[user] + 1 for user in split.user_ids[split.user]]


@pytest.mark.parametrize("held_out", [1, 2, 5])
@pytest.mark.parametrize("ties", ["first", "last"])
def test_the_last_k_events(held_out: int, ties: str) -> None:
    table = made_up()
    split = split_events(events_of(table), "last-event", ties, RNG, held_out=held_out)
    order = table if ties == "last" else table[::-1]
    last = order.sort_values("time", kind="stable").groupby("user").tail(held_out).index
    assert pairs(split) == of_pandas(table, table.index.isin(last))
    assert split.candidates.tolist() == candidates(table, split)
    assert (np.bincount(split.user) == held_out).all()


def test_random_events_are_each_alike() -> None:
    table = pd.DataFrame({"user": [7, 7, 7, 7, 8, 8, 9], "item": [0, 1, 2, 3, 0, 1, 0], "time": 0})
    events, rng, counts = events_of(table), np.random.default_rng(2), np.zeros(4)
    for _ in range(1500):
        split = split_events(events, "random-event", "first", rng, held_out=2)
        assert split.user_ids.tolist() == [7]  # user 8 has two events, user 9 one
        counts[split.item] += 1
    assert counts.sum() == 3000
    assert np.abs(counts - 750).max() < 4 * np.sqrt(1500 / 4)


@pytest.mark.parametrize("first", [4, 11])
def test_the_events_from_a_time_on(first: int) -> None:
    table = made_up()
    split = split_events(events_of(table), "global-time", "first", RNG, test_from=first)
    test = table["time"] >= first
    assert pairs(split) == of_pandas(table, test)
    assert split.candidates.tolist() == candidates(table, split)
    trained, tested = set(table.loc[~test, "user"]), set(table.loc[test, "user"])
    assert set(split.user_ids.tolist()) == trained
    assert tested - trained if first == 4 else trained - tested  # users left out, and users who only train


@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), st.floats(0.01, 0.99))
def test_the_last_share_of_the_events(times: list[int], share: float) -> None:
    table = pd.DataFrame({"user": 0, "item": range(len(times)), "time": times})
    wanted = max(1, round(share * len(times)))
    first = sorted(times)[-wanted]
    test = table["time"] >= first
    if test.all():
        with pytest.raises(DataError, match="none of the 1 users has an event to train on and one to hold out"):
            split_events(events_of(table), "global-time", "first", RNG, test_size=share)
        return
    split = split_events(events_of(table), "global-time", "first", RNG, test_size=share)
    assert pairs(split) == of_pandas(table, test)
    assert split.held_out.nnz >= wanted


def test_needs_times() -> None:
    events = events_of(made_up())
    without = Events(events.users, events.items, None, events.user_ids, events.item_ids)
    with pytest.raises(ConfigError, match=r"^split\.strategy: global-time needs timestamps"):
        split_events(without, "global-time", "first", RNG, test_from=4)


def test_a_file_that_holds_several_out() -> None:
    table, rng = made_up(), np.random.default_rng(5)
    test = pd.Series(rng.random(len(table)) < 0.3)
    split = split_events(events_of(table, test.to_numpy()), "last-event", "first", RNG)
    assert pairs(split) == of_pandas(table, test)


def test_a_file_with_an_event_on_both_sides() -> None:
    table = pd.DataFrame({"user": [4, 4, 5, 4], "item": [1, 2, 1, 1], "time": 0})
    with pytest.raises(DataError, match=r"^user 4 has item 1 both in training and held out$"):
        events_of(table, np.array([False, False, False, True]))


def test_several_are_written_and_read(tmp_path) -> None:
    split = split_events(events_of(made_up()), "last-event", "first", RNG, held_out=3)
    split.write(tmp_path / "split.npz")
    again = read_split(tmp_path / "split.npz")
    assert pairs(again) == pairs(split)
    assert again.user.tolist() == split.user.tolist()
    assert read_shape(tmp_path / "split.npz") == split.shape
