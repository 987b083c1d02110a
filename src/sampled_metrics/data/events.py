"""Events: who had what, when. Ratings are binarized here and ids become numbers from 0 (section 6)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.data.formats.registry import EventChunk
from sampled_metrics.errors import DataError


@dataclass(frozen=True)
class Events:
    """Implicit feedback in the order of its file.

    Attributes:
        users: (events,) int, user of each event, an index into user_ids.
        items: (events,) int, item of each event, an index into item_ids.
        timestamps: (events,) int, seconds.
        user_ids: (users,) the ids of the file, ascending.
        item_ids: (items,) the ids of the file, ascending.
    """

    users: NDArray[np.int64]
    items: NDArray[np.int64]
    timestamps: NDArray[np.int64]
    user_ids: NDArray[np.generic]
    item_ids: NDArray[np.generic]

    def __len__(self) -> int:
        return len(self.users)


def binarize(chunks: Iterable[EventChunk], min_rating: float) -> Events:
    """Make every rating of min_rating or more one event, and number users and items in the order of their ids.

    Of events that repeat a (user, item) pair the first listed is kept: feedback is a set of pairs.

    Args:
        chunks: the parsed file, in its order.
        min_rating: 0 keeps everything.

    Raises:
        DataError: no event is left.
    """
    kept = [
        (chunk.users[high], chunk.items[high], chunk.timestamps[high])
        for chunk in chunks
        for high in [chunk.ratings >= min_rating]
    ]
    if sum(len(users) for users, _, _ in kept) == 0:
        raise DataError(f"no event has a rating of {min_rating} (min_rating) or more")
    user_of, item_of, timestamps = (np.concatenate(column) for column in zip(*kept, strict=True))
    user_ids, users = np.unique(user_of, return_inverse=True)
    item_ids, items = np.unique(item_of, return_inverse=True)
    first = ~pd.Series(users * len(item_ids) + items).duplicated().to_numpy()
    return Events(users[first], items[first], timestamps[first], user_ids, item_ids)
