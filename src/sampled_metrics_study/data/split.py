"""How events are split: some of each user are held out, and the others train.

Usually the last event of a user is held out (section 6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.checks import Ints
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.split import Split, pair_matrix

if TYPE_CHECKING:
    import pandas as pd

    from sampled_metrics_study.data.events import Events

TIE_ORDER: dict[str, Callable[[Ints, int, np.random.Generator], Ints]] = {
    "first": lambda positions, events, rng: -positions,
    "last": lambda positions, events, rng: positions,
    "random": lambda positions, events, rng: rng.permutation(events)[positions],
}
"""The rules for events of a user at the latest time: of these, the event with the greatest key
counts as the last.

A rule is a function from the positions of events in the file, the number of all events in it, and a
random stream.
"""


def _positions(
    users: NDArray[np.generic], items: NDArray[np.generic], shape: tuple[int, int]
) -> csr_array:
    """Return a sparse matrix with the position of each of (pairs,) users and items.

    No two pairs are the same.
    """
    index = np.int32 if max(*shape, len(users)) < 2**31 else np.int64
    pairs = users.astype(index, copy=False), items.astype(index, copy=False)
    return csr_array((np.arange(len(users), dtype=index), pairs), shape=shape)


def leave_last_out(events: Events, ties: str, rng: np.random.Generator, held_out: int = 1) -> Split:
    """Return the split that holds out the last events of every user.

    Users without another event are left out: they have nothing to train on.

    Args:
        events: at most one event for a (user, item) pair.
        ties: key of `TIE_ORDER`: which of several events at the same time counts as the last.
        rng: the random stream, for random ties.
        held_out: k, the number of events of each user.

    Raises:
        ConfigError: the events have no timestamps.
        DataError: no user has more events.
    """
    return _hold_out(events, _last_by_time(events, ties, rng, held_out))


def _last_by_time(events: Events, ties: str, rng: np.random.Generator, held_out: int) -> Ints:
    """Return the last events of each user by their times."""
    times = _times(events, "last-event")
    return _last(events, times, held_out, lambda tied: TIE_ORDER[ties](tied, len(events), rng))


def shared_last_times(events: Events, held_out: int = 1) -> int:
    """Return the number of users whose times do not say which events are the last ones.

    For these users, a rule decides.

    Args:
        events: with timestamps.
        held_out: k, the number of last events of each user.
    """
    latest = _latest(events, _times(events, "last-event"), held_out)
    return int((np.bincount(events.users[latest]) > held_out).sum())


def _times(events: Events, strategy: str) -> NDArray[np.int64] | NDArray[np.float64]:
    if events.timestamps is None:
        raise lack_of_times(strategy)
    return events.timestamps


def lack_of_times(strategy: str, dataset: str = "NAME") -> ConfigError:
    """Return the error of a strategy that needs the times that a dataset does not have."""
    return ConfigError(
        f"split.strategy: {strategy} needs timestamps, and the file has none; use the "
        f"strategy random-event, or timestamp: order (datasets.{dataset}.options) if the lines are "
        "in the order of time"
    )


def _last(
    events: Events, times: NDArray[np.generic], held_out: int, tie: Callable[[Ints], Ints]
) -> Ints:
    """Return the last events of each user by their times, and of the same time by tie keys."""
    latest = _latest(events, times, held_out)
    latest = latest[np.lexsort((tie(latest), times[latest], events.users[latest]))]
    users = events.users[latest]
    ends = np.searchsorted(users, users, side="right")  # where the events of the user end
    return np.asarray(latest[np.arange(len(users)) >= ends - held_out])


def _latest(events: Events, times: NDArray[np.generic], held_out: int) -> Ints:
    """Return the last `held_out` events of each user by their times.

    All events at the time of the earliest of them are among the result.
    """
    event = np.arange(len(events))
    users = events.users
    missing = np.full(len(events.user_ids), held_out)  # events of a user that are still to be found
    latest = []
    while len(event):
        last_time = np.full(len(missing), times.min(), dtype=times.dtype)
        np.maximum.at(last_time, users, times)
        is_latest = times == last_time[users]
        latest.append(event[is_latest])
        missing -= np.bincount(users[is_latest], minlength=len(missing))
        is_earlier = ~is_latest & (missing[users] > 0)
        event = event[is_earlier]
        users = users[is_earlier]
        times = times[is_earlier]
    return np.concatenate(latest)


def _hold_out(events: Events, test: Ints, min_training_events: int = 1) -> Split:
    """Return the split that holds out `test` events. Users with few other events are left out."""
    train = np.ones(len(events), dtype=np.bool_)
    train[test] = False
    counts = np.bincount(events.users[train], minlength=len(events.user_ids))
    kept = counts >= min_training_events
    train &= kept[events.users]
    test = test[kept[events.users[test]]]
    if not len(test):
        raise DataError(
            f"split: none of the {len(kept)} users has an event to hold out and "
            f"{min_training_events} (min_training_events) to train on; take a smaller held_out, or "
            "another test_from or test_size"
        )
    number = np.cumsum(kept, dtype=np.int32) - 1  # index of a kept user among the kept ones
    shape = (int(kept.sum()), len(events.item_ids))
    held_out = pair_matrix(number[events.users[test]], events.items[test], shape)
    placed = _positions(number[events.users[train]], events.items[train], shape)
    times = None if events.timestamps is None else events.timestamps[train][placed.data]
    training = csr_array((np.ones(placed.nnz), placed.indices, placed.indptr), shape=shape)
    return Split(training, held_out, events.user_ids[kept], events.item_ids, times, placed.data)


def split_events(
    events: Events,
    strategy: str,
    ties: str,
    rng: np.random.Generator,
    *,
    held_out: int = 1,
    test_from: float | None = None,
    test_size: float | None = None,
    min_training_events: int = 1,
) -> Split:
    """Return the split that the config describes; a file with a split of its own keeps that split.

    Users without events on both sides are left out.

    Args:
        events: at most one event for a (user, item) pair.
        strategy: last-event, random-event or global-time.
        ties: key of `TIE_ORDER`, for last-event.
        rng: the random stream.
        held_out: events of each user, for last-event and random-event.
        test_from: for global-time: the first time of the held-out events, in the unit of the file;
            None follows from `test_size`.
        test_size: the share of the events that are held out, the last ones. Events at the time of
            the first of them are held out, too.
        min_training_events: users with fewer events in training are left out; all items stay
            candidates.

    Raises:
        ConfigError: the strategy does not fit the events.
        DataError: no user is left.
    """
    if events.held_out is not None:
        test = np.flatnonzero(events.held_out)
    elif strategy == "global-time":
        times = _times(events, strategy)
        if test_from is None:
            count = max(1, round((test_size or 0) * len(events)))
            test_from = np.partition(times, -count)[-count]
        test = np.flatnonzero(times >= test_from)
    elif strategy == "random-event":
        test = _last(events, rng.permutation(len(events)), held_out, lambda latest: latest)
    else:
        test = _last_by_time(events, ties, rng, held_out)
    return _hold_out(events, test, min_training_events)


def split_tables(split: Split) -> dict[str, pd.DataFrame]:
    """Return the tables of a split, with the ids of the file, by name.

    Returns:
        A dict of

        - train: user, item and, if known, timestamp of the training events, in the order of users
          and then items;
        - held_out: user and item, a row for each held-out item;
        - users, items: the ids, in the order of the rows and columns of a (users, items) matrix.
    """
    import pandas as pd  # slow to import, and training does without

    training = split.training
    train = {
        "user": np.repeat(split.user_ids, np.diff(training.indptr)),
        "item": split.item_ids[training.indices],
        **({} if split.timestamps is None else {"timestamp": split.timestamps}),
    }
    return {
        "train": pd.DataFrame(train),
        "held_out": pd.DataFrame(
            {"user": split.user_ids[split.user], "item": split.item_ids[split.item]}
        ),
        "users": pd.DataFrame({"user": split.user_ids}),
        "items": pd.DataFrame({"item": split.item_ids}),
    }
