"""The split: one event of every user is held out, the others train (section 6)."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics import files
from sampled_metrics.arrays import Ints
from sampled_metrics.data.events import Events
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.stage_files import read_npz

TIE_ORDER: dict[str, Callable[[Ints, np.random.Generator], Ints]] = {
    "first": lambda position, rng: -position,
    "last": lambda position, rng: position,
    "random": lambda position, rng: rng.permutation(len(position)),
}
"""Among a user's events that share the latest time, which one is the last: a key, the greatest of which is held out."""


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
                f"training has {users} users and {items} items, but there are {len(self.held_out)} held-out items, "
                f"{len(self.user_ids)} ids of users and {len(self.item_ids)} of items"
            )
        wrong = (self.held_out < 0) | (self.held_out >= items)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise DataError(f"user {self.user_ids[at]}: held-out item {self.held_out[at]}, of {items} items from 0")
        if not self.training.has_canonical_format:
            raise DataError("a user's training items are not there once each, in ascending order")
        row = np.repeat(np.arange(users), np.diff(self.training.indptr))
        both = row[self.training.indices == self.held_out[row]]
        if len(both):
            raise DataError(f"user {self.user_ids[both[0]]}: the held-out item is one of the user's training items")

    @property
    def candidates(self) -> Ints:
        """(users,) n_u: all items less the user's training items. The held-out item counts."""
        return self.training.shape[1] - np.diff(self.training.indptr).astype(np.int64)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the split as npz."""
        files.write_npz(
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
        DataError: the file is not that, or is damaged.
    """
    arrays = read_npz(path, "a split", ("indptr", "indices", "held_out", "user_ids", "item_ids"))
    shape = (len(arrays["user_ids"]), len(arrays["item_ids"]))
    indices = arrays["indices"]
    try:
        training = csr_array((np.ones(len(indices)), indices, arrays["indptr"]), shape=shape)
        training.check_format(full_check=True)
        return Split(training, arrays["held_out"], arrays["user_ids"], arrays["item_ids"])
    except ValueError as error:  # of what is stored; DataError is one
        raise DataError(f"{path}: is not a split, or is damaged: {error}") from None


def hold_last_out(events: Events, ties: str, rng: np.random.Generator) -> Split:
    """Hold the last event of every user out. Users with a single event are left out: nothing would train.

    Args:
        events: at most one event for a (user, item) pair.
        ties: key of `TIE_ORDER`: which of several latest events counts as the last.
        rng: the random stream, for random ties.

    Raises:
        ConfigError: there is no such tie rule, or the events have no timestamps.
        DataError: every user has a single event.
    """
    if ties not in TIE_ORDER:
        raise ConfigError(f"unknown tie rule {ties!r}; it may be {', '.join(TIE_ORDER)}")
    if events.timestamps is None:
        raise ConfigError(
            "split.strategy: last-event needs timestamps, and the file has none; use the strategy random-event"
        )
    tie = TIE_ORDER[ties](np.arange(len(events)), rng)
    return _hold_out(events, np.lexsort((tie, events.timestamps, events.users)))


def hold_random_out(events: Events, rng: np.random.Generator) -> Split:
    """Hold one event of every user out, each equally likely; arguments and errors as in `hold_last_out`."""
    return _hold_out(events, np.lexsort((rng.permutation(len(events)), events.users)))


def _hold_out(events: Events, order: Ints) -> Split:
    """Hold out what comes last of each user in an order that keeps the events of a user together."""
    users, items = events.users[order], events.items[order]
    last = np.append(users[1:] != users[:-1], True)
    counts = np.bincount(users, minlength=len(events.user_ids))
    kept = counts > 1
    if not kept.any():
        raise DataError(
            f"each of the {len(counts)} users has a single event; holding the last one out leaves nothing to train on"
        )
    number = np.cumsum(kept) - 1  # of a kept user among the kept ones
    train = ~last & kept[users]
    shape = (int(kept.sum()), len(events.item_ids))
    training = csr_array((np.ones(int(train.sum())), (number[users[train]], items[train])), shape=shape)
    training.sort_indices()
    return Split(training, items[last & kept[users]], events.user_ids[kept], events.item_ids)


def take_ready_made(events: Events) -> Split:
    """Hold out the one event of each user that the file itself holds out.

    Args:
        events: at most one event for a (user, item) pair, and a held-out one of each user.

    Raises:
        ConfigError: the file does not say which events it holds out.
    """
    if events.held_out is None:
        raise ConfigError("a ready-made split needs a file that says which events are held out, as of format ncf")
    train = ~events.held_out
    shape = (len(events.user_ids), len(events.item_ids))
    training = csr_array((np.ones(int(train.sum())), (events.users[train], events.items[train])), shape=shape)
    training.sort_indices()
    held_out = np.empty(len(events.user_ids), dtype=np.int64)
    held_out[events.users[events.held_out]] = events.items[events.held_out]
    return Split(training, held_out, events.user_ids, events.item_ids)


STRATEGIES: dict[str, Callable[[Events, str, np.random.Generator], Split]] = {
    "last-event": hold_last_out,
    "random-event": lambda events, ties, rng: hold_random_out(events, rng),
}
"""Which event of a user is held out, by name: from the events, the tie rule and a random stream to the split."""


def split_events(events: Events, strategy: str, ties: str, rng: np.random.Generator) -> Split:
    """Hold one event of every user out; a file that has a split of its own is split as it says.

    Args:
        events: at most one event for a (user, item) pair.
        strategy: key of `STRATEGIES`.
        ties: key of `TIE_ORDER`, for last-event.
        rng: the random stream.
    """
    split = take_ready_made(events) if events.held_out is not None else STRATEGIES[strategy](events, ties, rng)
    _check_counts(events, split)
    return split


def _check_counts(events: Events, split: Split) -> None:
    """Refuse a split that has lost an event or made one: train + held out + left out = events."""
    train, held_out, left_out = split.training.nnz, len(split.held_out), len(events.user_ids) - len(split.held_out)
    if train + held_out + left_out != len(events):
        raise DataError(
            f"the split has {train} training events, {held_out} held out and {left_out} of users with a single one, "
            f"which are not the {len(events)} events together"
        )
