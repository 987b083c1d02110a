"""The loop over blocks of users: it counts the candidates above each held-out item, and those that tie with it.

A model, a matrix or a function gives the scores of a block of users and all items, on the host or on a device. Items
that are not candidates are counted too and then subtracted, so no array has to mark the candidates. factors.py counts
by factors on the host.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Ints
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.arrays import Device, Factors, ScoreFunction, as_array, as_scores
from sampled_metrics.ranking.factors import FactorCounts
from sampled_metrics.ranks.exact import ExactRanks

TIE = 2.0**-40
"""Computed scores tie if they differ by no more than this fraction.

It is a fraction of the held-out item's sum of similarities, or of the largest product that factors of such lengths can
have. Rounding separates sums that are equal in exact arithmetic. If no term is negative and each sum takes n roundings,
the sums differ by a fraction of n ε at most, with ε = 2⁻⁵². So n may be 4000. On MovieLens 1M, rounding separates sums
of item-CF by less than 10⁻¹⁵, and the other sums differ by 10⁻⁹ or more.
"""

BATCH_BYTES = 2**28
"""Bytes of the scores of a block of users, if they are float64."""

MOST_USERS = 1024
"""Largest number of users of a block, unless the caller chooses another."""

_TOGETHER, _TOGETHER_ON_DEVICE = 2**16, 2**25
"""Scores that are counted at a time. Those on the host stay in the cache between the comparisons."""

Tolerance = Callable[[Ints, NDArray[Any]], NDArray[Any]]
"""Function from users, (rows,), and scores of their held-out items, (rows,), to the largest difference of a tie."""

_Result = TypeVar("_Result")


def rank_users(
    scores: ScoreFunction | Factors,
    split: Split,
    users: slice | Ints = slice(None),
    *,
    batch_size: int | None = None,
    tolerance: Tolerance | None = None,
    threads: int = 1,
    progress: Progress = no_progress,
) -> ExactRanks:
    """Return the ranks of users' held-out items among their candidates.

    The candidates are all items except the user's training items and other held-out items.

    Args:
        scores: a function of a slice of the users, or factors on the host. The scores of factors have the precision of
            the items' factors.
        split: training and held-out items.
        users: a part of the users, ascending. The tables of parts, one after another, are the table of all.
        batch_size: number of users of a block; the default is that of `users_of_batch`.
        tolerance: of scores from a function; by default they are compared exactly, in their own type.
        threads: number of blocks to count at a time; the counts do not depend on it.
        progress: wraps the range of blocks, for a progress bar.

    Raises:
        DataError: a candidate's score is NaN or +inf.
    """
    chosen = np.arange(split.shape.users)[users]
    rows = np.flatnonzero(np.isin(split.user, chosen))
    counter: FactorCounts | _ScoreCounts
    if isinstance(scores, tuple):
        counter = FactorCounts(*scores, split)
    else:
        size = users_of_batch(split.shape.items, batch_size)
        counter = _ScoreCounts(scores, split, chosen, size, tolerance)
    blocks = counter.blocks(rows)
    counts = in_threads(lambda number: counter.count(blocks[number]), len(blocks), threads)
    counted = [block_counts for _, block_counts in zip(progress(range(len(blocks))), counts, strict=True)]
    nothing = np.empty(0, dtype=np.int64)
    above, tied = (np.concatenate(column) for column in zip((nothing, nothing), *counted, strict=True))
    return ExactRanks(split.user_ids[split.user[rows]], split.candidates[rows], above, tied)


_MOST_OF_BATCH = 2**31  # more users than there are, in an integer of numpy


def users_of_batch(items: int, batch_size: int | None = None, most_bytes: int = BATCH_BYTES) -> int:
    """Return the number of users of a block. By default their scores take `most_bytes` in float64, for 1024 at most."""
    return min(batch_size or 0, _MOST_OF_BATCH) or min(MOST_USERS, max(1, most_bytes // (8 * items)))


def in_blocks(rows: Ints, number: Ints) -> list[Ints]:
    """Return the rows of each block, from the (rows,) ascending numbers of their blocks."""
    return np.split(rows, np.flatnonzero(np.diff(number)) + 1) if len(rows) else []


def in_threads(work: Callable[[int], _Result], steps: int, threads: int) -> Iterator[_Result]:
    """Yield the results of numbered steps in their order. A single thread is the caller's."""
    if threads == 1:
        yield from map(work, range(steps))
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, range(steps))


def block_of_scores(scores: ScoreFunction, users: slice, items: int, read: Callable[[Any], Any] = as_scores) -> Any:
    """Return the (users, items) scores of consecutive users, read by `as_scores` or as given.

    Raises:
        DataError: the function does not return numbers, or they have another shape.
    """
    block, shape = read(scores(users)), (users.stop - users.start, items)
    if tuple(block.shape) != shape:
        raise DataError(f"scores of a block of users have shape {tuple(block.shape)}, not {shape} (users, items)")
    return block


def not_comparable(scores: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which scores are NaN or +∞. -∞ is a score: that of a masked item."""
    return ~(scores < np.inf)


def require_comparable(wrong: NDArray[np.bool_], user_ids: NDArray[np.generic]) -> None:
    """Refuse scores that are NaN or +∞: `wrong` is (users,) whether a user's candidate has one.

    Raises:
        DataError: a user's score is wrong; the message names the first such user.
    """
    if wrong.any():
        raise DataError(
            f"the recommender gives user {user_ids[np.argmax(wrong)]} a score that is NaN or +inf; scores are finite "
            "numbers, or -inf for items that rank last"
        )


class _ScoreCounts:
    """Counts by a function that returns (users, items) scores of a slice of the users.

    Args:
        scores: the function.
        split: training and held-out items.
        chosen: indices of the users for whom it may be called, ascending.
        size: largest number of users of a call. The last digit of a score may depend on the other users of its block.
            So the blocks do not depend on the part that is chosen.
        tolerance: as in `rank_users`.
    """

    def __init__(
        self, scores: ScoreFunction, split: Split, chosen: Ints, size: int, tolerance: Tolerance | None
    ) -> None:
        self._scores, self._split, self._tolerance = scores, split, tolerance
        begins_block = (np.diff(chosen) > 1) | (np.diff(chosen // size) > 0)
        self._first = np.append(chosen[:1], chosen[1:][begins_block])  # first user of each block

    def blocks(self, rows: Ints) -> list[Ints]:
        """Return the rows of each block of users."""
        return in_blocks(rows, np.searchsorted(self._first, self._split.user[rows], side="right"))

    def count(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each, of the rows of a block."""
        user, items = self._split.user[rows], self._split.shape.items
        scores = block_of_scores(self._scores, slice(int(user[0]), int(user[-1]) + 1), items, as_array)
        device = Device(scores)
        step = max(1, (_TOGETHER if device.is_host else _TOGETHER_ON_DEVICE) // items)
        counts = np.empty((2, len(rows)), dtype=np.int64)
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            row = user[part] - user[0]
            is_consecutive = (np.diff(row) == 1).all()  # then the scores are not copied
            block = scores[int(row[0]) : int(row[-1]) + 1, ...] if is_consecutive else device.take(scores, row)
            counts[:, part] = self._compare(device, device.comparable(block), rows[part])
        return counts[0], counts[1]

    def _compare(self, device: Device, scores: Any, rows: Ints) -> tuple[Ints, Ints]:
        """Return above and tied of rows, from their (rows, items) scores."""
        split, xp, items = self._split, device.xp, scores.shape[1]
        excluded, offsets = split.non_candidates(rows)
        row = np.repeat(np.arange(len(rows)), np.diff(offsets))
        held_out = np.arange(len(rows)) * items + split.item[rows]
        flat = xp.reshape(scores, (-1,))
        target = device.pull(device.take(flat, held_out))
        excluded_scores = device.pull(device.take(flat, row * items + excluded))

        def count(is_true: Any, is_true_of_excluded: NDArray[np.bool_]) -> Ints:
            return device.count(is_true) - np.bincount(row[is_true_of_excluded], minlength=len(rows))

        if target.dtype.kind == "f" and not (device.pull(xp.max(scores, axis=1)) < np.inf).all():
            wrong = count(~(scores < np.inf), not_comparable(excluded_scores)) > 0
            require_comparable(wrong, split.user_ids[split.user[rows]])
        low, high = target, target
        if self._tolerance is not None:
            with np.errstate(invalid="ignore"):
                slack = np.where(np.isfinite(target), self._tolerance(split.user[rows], target), 0.0)
            low, high = target - slack, target + slack
        above = count(scores > device.put(high[:, np.newaxis]), excluded_scores > high[row])
        reached = count(scores >= device.put(low[:, np.newaxis]), excluded_scores >= low[row])
        return above, reached - above - 1
