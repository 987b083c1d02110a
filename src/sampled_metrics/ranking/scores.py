"""Counting by scores of any origin, which a function returns for a batch of users."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._arrays import Ints
from sampled_metrics._validation import refuse_masked
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.counter import Counter, count_rows, not_comparable, require_comparable
from sampled_metrics.ranking.device import Device, detached, is_on_device, refuse_device, training_positions
from sampled_metrics.ranking.memory import BLOCK_BYTES

MATRIX = "must be numbers, a row of them for each user and an entry for each item"

_WHOLE = 2.0**53
"""float64 holds every whole number below it."""

COPIES = 5
"""Number of arrays of the size of a block of scores while the block is counted."""

_TOGETHER = 2**16
"""Scores that are counted at a time: so many stay in the cache between the comparisons."""

ScoreFunction = Callable[[slice], ArrayLike]
"""Function from a slice of the users to their (users, items) scores."""


class ScoreCounter(Counter):
    """Counts by a function that takes a slice of the users and returns (users, items) scores.

    No array marks the candidates: all items are counted, and those that are no candidates are subtracted.

    Args:
        scores: the function.
        split: training and held-out items, one row for each held-out item.
        users: (rows,) the user of each row, ascending; each row is a user of its own by default.
        batch_size: largest number of users of a call; by default as many as fit into 16 MB of float64.
    """

    def __init__(
        self, scores: ScoreFunction, split: Split, users: Ints | None = None, batch_size: int | None = None
    ) -> None:
        self._scores, self._split = scores, split
        rows, items = split.training.shape
        self._users = np.arange(rows) if users is None else users
        self.blocks = batches(self._users, batch_size or users_of_block(items))

    def count_block(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each, of the rows of a block."""
        block = slice(int(users[0]), int(users[-1]) + 1)
        scores, row = batch_of_scores(self._scores, self._users[block], self._split.training.shape[1], as_array)
        if is_on_device(scores):
            return self._count_on_device(scores, row, block)
        counts = np.empty((2, len(row)), dtype=np.int64)
        step = max(1, _TOGETHER // scores.shape[1])
        for first in range(0, len(row), step):
            part = slice(first, min(first + step, len(row)))
            follow = (np.diff(row[part]) == 1).all()  # then the scores are not copied
            here = scores[row[first] : row[part][-1] + 1] if follow else scores[row[part]]
            counts[:, part] = self._count(here, slice(block.start + part.start, block.start + part.stop))
        return counts[0], counts[1]

    def _count_on_device(self, scores: Any, row: Ints, rows: slice) -> tuple[Ints, Ints]:
        """Return above and tied of rows, from the scores of their users, (users, items), where these are."""
        device, held_out = Device(scores), self._split.held_out[rows]
        xp, items = device.xp, scores.shape[1]
        if not np.array_equal(row, np.arange(scores.shape[0])):
            scores = device.take(scores, row)
        if xp.isdtype(scores.dtype, "bool"):
            scores = xp.astype(scores, xp.int8)
        training = [device.put(each) for each in training_positions(self._split.training, rows)]
        target = device.take(xp.reshape(scores, (-1,)), np.arange(len(row)) * items + held_out)
        require_comparable(device.count(not_comparable(scores, xp), *training) > 0, self._split.user_ids[rows])
        target = xp.reshape(target, (-1, 1))
        return device.count(scores > target, *training), device.count(scores == target, *training) - 1

    def _count(self, scores: NDArray[Any], rows: slice) -> tuple[Ints, Ints]:
        """Return above and tied of rows, from their (rows, items) scores."""
        training, held_out = self._split.training, self._split.held_out[rows]
        ends = training.indptr[rows.start : rows.stop + 1]
        row = np.repeat(np.arange(len(scores)), np.diff(ends))
        other = scores[row, training.indices[ends[0] : ends[-1]]]
        target = scores[np.arange(len(scores)), held_out]

        def less_others(counts: Ints, which: NDArray[np.bool_]) -> Ints:
            return counts - np.bincount(row[which], minlength=len(scores))

        with np.errstate(over="ignore", invalid="ignore"):
            sums = scores.sum(axis=1)  # not finite if a score is not, so it spares a look at each score
        if not np.isfinite(sums).all():
            wrong = less_others(np.count_nonzero(not_comparable(scores), axis=1), not_comparable(other)) > 0
            require_comparable(wrong, self._split.user_ids[rows])
        bits = np.zeros((len(scores), -(-scores.shape[1] // 8) * 8), dtype=np.bool_)
        found = []
        for compare in (np.greater, np.equal):
            if len(scores) == 1:  # the fastest way for a long row
                counts = np.array([np.count_nonzero(compare(scores, target))])
            else:
                counts = count_rows(scores, compare, target[:, np.newaxis], bits)
            found.append(less_others(counts, compare(other, target[row])))
        return found[0], found[1] - 1


def users_of_block(items: int) -> int:
    """Return the number of users of a block of scores of all items."""
    return max(1, BLOCK_BYTES // (8 * items))


def batches(users: Ints, size: int) -> list[Ints]:
    """Divide rows into those of each `size` consecutive users, from the (rows,) ascending users."""
    rows = np.split(np.arange(len(users)), np.flatnonzero(np.diff(users // size)) + 1)
    return [each for each in rows if len(each)]


def batch_of_scores(
    scores: ScoreFunction, users: Ints, items: int, read: Callable[[Any], Any] | None = None
) -> tuple[Any, Ints]:
    """Return the scores of the users from the first to the last of (rows,) ascending ones, and the row of each.

    What the function returns is read by `as_scores`, or as given.

    Raises:
        DataError: the function does not return numbers, or they have another shape.
    """
    batch = slice(int(users[0]), int(users[-1]) + 1)
    found, shape = (read or as_scores)(scores(batch)), (batch.stop - batch.start, items)
    if tuple(found.shape) != shape:
        raise DataError(f"scores of a block of users have shape {tuple(found.shape)}, not {shape} (users, items)")
    return found, users - users[0]


def as_array(scores: Any) -> Any:
    """Return scores on a device as they are, without a gradient, and others as of `as_scores`."""
    return detached(scores) if is_on_device(scores) else as_scores(scores)


def as_scores(scores: Any) -> NDArray[Any]:
    """Return scores as an array of their own type, without copying arrays; Python numbers as float64 or integers."""
    refuse_masked(scores, "scores")
    refuse_device(scores, "scores")
    scores = detached(scores)
    given = None  # the Python numbers, if float64 might round them
    try:
        found = np.asarray(scores)
        if found.dtype == object:
            found, given = found.astype(np.float64), found
        elif not hasattr(scores, "dtype") and found.dtype == np.float64 and (np.abs(found) >= _WHOLE).any():
            table = isinstance(scores, pd.DataFrame)  # may mix integers and floats, like a list
            given = scores.to_numpy(object) if table else np.asarray(scores, dtype=object)
        wrong = np.False_ if given is None else (found != given) & ~np.isnan(found)
    except (TypeError, ValueError, OverflowError):  # ValueError: rows differ in length
        raise DataError(f"scores {MATRIX}") from None
    if given is not None and wrong.any():
        raise DataError(f"scores {MATRIX}; float64 cannot hold {given[wrong][0]!r:.80} without rounding it")
    if found.ndim == 0 or found.dtype.kind not in "biuf":
        raise DataError(f"scores {MATRIX}")
    return found
