"""Ranking: where each held-out item stands among its user's candidates, in blocks of users and bounded memory."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sampled_metrics.arrays import Ints
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranks import RankTable
from sampled_metrics.recommenders.models import Model

BLOCK_BYTES = 16 * 2**20
"""Memory that a block of scores takes. It is a constant because the order of a sum may depend on a block's shape."""

Watch = Callable[[Iterable[int]], Iterable[int]]


def rank_held_out(model: Model, split: Split, watch: Watch = lambda blocks: blocks) -> RankTable:
    """Count, for each user, the candidates that score above the held-out item, and those that tie with it.

    A user's candidates are all items less the user's training items; the held-out item is one of them.

    Args:
        model: the trained recommender.
        split: what it was trained on, and what was held out.
        watch: wraps the range of blocks, for a progress bar.

    Raises:
        DataError: a candidate's score is not a finite number.
    """
    items = slice(0, split.training.shape[1])
    return rank_table_from_scores(
        lambda users: model.scores(split.training, users, items),
        split.training,
        split.held_out,
        user_ids=split.user_ids,
        watch=watch,
    )


def rank_table_from_scores(
    scores: ArrayLike | Callable[[slice], ArrayLike],
    training: ArrayLike | csr_array,
    held_out: ArrayLike,
    *,
    user_ids: ArrayLike | None = None,
    watch: Watch = lambda blocks: blocks,
) -> RankTable:
    """Count, for each user, the candidates that score above the held-out item, and those that tie with it.

    For scores of any origin (docs/adapters.md). A user's candidates are all items less the user's training items; what
    the training items score does not matter. One item is held out per row: a user with several takes several rows.

    Args:
        scores: (users, items), higher is better and equal is a tie, or what returns a block of its rows, given which.
        training: (users, items) sparse or dense, not 0 where the user has the item in training.
        held_out: (users,) int, index of the item that was held out.
        user_ids: (users,) the user column of the table; 0, 1, … without it.
        watch: wraps the range of blocks, for a progress bar.

    Raises:
        DataError: shapes do not fit, a candidate's score is not a finite number, or a held-out item is out of range or
            one of its user's training items.
    """
    training = _pairs(training)
    users, items = training.shape
    held_out = np.asarray(held_out)
    user_ids = np.arange(users) if user_ids is None else np.asarray(user_ids)
    if held_out.shape != (users,) or user_ids.shape != (users,):
        raise DataError(
            f"training has {users} users, held_out has shape {held_out.shape} and user_ids {user_ids.shape}; "
            "they need one entry per user"
        )
    if users and (held_out.min() < 0 or held_out.max() >= items):
        raise DataError(f"held_out must hold indices of the {items} items, 0 to {items - 1}")
    score_block = scores if callable(scores) else np.asarray(scores).__getitem__
    rows = max(1, BLOCK_BYTES // (8 * items))
    above, tied = np.empty(users, dtype=np.int64), np.empty(users, dtype=np.int64)
    for first in watch(range(0, users, rows)):
        block = slice(first, min(first + rows, users))
        above[block], tied[block] = _rank_block(
            np.array(score_block(block), dtype=np.float64), training[block], held_out[block], user_ids[block]
        )
    return RankTable(user_ids, items - np.diff(training.indptr).astype(np.int64), above, tied)


def _pairs(training: ArrayLike | csr_array) -> csr_array:
    """Return training with each of its pairs stored once; an array of the caller's is not changed."""
    pairs = csr_array(training)
    if not pairs.has_canonical_format or not pairs.data.all():
        pairs = pairs.copy()
        pairs.sum_duplicates()
        pairs.eliminate_zeros()
    return pairs


def _rank_block(
    scores: NDArray[np.float64], training: csr_array, held_out: Ints, user_ids: NDArray[np.generic]
) -> tuple[Ints, Ints]:
    """Return above and tied of a block of users, (users,) each; the scores of training items become -∞."""
    if scores.shape != training.shape:
        raise DataError(f"scores of a block of users have shape {scores.shape}, not {training.shape} (users, items)")
    rows, trained = np.arange(len(scores)), np.diff(training.indptr)
    scores[np.repeat(rows, trained), training.indices] = -np.inf
    wrong = (~np.isfinite(scores)).sum(axis=1) != trained
    if wrong.any():
        raise DataError(f"the recommender gives user {user_ids[np.argmax(wrong)]} a score that is not a finite number")
    of_held_out = scores[rows, held_out][:, np.newaxis]
    wrong = np.isinf(of_held_out[:, 0])
    if wrong.any():
        raise DataError(f"user {user_ids[np.argmax(wrong)]}: the held-out item is one of the user's training items")
    return (scores > of_held_out).sum(axis=1), (scores == of_held_out).sum(axis=1) - 1
