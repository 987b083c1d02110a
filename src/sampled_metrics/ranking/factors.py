"""Ranking by factors: a float32 product decides clear cases, and near ties are computed again.

A matrix product is the fastest way to compute many scores. But its order of additions depends on the library, on its
threads, and on the position of an item in the matrix, so items with equal factors may differ in the last digit. The
product is therefore a sieve. Each block of scores is compared with the held-out item's score minus and plus the largest
rounding error (near_ties.py), and counted while it is in the cache. The few items in between, some in a hundred
thousand, are compared by their exact scores. So the counts do not depend on the product.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._validation import Ints
from sampled_metrics.data.split import Split
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

ROWS = 1024
"""Held-out items of a block, which one thread counts."""

SCORES, ITEMS = 2**20, 4096
"""Scores that are computed at a time, four megabytes of them, and the largest number of items among them."""

WORDS = 255
"""Number of words of eight bytes, each 0 or 1, that can be added before a byte overflows."""


class FactorCounts:
    """Counts by dot products of factors, rounded to the precision of the factors of the items.

    Args:
        user_factors: (users, d), perhaps in a file; only those of the users of a block are read.
        item_factors: (items, d), float64 or float32.
        split: training and held-out items.
    """

    def __init__(self, user_factors: NDArray[Any], item_factors: Factors, split: Split) -> None:
        self._users, self._items, self._split = user_factors, item_factors, split
        self._largest = float(np.abs(item_factors).max(initial=0.0))
        self._same = first_same(item_factors)
        sieve, self._exponent = scale(item_factors, each=False)
        self._longest = float(lengths(sieve).max(initial=0.0))
        self._sieve = np.ascontiguousarray(sieve.T)
        items = len(item_factors)
        self._width = items if items <= ITEMS else ITEMS // 2
        self._height = max(1, SCORES // self._width)

    def blocks(self, rows: Ints) -> list[Ints]:
        """Divide rows into blocks."""
        return [rows[first : first + ROWS] for first in range(0, len(rows), ROWS)]

    def count(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each, of the rows of a block.

        Raises:
            DataError: the bound of the scores is not finite.
        """
        split, items = self._split, len(self._items)
        factors: Any = self._users[split.user[rows]].astype(self._items.dtype, copy=False)
        largest = float(np.abs(factors).max(initial=0.0))
        require_finite_scores(factors.shape[1], (largest, self._largest), self._items.dtype.name)
        held_out, (others, ends) = split.item[rows], split.non_candidates(rows)
        target = pair_scores(factors, self._items, np.arange(len(rows)), held_out)
        sieve, low, high = sieve_of(factors, target, self._exponent, self._longest)
        above = np.zeros(len(rows), dtype=np.int64)
        doubtful = [(above[:0], above[:0])]
        bits = np.zeros((self._height, -(-self._width // 8) * 8), dtype=np.bool_)
        for top, first, scores in self._blocks_of_scores(sieve, held_out, others, ends):
            here = slice(top, top + len(scores))
            sure = count_rows(scores, np.greater, high[here], bits)
            possible = count_rows(scores, np.greater_equal, low[here], bits)
            above[here] += sure
            unsettled = np.flatnonzero(possible != sure)
            if len(unsettled):
                near = (scores[unsettled] >= low[here][unsettled]) & (scores[unsettled] <= high[here][unsettled])
                row, column = np.nonzero(near)
                doubtful.append((top + unsettled[row], first + column))
        row, item = (np.concatenate(each) for each in zip(*doubtful, strict=True))
        same = self._same[item] == self._same[held_out[row]]
        tied = np.bincount(row[same], minlength=len(rows))
        row, item = row[~same], item[~same]
        score = pair_scores(factors, self._items, row, item)
        above += np.bincount(row[score > target[row]], minlength=len(rows))
        tied += np.bincount(row[score == target[row]], minlength=len(rows))
        return above, np.where(factors.any(axis=1), tied, items - np.diff(ends) - 1)

    def _blocks_of_scores(
        self, sieve: Floats32, held_out: Ints, others: Ints, ends: Ints
    ) -> Iterator[tuple[int, int, Floats32]]:
        """Yield first row, first item and scores of blocks, -∞ for held-out items and items that are not candidates.

        Args:
            sieve: (rows, d) factors of users.
            held_out: (rows,) items.
            others: as of `Split.non_candidates`.
            ends: likewise.
        """
        height, width, items = self._height, self._width, len(self._items)
        places = _places_by_block(others, ends, items, height, width)
        memory = np.empty(height * width, dtype=np.float32)
        for top in range(0, len(sieve), height):
            for first in range(0, items, width):
                left, right = sieve[top : top + height], self._sieve[:, first : first + width]
                wide = right.shape[1]
                scores = np.matmul(left, right, out=memory[: len(left) * wide].reshape(len(left), wide))
                memory[next(places)] = -np.inf
                own = held_out[top : top + height] - first
                row = np.flatnonzero((own >= 0) & (own < wide))
                scores[row, own[row]] = -np.inf
                yield top, first, scores


def _places_by_block(item: Ints, ends: Ints, items: int, height: int, width: int) -> Iterator[Ints]:
    """Yield, for each block of scores, the positions of items that are not candidates, in the block's memory.

    Args:
        item: as of `Split.non_candidates`.
        ends: likewise, (rows + 1,).
        items: number of all items.
        height: rows of a block.
        width: items of a block.
    """
    counts, rows = np.diff(ends), len(ends) - 1
    if items <= width:
        for top in range(0, rows, height):
            here = counts[top : top + height]
            yield np.repeat(np.arange(len(here)) * items, here) + item[ends[top] : ends[top + len(here)]]
        return
    blocks, tops = -(-items // width), -(-rows // height)
    row = np.repeat(np.arange(rows), counts)
    number = row // height * blocks + item // width
    order = np.argsort(number.astype(np.uint16) if tops * blocks <= 2**16 else number, kind="stable")  # 16 bits: radix
    row, item = row[order], item[order]
    ends = np.append(0, np.cumsum(np.bincount(number, minlength=tops * blocks)))
    for block in range(tops * blocks):
        own = slice(ends[block], ends[block + 1])
        top, first = block // blocks * height, block % blocks * width
        yield (row[own] - top) * min(width, items - first) + (item[own] - first)


def count_rows(scores: Floats32, compare: np.ufunc, threshold: Floats32, bits: NDArray[np.bool_]) -> Ints:
    """Count the scores of each row that compare true with its threshold, (rows, 1); bits is working memory."""
    wide = scores.shape[1]
    here = bits[: len(scores), : -(-wide // 8) * 8]
    here[:, wide:] = False
    compare(scores, threshold, out=here[:, :wide])
    words = here.view(np.uint64)  # eight at a time: adding words adds their bytes
    total = np.zeros(len(scores), dtype=np.int64)
    for first in range(0, words.shape[1], WORDS):
        sums = words[:, first : first + WORDS].sum(axis=1, keepdims=True)
        total += sums.view(np.uint8).sum(axis=1, dtype=np.int64)
    return total
