"""Events of users and items: ratings are binarized, and ids become indices from 0 (section 6)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._validation import Ints
from sampled_metrics.errors import ConfigError, DataError

_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")  # str(int(text)) == text


class EventChunk(NamedTuple):
    """Consecutive events of a file, in the order of the file; all arrays have shape (events,)."""

    users: NDArray[np.int64] | NDArray[np.object_]
    """Ids as in the file: numbers or text, and the same kind in all chunks of a file."""
    items: NDArray[np.int64] | NDArray[np.object_]
    """Ids as in the file, like `users`."""
    ratings: NDArray[np.float64] | None = None
    """Ratings on the scale of the file; None if the file has none."""
    timestamps: NDArray[np.int64] | NDArray[np.float64] | None = None
    """Times in the unit of the file, for MovieLens seconds since 1970 in UTC; None if the file has none."""
    held_out: NDArray[np.bool_] | None = None
    """Whether the split of the file holds the event out; None if the file has no split."""


@dataclass(frozen=True)
class Events:
    """Implicit feedback, in the order of the file.

    Attributes:
        users: (events,) int, user of each event, an index into `user_ids`.
        items: (events,) int, item of each event, an index into `item_ids`.
        timestamps: (events,) int or float, in the unit of the file; None if the file has none.
        user_ids: (users,) ids of the file, int or text, ascending.
        item_ids: (items,) ids of the file, int or text, ascending.
        held_out: (events,) bool, whether the split of the file holds the event out; None if the file has no split.
        left_out: numbers of events of the file that are not here, by reason.
    """

    users: NDArray[np.integer]
    items: NDArray[np.integer]
    timestamps: NDArray[np.int64] | NDArray[np.float64] | None
    user_ids: NDArray[np.generic]
    item_ids: NDArray[np.generic]
    held_out: NDArray[np.bool_] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.users)


def binarize(chunks: Iterable[EventChunk], min_rating: float, repeated: str = "earliest") -> Events:
    """Return an event for each rating of `min_rating` or more, with users and items numbered in the order of their ids.

    Feedback is a set of (user, item) pairs: if a pair repeats, one of its events is kept. Ids that the file gives as
    text become numbers if all ids of users (or of items) in the file are whole numbers without leading zeros.

    Args:
        chunks: the parsed file, in the order of the file.
        min_rating: lowest rating that counts; 0 keeps every event.
        repeated: which of the events of a pair is kept: the "earliest" or "latest" by their timestamps, or the "first"
            or "last" by the order of the file. Of events with equal timestamps, and in a file without them, the
            earliest is the first, and the latest the last.

    Raises:
        ConfigError: `min_rating` is not 0, and the file has no ratings.
        DataError: no event is left, or the file holds out a pair that is in training, too.
    """
    user_numbers, item_numbers = _Numbering(), _Numbering()
    user_parts, item_parts, timestamps, held_out, low = [], [], [], [], 0
    for chunk in chunks:
        if min_rating != 0 and chunk.ratings is None:
            raise ConfigError(f"min_rating is {min_rating}, but the file has no ratings; it may be 0")
        high = slice(None) if min_rating == 0 or chunk.ratings is None else chunk.ratings >= min_rating
        low += 0 if isinstance(high, slice) else int((~high).sum())
        user_parts.append(user_numbers.number(chunk.users[high]))
        item_parts.append(item_numbers.number(chunk.items[high]))
        if chunk.timestamps is not None:
            timestamps.append(chunk.timestamps[high])
        if chunk.held_out is not None:
            held_out.append(chunk.held_out[high])
    if sum(map(len, user_parts)) == 0:
        raise DataError(f"no event has a rating of {min_rating} (min_rating) or more")
    user_ids, user_positions = user_numbers.ascending()
    item_ids, item_positions = item_numbers.ascending()
    users, items = user_positions[_concatenate(user_parts)], item_positions[_concatenate(item_parts)]
    times = _concatenate(timestamps) if timestamps else None
    out = _concatenate(held_out) if held_out else None
    if out is not None:
        _refuse_both(users, items, out, user_ids, item_ids)
    repeats = _repeats(users, items, len(item_ids), times if repeated in ("earliest", "latest") else None, repeated)
    left_out = {"below_min_rating": low, "repeated": int(repeats.sum())}
    if not repeats.any():
        return Events(users, items, times, user_ids, item_ids, out, left_out)
    kept = ~repeats
    return Events(
        users[kept],
        items[kept],
        None if times is None else times[kept],
        user_ids,
        item_ids,
        None if out is None else out[kept],
        left_out,
    )


def _refuse_both(
    users: NDArray[np.integer],
    items: NDArray[np.integer],
    held_out: NDArray[np.bool_],
    user_ids: NDArray[np.generic],
    item_ids: NDArray[np.generic],
) -> None:
    """Refuse a pair that is in training and held out."""
    train, test = (pair_numbers(users[is_part], items[is_part], len(item_ids)) for is_part in (~held_out, held_out))
    both = test[np.isin(test, train)]
    if len(both):
        user, item = divmod(int(both[0]), len(item_ids))
        raise DataError(f"user {user_ids[user]} has item {item_ids[item]} both in training and held out")


def pair_numbers(users: NDArray[np.integer], items: NDArray[np.integer], n_items: int) -> Ints:
    """Return a number for each (user, item) pair, (pairs,), in the order of users and then items."""
    numbers = users.astype(np.int64)
    numbers *= n_items
    numbers += items
    return numbers


def _concatenate(parts: list[Any]) -> Any:
    """Return the arrays as one, and free them, to save memory."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _repeats(
    users: NDArray[np.integer],
    items: NDArray[np.integer],
    n_items: int,
    timestamps: NDArray[np.int64] | NDArray[np.float64] | None,
    repeated: str,
) -> NDArray[np.bool_]:
    """Return whether each event is another one of its pair than that which `repeated` keeps; by timestamps if given."""
    repeats = np.zeros(len(users), dtype=np.bool_)
    numbers = pair_numbers(users, items, n_items)
    numbers.sort()  # in place; the order of the events is needed only if a pair repeats
    if (numbers[1:] == numbers[:-1]).any():
        numbers = pair_numbers(users, items, n_items)
        order = np.lexsort((numbers,) if timestamps is None else (timestamps, numbers))  # stable
        numbers = numbers[order]
        repeated_events = order[1:] if repeated in ("first", "earliest") else order[:-1]
        repeats[repeated_events[numbers[1:] == numbers[:-1]]] = True
    return repeats


class _Numbering:
    """Numbers of ids, in the order in which the ids first appear."""

    def __init__(self) -> None:
        self._numbers: dict[int | str, int] = {}

    def number(self, ids: NDArray[np.int64] | NDArray[np.object_]) -> NDArray[np.int32]:
        """Return the number of each id, (ids,); a new id gets the next number."""
        positions, unique = pd.factorize(ids)
        numbers = [self._numbers.setdefault(unique_id, len(self._numbers)) for unique_id in unique.tolist()]
        return np.array(numbers, dtype=np.int32)[positions]

    def ascending(self) -> tuple[NDArray[np.generic], NDArray[np.int32]]:
        """Return the ids in ascending order, and the position in it of each number, both (ids,)."""
        by_number = list(self._numbers)
        is_text_of_numbers = all(isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) for value in by_number)
        ids = np.array([int(value) for value in by_number] if is_text_of_numbers else by_number)
        order = np.argsort(ids)
        positions = np.empty(len(order), dtype=np.int32)
        positions[order] = np.arange(len(order), dtype=np.int32)
        return ids[order], positions
