"""The split: one event of every user is held out, the others train (section 6)."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics import _files
from sampled_metrics._arrays import Ints
from sampled_metrics.data.events import Events, pair_numbers
from sampled_metrics.errors import ConfigError, DataError

# Which of a user's events at the latest time counts as the last: the one with the greatest key, by the places in the
# file, the number of events in the file, and a random stream.
TIE_ORDER: dict[str, Callable[[Ints, int, np.random.Generator], Ints]] = {
    "first": lambda positions, events, rng: -positions,
    "last": lambda positions, events, rng: positions,
    "random": lambda positions, events, rng: rng.permutation(events)[positions],
}


class Shape(NamedTuple):
    """The size of a split: numbers of users, items and training events."""

    users: int
    items: int
    events: int


@dataclass(frozen=True)
class Split:
    """Training events and held-out items.

    Attributes:
        training: (users, items) sparse, 1.0 where the user has the item in training.
        held_out: (users,) int, index of the item that was held out.
        user_ids: (users,) the ids of the file.
        item_ids: (items,) the ids of the file.
    """

    training: csr_array
    held_out: Ints
    user_ids: NDArray[np.generic]
    item_ids: NDArray[np.generic]

    def __post_init__(self) -> None:
        users, items = self.training.shape
        if not (self.held_out.shape == (users,) == self.user_ids.shape and self.item_ids.shape == (items,)):
            raise DataError(
                f"training has {users} users and {items} items, but held_out has shape {self.held_out.shape}, "
                f"user_ids {self.user_ids.shape} and item_ids {self.item_ids.shape}"
            )
        wrong = (self.held_out < 0) | (self.held_out >= items)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise DataError(
                f"user {self.user_ids[at]}: held_out must be an index of the {items} items, 0 to {items - 1}, "
                f"not {self.held_out[at]}"
            )
        if not self.training.has_canonical_format:
            raise DataError("a user's training items are repeated, or not in ascending order")
        row = np.repeat(np.arange(users), np.diff(self.training.indptr))
        both = row[self.training.indices == self.held_out[row]]
        if len(both):
            raise DataError(f"user {self.user_ids[both[0]]}: the held-out item is one of the user's training items")

    @property
    def candidates(self) -> Ints:
        """(users,) n_u: the number of items minus the user's training items. The held-out item counts."""
        return self.training.shape[1] - np.diff(self.training.indptr).astype(np.int64)

    @property
    def shape(self) -> Shape:
        """Numbers of users, items and training events."""
        users, items = self.training.shape
        return Shape(users, items, self.training.nnz)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the split as npz."""
        _files.write_npz(
            path,
            indptr=self.training.indptr,
            indices=self.training.indices,
            held_out=self.held_out,
            user_ids=self.user_ids,
            item_ids=self.item_ids,
        )


def read_split(path: str | os.PathLike[str]) -> Split:
    """Read what `Split.write` wrote.

    Raises:
        DataError: the file is not a split, or is damaged.
    """
    arrays = _files.read_npz(path, "a split", ("indptr", "indices", "held_out", "user_ids", "item_ids"))
    shape = (len(arrays["user_ids"]), len(arrays["item_ids"]))
    indices = arrays["indices"]
    try:
        training = csr_array((np.ones(len(indices)), indices, arrays["indptr"]), shape=shape)
        training.check_format(full_check=True)
        return Split(training, arrays["held_out"], arrays["user_ids"], arrays["item_ids"])
    except ValueError as error:  # of what is stored; DataError is one
        raise DataError(f"{path}: is not a split, or is damaged: {error}") from None


def read_shape(path: str | os.PathLike[str]) -> Shape:
    """Read the size of what `Split.write` wrote, without reading the arrays.

    Raises:
        DataError: the file is not a split, or is damaged.
    """
    headers = _files.npz_headers(path, "a split")
    try:
        (users,), (items,), (events,) = (headers[name][0] for name in ("user_ids", "item_ids", "indices"))
    except (KeyError, ValueError):
        raise DataError(f"{path}: is not a split, or is damaged") from None
    return Shape(users, items, events)


def leave_last_out(events: Events, ties: str, rng: np.random.Generator) -> Split:
    """Hold out the last event of every user. Users with a single event are left out: they have nothing to train on.

    Args:
        events: at most one event for a (user, item) pair.
        ties: key of `TIE_ORDER`: which of several latest events counts as the last.
        rng: the random stream, for random ties.

    Raises:
        ConfigError: the tie rule is unknown, or the events have no timestamps.
        DataError: every user has a single event.
    """
    if ties not in TIE_ORDER:
        raise ConfigError(f"unknown tie rule {ties!r}; it may be {', '.join(TIE_ORDER)}")
    if events.timestamps is None:
        raise ConfigError(
            "split.strategy: last-event needs timestamps, and the file has none; use the strategy random-event"
        )
    latest = _latest(events, events.timestamps)
    return _hold_out(events, latest, TIE_ORDER[ties](latest, len(events), rng))


def leave_random_out(events: Events, rng: np.random.Generator) -> Split:
    """Hold out one event of every user, each equally likely; arguments and errors as of `leave_last_out`."""
    latest = _latest(events, rng.permutation(len(events)))
    return _hold_out(events, latest, np.zeros(len(latest)))


def _latest(events: Events, times: NDArray[np.generic]) -> Ints:
    """Return the indices, ascending, of all events at the latest time of their user."""
    latest = np.empty(len(events.user_ids), dtype=times.dtype)
    latest[events.users] = times  # any one of the user's times, to begin with
    np.maximum.at(latest, events.users, times)
    return np.flatnonzero(times == latest[events.users])


def _hold_out(events: Events, latest: Ints, tie: NDArray[np.generic]) -> Split:
    """Hold out, for each user, the one of the latest events with the greatest tie key; both (latest,)."""
    latest = latest[np.lexsort((tie, events.users[latest]))]
    users = events.users[latest]
    last = latest[np.append(users[1:] != users[:-1], True)]
    counts = np.bincount(events.users, minlength=len(events.user_ids))
    kept = counts > 1
    if not kept.any():
        raise DataError(
            f"each of the {len(counts)} users has a single event; holding the last one out leaves nothing to train on"
        )
    last = last[kept[events.users[last]]]
    train = kept[events.users]
    train[last] = False
    number = np.cumsum(kept, dtype=np.int32) - 1  # index of a kept user among the kept ones
    shape = (int(kept.sum()), len(events.item_ids))
    training = _training(number[events.users[train]], events.items[train], shape)
    return Split(training, events.items[last].astype(np.int64), events.user_ids[kept], events.item_ids)


def _training(users: NDArray[np.integer], items: NDArray[np.integer], shape: tuple[int, int]) -> csr_array:
    """Return distinct pairs as a sparse matrix, sorted, with indices of 32 bits where these are enough."""
    kind = np.int32 if max(*shape, len(users)) < 2**31 else np.int64
    indptr = np.concatenate(([0], np.cumsum(np.bincount(users, minlength=shape[0])))).astype(kind)
    numbers = pair_numbers(users, items, shape[1])
    numbers.sort()
    numbers %= shape[1]
    indices = numbers.astype(kind)
    del numbers
    return csr_array((np.ones(len(indices)), indices, indptr), shape=shape)


def leave_published_out(events: Events) -> Split:
    """Hold out the one event of each user that the file holds out.

    Args:
        events: at most one event for a (user, item) pair, and one held-out event for each user.

    Raises:
        ConfigError: the file does not say which events are held out.
    """
    if events.held_out is None:
        raise ConfigError("a ready-made split needs a file that says which events are held out, as of format ncf")
    held_out = np.flatnonzero(events.held_out)
    return _hold_out(events, held_out, np.zeros(len(held_out)))


STRATEGIES: dict[str, Callable[[Events, str, np.random.Generator], Split]] = {
    "last-event": leave_last_out,
    "random-event": lambda events, ties, rng: leave_random_out(events, rng),
}
"""Functions from events, tie rule and random stream to a split, by name."""


def split_events(events: Events, strategy: str, ties: str, rng: np.random.Generator) -> Split:
    """Hold out one event of every user; a file with a split of its own keeps that split.

    Args:
        events: at most one event for a (user, item) pair.
        strategy: key of `STRATEGIES`.
        ties: key of `TIE_ORDER`, for last-event.
        rng: the random stream.
    """
    split = leave_published_out(events) if events.held_out is not None else STRATEGIES[strategy](events, ties, rng)
    train, held_out, left_out = split.training.nnz, len(split.held_out), len(events.user_ids) - len(split.held_out)
    if train + held_out + left_out != len(events):
        raise DataError(
            f"the split has {train} training events, {held_out} held out and {left_out} of users with a single one, "
            f"which are not the {len(events)} events together"
        )
    return split
