"""Counters: how many of a user's candidates score above the held-out item, and how many others tie with it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._arrays import Ints
from sampled_metrics.errors import DataError

Progress = Callable[[Iterable[int]], Iterable[int]]
"""Wraps the range of steps of a loop, for a progress bar."""


class Counter(Protocol):
    """Counts, for each user, the candidates that score above the held-out item, and the others that score the same.

    Attributes:
        blocks: indices of consecutive users by block. A count may depend, in the last digit of a score, on who else is
            in the block, so the blocks are the same however the work is divided.
    """

    blocks: list[Ints]

    def count(self, blocks: list[Ints], threads: int, progress: Progress) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of consecutive blocks.

        Args:
            blocks: some of the counter's blocks.
            threads: how many blocks are counted at a time.
            progress: wraps the range of steps, for a progress bar.
        """
        ...


class BlockCounter(ABC):
    """A counter that counts each block of users by itself."""

    blocks: list[Ints]

    @abstractmethod
    def count_block(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""

    def count(self, blocks: list[Ints], threads: int, progress: Progress) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each; arguments as of `Counter.count`."""
        counted: list[tuple[Ints, Ints]] = []
        if threads == 1:
            counted = [self.count_block(blocks[number]) for number in progress(range(len(blocks)))]
        else:
            with ThreadPoolExecutor(threads) as pool:
                waiting = [pool.submit(self.count_block, block) for block in blocks]
                counted = [waiting[number].result() for number in progress(range(len(blocks)))]
        nothing = np.empty(0, dtype=np.int64)
        above, tied = zip((nothing, nothing), *counted, strict=True)
        return np.concatenate(above), np.concatenate(tied)


def require_finite(wrong: NDArray[np.bool_], user_ids: NDArray[np.generic]) -> None:
    """Refuse candidates whose score is not a finite number.

    Args:
        wrong: (users,) whether a candidate of the user has such a score.
        user_ids: (users,) ids for the message.

    Raises:
        DataError: the message names the first such user.
    """
    if wrong.any():
        raise DataError(f"the recommender gives user {user_ids[np.argmax(wrong)]} a score that is not a finite number")
