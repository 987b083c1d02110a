"""Ranking by factors: the scores of a block of users and items are made, counted and forgotten while in the cache.

What a rank needs of a score is whether it is above the held-out item's, or equal to it. A block of scores is a matrix
product; each comparison of it is a bit an item, counted eight items at a time. Scores of training items are computed
and their bits cleared, which is cheaper than leaving them out. Blocks of users run in threads, each on one core, so that
the counts are the same whatever their number.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.arrays import Floats, Ints
from sampled_metrics.errors import DataError

PRECISIONS = {"float64": np.float64, "float32": np.float32}
"""Numbers that scores can be computed in, by name."""

USERS, ITEMS = 256, 2048
"""Users and items of a block: a megabyte or two of scores, and enough of both for a matrix product at full speed."""


def count_by_factors(
    user_factors: Floats,
    item_factors: Floats,
    training: csr_array,
    held_out: Ints,
    *,
    precision: str = "float64",
    threads: int = 1,
    watch: Callable[[Iterable[int]], Iterable[int]] = lambda blocks: blocks,
) -> tuple[Ints, Ints]:
    """Count the items that score above each user's held-out item, and the others that score the same.

    Args:
        user_factors: (users, d).
        item_factors: (items, d).
        training: (users, items) each stored pair is one that does not count.
        held_out: (users,) index of the held-out item, not one of the user's stored pairs.
        precision: float64 or float32.
        threads: how many blocks are counted at a time.
        watch: wraps the range of blocks, for a progress bar.

    Returns:
        above and tied, (users,) each.

    Raises:
        DataError: a score is not, or might not be, a finite number.
    """
    kind = PRECISIONS[precision]
    users, items = user_factors.astype(kind, copy=False), np.ascontiguousarray(item_factors.T, dtype=kind)
    _require_finite(users, items)
    width = min(ITEMS, items.shape[1])
    above, tied = np.empty(len(held_out), dtype=np.int64), np.empty(len(held_out), dtype=np.int64)
    blocks = _blocks_of_users(held_out // width)

    def count(number: int) -> None:
        block = blocks[number]
        above[block], tied[block] = _count_block(users[block], items, training[block], held_out[block], width)

    if threads == 1:
        for number in watch(range(len(blocks))):
            count(number)
    else:
        with ThreadPoolExecutor(threads) as pool:
            waiting = [pool.submit(count, number) for number in range(len(blocks))]
            for number in watch(range(len(blocks))):
                waiting[number].result()
    return above, tied


def _require_finite(users: NDArray[np.floating], items: NDArray[np.floating]) -> None:
    largest = 1.0
    for factors, axis, whose in ((users, 1, "user"), (items, 0, "item")):
        if not np.isfinite(factors).all():
            raise DataError(f"the recommender has {whose} factors that are not finite numbers")
        largest *= float(np.linalg.norm(factors.astype(np.float64), axis=axis).max(initial=0.0))
    if largest > float(np.finfo(users.dtype).max):
        raise DataError(f"the recommender's factors are too large for scores in {users.dtype}")


def _blocks_of_users(item_block: Ints) -> list[Ints]:
    """Group users by the block that their held-out item is in, at most USERS together."""
    order = np.argsort(item_block, kind="stable")
    ends = np.flatnonzero(np.diff(item_block[order])) + 1
    groups = np.split(order, ends) if len(order) else []
    return [group[first : first + USERS] for group in groups for first in range(0, len(group), USERS)]


def _count_block(
    users: NDArray[np.floating], items: NDArray[np.floating], training: csr_array, held_out: Ints, width: int
) -> tuple[Ints, Ints]:
    """Count for users whose held-out items are in one block of items, which comes first: it has the scores to beat."""
    rows, every = np.arange(len(users)), items.shape[1]
    trained = np.repeat(rows, np.diff(training.indptr)), training.indices
    block_of = trained[1] // width
    order = np.argsort(block_of, kind="stable")
    ends = np.searchsorted(block_of[order], np.arange(-(-every // width) + 1))
    own = int(held_out[0] // width)
    target = np.empty((len(users), 1), dtype=users.dtype)
    above, tied = np.zeros(len(users), dtype=np.int64), np.zeros(len(users), dtype=np.int64)
    bits = np.empty((len(users), -(-width // 8) * 8), dtype=bool)
    for block in (own, *(each for each in range(-(-every // width)) if each != own)):
        first, last = block * width, min((block + 1) * width, every)
        scores = users @ items[:, first:last]
        if block == own:
            target[:, 0] = scores[rows, held_out - first]
        here = order[ends[block] : ends[block + 1]]
        out = trained[0][here], trained[1][here] - first
        bits[:, last - first :] = False
        for compare, counts in ((np.greater, above), (np.equal, tied)):
            compare(scores, target, out=bits[:, : last - first])
            bits[out] = False
            counts += np.bitwise_count(bits.view(np.uint64)).sum(axis=1, dtype=np.int64)
    return above, tied - 1
