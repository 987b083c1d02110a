"""Ranks among sampled negatives, from scores of (user, item) pairs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import Ints, shown
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.inputs import warn_of_last


def among_negatives(
    row: Ints,
    held_out: NDArray[np.bool_],
    scores: NDArray[Any],
    user_ids: NDArray[Any],
    candidates: ArrayLike,
    seed: int,
    replacement: bool = False,
) -> SampledRanks:
    """Return the rank of each user's held-out item among the user's pairs.

    Ties are broken at random.

    Args:
        row: (pairs,) index of the user of a pair.
        held_out: (pairs,) whether the item is the held-out one; the others are the negatives.
        scores: (pairs,) scores, higher is better.
        user_ids: (users,) ids of the users.
        candidates: (users,) or one number: n, the held-out item and all that could have been
            sampled.
        seed: of the random order of ties.
        replacement: whether a negative may be there twice.

    Returns:
        The ranks, a row for each user, for `correct`.

    Raises:
        DataError: a user does not have exactly one held-out item, or a score is not a number.
    """
    users = len(user_ids)
    for wrong, fault in (
        (np.bincount(row, held_out, users) != 1, "needs one held-out item"),
        (np.bincount(row, np.isnan(scores), users) > 0, "has a score that is not a number"),
    ):
        if wrong.any():
            raise DataError(f"user {shown(user_ids[wrong.argmax()])} {fault}")
    target = np.empty(users, dtype=scores.dtype)
    target[row[held_out]] = scores[held_out]
    warn_of_last(int(np.count_nonzero(target == -np.inf)), users, stacklevel=4)
    above = np.bincount(row, scores > target[row], users).astype(np.int64)
    tied = np.bincount(row, (scores == target[row]) & ~held_out, users).astype(np.int64)
    # in the order of the ids, so that the order of the rows does not matter; ids of several types
    # are ordered as text
    keys = user_ids.astype(str) if user_ids.dtype == object else user_ids
    order = np.argsort(keys, kind="stable")
    rank = 1 + above
    rank[order] += np.random.default_rng(seed).integers(tied[order] + 1)
    negatives = np.bincount(row, minlength=users) - 1
    return SampledRanks(rank - 1, negatives, np.asarray(candidates), replacement, user_ids)
