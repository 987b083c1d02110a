"""Ranking by similarities of all items to all, a block of items at a time, whether they are stored or made for it.

A score is a sum over the user's training items, in their order, whatever the blocks: the counts are the same for every
width, budget, number of threads and division of the users. A first pass over the items finds what the held-out items
score, a second one counts. Blocks of similarities that fit into memory are kept from the one to the other, the others
are made twice. A block is as wide, and scored for as many users at a time, as stays in the cache.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics.ranking.candidates import require_finite

WIDTHS = (64, 32, 16, 8)
"""Items of a block: the widest for which there is memory."""

USERS = 1024
"""Users that are scored at a time."""

TOGETHER = 256
"""Users that are not divided over parts."""

SCORING_BYTES = 8 * 2**20
"""Bytes that a block of scores takes in each thread while it is counted, all copies together."""


class SimilarityCounter:
    """Counts for each user the candidates that score above the held-out item, and the others that score the same.

    Attributes:
        blocks: consecutive users by block.
    """

    def __init__(
        self,
        columns: Callable[[slice], Floats],
        training: csr_array,
        held_out: Ints,
        user_ids: NDArray[np.generic],
        *,
        width: int = WIDTHS[0],
        room: float = 0,
    ) -> None:
        """Divide the users into blocks.

        Args:
            columns: gives the similarities of a block of items, (items of the user, items of the block).
            training: (users, items) 1.0 where the user has the item.
            held_out: (users,) index of the held-out item.
            user_ids: (users,) for messages.
            width: items of a block.
            room: bytes of similarities to keep between the passes.
        """
        users, self._items = training.shape
        if not training.has_sorted_indices:  # both passes have to add up in one order
            training = training.sorted_indices()
        self._columns, self._training, self._held_out, self._user_ids = columns, training, held_out, user_ids
        self._width = width
        every = range(0, self._items, width)
        self._blocks_of_items = [slice(first, min(first + width, self._items)) for first in every]
        self._keep = int(min(room / (8 * self._items * width), len(every)))
        self.blocks = [np.arange(first, min(first + TOGETHER, users)) for first in range(0, users, TOGETHER)]

    def count_all(
        self, users: Ints, threads: int, progress: Callable[[Iterable[int]], Iterable[int]]
    ) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each.

        Args:
            users: consecutive indices.
            threads: how many blocks of items are worked on at a time.
            progress: wraps the range of blocks of items, of both passes, for a progress bar.
        """
        if not len(users):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        count = _Count(
            self._columns,
            self._blocks_of_items,
            self._keep,
            self._training,
            self._held_out,
            self._user_ids,
            slice(int(users[0]), int(users[-1]) + 1),
        )
        passes, blocks = (count.find_targets, count.count), len(self._blocks_of_items)
        waiting: list[Future[None]] = []
        with ThreadPoolExecutor(threads) as pool:
            try:
                for step in progress(range(2 * blocks)):
                    which, block = divmod(step, blocks)
                    if block == 0:
                        waiting = [pool.submit(passes[which], each) for each in range(blocks)]
                    waiting[block].result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return count.above, count.tied - 1


class _Count:
    """The two passes, and what they find out about some consecutive users."""

    def __init__(
        self,
        columns: Callable[[slice], Floats],
        blocks: list[slice],
        keep: int,
        training: csr_array,
        held_out: Ints,
        user_ids: NDArray[np.generic],
        users: slice,
    ) -> None:
        self._columns, self._items, self._keep = columns, blocks, keep
        self._training, self._users = training, users
        self._held_out, self._user_ids = held_out[users], user_ids[users]
        self._parts = [slice(at, min(at + USERS, users.stop)) for at in range(users.start, users.stop, USERS)]
        # by item, so that a row of similarities is used for all users who have the item while it is in the cache
        self._by_item = [csc_array(training[part]) for part in self._parts]
        self._largest_sum = float(np.finfo(np.float64).max) / max(1, int(np.diff(training.indptr).max(initial=0)))
        width = blocks[0].stop
        self._by_held_out = np.argsort(self._held_out // width, kind="stable")
        in_block = self._held_out[self._by_held_out] // width
        self._ends = np.searchsorted(in_block, np.arange(len(blocks) + 1))
        self._kept: dict[int, Floats] = {}
        self._lock = threading.Lock()
        self._target = np.zeros(len(self._held_out))
        self.above, self.tied = np.zeros((2, len(self._held_out)), dtype=np.int64)

    def find_targets(self, block: int) -> None:
        """Score the held-out items that are in a block, each for its user."""
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
        # not so where one is NaN; elsewhere no sum can become infinite
        finite = max(float(similar.max()), -float(similar.min())) <= self._largest_sum
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
        for compare in (np.greater, np.equal):
            compare(scores, target, out=bits[:, :width])
            bits[trained] = False
            counts.append(np.bitwise_count(bits.view(np.uint64)).sum(axis=1, dtype=np.int64))
        with self._lock:
            self.above[here] += counts[0]
            self.tied[here] += counts[1]
