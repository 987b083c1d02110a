"""Ranking by factors: a float32 product decides clear cases, and near ties are computed again.

The score of a user and an item is the dot product of their factors. Its terms are added one by one in the order of the
factors, with rounding at each step. So it does not depend on a library, on threads, or on its position in a matrix.

A matrix product is the fastest way to compute many scores. But its order of additions depends on the library, on its
threads, and on the position of an item in the matrix, so items with equal factors may differ in the last digit. The
product is therefore a prefilter. Each block of scores is compared with the held-out item's score minus and plus the
largest rounding error, and counted while it is in the cache. Items in between are undecided: a few in a hundred
thousand. They are compared by their exact scores. So the counts do not depend on the product.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.split import Split

PAIRS = 2**11
"""Pairs that are scored at a time, so that their factors stay in the cache."""

SLACK = 1.0 + 2.0**-10
"""Factor that widens an error bound, for the rounding of the bound itself."""

Floats32 = NDArray[np.float32]
FactorMatrix = Floats32 | Floats


def pair_scores(users: FactorMatrix, items: FactorMatrix, user: Ints, item: Ints) -> FactorMatrix:
    """Return the scores, (pairs,), of pairs of user and item indices, (pairs,) each, by (users, d) and (items, d)."""
    scores = np.zeros(len(user), dtype=users.dtype)
    for first in range(0, len(user), PAIRS):
        sums, left, right = (array[first : first + PAIRS] for array in (scores, user, item))
        products = users.take(left, axis=0)
        products *= items.take(right, axis=0)
        for terms in products.T.copy():
            sums += terms
    return scores


def scale(factors: FactorMatrix, *, by_row: bool) -> tuple[Floats32, Ints]:
    """Return (rows, d) factors in float32, scaled by powers of two so that the largest, of each row, is in [1/2, 1).

    Also return the exponents of the scales: (rows,) if each row has its own scale, else ().
    """
    largest = np.abs(factors).max(axis=1 if by_row else None, initial=0.0)
    exponents = np.asarray(np.frexp(largest)[1])
    return np.ldexp(factors, -exponents[..., np.newaxis]).astype(np.float32), exponents


def error_bound(d: int, kind: str, exponents: Ints) -> Floats:
    """Return the largest difference between product and score, for scaled factors of length 1 at most.

    Both the float32 product, in any order, and the score of precision `kind` differ from the exact dot product by at
    most γ ‖u‖ ‖v‖, γ_n = n ε / (1 - n ε), with n = d, or n = d + 2 if the factors are rounded to float32 first (Higham,
    Accuracy and Stability of Numerical Algorithms, 2nd edition, eq. 3.5, and Cauchy-Schwarz; ε is the unit roundoff).
    The bound adds the error of terms too small for normal numbers, multiplied by four because lengths are 1/2 or more.
    It has the shape of the exponents of the scales of user and item together, and may be infinite.
    """
    roundings = (((d + 2), np.finfo(np.float32)), (d, np.finfo(kind)))
    gamma = sum(n * float(precision.eps) / 2 / (1 - n * float(precision.eps) / 2) for n, precision in roundings)
    with np.errstate(over="ignore"):
        lost = np.ldexp(float(np.finfo(kind).smallest_subnormal), -exponents)
    bound: Floats = SLACK * (gamma + 4 * d * (lost + float(np.finfo(np.float32).smallest_normal)))
    return bound


def prefilter(
    factors: FactorMatrix, target: FactorMatrix, exponent: Ints, longest: float
) -> tuple[Floats32, Floats32, Floats32]:
    """Return users' factors, (users, d), scaled for the float32 product, and low and high, (users, 1) each.

    Float32 scores from low to high are undecided. A user whose factors are all 0 has none, and infinite thresholds.

    Args:
        factors: (users, d).
        target: (users,) scores of the held-out items, of the type of the factors.
        exponent: of the scale of all items.
        longest: the largest length of an item's scaled factors.
    """
    scaled, exponents = scale(factors, by_row=True)
    exponents = exponents + exponent
    error = error_bound(scaled.shape[1], factors.dtype.name, exponents) * lengths(scaled) * longest
    scaled_target, most = np.ldexp(target.astype(np.float64), -exponents), np.finfo(np.float32).max
    low, high = (
        np.nextafter(np.clip(end, -most, most).astype(np.float32), towards)
        for end, towards in ((scaled_target - error, -most), (scaled_target + error, most))
    )
    without_factors = ~factors.any(axis=1)
    low[without_factors], high[without_factors] = np.inf, np.inf
    return scaled, low[:, np.newaxis], high[:, np.newaxis]


def lengths(factors: Floats32) -> Floats:
    """Return the length of each row of (rows, d) factors."""
    return np.sqrt(np.einsum("ij,ij->i", factors, factors, dtype=np.float64))


def require_finite_scores(d: int, largest: tuple[float, float], precision: str) -> None:
    """Raise DataError if scores may be infinite, from the number of factors and the largest ones of users and items."""
    if not d * largest[0] * largest[1] <= float(np.finfo(precision).max):  # False of NaN
        raise DataError(f"the recommender's factors are not finite, or too large for scores in {precision}")


def first_same(items: FactorMatrix) -> Ints:
    """Return for each item the first item with the same factors, as (items,), or the item itself if that is missed.

    Items with the same factors tie, so their scores need no comparison.
    """
    numbers = np.random.default_rng(0).integers(1, 2**62, items.shape[1], dtype=np.uint64)
    bits = np.ascontiguousarray(items, dtype=np.float64).view(np.uint64)
    _, first_of_group, group = np.unique((bits * numbers).sum(axis=1), return_index=True, return_inverse=True)
    same: Ints = first_of_group[group]
    return np.where((items[same] == items).all(axis=1), same, np.arange(len(items)))


ROWS = 1024
"""Held-out items of a block. One thread counts a block."""

SCORES, ITEMS = 2**20, 4096
"""Number of scores that are computed at a time, which take four megabytes, and largest number of items among them."""

WORDS = 255
"""Number of words of eight bytes, each 0 or 1, that can be added before a byte overflows."""


class FactorCounts:
    """Counts by dot products of factors, in the precision of the items' factors.

    Args:
        user_factors: (users, d), perhaps in a file; only the factors of a block of users are read.
        item_factors: (items, d), float64 or float32.
        split: training and held-out items.
    """

    def __init__(self, user_factors: NDArray[Any], item_factors: FactorMatrix, split: Split) -> None:
        self._users, self._items, self._split = user_factors, item_factors, split
        self._largest = float(np.abs(item_factors).max(initial=0.0))
        self._same = first_same(item_factors)
        scaled, self._exponent = scale(item_factors, by_row=False)
        self._longest = float(lengths(scaled).max(initial=0.0))
        self._scaled_items = np.ascontiguousarray(scaled.T)
        items = len(item_factors)
        self._width = items if items <= ITEMS else ITEMS // 2
        self._height = max(1, SCORES // self._width)

    def count(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each, of the rows of a block.

        Raises:
            DataError: the bound of the scores is not finite.
        """
        split, items = self._split, len(self._items)
        factors: Any = self._users[split.user[rows]].astype(self._items.dtype, copy=False)
        largest = float(np.abs(factors).max(initial=0.0))
        require_finite_scores(factors.shape[1], (largest, self._largest), self._items.dtype.name)
        held_out, (excluded, offsets) = split.item[rows], split.non_candidates(rows)
        target = pair_scores(factors, self._items, np.arange(len(rows)), held_out)
        scaled, low, high = prefilter(factors, target, self._exponent, self._longest)
        above = np.zeros(len(rows), dtype=np.int64)
        undecided = [(above[:0], above[:0])]
        bits = np.zeros((self._height, -(-self._width // 8) * 8), dtype=np.bool_)
        for top, first, scores in self._blocks_of_scores(scaled, held_out, excluded, offsets):
            block = slice(top, top + len(scores))
            certain = count_rows(scores, np.greater, high[block], bits)
            possible = count_rows(scores, np.greater_equal, low[block], bits)
            above[block] += certain
            rows_left = np.flatnonzero(possible != certain)
            if len(rows_left):
                near = (scores[rows_left] >= low[block][rows_left]) & (scores[rows_left] <= high[block][rows_left])
                row, column = np.nonzero(near)
                undecided.append((top + rows_left[row], first + column))
        row, item = (np.concatenate(part) for part in zip(*undecided, strict=True))
        same = self._same[item] == self._same[held_out[row]]
        tied = np.bincount(row[same], minlength=len(rows))
        row, item = row[~same], item[~same]
        score = pair_scores(factors, self._items, row, item)
        above += np.bincount(row[score > target[row]], minlength=len(rows))
        tied += np.bincount(row[score == target[row]], minlength=len(rows))
        return above, np.where(factors.any(axis=1), tied, items - np.diff(offsets) - 1)

    def _blocks_of_scores(
        self, scaled: Floats32, held_out: Ints, excluded: Ints, offsets: Ints
    ) -> Iterator[tuple[int, int, Floats32]]:
        """Yield the first row, first item and scores of each block, from (rows, d) factors and (rows,) held-out items.

        The score of a held-out item is -∞, and that of an item that is not a candidate; `Split.non_candidates` gives
        these as excluded and offsets.
        """
        height, width, items = self._height, self._width, len(self._items)
        columns, tops = -(-items // width), -(-len(scaled) // height)
        row = np.repeat(np.arange(len(scaled)), np.diff(offsets))
        number = row // height * columns + excluded // width  # of the block
        ends = np.append(0, np.cumsum(np.bincount(number, minlength=tops * columns)))
        if columns > 1:
            few = number.astype(np.uint16) if tops * columns <= 2**16 else number  # of 16 bits: a radix sort
            order = np.argsort(few, kind="stable")
            row, excluded = row[order], excluded[order]
        memory = np.empty(height * width, dtype=np.float32)
        for block in range(tops * columns):
            top, first = block // columns * height, block % columns * width
            left, right = scaled[top : top + height], self._scaled_items[:, first : first + width]
            shape = len(left), right.shape[1]
            scores = np.matmul(left, right, out=memory[: shape[0] * shape[1]].reshape(shape))
            stored = slice(ends[block], ends[block + 1])
            memory[(row[stored] - top) * shape[1] + (excluded[stored] - first)] = -np.inf
            column = held_out[top : top + height] - first
            is_here = np.flatnonzero((column >= 0) & (column < shape[1]))
            scores[is_here, column[is_here]] = -np.inf
            yield top, first, scores


def count_rows(scores: Floats32, compare: np.ufunc, threshold: Floats32, bits: NDArray[np.bool_]) -> Ints:
    """Return how many scores of each row compare true with its threshold, (rows, 1); `bits` is working memory."""
    wide = scores.shape[1]
    is_true = bits[: len(scores), : -(-wide // 8) * 8]
    is_true[:, wide:] = False
    compare(scores, threshold, out=is_true[:, :wide])
    words = is_true.view(np.uint64)  # eight at a time: adding words adds their bytes
    total = np.zeros(len(scores), dtype=np.int64)
    for first in range(0, words.shape[1], WORDS):
        sums = words[:, first : first + WORDS].sum(axis=1, keepdims=True)
        total += sums.view(np.uint8).sum(axis=1, dtype=np.int64)
    return total
