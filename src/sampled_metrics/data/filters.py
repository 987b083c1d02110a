"""Filters of events before the split."""

import numpy as np

from sampled_metrics.data.events import Events
from sampled_metrics.errors import DataError


def k_core(events: Events, k: int) -> Events:
    """Return the k-core: the events that are left when users and items with fewer than k are removed repeatedly.

    Args:
        events: at most one event for each (user, item) pair.
        k: least number of events; 0 or 1 keeps everything.

    Raises:
        DataError: nothing is left.
    """
    if k <= 1 and len(events):  # every id has an event
        return events
    kept = np.ones(len(events), dtype=np.bool_)
    while True:
        user_counts = np.bincount(events.users[kept], minlength=len(events.user_ids))
        item_counts = np.bincount(events.items[kept], minlength=len(events.item_ids))
        few = kept & ((user_counts[events.users] < k) | (item_counts[events.items] < k))
        if not few.any():
            break
        kept &= ~few
    if not kept.any():
        raise DataError(f"no user and item has {k} (core) events or more")
    users, items = user_counts > 0, item_counts > 0
    return Events(
        (np.cumsum(users, dtype=np.int32) - 1)[events.users[kept]],
        (np.cumsum(items, dtype=np.int32) - 1)[events.items[kept]],
        None if events.timestamps is None else events.timestamps[kept],
        events.user_ids[users],
        events.item_ids[items],
        None if events.held_out is None else events.held_out[kept],
    )
