"""Ranking by scores of any origin: arrays, or functions that return the scores of a block of users."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sampled_metrics._arrays import Ints
from sampled_metrics._validation import refuse_masked
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.counter import Counter, Progress, require_finite
from sampled_metrics.ranking.memory import BLOCK_BYTES
from sampled_metrics.ranks.table import RankTable

_MATRIX = "must be numbers, a row of them for each user and an entry for each item"

_WHOLE = 2.0**53
"""float64 holds every whole number below it."""

COPIES = 5
"""Number of arrays of the size of a block of scores while the block is counted."""


def rank_table_from_scores(
    scores: ArrayLike | Callable[[slice], ArrayLike],
    training: ArrayLike | csr_array,
    held_out: ArrayLike,
    *,
    user_ids: ArrayLike | None = None,
    progress: Progress = lambda blocks: blocks,
) -> RankTable:
    """Count, for each user, the candidates that score above the held-out item, and those that tie with it.

    A user's candidates are all items except the user's training items. The scores of training items are ignored. Each
    row has one held-out item; a user with several held-out items takes several rows, each with its own id. Scores are
    compared in their own type, without rounding.

    Args:
        scores: (users, items) array, or a function that takes a slice of the rows and returns them. Higher is better,
            equal is a tie.
        training: (users, items) sparse or dense, nonzero where the user has the item in training.
        held_out: (users,) int, index of the held-out item.
        user_ids: (users,) distinct ids, the user column of the table. The default is a table without users.
        progress: wraps the range of blocks, for a progress bar.

    Returns:
        The exact ranks, with a row for each user.

    Raises:
        DataError: shapes do not fit, a candidate's score is not a finite number or would have to be rounded, an entry
            is masked, training is not numeric, a held-out item is out of range or one of its user's training items, or
            an id is missing or repeated.

    Examples:
        The first user has item 0 in training, and item 1 ties with the held-out item 2.

        >>> from sampled_metrics.ranking.scores import rank_table_from_scores
        >>> scores = [[0.9, 0.5, 0.5, 0.1], [0.1, 0.2, 0.3, 0.4]]
        >>> training = [[1, 0, 0, 0], [0, 0, 0, 1]]
        >>> table = rank_table_from_scores(scores, training, held_out=[2, 0], user_ids=["ada", "ben"])
        >>> print(table.candidates, table.above, table.tied)
        [3 3] [0 2] [1 0]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3: the rank of the
        relevant item among all candidates.
    """
    refuse_masked(training, "training")
    refuse_masked(held_out, "held_out")
    refuse_masked(user_ids, "user_ids")
    pairs, relevant = _pairs(training), np.asarray(held_out)
    users, items = pairs.shape
    ids = np.arange(users) if user_ids is None else np.asarray(user_ids)
    if users and relevant.dtype.kind not in "iu":
        raise DataError(f"held_out must hold indices of the {items} items, whole numbers, not {relevant.dtype}")
    split = Split(pairs, relevant.astype(np.int64), ids, np.arange(items))
    _require_ids(ids)
    counter = ScoreCounter(scores if callable(scores) else _array(scores).__getitem__, split)
    above, tied = counter.count(counter.blocks, 1, progress)
    return RankTable(None if user_ids is None else ids, split.candidates, above, tied)


class ScoreCounter(Counter):
    """Counts by a function that takes a slice of the users and returns (users, items) scores."""

    def __init__(self, scores: Callable[[slice], ArrayLike], split: Split) -> None:
        self._scores, self._split = scores, split
        users, items = split.training.shape
        rows = max(1, BLOCK_BYTES // (8 * items))
        self.blocks = [np.arange(first, min(first + rows, users)) for first in range(0, users, rows)]

    def count_block(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        block = slice(int(users[0]), int(users[-1]) + 1)
        scores, training = _array(self._scores(block)), self._split.training[block]
        if scores.shape != training.shape:
            shapes = f"{scores.shape}, not {training.shape}"
            raise DataError(f"scores of a block of users have shape {shapes} (users, items)")
        rows = np.arange(len(scores))
        candidate = np.ones(scores.shape, dtype=bool)
        candidate[np.repeat(rows, np.diff(training.indptr)), training.indices] = False
        require_finite((candidate & ~np.isfinite(scores)).any(axis=1), self._split.user_ids[block])
        target = scores[rows, self._split.held_out[block]][:, np.newaxis]
        return (candidate & (scores > target)).sum(axis=1), (candidate & (scores == target)).sum(axis=1) - 1


def _array(scores: Any) -> NDArray[Any]:
    """Return scores as an array of their own type, without copying arrays; Python numbers as float64 or integers."""
    refuse_masked(scores, "scores")
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
        raise DataError(f"scores {_MATRIX}") from None
    if given is not None and wrong.any():
        raise DataError(f"scores {_MATRIX}; float64 cannot hold {given[wrong][0]!r:.80} without rounding it")
    if found.ndim == 0 or found.dtype.kind not in "biuf":
        raise DataError(f"scores {_MATRIX}")
    return found


def _pairs(training: ArrayLike | csr_array) -> csr_array:
    """Return training with each pair stored once; the caller's array does not change."""
    try:
        pairs = csr_array(training)
    except (TypeError, ValueError):
        raise DataError(f"training {_MATRIX}") from None
    if pairs.ndim != 2 or pairs.dtype.kind not in "biuf":
        raise DataError(f"training {_MATRIX}")
    if not np.isfinite(pairs.data).all():
        raise DataError(f"training {_MATRIX}; some are not finite")
    if not pairs.has_canonical_format or not pairs.data.all():
        pairs = pairs.copy()
        pairs.sum_duplicates()
        pairs.eliminate_zeros()
    return pairs


def _require_ids(user_ids: NDArray[np.generic]) -> None:
    """Refuse missing or repeated ids."""
    ids = pd.Series(user_ids)
    missing, repeated = ids.isna(), ids.duplicated()
    if missing.any():
        raise DataError(f"user_ids: entry {int(np.argmax(missing)) + 1} is missing")
    if repeated.any():
        raise DataError(f"user_ids: {ids[repeated].iloc[0]} is there twice; each row needs an id of its own")
