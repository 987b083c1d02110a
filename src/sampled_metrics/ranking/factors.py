"""Ranking by factors: a float32 product decides clear cases, and near ties are computed again.

The score of a user and an item is the dot product of their factors, whose terms are added one by
one in the order of the factors, with rounding at each step. So a score does not depend on a
library, on threads, or on its position in a matrix.

A matrix product is the fastest way to compute many scores. But its order of additions depends on
the library, on its threads, and on the position of an item in the matrix, so items with equal
factors may differ in the last digit. The product is therefore a prefilter. Each block of scores is
compared with the held-out item's score minus and plus the largest rounding error, and counted while
it is in the cache. Items in between are undecided: a few in a hundred thousand. Such items are
compared by their exact scores, so the counts do not depend on the product.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.split import Split

PAIRS = 2**11
"""Pairs that are scored at a time, so that their factors stay in the cache."""

NUMBERS = 2**16
"""Numbers of factors that are prepared at a time, so that they stay in the cache."""

SLACK = 1.0 + 2.0**-10
"""Factor that widens an error bound, for the rounding of the bound itself."""

Floats32 = NDArray[np.float32]
FactorMatrix = Floats32 | Floats
Run = Callable[..., Iterable[Any]]
"""`map`, or that of a pool of threads."""


def pair_scores(users: FactorMatrix, items: FactorMatrix, user: Ints, item: Ints) -> FactorMatrix:
    """Return the (pairs,) scores of pairs of users and items.

    Args:
        users: (users, d) factors.
        items: (items, d) factors.
        user: (pairs,) index of the user.
        item: (pairs,) index of the item.
    """
    scores = np.zeros(len(user), dtype=users.dtype)
    for start in range(0, len(user), PAIRS):
        part = slice(start, start + PAIRS)
        sums = scores[part]
        products = users.take(user[part], axis=0)
        products *= items.take(item[part], axis=0)
        for terms in products.T.copy():
            sums += terms
    return scores


def scale(factors: FactorMatrix, *, by_row: bool) -> tuple[Floats32, Ints]:
    """Return (rows, d) factors, scaled by powers of two, in float32.

    The largest factor, of each row or of all, is in [1/2, 1). Also return the exponents of the
    scales: (rows,) if each row has its own scale, else ().
    """
    largest = np.abs(factors).max(axis=1 if by_row else None, initial=0.0)
    exponents = np.asarray(np.frexp(largest)[1])
    return np.ldexp(factors, -exponents[..., np.newaxis]).astype(np.float32), exponents


def largest_number(factors: NDArray[Any], run: Run = map) -> float:
    """Return the largest absolute number of (rows, d) factors, or NaN if a number is NaN.

    The factors are not copied.
    """

    def largest(rows: slice) -> np.floating[Any]:
        part = factors[rows]
        return np.maximum(part.max(initial=0.0), -part.min(initial=0.0))

    return float(np.max([0.0, *run(largest, parts_of(factors))]))


def parts_of(factors: NDArray[Any]) -> list[slice]:
    """Return consecutive parts of the rows of (rows, d) factors that stay in the cache."""
    size = max(1, NUMBERS // factors.shape[1])
    return [slice(start, start + size) for start in range(0, len(factors), size)]


def scaled_by(factors: FactorMatrix, exponent: int, run: Run = map) -> tuple[Floats32, float]:
    """Return (rows, d) factors, divided by two to an exponent, in float32.

    Also return the largest length of a row. The factors are those of `scale` if the exponent is.
    Parts of the rows are scaled in the cache, perhaps by several threads.
    """
    scaled = np.empty(factors.shape, dtype=np.float32)
    is_exact = abs(exponent) < -np.finfo(factors.dtype).minexp

    def longest(rows: slice) -> float:
        if is_exact:
            power = factors.dtype.type(2.0**-exponent)
            np.multiply(factors[rows], power, out=scaled[rows], casting="same_kind")
        else:  # a single factor would overflow, or be rounded
            scaled[rows] = np.ldexp(factors[rows], -exponent)
        return float(lengths(scaled[rows]).max(initial=0.0))

    return scaled, max(run(longest, parts_of(factors)), default=0.0)


def error_bound(
    d: int, kind: str, exponents: Ints, product: str = "float32", roundoffs: float = 1.0
) -> Floats:
    """Return the largest difference between product and score, for factors of length up to 1.

    Both the product of precision `product`, in any order, and the score of precision `kind` differ
    from the exact dot product by at most γ ‖u‖ ‖v‖, γ_n = n ε / (1 - n ε), with n = d, or n = d + 2
    if the factors are rounded to that of the product first (Higham, Accuracy and Stability of
    Numerical Algorithms, 2nd edition, eq. 3.5, and Cauchy-Schwarz; ε is the unit roundoff). The
    bound adds the error of terms too small for normal numbers, multiplied by four because lengths
    are 1/2 or more. The bound has the shape of the exponents of the scales of user and item
    together, and may be infinite. `roundoffs` is the largest rounding error of an operation of the
    product in unit roundoffs: 2 where sums are cut off.
    """
    products = np.finfo(product)
    roundings = ((d + 2, roundoffs * float(products.eps) / 2), (d, float(np.finfo(kind).eps) / 2))
    gamma = sum(n * roundoff / (1 - n * roundoff) for n, roundoff in roundings)
    with np.errstate(over="ignore"):
        lost = np.ldexp(float(np.finfo(kind).smallest_subnormal), -exponents)
    bound: Floats = SLACK * (gamma + 4 * d * (lost + float(products.smallest_normal)))
    return bound


def thresholds(target: Floats, error: Floats, product: str = "float32") -> tuple[Any, Any]:
    """Return low and high, (rows, 1) each: products from low to high are undecided.

    Args:
        target: (rows,) scores of the held-out items, scaled like the products.
        error: (rows,) largest differences between product and score.
        product: the precision of the products.
    """
    most = np.finfo(product).max
    low, high = (
        np.nextafter(np.clip(end, -most, most).astype(product), towards)
        for end, towards in ((target - error, -most), (target + error, most))
    )
    return low[:, np.newaxis], high[:, np.newaxis]


def prefilter(
    factors: FactorMatrix, target: FactorMatrix, exponent: Ints, longest: float
) -> tuple[Floats32, Floats32, Floats32]:
    """Return users' factors, (users, d), scaled for the float32 product, and its thresholds.

    The thresholds are low and high, (users, 1) each. Float32 scores from low to high are undecided.
    A user whose factors are all 0 has no undecided scores, and infinite thresholds.

    Args:
        factors: (users, d).
        target: (users,) scores of the held-out items, of the type of the factors.
        exponent: of the scale of all items.
        longest: the largest length of an item's scaled factors.
    """
    scaled, exponents = scale(factors, by_row=True)
    exponents = exponents + exponent
    error = error_bound(scaled.shape[1], factors.dtype.name, exponents) * lengths(scaled) * longest
    low, high = thresholds(np.ldexp(target.astype(np.float64), -exponents), error)
    without_factors = ~factors.any(axis=1)
    low[without_factors] = np.inf
    high[without_factors] = np.inf
    return scaled, low, high


def lengths(factors: Floats32) -> Floats:
    """Return the length of each row of (rows, d) factors."""
    return np.sqrt(np.einsum("ij,ij->i", factors, factors, dtype=np.float64))


def require_finite_scores(d: int, largest: tuple[float, float], precision: str) -> None:
    """Raise DataError if scores may be infinite.

    Args:
        d: the number of factors of a user and an item.
        largest: the largest factors of users and of items.
        precision: that of the scores.
    """
    if not d * largest[0] * largest[1] <= float(np.finfo(precision).max):  # False of NaN
        raise DataError(
            f"the recommender's factors are not finite, or too large for scores in {precision}"
        )


def first_same(items: FactorMatrix) -> Ints:
    """Return (items,) for each item the first item with the same factors, itself if none is found.

    Items with the same factors tie, so their scores need no comparison.
    """
    numbers = np.random.default_rng(0).integers(1, 2**62, items.shape[1], dtype=np.uint64)
    bits = np.ascontiguousarray(items, dtype=np.float64).view(np.uint64)
    _, first_of_group, group = np.unique(
        (bits * numbers).sum(axis=1), return_index=True, return_inverse=True
    )
    same: Ints = first_of_group[group]
    return np.where((items[same] == items).all(axis=1), same, np.arange(len(items)))


ROWS = 1024
"""Most held-out items of a block. One thread counts a block."""

SCORES = 2**19
ITEMS = 512
"""Number of scores that are computed at a time, which take two megabytes, and smallest number of
items among them.

High blocks are fast to multiply, and narrow ones stay in the cache between product and comparisons.
"""

WORDS = 255
"""Number of words of eight bytes, each 0 or 1, that can be added before a byte overflows."""

UNDECIDED = 2**20
"""Number of undecided pairs that wait for their exact scores, which takes some of the memory of a
block of scores.
"""

_FEW_ROWS = 64
"""A block of so few held-out items is not divided among threads."""


def blocks_of_rows(rows: Ints, threads: int) -> list[Ints]:
    """Return the rows in blocks of equal size, up to `ROWS`, and as many blocks for each thread."""
    if not len(rows):
        return []
    busy = min(threads, -(-len(rows) // _FEW_ROWS))
    count = -(-len(rows) // (ROWS * busy)) * busy
    size = -(-len(rows) // count)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


@dataclass(frozen=True)
class _Block:
    """The rows of a block.

    Attributes:
        factors: (rows, d) factors of their users.
        held_out: (rows,) held-out items.
        target: (rows,) scores of these.
        above: (rows,) counts so far.
        tied: (rows,) counts so far.
    """

    factors: FactorMatrix
    held_out: Ints
    target: FactorMatrix
    above: Ints
    tied: Ints


class FactorCounts:
    """Counts by dot products of factors, in the precision of the items' factors.

    Args:
        user_factors: (users, d), perhaps in a file; only the factors of a block of users are read.
        item_factors: (items, d), float64 or float32.
        split: training and held-out items.
        run: runs the parts of the preparation, perhaps in threads.
    """

    def __init__(
        self, user_factors: NDArray[Any], item_factors: FactorMatrix, split: Split, run: Run = map
    ) -> None:
        self._users = user_factors
        self._items = item_factors
        self._split = split
        self._largest = largest_number(item_factors, run)
        require_finite_scores(item_factors.shape[1], (0.0, self._largest), item_factors.dtype.name)
        self._exponent = np.asarray(np.frexp(self._largest)[1])
        self._scaled_items, self._longest = scaled_by(item_factors, int(self._exponent), run)
        self._undecided = 0  # pairs so far

    @cached_property
    def _same(self) -> Ints:
        return first_same(self._items)

    def count(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each, of the rows of a block.

        Raises:
            DataError: the bound of the scores is not finite.
        """
        split = self._split
        items = len(self._items)
        factors: Any = self._users[split.user[rows]].astype(self._items.dtype, copy=False)
        largest = largest_number(factors)
        require_finite_scores(factors.shape[1], (largest, self._largest), self._items.dtype.name)
        held_out = split.item[rows]
        excluded, offsets = split.non_candidates(rows)
        target = pair_scores(factors, self._items, np.arange(len(rows)), held_out)
        scaled, low, high = prefilter(factors, target, self._exponent, self._longest)
        block = _Block(factors, held_out, target, *np.zeros((2, len(rows)), dtype=np.int64))
        waiting: list[tuple[Ints, Ints]] = []
        for top, left, scores, bits in self._blocks_of_scores(scaled, held_out, excluded, offsets):
            part = slice(top, top + len(scores))
            certain, row, column = compared(scores, low[part], high[part], bits)
            block.above[part] += certain
            waiting.append((top + row, left + column))
            if sum(len(row_of_pair) for row_of_pair, _ in waiting) >= UNDECIDED:
                self._decide(block, waiting)
        self._decide(block, waiting)
        others = items - np.diff(offsets) - 1  # which all tie without factors
        return block.above, np.where(factors.any(axis=1), block.tied, others)

    def _decide(self, block: _Block, waiting: list[tuple[Ints, Ints]]) -> None:
        """Add pairs of rows and items to the counts of a block, and forget the pairs.

        Their exact scores decide.
        """
        if not waiting:
            return
        row, item = (np.concatenate(part) for part in zip(*waiting, strict=True))
        waiting.clear()
        self._undecided += len(row)
        # then many items may have the factors of a held-out one
        if self._undecided > len(self._items):
            same = self._same[item] == self._same[block.held_out[row]]
            block.tied[:] += np.bincount(row[same], minlength=len(block.tied))
            row = row[~same]
            item = item[~same]
        score = pair_scores(block.factors, self._items, row, item)
        block.above[:] += np.bincount(row[score > block.target[row]], minlength=len(block.above))
        block.tied[:] += np.bincount(row[score == block.target[row]], minlength=len(block.tied))

    def _shape_of_blocks(self, rows: int) -> tuple[int, int]:
        """Return the numbers of rows and of items of a block of scores.

        The blocks have about the same size.
        """
        height = max(1, min(rows, SCORES // ITEMS))
        columns = -(-len(self._items) // max(ITEMS, SCORES // height))
        return height, -(-len(self._items) // columns)

    def _blocks_of_scores(
        self, scaled: Floats32, held_out: Ints, excluded: Ints, offsets: Ints
    ) -> Iterator[tuple[int, int, Floats32, NDArray[np.bool_]]]:
        """Yield the first row, the first item and the scores of each block.

        The working memory of `compared` comes with them. The score of a held-out item is -∞, and so
        is that of an item that is not a candidate.

        Args:
            scaled: (rows, d) factors of the users.
            held_out: (rows,) held-out items.
            excluded: items that are not candidates, as `Split.non_candidates` gives them.
            offsets: (rows + 1,) offsets of these.
        """
        height, width = self._shape_of_blocks(len(scaled))
        columns = -(-len(self._items) // width)
        tops = -(-len(scaled) // height)
        row = np.repeat(np.arange(len(scaled)), np.diff(offsets))
        number = row // height * columns + excluded // width  # of the block
        ends = np.append(0, np.cumsum(np.bincount(number, minlength=tops * columns)))
        if columns > 1:
            # of 16 bits: a radix sort
            key = number.astype(np.uint16) if tops * columns <= 2**16 else number
            order = np.argsort(key, kind="stable")
            row = row[order]
            excluded = excluded[order]
        memory = np.empty(height * width, dtype=np.float32)
        bits = np.zeros((2, height, -(-width // 8) * 8), dtype=np.bool_)
        for block in range(tops * columns):
            top = block // columns * height
            left = block % columns * width
            users = scaled[top : top + height]
            items = self._scaled_items[left : left + width]
            shape = len(users), len(items)
            scores = np.matmul(users, items.T, out=memory[: shape[0] * shape[1]].reshape(shape))
            stored = slice(ends[block], ends[block + 1])
            memory[(row[stored] - top) * shape[1] + (excluded[stored] - left)] = -np.inf
            column = held_out[top : top + height] - left
            is_here = np.flatnonzero((column >= 0) & (column < shape[1]))
            scores[is_here, column[is_here]] = -np.inf
            yield top, left, scores, bits


def compared(
    scores: Floats32, low: Floats32, high: Floats32, bits: NDArray[np.bool_]
) -> tuple[Ints, Ints, Ints]:
    """Return how many scores of each row are above `high`, and the rows and items of the undecided.

    The undecided are from `low` to `high`.

    Args:
        scores: (rows, items).
        low: (rows, 1) thresholds.
        high: (rows, 1) thresholds.
        bits: working memory, (2, rows, items) or larger, with a multiple of 8 of items.
    """
    width = scores.shape[1]
    is_certain, is_possible = bits[:, : len(scores), : -(-width // 8) * 8]
    for is_true, compare, threshold in (
        (is_certain, np.greater, high),
        (is_possible, np.greater_equal, low),
    ):
        is_true[:, width:] = False
        compare(scores, threshold, out=is_true[:, :width])
    certain = count_true(is_certain)
    words = (is_certain.view(np.uint64) ^ is_possible.view(np.uint64)).ravel()
    place = np.flatnonzero(words)
    word, byte = np.nonzero(words[place].view(np.uint8).reshape(-1, 8))
    row, column = np.divmod(8 * place[word] + byte, is_certain.shape[1])
    return certain, row, column


def count_true(is_true: NDArray[np.bool_]) -> Ints:
    """Return how many of each row of (rows, items) are true; the items are a multiple of 8."""
    words = is_true.view(np.uint64)  # eight at a time: adding words adds their bytes
    total = np.zeros(len(is_true), dtype=np.int64)
    for start in range(0, words.shape[1], WORDS):
        sums = words[:, start : start + WORDS].sum(axis=1, keepdims=True)
        total += sums.view(np.uint8).sum(axis=1, dtype=np.int64)
    return total
