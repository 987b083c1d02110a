"""Ranking by factors on a device: the device computes the products and counts, and the host decides near ties.

As in factors.py, a float32 product is a sieve with a proven bound of its error. To the host come the factors of the
users of a block, of their held-out items, and of the few items in doubt, whose exact scores are computed there. So the
counts are those of factors.py.
"""

from typing import Any

import numpy as np

from sampled_metrics._arrays import Ints
from sampled_metrics.data.split import Split
from sampled_metrics.errors import NumericError
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.device import Device, training_positions
from sampled_metrics.ranking.near_ties import Factors, pair_scores, require_finite_scores, sieve_of

SCORES = 2**25
"""Scores that are computed at a time: 128 MB, and twice that while they are counted."""


class DeviceFactorCounter(Counter):
    """Counts by dot products of factors on a device, in single precision if both are float32, else in double.

    The products are computed without TensorFloat-32 (`Device.exact_products`). The score of the held-out item is known
    exactly, so a product that misses it by more than the bound is found and refused.

    Args:
        user_factors: (users, d) array of real numbers on a device.
        item_factors: (items, d) likewise.
        split: training and held-out items, one row for each held-out item.
        user: (rows,) the user of each row.

    Raises:
        DataError: the bound of the scores is not finite.
    """

    def __init__(self, user_factors: Any, item_factors: Any, split: Split, user: Ints) -> None:
        self._device = device = Device(user_factors, item_factors)
        self._users, self._items, self._user, xp = user_factors, item_factors, user, device.xp
        single = all(each.dtype == xp.float32 for each in (user_factors, item_factors))
        self._precision = "float32" if single else "float64"
        items, d = self._wide(item_factors), item_factors.shape[1]
        largest = self._largest(self._wide(user_factors)), self._largest(items)
        require_finite_scores(d, largest, self._precision)
        self._exponent = np.asarray(np.frexp(largest[1])[1])
        half = -int(self._exponent) // 2  # two steps, as 2^-exponent may be too large
        items = items * 2.0**half * 2.0 ** (-int(self._exponent) - half)
        sieve = xp.astype(items, xp.float32, copy=False)
        longest = float(xp.max(xp.sum(sieve * sieve, axis=1))) ** 0.5
        self._longest = longest * (1 + d * float(np.finfo(np.float32).eps))  # the sum is rounded too
        # a device may take numbers below the smallest normal one for 0: given factors before the scaling, and after it
        # scaled factors, terms, sums and thresholds
        given = float(np.finfo(np.float64 if items.dtype == xp.float64 else np.float32).smallest_normal)
        scaled = float(np.finfo(np.float32).smallest_normal)
        self._lost = 8 * d * (scaled + float(np.ldexp(given, max(0, -int(self._exponent)))))
        self._sieve = xp.matrix_transpose(sieve)
        self._training, self._held_out = split.training, split.held_out
        rows, step = len(user), max(1, SCORES // sieve.shape[0])
        self.blocks = [np.arange(first, min(first + step, rows)) for first in range(0, rows, step)]

    def count_block(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each, of the rows of a block."""
        device, xp, items = self._device, self._device.xp, self._items.shape[0]
        rows, held_out = np.arange(len(users)), self._held_out[users]
        factors = self._pull(self._users, self._user[users])
        target = pair_scores(factors, self._pull(self._items, held_out), rows, rows)
        sieve, *thresholds = sieve_of(factors, target, self._exponent, self._longest, self._lost)
        low, high = map(device.put, thresholds)
        positions, ends = training_positions(self._training, slice(int(users[0]), int(users[-1]) + 1))
        with device.exact_products():
            scores = xp.matmul(device.put(sieve), self._sieve)
        above = device.count(scores > high, device.put(positions), device.put(ends))
        row, item = map(device.pull, xp.nonzero((scores >= low) & (scores <= high)))

        has_factors, own = factors.any(axis=1), item == held_out[row]
        if np.count_nonzero(own) != np.count_nonzero(has_factors):
            raise NumericError(
                f"a product of float32 matrices of {device} has larger errors than float32 has; switch TensorFloat-32 "
                "and autocast off"
            )
        place = row * items + item
        trained = np.append(positions, -1)[np.searchsorted(positions, place)] == place
        row, item = row[~(own | trained)], item[~(own | trained)]
        distinct, item = np.unique(item, return_inverse=True)
        score = pair_scores(factors, self._pull(self._items, distinct), row, item)
        above += np.bincount(row[score > target[row]], minlength=len(users))
        tied = np.bincount(row[score == target[row]], minlength=len(users))
        return above, np.where(has_factors, tied, items - np.diff(ends) - 1)

    def _pull(self, factors: Any, index: Ints) -> Factors:
        """Return rows of factors on the host, in the precision of the scores."""
        rows, xp = self._device.take(factors, index), self._device.xp
        if xp.isdtype(rows.dtype, "real floating"):
            rows = self._wide(rows)
        return self._device.pull(rows).astype(self._precision, copy=False)

    def _wide(self, factors: Any) -> Any:
        """Return factors in float32, or as they are if they are in float64."""
        xp = self._device.xp
        return factors if factors.dtype == xp.float64 else xp.astype(factors, xp.float32, copy=False)

    def _largest(self, factors: Any) -> float:
        return max(float(self._device.xp.max(factors)), -float(self._device.xp.min(factors)))
