"""Ranking by a sparse similarity: only scores that are stored are looked at, and no row of scores is made dense.

The scores of a block of users are a sparse product. An item without an entry there scores 0, and how many of these are
candidates is known from counts: of items, of entries, of training items, and of training items with an entry.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.arrays import Ints
from sampled_metrics.candidates import held_out_in_training, require_candidate, require_finite

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
        self._similarity, self._training, self._held_out, self._user_ids = similarity, training, held_out, user_ids
        stored = np.diff(similarity.indptr).astype(np.float64)
        most = np.minimum(training @ stored, training.shape[1])  # scores that a user can have
        self.blocks = _blocks(most.astype(np.int64), entries)

    def count(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        block = slice(int(users[0]), int(users[-1]) + 1)
        training, held_out, ids = self._training[block], self._held_out[block], self._user_ids[block]
        require_candidate(held_out_in_training(training, held_out), ids)
        return _count_block(csr_array(training @ self._similarity), training, held_out, ids)


def _blocks(most: Ints, entries: int) -> list[Ints]:
    """Take users together as long as their scores are not too many."""
    ends = np.append(0, np.cumsum(most))
    found, first = [], 0
    while first < len(most):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + entries, side="right")) - 1)
        found.append(np.arange(first, last))
        first = last
    return found


def _count_block(
    scores: csr_array, training: csr_array, held_out: Ints, user_ids: NDArray[np.generic]
) -> tuple[Ints, Ints]:
    """Count entries other than 0, take those of training items out again, and then see to the rest, which score 0."""
    rows = np.repeat(np.arange(len(held_out), dtype=np.int32), np.diff(scores.indptr))
    _forget_not_finite(scores, rows, training, user_ids)
    of_held_out = scores.indices == held_out[rows]
    target = np.zeros(len(held_out))
    target[rows[of_held_out]] = scores.data[of_held_out]
    above, tied, entries = _compared(scores.data, rows, target)
    trained = csr_array(scores.multiply(training))
    trained_rows = np.repeat(np.arange(len(held_out), dtype=np.int32), np.diff(trained.indptr))
    trained_above, trained_tied, trained_entries = _compared(trained.data, trained_rows, target)
    zeros = scores.shape[1] - entries - (np.diff(training.indptr) - trained_entries)
    above += np.where(target < 0, zeros, 0) - trained_above
    tied += np.where(target == 0, zeros, 0) - trained_tied
    return above, tied - 1


def _forget_not_finite(
    scores: csr_array, rows: NDArray[np.integer], training: csr_array, user_ids: NDArray[np.generic]
) -> None:
    """Refuse candidates' scores that are not finite numbers; those of training items, which do not matter, become 0."""
    bad = np.flatnonzero(~np.isfinite(scores.data))
    if not len(bad):
        return
    items = scores.shape[1]
    owners = np.repeat(np.arange(len(user_ids)), np.diff(training.indptr))
    pairs = rows[bad].astype(np.int64) * items + scores.indices[bad]
    candidates = bad[~np.isin(pairs, owners * items + training.indices)]
    require_finite(_rows_where(candidates, rows, len(user_ids)) > 0, user_ids)
    scores.data[bad] = 0.0


def _compared(
    scores: NDArray[np.floating], rows: NDArray[np.integer], target: NDArray[np.float64]
) -> tuple[Ints, Ints, Ints]:
    """Return how many scores other than 0 are above the row's target, how many equal it, and how many there are."""
    targets = target[rows]
    other = scores != 0
    return tuple(  # type: ignore[return-value]  # of three
        _rows_where(which, rows, len(target))
        for which in ((scores > targets) & other, (scores == targets) & other, other)
    )


def _rows_where(which: NDArray[np.bool_] | Ints, rows: NDArray[np.integer], users: int) -> Ints:
    return np.bincount(rows[which], minlength=users).astype(np.int64)
