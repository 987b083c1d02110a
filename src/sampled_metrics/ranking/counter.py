"""Counters of a user's candidates that score above the held-out item, or tie with it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._progress import Progress
from sampled_metrics.errors import DataError

TIE = 2.0**-40
"""Two sums of similarities tie if they differ by no more than this fraction of the held-out item's.

Rounding separates sums that are equal in exact arithmetic. If no term is negative and each sum takes n roundings, the
fraction is n ε at most, with ε = 2⁻⁵², so n may be 4000. On MovieLens 1M, rounding separates sums of item-CF by less
than 10⁻¹⁵, and the other sums differ by 10⁻⁹ or more.
"""

WORDS = 255
"""Number of words of eight bytes, each 0 or 1, that can be added before a byte overflows."""

_Result = TypeVar("_Result")


class Counter:
    """Counts, for each user, the candidates that score above the held-out item, and the others that score the same.

    Attributes:
        blocks: indices of consecutive users by block.
    """

    blocks: list[Ints]

    def count_block(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        raise NotImplementedError

    def count(self, rows: slice, threads: int, progress: Progress) -> tuple[Ints, Ints]:
        """Return above and tied, (rows,) each, of consecutive users.

        Args:
            rows: indices of the users, from a first to below a last one.
            threads: number of blocks to count at a time.
            progress: wraps the range of steps, for a progress bar.
        """
        within = (block[(block >= rows.start) & (block < rows.stop)] for block in self.blocks)
        blocks = [block for block in within if len(block)]
        counts = in_threads(lambda number: self.count_block(blocks[number]), len(blocks), threads)
        counted = [each for _, each in zip(progress(range(len(blocks))), counts, strict=True)]
        nothing = np.empty(0, dtype=np.int64)
        above, tied = zip((nothing, nothing), *counted, strict=True)
        return np.concatenate(above), np.concatenate(tied)


def in_threads(work: Callable[[int], _Result], steps: int, threads: int) -> Iterator[_Result]:
    """Yield the results of numbered steps in their order. One thread is the caller's own."""
    if threads == 1:
        yield from map(work, range(steps))
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, range(steps))


def count_rows(scores: NDArray[Any], compare: np.ufunc, threshold: NDArray[Any], bits: NDArray[np.bool_]) -> Ints:
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


def tie_bounds(target: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and the highest sum of similarities that tie with a target; all have the same shape."""
    ends = target * (1 - TIE), target * (1 + TIE)
    return np.minimum(*ends), np.maximum(*ends)


def not_comparable(scores: Any, xp: Any = np) -> Any:
    """Return which scores of an array, of the namespace `xp`, are NaN or +∞. -∞ is a score: that of a masked item."""
    return ~xp.isfinite(scores) & ~(scores < 0)


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


def require_finite(wrong: NDArray[np.bool_], user_ids: NDArray[np.generic]) -> None:
    """Refuse scores that are not finite: `wrong` is (users,) whether a user's candidate has one.

    Raises:
        DataError: a user's score is wrong; the message names the first such user.
    """
    if wrong.any():
        raise DataError(f"the recommender gives user {user_ids[np.argmax(wrong)]} a score that is not a finite number")
