"""Ranking by a sparse similarity: only scores that are stored are looked at, and no row of scores is made dense.

The scores of a block of users are a sparse product. An item without an entry there scores 0. A training item's score is
made NaN, by a diagonal of NaN in the similarity: so it has an entry, and is neither above nor tied with anything.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from sampled_metrics._arrays import Ints
from sampled_metrics.ranking.candidates import require_finite

ENTRIES = 2**19
"""Scores of a block of users, at most: a few dozen megabytes with all that is made of them."""

ENTRY_BYTES = 64
"""Bytes that a score takes while it is counted, all copies together."""


class SparseCounter:
    """Counts for each user the candidates that score above the held-out item, and the others that score the same.

    Attributes:
        blocks: consecutive users by block.
    """

    def __init__(
        self,
        similarity: csr_array,
        training: csr_array,
        held_out: Ints,
        user_ids: NDArray[np.generic],
        entries: int = ENTRIES,
    ) -> None:
        """Divide the users into blocks.

        Args:
            similarity: (items of the user, items scored).
            training: (users, items) 1.0 where the user has the item.
            held_out: (users,) index of the held-out item.
            user_ids: (users,) for messages.
            entries: scores of a block, at most, but for a single user with more.
        """
        self._training, self._held_out, self._user_ids = training, held_out, user_ids
        self._similarity = csr_array(similarity + diags_array(np.full(similarity.shape[0], np.nan)))
        stored = np.diff(self._similarity.indptr).astype(np.float64)
        most = np.minimum(training @ stored, training.shape[1])  # scores that a user can have
        self.blocks = _blocks(most.astype(np.int64), entries)

    def count(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        block = slice(int(users[0]), int(users[-1]) + 1)
        training, held_out, ids = self._training[block], self._held_out[block], self._user_ids[block]
        scores = csr_array(training @ self._similarity)
        return _count_block(scores, np.diff(training.indptr), held_out, ids)


def _blocks(most: Ints, entries: int) -> list[Ints]:
    """Take users together as long as their scores are not too many."""
    ends = np.append(0, np.cumsum(most))
    found, first = [], 0
    while first < len(most):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + entries, side="right")) - 1)
        found.append(np.arange(first, last))
        first = last
    return found


def _count_block(scores: csr_array, trained: Ints, held_out: Ints, user_ids: NDArray[np.generic]) -> tuple[Ints, Ints]:
    """Count entries other than 0, and then see to the rest, which score 0; training items, so many, are NaN."""
    entries = np.diff(scores.indptr)
    require_finite(_of_rows(~np.isfinite(scores.data), scores) != trained, user_ids)
    of_held_out = np.flatnonzero(scores.indices == np.repeat(held_out.astype(scores.indices.dtype), entries))
    target = np.zeros(len(held_out))
    target[np.searchsorted(scores.indptr, of_held_out, side="right") - 1] = scores.data[of_held_out]
    targets, other = np.repeat(target, entries), scores.data != 0
    zeros = scores.shape[1] - _of_rows(other, scores)
    above = _of_rows((scores.data > targets) & other, scores) + np.where(target < 0, zeros, 0)
    tied = _of_rows((scores.data == targets) & other, scores) + np.where(target == 0, zeros, 0)
    return above, tied - 1


def _of_rows(which: NDArray[np.bool_], scores: csr_array) -> Ints:
    """Count entries by row."""
    before = np.append(0, np.cumsum(which))
    return np.asarray(before[scores.indptr[1:]] - before[scores.indptr[:-1]])
