"""Events: who had what, when. Ratings are binarized here and ids become numbers from 0 (section 6)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._arrays import Ints
from sampled_metrics.errors import ConfigError, DataError

_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")  # written in the one way that int() and str() take back and forth


class EventChunk(NamedTuple):
    """Consecutive events of a file, in file order; all arrays have shape (events,)."""

    users: NDArray[np.int64] | NDArray[np.object_]
    """Ids as in the file: numbers, or text, the same in all chunks of a file."""
    items: NDArray[np.int64] | NDArray[np.object_]
    """Ids as in the file, like users."""
    ratings: NDArray[np.float64] | None = None
    """On the file's own scale; None if the file has none."""
    timestamps: NDArray[np.int64] | NDArray[np.float64] | None = None
    """In the file's own unit: for MovieLens, seconds since 1970 in UTC; None if the file has none."""
    held_out: NDArray[np.bool_] | None = None
    """Whether the file's own split holds the event out; None if the file has no split."""


@dataclass(frozen=True)
class Events:
    """Implicit feedback in the order of its file.

    Attributes:
        users: (events,) int, user of each event, an index into user_ids; 32 bits are enough.
        items: (events,) int, item of each event, an index into item_ids.
        timestamps: (events,) int or float, in the file's own unit; None if it has none.
        user_ids: (users,) the ids of the file, int or text, ascending.
        item_ids: (items,) the ids of the file, int or text, ascending.
        held_out: (events,) bool, the one event of each user that the file's own split holds out; None if it has none.
    """

    users: NDArray[np.integer]
    items: NDArray[np.integer]
    timestamps: NDArray[np.int64] | NDArray[np.float64] | None
    user_ids: NDArray[np.generic]
    item_ids: NDArray[np.generic]
    held_out: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.users)


def binarize(chunks: Iterable[EventChunk], min_rating: float) -> Events:
    """Make every rating of min_rating or more one event, and number users and items in the order of their ids.

    Of events that repeat a (user, item) pair the first listed is kept: feedback is a set of pairs. Ids that the file
    gives as text are numbers if all of them are whole numbers without leading zeros, and text otherwise; that is
    decided for users and for items, each over the whole file.

    Args:
        chunks: the parsed file, in its order.
        min_rating: 0 keeps everything.

    Raises:
        ConfigError: there is a min_rating, and the file has no ratings.
        DataError: no event is left.
    """
    user_numbers, item_numbers = _Numbering(), _Numbering()
    user_of, item_of, timestamps, held_out = [], [], [], []
    for chunk in chunks:
        high = _is_high(chunk, min_rating)
        user_of.append(user_numbers.of(chunk.users[high]))
        item_of.append(item_numbers.of(chunk.items[high]))
        if chunk.timestamps is not None:
            timestamps.append(chunk.timestamps[high])
        if chunk.held_out is not None:
            held_out.append(chunk.held_out[high])
    if sum(map(len, user_of)) == 0:
        raise DataError(f"no event has a rating of {min_rating} (min_rating) or more")
    user_ids, user_positions = user_numbers.ascending()
    item_ids, item_positions = item_numbers.ascending()
    users, items = user_positions[_joined(user_of)], item_positions[_joined(item_of)]
    when, out = _joined(timestamps) if timestamps else None, _joined(held_out) if held_out else None
    repeats = _repeats(users, items, len(item_ids))
    if not repeats.any():
        return Events(users, items, when, user_ids, item_ids, out)
    first = ~repeats
    return Events(
        users[first],
        items[first],
        None if when is None else when[first],
        user_ids,
        item_ids,
        None if out is None else out[first],
    )


def pair_numbers(users: NDArray[np.integer], items: NDArray[np.integer], of_items: int) -> Ints:
    """Return a number for each pair, (pairs,), ascending by user and then item, where there are `of_items` items."""
    numbers = users.astype(np.int64)
    numbers *= of_items
    numbers += items
    return numbers


def _joined(parts: list[Any]) -> Any:
    """Concatenate arrays and let go of them: at 32 million events each column counts."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _repeats(users: NDArray[np.integer], items: NDArray[np.integer], of_items: int) -> NDArray[np.bool_]:
    """Whether the pair of each event is that of an earlier one, (events,)."""
    repeats = np.zeros(len(users), dtype=np.bool_)
    numbers = pair_numbers(users, items, of_items)
    numbers.sort()  # in place, and most files have no repeats: no need to know where they are
    if (numbers[1:] == numbers[:-1]).any():
        numbers = pair_numbers(users, items, of_items)
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order]
        repeats[order[1:][numbers[1:] == numbers[:-1]]] = True
    return repeats


def _is_high(chunk: EventChunk, min_rating: float) -> NDArray[np.bool_]:
    if min_rating == 0:
        return np.ones(len(chunk.users), dtype=np.bool_)
    if chunk.ratings is None:
        raise ConfigError(f"min_rating is {min_rating}, but the file has no ratings; it may be 0")
    return chunk.ratings >= min_rating


class _Numbering:
    """Numbers ids in the order in which they first come."""

    def __init__(self) -> None:
        self._numbers: dict[int | str, int] = {}

    def of(self, ids: NDArray[np.int64] | NDArray[np.object_]) -> NDArray[np.int32]:
        """Return the number of each id, (ids,); those that have none yet get the next ones."""
        positions, different = pd.factorize(ids)
        numbers = [self._numbers.setdefault(each, len(self._numbers)) for each in different.tolist()]
        return np.array(numbers, dtype=np.int32)[positions]

    def ascending(self) -> tuple[NDArray[np.generic], NDArray[np.int32]]:
        """Return the ids, ascending, and the position among them of the id with each number, both (ids,)."""
        ids = np.array(_as_numbers(list(self._numbers)))
        order = np.argsort(ids)
        positions = np.empty(len(order), dtype=np.int32)
        positions[order] = np.arange(len(order), dtype=np.int32)
        return ids[order], positions


def _as_numbers(ids: list[int | str]) -> list[int] | list[int | str]:
    if all(isinstance(each, str) and _WHOLE_NUMBER.fullmatch(each) for each in ids):
        return [int(each) for each in ids]
    return ids
