"""Ranks from the scores of an evaluation as in NCF (He et al., 2017): each user's held-out item and its negatives."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampled_metrics.adapters._among_negatives import among_negatives
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.frames import columns_of
from sampled_metrics.ranks.sampled import SampledRanks


def sampled_ranks(
    scores: ArrayLike,
    candidates: ArrayLike,
    *,
    replacement: bool = False,
    user_ids: ArrayLike | None = None,
    seed: int = 0,
) -> SampledRanks:
    """Rank each user's held-out item among the user's sampled negatives; ties are broken at random.

    Args:
        scores: (users, 1 + m) scores, higher is better; the first of each row is the held-out item's. A DataFrame may
            have a column user, too.
        candidates: (users,) or one number: n, the held-out item and all items that could have been sampled. In NCF's
            own files these are the items that the user does not have in training.
        replacement: whether a negative may be there twice for the same user.
        user_ids: (users,) ids for the table; the default is 0, 1, …
        seed: of the random order of ties.

    Returns:
        The ranks, for `correct`.

    Raises:
        DataError: scores are not a table of numbers.

    Examples:
        The first held-out item is second of three, the other one ties with one of its two negatives.

        >>> from sampled_metrics import adapters
        >>> adapters.ncf.sampled_ranks([[0.5, 0.9, 0.1], [0.7, 0.7, 0.2]], candidates=50).x
        array([1, 1])
    """
    if isinstance(scores, pd.DataFrame):
        columns = columns_of(scores, "scores").by_usual_name("user")
        if "user" in columns:
            user_ids = columns.frame["user"] if user_ids is None else user_ids
            scores = columns.frame.drop(columns="user")
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("scores must be numbers, a row of 1 + m for each user") from None
    if table.ndim != 2 or table.shape[1] == 0:
        raise DataError(f"scores must have shape (users, 1 + m), not {table.shape}")
    users, size = table.shape
    ids = np.arange(users) if user_ids is None else np.asarray(user_ids)
    held_out = np.tile(np.arange(size) == 0, users)
    rows = np.repeat(np.arange(users), size)
    return among_negatives(rows, held_out, table.ravel(), ids, candidates, seed, replacement)
