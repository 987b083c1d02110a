"""Ranking by a sparse similarity: only stored scores are compared, and no row of scores is made dense.

The scores of a block of users are a sparse product. An item without an entry scores 0. A diagonal of NaN in the
similarity makes the scores of training items NaN, so they have an entry and are neither above nor tied.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from sampled_metrics._arrays import Ints
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.ranking.counter import Counter, require_finite, tie_bounds

ENTRIES = 2**19
"""Largest number of scores of a block of users, a few dozen megabytes with all copies."""

ENTRY_BYTES = 64
"""Bytes of a score while it is counted, all copies together."""

THREAD_BYTES = 8 * 2**20
"""Bytes of a thread besides the scores of its block."""


def least_memory(size: int, shape: Shape, threads: int) -> int:
    """Return the bytes of counting by blocks of one user, besides the split and a similarity of `size` bytes."""
    marked = 2 * size + 64 * shape.items  # the similarity with its diagonal, and a copy while adding it
    return marked + 8 * shape.users + threads * (ENTRY_BYTES * shape.items + THREAD_BYTES)


def block_entries(items: int, threads: int, spare: float) -> int:
    """Return the number of scores of a block that fits into `spare` bytes beyond `least_memory`."""
    return int(min(ENTRIES, items + spare / (threads * ENTRY_BYTES)))


class SparseCounter(Counter):
    """Counts by sums of sparse similarities.

    Args:
        similarity: (items of the user, items scored).
        split: training and held-out items.
        entries: largest number of scores of a block; a single user may have more.
    """

    def __init__(self, similarity: csr_array, split: Split, entries: int) -> None:
        self._split, training = split, split.training
        self._similarity = csr_array(similarity + diags_array(np.full(similarity.shape[0], np.nan)))
        stored = np.diff(self._similarity.indptr).astype(np.float64)
        most = np.minimum(training @ stored, training.shape[1])  # scores that a user can have
        self.blocks = _blocks(most.astype(np.int64), entries)

    def count_block(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        block = slice(int(users[0]), int(users[-1]) + 1)
        training = self._split.training[block]
        scores = csr_array(training @ self._similarity)
        return _count(scores, np.diff(training.indptr), self._split.held_out[block], self._split.user_ids[block])


def _blocks(most: Ints, entries: int) -> list[Ints]:
    """Divide users, by their largest numbers of scores, into blocks of at most `entries` scores."""
    ends = np.append(0, np.cumsum(most))
    found, first = [], 0
    while first < len(most):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + entries, side="right")) - 1)
        found.append(np.arange(first, last))
        first = last
    return found


def _count(scores: csr_array, trained: Ints, held_out: Ints, user_ids: NDArray[np.generic]) -> tuple[Ints, Ints]:
    """Count the entries other than 0, then all others, which score 0. The training items score NaN."""
    entries = np.diff(scores.indptr)
    require_finite(_row_counts(~np.isfinite(scores.data), scores) != trained, user_ids)
    held_out_entries = np.flatnonzero(scores.indices == np.repeat(held_out.astype(scores.indices.dtype), entries))
    target = np.zeros(len(held_out))
    target[np.searchsorted(scores.indptr, held_out_entries, side="right") - 1] = scores.data[held_out_entries]
    low, high = tie_bounds(target)
    other = scores.data != 0
    zeros = scores.shape[1] - _row_counts(other, scores)
    above = _row_counts((scores.data > np.repeat(high, entries)) & other, scores) + np.where(high < 0, zeros, 0)
    reached = _row_counts((scores.data >= np.repeat(low, entries)) & other, scores) + np.where(low <= 0, zeros, 0)
    return above, reached - above - 1


def _row_counts(which: NDArray[np.bool_], scores: csr_array) -> Ints:
    """Count the chosen entries of each row."""
    before = np.append(0, np.cumsum(which))
    return np.asarray(before[scores.indptr[1:]] - before[scores.indptr[:-1]])
