"""The split: some events of the users are held out, usually the last one of each (section 6); the others train."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from sampled_metrics import _files
from sampled_metrics._validation import Ints
from sampled_metrics.errors import ConfigError, DataError, reason

if TYPE_CHECKING:
    import pandas as pd

    from sampled_metrics.data.events import Events

TIE_ORDER: dict[str, Callable[[Ints, int, np.random.Generator], Ints]] = {
    "first": lambda positions, events, rng: -positions,
    "last": lambda positions, events, rng: positions,
    "random": lambda positions, events, rng: rng.permutation(events)[positions],
}
"""The rules for events of a user at the latest time: of these, the event with the greatest key counts as the last.

A rule is a function from the positions of events in the file, the number of all events in it, and a random stream.
"""


class Shape(NamedTuple):
    """The size of a split: numbers of users, items and training events."""

    users: int
    items: int
    events: int


@dataclass(frozen=True)
class Split:
    """Training events and held-out items, as two matrices. A row for each held-out item has the order of `held_out`.

    Attributes:
        training: (users, items) sparse, stored where the user has the item in training.
        held_out: (users, items) sparse, stored where the item is held out. A user may have several, or none.
        user_ids: (users,) the ids of the file.
        item_ids: (items,) the ids of the file.
        timestamps: (training events,) in the order of `training`, in the unit of the file; None if not known.
        positions: (training events,) in the order of `training`, ascending in the order of the file; None if not known.
    """

    training: csr_array
    held_out: csr_array
    user_ids: NDArray[np.generic]
    item_ids: NDArray[np.generic]
    timestamps: NDArray[np.generic] | None = None
    positions: Ints | None = None

    def __post_init__(self) -> None:
        shape = self.training.shape
        if not shape == self.held_out.shape == (*self.user_ids.shape, *self.item_ids.shape):
            raise DataError(
                f"training has {shape[0]} users and {shape[1]} items, but held_out has shape {self.held_out.shape}, "
                f"user_ids {self.user_ids.shape} and item_ids {self.item_ids.shape}"
            )
        for pairs, kind in ((self.training, "training"), (self.held_out, "held-out")):
            if not pairs.has_canonical_format:
                raise DataError(f"a user's {kind} items are repeated, or not in ascending order")
        both = self.training.multiply(self.held_out).tocoo()
        if both.nnz:
            raise DataError(f"user {self.user_ids[both.row[0]]}: the held-out item is one of the user's training items")

    @cached_property
    def user(self) -> Ints:
        """(rows,) index of the user of each held-out item."""
        return np.repeat(np.arange(len(self.user_ids)), np.diff(self.held_out.indptr))

    @property
    def item(self) -> Ints:
        """(rows,) index of each held-out item."""
        return np.asarray(self.held_out.indices)

    @property
    def candidates(self) -> Ints:
        """(rows,) n: the number of items minus the user's training items and other held-out items."""
        own = np.diff(self.training.indptr).astype(np.int64) + np.diff(self.held_out.indptr)
        return self.training.shape[1] + 1 - own[self.user]

    @cached_property
    def excluded(self) -> csr_array:
        """(users, items), stored where the item is in training or held out, and so not a negative of the user."""
        return csr_array(self.training + self.held_out)

    def non_candidates(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the items that are not candidates of some rows: the user's training items and other held-out items.

        Args:
            rows: (rows,) ascending.

        Returns:
            The items, row by row, and (rows + 1,) offsets: those of row i are ``items[offsets[i] : offsets[i + 1]]``.
        """
        user, training = self.user[rows], self.training
        counts = self.held_out.indptr[user + 1] - self.held_out.indptr[user]
        if (counts > 1).any():
            excluded = self.excluded[user]
            is_other = excluded.indices != np.repeat(self.item[rows], np.diff(excluded.indptr))
            return excluded.indices[is_other], excluded.indptr - np.arange(len(rows) + 1)  # a row lacks its own item
        if user[-1] - user[0] + 1 == len(user):  # consecutive users: nothing is copied
            ends = training.indptr[user[0] : user[-1] + 2]
            return training.indices[ends[0] : ends[-1]], ends - ends[0]
        own = training[user]
        return own.indices, own.indptr

    @property
    def shape(self) -> Shape:
        """Numbers of users, items and training events."""
        users, items = self.training.shape
        return Shape(users, items, self.training.nnz)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the split as npz."""
        one_each = np.array_equal(self.user, np.arange(len(self.user_ids)))
        _files.write_npz(
            path,
            indptr=self.training.indptr,
            indices=self.training.indices,
            held_out=self.item.astype(np.int64),
            user_ids=self.user_ids,
            item_ids=self.item_ids,
            **({} if one_each else {"user": self.user}),
            **({} if self.timestamps is None else {"timestamps": self.timestamps}),
            **({} if self.positions is None else {"positions": self.positions}),
        )


def read_split(path: str | os.PathLike[str], *, timestamps: bool = False) -> Split:
    """Read a split that `Split.write` wrote, with its timestamps and positions on request; few need them.

    Raises:
        DataError: the file is not a split, or is damaged.
    """
    names = ("indptr", "indices", "held_out", "user_ids", "item_ids")
    more = ("timestamps", "positions") if timestamps else ()
    arrays = _files.read_npz(path, "a split", names, only=(*names, "user", *more))
    shape = (len(arrays["user_ids"]), len(arrays["item_ids"]))
    indices, item = arrays["indices"], arrays["held_out"]
    try:
        training = csr_array((np.ones(len(indices)), indices, arrays["indptr"]), shape=shape)
        training.check_format(full_check=True)
        held_out = pair_matrix(arrays.get("user", np.arange(shape[0])), item, shape)
        ids = arrays["user_ids"], arrays["item_ids"]
        return Split(training, held_out, *ids, arrays.get("timestamps"), arrays.get("positions"))
    except ValueError as error:  # of what is stored; DataError is one
        raise DataError(f"{path}: is not a split, or is damaged: {error}") from None


def valid_sparse(matrix: Any, name: str) -> Any:
    """Return a sparse matrix, in a format with stored places, after a check of all of them.

    SciPy's compiled code reads and writes at the places that a matrix stores. So wrong ones end the process, or change
    other numbers.

    Raises:
        DataError: a stored place is not in the matrix, or the matrix does not have two dimensions.
    """
    try:
        if matrix.ndim != 2:
            raise ValueError(f"it has {matrix.ndim} dimensions, not 2")
        if matrix.dtype.kind not in "biufc":
            raise ValueError(f"it holds {matrix.dtype}, not numbers")
        if matrix.format == "coo":
            return coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)  # which checks the places
        if matrix.format not in ("csr", "csc", "bsr"):
            matrix = csr_array(matrix)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise DataError(f"{name}: is no valid sparse matrix: {reason(error)}") from None
    return matrix


def pair_matrix(
    users: NDArray[Any], items: NDArray[Any], shape: tuple[int, int], kind: type[np.generic] = np.float64
) -> csr_array:
    """Return a sparse matrix with 1 for each of (pairs,) users and items; its indices take 32 bits if that is enough.

    Raises:
        ValueError: an index is out of range.
    """
    index = np.int32 if max(*shape, len(users)) < 2**31 else np.int64
    pairs = users.astype(index, copy=False), items.astype(index, copy=False)
    matrix = csr_array((np.ones(len(users), dtype=kind), pairs), shape=shape)
    matrix.data[:] = 1  # a repeated pair was summed
    return matrix


def _positions(users: NDArray[Any], items: NDArray[Any], shape: tuple[int, int]) -> csr_array:
    """Return a sparse matrix with the position of each of (pairs,) users and items, no two of which are the same."""
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
        ConfigError: the tie rule is unknown, or the events have no timestamps.
        DataError: no user has more events.
    """
    if ties not in TIE_ORDER:
        raise ConfigError(f"unknown tie rule {ties!r}; it may be {', '.join(TIE_ORDER)}")
    times = _times(events, "last-event")
    return _hold_out(events, _last(events, times, held_out, lambda latest: TIE_ORDER[ties](latest, len(events), rng)))


def shared_last_times(events: Events, held_out: int = 1) -> int:
    """Return the number of users of whom the times do not say which events are the last ones, so that a rule decides.

    Args:
        events: with timestamps.
        held_out: k, the number of last events of each user.
    """
    users, times = events.users, _times(events, "last-event")
    order = np.lexsort((times, users))
    users, times = users[order], times[order]
    last = np.flatnonzero(np.diff(users, append=-1)) + 1 - held_out  # the k-th last event of each user
    last = last[last > 0]
    return int(((times[last] == times[last - 1]) & (users[last + held_out - 1] == users[last - 1])).sum())


def _times(events: Events, strategy: str) -> NDArray[np.int64] | NDArray[np.float64]:
    if events.timestamps is None:
        raise ConfigError(
            f"split.strategy: {strategy} needs timestamps, and the file has none; use the strategy random-event"
        )
    return events.timestamps


def _last(events: Events, times: NDArray[np.generic], held_out: int, tie: Callable[[Ints], Ints]) -> Ints:
    """Return the last events of each user, by their times, and by the tie keys of events at the same time."""
    latest = np.arange(len(events)) if held_out > 1 else _latest(events, times)
    latest = latest[np.lexsort((tie(latest), times[latest], events.users[latest]))]
    users = events.users[latest]
    return np.asarray(latest[np.arange(len(users)) >= np.searchsorted(users, users, side="right") - held_out])


def _latest(events: Events, times: NDArray[np.generic]) -> Ints:
    """Return the indices, ascending, of all events at the latest time of their user."""
    latest = np.empty(len(events.user_ids), dtype=times.dtype)
    latest[events.users] = times  # any one of the user's times, to begin with
    np.maximum.at(latest, events.users, times)
    return np.flatnonzero(times == latest[events.users])


def _hold_out(events: Events, test: Ints) -> Split:
    """Return the split that holds out `test` events. Users without other events are left out."""
    train = np.ones(len(events), dtype=np.bool_)
    train[test] = False
    kept = np.bincount(events.users[train], minlength=len(events.user_ids)) > 0
    test = test[kept[events.users[test]]]
    if not len(test):
        raise DataError(
            f"split: none of the {len(kept)} users has an event to train on and one to hold out; take a smaller "
            "held_out, or another test_from or test_size"
        )
    number = np.cumsum(kept, dtype=np.int32) - 1  # index of a kept user among the kept ones
    shape = (int(kept.sum()), len(events.item_ids))
    held_out = pair_matrix(number[events.users[test]], events.items[test], shape)
    placed = _positions(number[events.users[train]], events.items[train], shape)
    times = None if events.timestamps is None else events.timestamps[train][placed.data]
    training = csr_array((np.ones(placed.nnz), placed.indices, placed.indptr), shape=shape)
    return Split(training, held_out, events.user_ids[kept], events.item_ids, times, placed.data)


def leave_users_out(split: Split, min_training_events: int) -> Split:
    """Return the split of the users who have `min_training_events` training events or more."""
    counts = np.diff(split.training.indptr)
    kept = counts >= min_training_events
    if kept.all():
        return split
    if not kept[split.user].any():
        raise DataError(f"no user has {min_training_events} (split.min_training_events) training events or more")
    return Split(
        split.training[kept],
        split.held_out[kept],
        split.user_ids[kept],
        split.item_ids,
        None if split.timestamps is None else split.timestamps[np.repeat(kept, counts)],
        None if split.positions is None else split.positions[np.repeat(kept, counts)],
    )


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
        test_from: for global-time: the first time of the held-out events, in the unit of the file; None follows from
            `test_size`.
        test_size: the share of the events that are held out, the last ones. Events at the time of the first of them are
            held out, too.
        min_training_events: users with fewer events in training are left out; all items stay candidates.

    Raises:
        ConfigError: the strategy does not fit the events.
        DataError: no user is left.
    """
    if events.held_out is not None:
        split = _hold_out(events, np.flatnonzero(events.held_out))
    elif strategy == "global-time":
        times = _times(events, strategy)
        if test_from is None:
            count = max(1, round((test_size or 0) * len(events)))
            test_from = np.partition(times, -count)[-count]
        split = _hold_out(events, np.flatnonzero(times >= test_from))
    elif strategy == "random-event":
        split = _hold_out(events, _last(events, rng.permutation(len(events)), held_out, lambda latest: latest))
    else:
        split = leave_last_out(events, ties, rng, held_out)
    train, out = split.training.nnz, split.held_out.nnz
    left_out = int((~np.isin(events.user_ids, split.user_ids))[events.users].sum())
    if train + out + left_out != len(events):
        raise DataError(
            f"the split has {train} training events, {out} held out and {left_out} of users that are left out, "
            f"which are not the {len(events)} events together"
        )
    return leave_users_out(split, min_training_events)


def split_tables(split: Split) -> dict[str, pd.DataFrame]:
    """Return the tables of a split, with the ids of the file, by name.

    Returns:
        train: user, item and, if known, timestamp of the training events, in the order of users and then items.
        held_out: user and item, a row for each held-out item.
        users, items: the ids, in the order of the rows and columns of a (users, items) matrix.
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
        "held_out": pd.DataFrame({"user": split.user_ids[split.user], "item": split.item_ids[split.item]}),
        "users": pd.DataFrame({"user": split.user_ids}),
        "items": pd.DataFrame({"item": split.item_ids}),
    }
