"""Ranking by factors: a float32 product decides clear cases, and near ties are computed again.

A matrix product is the fastest way to compute many scores. But its order of additions depends on the library, on its
threads, and on the position of an item in the matrix, so items with equal factors may differ in the last digit. The
product is therefore a sieve. Each block of scores is compared with the held-out item's score minus and plus the largest
rounding error (near_ties.py), and counted while it is in the cache. The few items in between, some in a hundred
thousand, are compared by their exact scores. So the counts do not depend on the product.
"""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._arrays import Ints
from sampled_metrics.data.split import Split
from sampled_metrics.ranking.counter import Counter, count_rows
from sampled_metrics.ranking.near_ties import (
    Factors,
    Floats32,
    first_same,
    lengths,
    pair_scores,
    require_finite_scores,
    scale,
    sieve_of,
)

PRECISIONS = {"float64": np.float64, "float32": np.float32}
"""Types that scores can be computed in, by name."""

USERS = 1024
"""Users of a block, which one thread counts."""

SCORES, ITEMS = 2**20, 4096
"""Scores that are computed at a time, four megabytes of them, and the largest number of items among them."""


class FactorCounter(Counter):
    """Counts by dot products of factors, (users, d) and (items, d), rounded to a precision, float64 or float32.

    Raises:
        DataError: the bound of the scores is not finite.
    """

    def __init__(self, user_factors: Factors, item_factors: Factors, split: Split, precision: str) -> None:
        self._users = user_factors.astype(PRECISIONS[precision], copy=False)
        self._items = item_factors.astype(PRECISIONS[precision], copy=False)
        largest = (float(np.abs(self._users).max(initial=0.0)), float(np.abs(self._items).max(initial=0.0)))
        require_finite_scores(self._items.shape[1], largest, precision)
        self._same = first_same(self._items)
        sieve, self._exponent = scale(self._items, each=False)
        self._longest = float(lengths(sieve).max(initial=0.0))
        self._sieve = np.ascontiguousarray(sieve.T)
        self._training, self._held_out = split.training, split.held_out
        users, items = split.training.shape
        self._width = items if items <= ITEMS else ITEMS // 2
        self._height = max(1, SCORES // self._width)
        self.blocks = [np.arange(first, min(first + USERS, users)) for first in range(0, users, USERS)]

    def count_block(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        factors, held_out = self._users[users], self._held_out[users]
        target = pair_scores(factors, self._items, np.arange(len(users)), held_out)
        sieve, low, high = sieve_of(factors, target, self._exponent, self._longest)
        above = np.zeros(len(users), dtype=np.int64)
        doubtful = [(above[:0], above[:0])]
        bits = np.zeros((self._height, -(-self._width // 8) * 8), dtype=np.bool_)
        for top, first, scores in self._blocks_of_scores(sieve, users):
            rows = slice(top, top + len(scores))
            sure = count_rows(scores, np.greater, high[rows], bits)
            possible = count_rows(scores, np.greater_equal, low[rows], bits)
            above[rows] += sure
            unsettled = np.flatnonzero(possible != sure)
            if len(unsettled):
                near = (scores[unsettled] >= low[rows][unsettled]) & (scores[unsettled] <= high[rows][unsettled])
                row, column = np.nonzero(near)
                doubtful.append((top + unsettled[row], first + column))
        row, item = (np.concatenate(each) for each in zip(*doubtful, strict=True))
        same = self._same[item] == self._same[held_out[row]]
        tied = np.bincount(row[same], minlength=len(users))
        row, item = row[~same], item[~same]
        score = pair_scores(factors, self._items, row, item)
        above += np.bincount(row[score > target[row]], minlength=len(users))
        tied += np.bincount(row[score == target[row]], minlength=len(users))
        counts = np.diff(self._training.indptr[users[0] : users[-1] + 2])
        return above, np.where(factors.any(axis=1), tied, len(self._items) - counts - 1)

    def _blocks_of_scores(self, sieve: Floats32, users: Ints) -> Iterator[tuple[int, int, Floats32]]:
        """Yield first row, first item and scores of blocks, -∞ for training and held-out items."""
        height, width, held_out = self._height, self._width, self._held_out[users]
        places = _training_by_block(self._training, users, height, width)
        memory = np.empty(height * width, dtype=np.float32)
        for top in range(0, len(sieve), height):
            for first in range(0, len(self._items), width):
                left, right = sieve[top : top + height], self._sieve[:, first : first + width]
                wide = right.shape[1]
                scores = np.matmul(left, right, out=memory[: len(left) * wide].reshape(len(left), wide))
                memory[next(places)] = -np.inf
                own = held_out[top : top + height] - first
                row = np.flatnonzero((own >= 0) & (own < wide))
                scores[row, own[row]] = -np.inf
                yield top, first, scores


def _training_by_block(training: csr_array, users: Ints, height: int, width: int) -> Iterator[Ints]:
    """Yield, for each block, the positions of the users' training items in the block's memory."""
    ends = training.indptr[users[0] : users[-1] + 2]
    item = training.indices[ends[0] : ends[-1]]
    counts, every = np.diff(ends), training.shape[1]
    if every <= width:
        for top in range(0, len(users), height):
            trained = counts[top : top + height]
            first = ends[top] - ends[0]
            here = item[first : first + trained.sum()]
            yield np.repeat(np.arange(len(trained)) * every, trained) + here
        return
    blocks, tops = -(-every // width), -(-len(users) // height)
    row = np.repeat(np.arange(len(users)), counts)
    number = row // height * blocks + item // width
    order = np.argsort(number.astype(np.uint16) if tops * blocks <= 2**16 else number, kind="stable")  # 16 bits: radix
    row, item = row[order], item[order]
    ends = np.append(0, np.cumsum(np.bincount(number, minlength=tops * blocks)))
    for block in range(tops * blocks):
        here = slice(ends[block], ends[block + 1])
        top, first = block // blocks * height, block % blocks * width
        yield (row[here] - top) * min(width, every - first) + (item[here] - first)
