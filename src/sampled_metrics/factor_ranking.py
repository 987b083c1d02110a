"""Ranking by factors: the scores of a block of users and items are made, counted and forgotten while in the cache.

What a rank needs of a score is whether it is above the held-out item's, or equal to it. A block of scores is a matrix
product; each comparison of it is a bit an item, counted eight items at a time. Scores of training items are computed
and their bits cleared, which is cheaper than leaving them out.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.arrays import Floats, Ints
from sampled_metrics.errors import DataError

PRECISIONS = {"float64": np.float64, "float32": np.float32}
"""Numbers that scores can be computed in, by name."""

USERS, ITEMS = 256, 2048
"""Users and items of a block: a megabyte or two of scores, and enough of both for a matrix product at full speed."""


class FactorCounter:
    """Counts for each user the items that score above the held-out item, and the others that score the same.

    Attributes:
        blocks: users by block, each once. They have their held-out items in the same block of items.
    """

    def __init__(
        self, user_factors: Floats, item_factors: Floats, training: csr_array, held_out: Ints, precision: str
    ) -> None:
        """Prepare the factors.

        Args:
            user_factors: (users, d).
            item_factors: (items, d).
            training: (users, items) each stored pair is one that does not count.
            held_out: (users,) index of the held-out item, not one of the user's stored pairs.
            precision: float64 or float32.

        Raises:
            DataError: a score is not, or might not be, a finite number.
        """
        kind = PRECISIONS[precision]
        self._users = user_factors.astype(kind, copy=False)
        self._items = np.ascontiguousarray(item_factors.T, dtype=kind)
        _require_finite(self._users, self._items)
        self._training, self._held_out = training, held_out
        self._width = min(ITEMS, self._items.shape[1])
        self.blocks = _blocks_of_users(held_out // self._width)

    def count(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        training, held_out = self._training[users], self._held_out[users]
        return _count_block(self._users[users], self._items, training, held_out, self._width)


def _require_finite(users: NDArray[np.floating], items: NDArray[np.floating]) -> None:
    largest = float(users.shape[1])  # bounds the scores: d times the largest factors
    for factors, whose in ((users, "user"), (items, "item")):
        if not np.isfinite(factors).all():
            raise DataError(f"the recommender has {whose} factors that are not finite numbers")
        largest *= float(np.abs(factors).max(initial=0.0))
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
