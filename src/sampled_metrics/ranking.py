"""Ranking: where each held-out item stands among its user's candidates, in blocks of users and bounded memory."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranks import RankTable
from sampled_metrics.recommenders.models import Model

BLOCK_BYTES = 16 * 2**20
"""Memory that a block of scores takes. It is a constant because the order of a sum may depend on a block's shape."""


def rank_held_out(
    model: Model, split: Split, watch: Callable[[Iterable[int]], Iterable[int]] = lambda blocks: blocks
) -> RankTable:
    """Count, for each user, the candidates that score above the held-out item, and those that tie with it.

    A user's candidates are all items less the user's training items; the held-out item is one of them.

    Args:
        model: the trained recommender.
        split: what it was trained on, and what was held out.
        watch: wraps the range of blocks, for a progress bar.

    Raises:
        DataError: a score is not a finite number.
    """
    users, items = split.training.shape
    rows = max(1, BLOCK_BYTES // (8 * items))
    above, tied = np.empty(users, dtype=np.int64), np.empty(users, dtype=np.int64)
    for first in watch(range(0, users, rows)):
        block = slice(first, min(first + rows, users))
        above[block], tied[block] = _rank_block(model, split, block)
    return RankTable(split.user_ids, split.candidates, above, tied)


def _rank_block(model: Model, split: Split, block: slice) -> tuple[Any, Any]:
    training = split.training[block]
    scores = model.scores(split.training, block, slice(0, training.shape[1]))
    rows = np.arange(len(scores))
    if not np.isfinite(scores).all():
        user = split.user_ids[block][np.argmax(~np.isfinite(scores).all(axis=1))]
        raise DataError(f"the recommender gives user {user} a score that is not a finite number")
    held_out = scores[rows, split.held_out[block]][:, np.newaxis].copy()
    scores[np.repeat(rows, np.diff(training.indptr)), training.indices] = -np.inf
    return (scores > held_out).sum(axis=1), (scores == held_out).sum(axis=1) - 1
