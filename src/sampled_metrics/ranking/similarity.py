"""Ranking by similarities of all items to all, stored or computed, a block of items at a time.

A score is a sum over the user's training items, in their order. So the counts do not depend on the width of a block,
the memory, the number of threads, or the division of the users. A first pass over the items scores the held-out items;
a second pass counts. Blocks of similarities that fit into memory are kept between the passes. The others are computed
twice. A block is small enough to stay in the cache.
"""

import threading
from collections.abc import Callable
from itertools import chain

import numpy as np
from scipy.sparse import csc_array

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._progress import Progress
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.ranking.counter import Counter, in_threads, require_finite, tie_bounds

WIDTHS = (64, 32, 16, 8)
"""Possible numbers of items of a block; the largest that fits into memory is used."""

USERS = 1024
"""Number of users scored at a time."""

SCORING_BYTES = 8 * 2**20
"""Bytes of a block of scores in each thread while it is counted, all copies together."""


def least_memory(shape: Shape, threads: int) -> int:
    """Return the bytes of counting by the narrowest blocks, besides split and similarity."""
    by_item = 12 * shape.events + 4 * shape.items * -(-shape.users // USERS)  # events of each 1024 users by item
    return by_item + threads * (8 * shape.items * WIDTHS[-1] + SCORING_BYTES)


def widest_blocks(items: int, threads: int, spare: float) -> tuple[int, float]:
    """Return the width of the widest blocks that fit into `spare` bytes beyond the least, and the bytes left."""
    left = {width: spare - threads * 8 * items * (width - WIDTHS[-1]) for width in WIDTHS}
    return next((width, rest) for width, rest in left.items() if rest >= 0)


class SimilarityCounter(Counter):
    """Counts by sums of similarities. Threads work on blocks of items.

    Args:
        columns: returns the similarities of a block of items, (items of the user, items of the block).
        split: training and held-out items.
        width: items of a block.
        kept_bytes: bytes of similarities to keep between the passes.
    """

    def __init__(self, columns: Callable[[slice], Floats], split: Split, *, width: int, kept_bytes: float = 0) -> None:
        items = split.training.shape[1]
        self._columns, self._split = columns, split
        self._items = [slice(first, min(first + width, items)) for first in range(0, items, width)]
        self._keep = int(min(kept_bytes / (8 * items * width), len(self._items)))

    def count(self, rows: slice, threads: int, progress: Progress) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each. Progress wraps the range of the blocks of items of both passes."""
        count = _Count(self._columns, self._items, self._keep, self._split, rows)
        steps = len(self._items)
        passes = chain.from_iterable(in_threads(each, steps, threads) for each in (count.find_targets, count.count))
        for _ in zip(progress(range(2 * steps)), passes, strict=True):
            pass
        return count.above, count.tied - 1


class _Count:
    """The two passes over the items, and the counts of some consecutive users."""

    def __init__(
        self, columns: Callable[[slice], Floats], items: list[slice], keep: int, split: Split, users: slice
    ) -> None:
        self._columns, self._items, self._keep = columns, items, keep
        self._training, self._users = split.training, users
        self._held_out, self._user_ids = split.held_out[users], split.user_ids[users]
        self._parts = [slice(at, min(at + USERS, users.stop)) for at in range(users.start, users.stop, USERS)]
        # by item: a row of similarities is used for all users who have the item while it is in the cache
        self._by_item = [csc_array(self._training[part]) for part in self._parts]
        most = int(np.diff(self._training.indptr).max(initial=0))  # training items of a user
        self._largest = float(np.finfo(np.float64).max) / max(1, most)
        width = items[0].stop
        self._by_held_out = np.argsort(self._held_out // width, kind="stable")
        in_block = self._held_out[self._by_held_out] // width
        self._ends = np.searchsorted(in_block, np.arange(len(items) + 1))
        self._kept: dict[int, Floats] = {}
        self._lock = threading.Lock()
        self._target = np.zeros(len(self._held_out))
        self.above, self.tied = np.zeros((2, len(self._held_out)), dtype=np.int64)

    def find_targets(self, block: int) -> None:
        """Score the held-out items of a block, each for its user."""
        mine = self._by_held_out[self._ends[block] : self._ends[block + 1]]
        if block >= self._keep and not len(mine):
            return
        similar = self._columns(self._items[block])
        if block < self._keep:
            self._kept[block] = similar
        for first in range(0, len(mine), USERS):
            users = mine[first : first + USERS]
            scores = self._training[users + self._users.start] @ similar
            self._target[users] = scores[np.arange(len(users)), self._held_out[users] - self._items[block].start]

    def count(self, block: int) -> None:
        """Count the items of a block for all users."""
        similar = self._kept.pop(block) if block in self._kept else self._columns(self._items[block])
        # False if a similarity is NaN; if True, no sum can become infinite
        finite = max(float(similar.max()), -float(similar.min())) <= self._largest
        for part, by_item in zip(self._parts, self._by_item, strict=True):
            self._count_part(part, by_item, similar, self._items[block], finite)

    def _count_part(self, part: slice, by_item: csc_array, similar: Floats, items: slice, finite: bool) -> None:
        here = slice(part.start - self._users.start, part.stop - self._users.start)
        scores, target = by_item @ similar, self._target[here, np.newaxis]
        width = items.stop - items.start
        stored = by_item.indptr[items.start : items.stop + 1]
        trained = by_item.indices[stored[0] : stored[-1]], np.repeat(np.arange(width), np.diff(stored))
        if not finite:
            scores[trained] = 0.0
            require_finite(~np.isfinite(scores).all(axis=1), self._user_ids[here])
        bits = np.zeros((len(scores), -(-width // 8) * 8), dtype=bool)  # counted eight at a time
        counts = []
        low, high = tie_bounds(target)
        for compare, bound in ((np.greater, high), (np.greater_equal, low)):
            compare(scores, bound, out=bits[:, :width])
            bits[trained] = False
            counts.append(np.bitwise_count(bits.view(np.uint64)).sum(axis=1, dtype=np.int64))
        with self._lock:
            self.above[here] += counts[0]
            self.tied[here] += counts[1] - counts[0]
