"""Ranking by factors on a device: float32 decides clear cases, and float64 the near ties.

The scores are those of `sampled_metrics.ranking.factors` in double precision: the terms are added
one by one in the order of the factors. So the counts are those of the same factors on the host, to
the last digit, whatever the device and however its library multiplies matrices.

The product is a prefilter. A block of it stays on the device, where it is compared with the
held-out items' scores minus and plus the largest error. The pairs in between, and those of training
items, get their scores in float64. Only thresholds, counts and such pairs are copied to or from the
host.

Libraries may multiply matrices of float32 with fewer digits, as TensorFloat-32 does, if a setting
or their default says so. Before the first block of each shape, a product of known numbers of that
shape shows whether it loses digits. If so, the products are in float64.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.ranking.factors import (
    FactorCounts,
    error_bound,
    pair_scores,
    require_finite_scores,
    thresholds,
)
from sampled_metrics.ranking.inputs import Device
from sampled_metrics.ranking.split import Split

SCORES = 2**27
"""Most scores of a block, which take 512 MiB in float32, and a quarter of it for each
comparison.
"""

ITEMS = 2**17
"""Most items of a block."""

NUMBERS = 2**22
"""Numbers of factors that are prepared, or multiplied for pairs, at a time."""

UNDECIDED = 2**22
"""Pairs that are decided at a time, but for those of a single user."""

_ALL_DIGITS = 1 + 2.0**-12 + 2.0**-23
"""A number that float32 holds, and no shorter type."""

ROUNDOFFS = 2.0
"""Largest rounding error of an operation of a product, in unit roundoffs: matrix units may cut sums
off.
"""


@dataclass(frozen=True)
class _Scaled:
    """Rows of factors on the device, in the precision of the products.

    Attributes:
        factors: (rows, d), scaled by powers of two so that the largest, of each row or of all, is
            in [1/2, 1).
        exponents: of the scales, (rows,) or ().
        lengths: (rows,) lengths of the scaled rows.
    """

    factors: Any
    exponents: Ints
    lengths: Floats


class DeviceCounts:
    """Counts by dot products of factors on a device, in double precision.

    If the device lacks float64, the near ties are computed on the host, from copies of the factors.

    Args:
        user_factors: (users, d).
        item_factors: (items, d), of the same library and on the same device.
        split: training and held-out items.

    Raises:
        DataError: the factors of the items are not finite, or too large.
    """

    def __init__(self, user_factors: Any, item_factors: Any, split: Split) -> None:
        self._users = user_factors
        self._items = item_factors
        self._split = split
        self._device = Device(user_factors, item_factors)
        self._has_float64 = self._device.has_float64()
        self._largest = float(self._largest_of_rows(item_factors).max())
        require_finite_scores(item_factors.shape[1], (0.0, self._largest), "float64")
        self._product = "float32"
        self._shapes: set[tuple[int, int]] = set()  # of blocks whose products were looked at

    def blocks_of_rows(self, rows: Ints) -> list[Ints]:
        """Return the rows in blocks to count."""
        height = SCORES // min(self._items.shape[0], ITEMS)
        return [rows[part] for part in _slices(len(rows), height)]

    def count(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each, of the rows of a block.

        Raises:
            DataError: the factors of a user are not finite, or too large.
        """
        if not self._can_multiply(len(rows)):
            return self._on_host.count(rows)
        split = self._split
        items = self._items.shape[0]
        user = split.user[rows]
        factors = self._device.rows(self._users, user)
        largest = self._largest_of_rows(factors)
        require_finite_scores(factors.shape[1], (float(largest.max()), self._largest), "float64")
        target = self._pair_scores(user, split.item[rows])
        above, tied = self._counts_of_all(user, self._scaled(factors, largest), target)
        # all items are counted, so the held-out item itself and those that are not candidates are
        # taken off again
        excluded, offsets = split.non_candidates(rows)
        owner = np.repeat(np.arange(len(rows)), np.diff(offsets))
        score = self._pair_scores(user[owner], excluded)
        above -= np.bincount(owner[score > target[owner]], minlength=len(rows))
        tied -= np.bincount(owner[score == target[owner]], minlength=len(rows)) + 1
        has_factors = largest > 0
        others = items - np.diff(offsets) - 1  # which all tie without factors
        return np.where(has_factors, above, 0), np.where(has_factors, tied, others)

    def _counts_of_all(self, user: Ints, scaled: _Scaled, target: Floats) -> tuple[Ints, Ints]:
        """Return how many items score above and like the targets, (rows,) each.

        Users without factors have counts of no use.
        """
        device = self._device
        low, high = map(device.put, self._thresholds(scaled, target))
        above, tied = np.zeros((2, len(user)), dtype=np.int64)
        for columns in _slices(self._items.shape[0], ITEMS):
            items = self._scaled_items.factors[columns, ...]
            scores = device.xp.matmul(scaled.factors, device.xp.matrix_transpose(items))
            is_certain = scores > high
            is_possible = scores >= low
            del scores
            certain = device.count(is_certain)
            above += certain
            undecided = device.count(is_possible) - certain
            is_undecided = is_possible != is_certain
            for part in _parts(undecided, UNDECIDED):
                row, item = map(device.pull, device.xp.nonzero(is_undecided[part, ...]))
                row = part.start + row
                score = self._pair_scores(user[row], columns.start + item)
                above += np.bincount(row[score > target[row]], minlength=len(user))
                tied += np.bincount(row[score == target[row]], minlength=len(user))
        return above, tied

    def _thresholds(self, scaled: _Scaled, target: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return low and high as `thresholds` does; those of users without factors are infinite."""
        exponents = scaled.exponents + self._scaled_items.exponents
        longest = float(self._scaled_items.lengths.max(initial=0.0))
        bound = error_bound(scaled.factors.shape[1], "float64", exponents, self._product, ROUNDOFFS)
        with np.errstate(over="ignore"):
            low, high = thresholds(
                np.ldexp(target, -exponents), bound * scaled.lengths * longest, self._product
            )
        for threshold in (low, high):
            threshold[scaled.lengths == 0] = np.inf
        return low, high

    def _pair_scores(self, user: Ints, item: Ints) -> Floats:
        """Return the scores, (pairs,), of pairs of user and item indices, as `pair_scores` does."""
        if not self._has_float64:
            on_host: Any = pair_scores(*self._copies, user, item)
            return on_host
        xp = self._device.xp
        d = self._items.shape[1]
        scores = np.empty(len(user))
        for part in _slices(len(user), NUMBERS // d):
            users = self._device.take(self._users, user[part])
            items = self._device.take(self._items, item[part])
            terms = xp.matrix_transpose(xp.astype(users, xp.float64) * xp.astype(items, xp.float64))
            sums = terms[0, ...]
            for factor in range(1, d):
                sums = sums + terms[factor, ...]
            scores[part] = self._device.pull(sums)
        return scores

    def _scaled(self, factors: Any, largest: NDArray[Any]) -> _Scaled:
        """Return (rows, d) factors, scaled for the product.

        The scale is the largest number of each row, (rows,), or of all, ().
        """
        device = self._device
        xp = device.xp
        exponents = np.asarray(np.frexp(largest)[1], dtype=np.int64)
        half = -exponents // 2
        rest = -exponents - half
        halves = np.stack(np.broadcast_arrays(half, rest)).reshape(2, -1, 1)
        kind = np.float64 if self._has_float64 else np.float32
        powers = np.ldexp(kind(1), halves)  # two of them, as their product may be infinite
        scaled = []
        lengths = []
        for part in _slices(factors.shape[0], NUMBERS // factors.shape[1]):
            left, right = (device.put(power[part] if largest.ndim else power) for power in powers)
            numbers = self._widened(factors[part, ...]) * left * right
            lengths_of_part = device.pull(xp.sqrt(xp.sum(numbers * numbers, axis=1)))
            lengths.append(lengths_of_part.astype(np.float64))
            scaled.append(xp.astype(numbers, getattr(xp, self._product)))
        rounding = 1 + factors.shape[1] * float(np.finfo(kind).eps)  # of the lengths
        return _Scaled(xp.concat(scaled, axis=0), exponents, rounding * np.concatenate(lengths))

    @cached_property
    def _scaled_items(self) -> _Scaled:
        return self._scaled(self._items, np.asarray(self._largest))

    def _widened(self, factors: Any) -> Any:
        """Return factors in float64, or in float32 on a device that lacks it."""
        xp = self._device.xp
        return xp.astype(factors, xp.float64 if self._has_float64 else xp.float32)

    def _largest_of_rows(self, factors: Any) -> NDArray[Any]:
        """Return the (rows,) largest absolute number of each row, NaN for a row with NaN."""
        xp = self._device.xp
        largest = []
        for part in _slices(factors.shape[0], NUMBERS // factors.shape[1]):
            sizes = xp.abs(self._widened(factors[part, ...]))
            largest.append(self._device.pull(xp.max(sizes, axis=1)))
        return np.concatenate(largest)

    def _can_multiply(self, rows: int) -> bool:
        """Return whether the device can multiply a block of this many rows.

        The precision of the products is float64 from the first shape on that loses digits.
        """
        items = self._items.shape[0]
        shapes = {(rows, part.stop - part.start) for part in _slices(items, ITEMS)} - self._shapes
        if self._product == "float32":
            keeps_digits = all(self._keeps_all_digits(*shape) for shape in shapes)
            if not keeps_digits:
                self._product = "float64"
                self.__dict__.pop("_scaled_items", None)  # they are scaled again
        self._shapes |= shapes
        return self._product == "float32" or self._has_float64

    def _keeps_all_digits(self, rows: int, items: int) -> bool:
        """Return whether a float32 product of this shape has the digits of float32.

        All factors are a number that needs all digits, but for a user and an item that have a
        single factor, 1. So their scores are that number, by any order of additions. The score of
        others shows that sums keep digits, too.
        """
        device = self._device
        xp = device.xp
        d = self._items.shape[1]
        numbers = device.put(np.full((1, d), _ALL_DIGITS, dtype=np.float32))
        alone = device.put(np.eye(1, d, dtype=np.float32))
        first_user = alone if items > 1 else numbers
        users = xp.concat([first_user, xp.broadcast_to(numbers, (rows - 1, d))], axis=0)
        columns = xp.concat([alone, xp.broadcast_to(numbers, (items - 1, d))], axis=0)
        product = xp.matmul(users, xp.matrix_transpose(columns))
        if product.dtype != users.dtype:
            return False
        is_number_of_user = xp.all(product[0, min(1, items - 1) :] == _ALL_DIGITS)
        is_number = is_number_of_user & xp.all(product[1:, 0] == _ALL_DIGITS)
        if not is_number or min(rows, items) == 1:
            return bool(is_number)
        wanted = d * _ALL_DIGITS**2
        error = float(error_bound(d, "float64", np.asarray(0), "float32", ROUNDOFFS)) * wanted
        return abs(float(product[-1, -1]) - wanted) <= error

    @cached_property
    def _copies(self) -> tuple[Floats, Floats]:
        device = self._device
        users = device.pull(device.comparable(self._users)).astype(np.float64)
        items = device.pull(device.comparable(self._items)).astype(np.float64)
        return users, items

    @cached_property
    def _on_host(self) -> FactorCounts:
        return FactorCounts(*self._copies, self._split)


def _slices(count: int, size: int) -> list[slice]:
    """Return consecutive slices of rows, all of the same size but the last."""
    size = max(1, size)
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def _parts(counts: Ints, most: int) -> list[slice]:
    """Return consecutive parts of rows that count `most` at most.

    A row that counts more is a part of its own. Rows at the ends that count nothing are left out.
    """
    ends = np.cumsum(counts)
    parts = []
    start = 0
    while start < len(counts) and ends[-1] > (before := ends[start] - counts[start]):
        last = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        if ends[last - 1] > before:
            parts.append(slice(start, last))
        start = last
    return parts
