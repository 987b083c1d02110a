"""Exact ranks of held-out items by the scores of any model."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from sampled_metrics._arrays import Ints
from sampled_metrics._progress import Progress, no_progress
from sampled_metrics._validation import is_whole, shown
from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.device import Device, detached, is_on_device
from sampled_metrics.ranking.device_factors import DeviceFactorCounter
from sampled_metrics.ranking.factors import FactorCounter
from sampled_metrics.ranking.held_out import Pairs, held_out_items
from sampled_metrics.ranking.scores import MATRIX, ScoreCounter, ScoreFunction, as_array, as_scores, batch_of_scores
from sampled_metrics.ranks.table import RankTable

BATCH_BYTES = 2**28
"""Bytes of the scores of a batch, if they are float64."""

MOST_USERS = 1024
"""Largest number of users of a batch, unless the caller chooses it."""

ScoresLike = Any
"""Accepted forms of scores: (users, items) dense or sparse, a tuple of factors, or a function of a slice of users."""


def rank(
    scores: ScoresLike,
    training: Pairs,
    held_out: Any,
    *,
    users: slice | ArrayLike | None = None,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    batch_size: int | None = None,
    progress: Progress = no_progress,
) -> RankTable:
    """Rank the held-out items of users among all candidates, by the scores of a model.

    The candidates are all items except the user's training items. If a user has several held-out items, each is a row
    of its own and is ranked without the others. For each row, the table counts the candidates that score above the
    held-out item, and those that tie with it. The scores of other items are ignored.

    Factors are multiplied on as many threads as the library of linear algebra is allowed, as by OMP_NUM_THREADS. The
    ranks do not depend on it.

    Args:
        scores: one of

            - (users, items) numbers, dense, or sparse with 0 for what is not stored;
            - a tuple of factors, (users, d) and (items, d). The scores are the inner products. They are computed in
              double precision, or in single precision if both are float32; items with equal factors tie;
            - a function that takes a slice of the users, and returns their (users, items) scores.

            Higher is better, equal is a tie. Candidates with -inf, as of items that a library masks, rank last and tie
            with each other; factors are finite. Scores are compared in their own type, without rounding. Dense scores
            and factors may be arrays of torch, CuPy or JAX. Those in the memory of a GPU are counted there, with the
            same counts; this needs array-api-compat. Both factors must be of one library and on one device.
        training: what the users have in training: (users, items), sparse or dense, not 0 where the user has the item;
            or a DataFrame with the columns user and item, in any order.
        held_out: (users,) index of each user's held-out item, negative or missing (NaN, None) for none; or (users,
            items), sparse or dense, not 0 where an item is held out; or a DataFrame with the columns user and item.
            Users without a held-out item are left out, and a warning counts them.
        users: a part of the users to rank, such as ``slice(1000, 2000)``, or (k,) indices of them. The other arguments
            are those of all users. The ranks are the same as in the table of all users, so parts may be ranked apart
            and joined. Factors and scores may be arrays in files, as of ``numpy.load(name, mmap_mode="r")``; those of
            other users are not read. The default is all users.
        user_ids: (users,) distinct ids of all users, in the order of the scores. DataFrames and the result have them.
            The default is the indices 0, 1, ...
        item_ids: (items,) distinct ids, in the order of the scores. DataFrames have them. The default is the indices.
        batch_size: number of users whose scores are computed at a time, by a function or from a matrix. The default is
            as many as take 256 MB in double precision, up to 1024. Factors have no batches.
        progress: wraps the range of batches, for a progress bar.

    Returns:
        The exact ranks: a row for each held-out item, in the order of the users. `evaluate` takes it.

    Raises:
        DataError: shapes, libraries or devices do not fit, a candidate's score is NaN or +inf or would have to be
            rounded, an entry is masked, an id is unknown, missing or repeated, an index is out of range, a held-out
            item is one of its user's training items, or no user has one; `users` has no user, or one twice.
        ConfigError: batch_size is no whole number from 1 on, or is given for factors.
        NumericError: a device multiplies float32 factors with larger errors than float32 has.

    Examples:
        The first user has item 0 in training, and item 1 ties with the held-out item 2.

        >>> import sampled_metrics as sm
        >>> scores = [[0.9, 0.5, 0.5, 0.1], [0.1, 0.2, 0.3, 0.4]]
        >>> training = [[1, 0, 0, 0], [0, 0, 0, 1]]
        >>> table = sm.rank(scores, training, held_out=[2, 0], user_ids=["ada", "ben"])
        >>> print(table.user, table.candidates, table.above, table.tied)
        ['ada' 'ben'] [3 3] [0 2] [1 0]

        By the factors of a model, and tables of users and items:

        >>> import numpy as np
        >>> import pandas as pd
        >>> factors = np.array([[1.0, 0.0], [0.5, 1.0]]), np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 2.0], [2.0, 2.0]])
        >>> training = pd.DataFrame({"user": ["ada", "ben"], "item": ["x", "w"]})
        >>> held_out = pd.DataFrame({"user": ["ada", "ben"], "item": ["y", "z"]})
        >>> table = sm.rank(factors, training, held_out, user_ids=["ada", "ben"], item_ids=["x", "y", "z", "w"])
        >>> print(table.above)
        [1 0]
        >>> print(sm.rank(factors, training, held_out, users=[1], user_ids=["ada", "ben"], item_ids=list("xyzw")).user)
        ['ben']

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3: the rank of the
        relevant item among all candidates.
    """
    scores, shape = scores_and_shape(scores, batch_size, as_array)
    data = held_out_items(training, held_out, shape, user_ids, item_ids, users)
    if users is not None:
        scores = _scores_of_users(scores, data.chosen, data.training.shape[1])
    rows = [(data.users.values[:0], *np.empty((3, 0), dtype=np.int64))]  # perhaps no user has a held-out item
    for user, split in data.parts():
        counter = _counter(scores, split, user, batch_size)
        above, tied = counter.count(slice(0, len(user)), 1, progress)
        rows.append((split.user_ids, split.candidates, above, tied))
    user_ids, candidates, above, tied = (np.concatenate(each) for each in zip(*rows, strict=True))
    return RankTable(user_ids, candidates, above, tied)


def scores_and_shape(
    scores: ScoresLike, batch_size: int | None, read: Callable[[Any], Any] = as_scores
) -> tuple[ScoreFunction | tuple[NDArray[Any], NDArray[Any]], tuple[int | None, int | None]]:
    """Return scores as a function or as two factors, and the numbers of users and items where they are known.

    Args:
        scores: as in `rank`.
        batch_size: as in `rank`.
        read: as_scores, or as_array if scores may stay on a device.

    Raises:
        DataError: the scores are wrong.
        ConfigError: batch_size is wrong.
    """
    if batch_size is not None and not (is_whole(batch_size) and batch_size >= 1):
        raise ConfigError(f"batch_size must be a whole number, 1 or more, not {shown(batch_size)}")
    if callable(scores):
        return scores, (None, None)
    if isinstance(scores, tuple):
        if batch_size is not None:
            raise ConfigError("batch_size is for scores from a function or a matrix; leave it out for factors")
        users, items = _factors(scores, read)
        return (users, items), (users.shape[0], items.shape[0])
    if issparse(scores):
        rows = csr_array(scores)
        return lambda users: rows[users].toarray(), rows.shape
    dense = read(scores)
    if dense.ndim != 2:
        raise DataError(f"scores {MATRIX}")
    return lambda users: dense[users, ...], tuple(dense.shape)


def users_of_batch(items: int, batch_size: int | None) -> int:
    """Return the number of users of a batch."""
    return batch_size or min(MOST_USERS, max(1, BATCH_BYTES // (8 * items)))


def _counter(scores: Any, split: Split, user: Ints, batch_size: int | None) -> Counter:
    if isinstance(scores, tuple) and is_on_device(scores[0]):
        return DeviceFactorCounter(scores[0], scores[1], split, user)
    if isinstance(scores, tuple):
        return FactorCounter(scores[0][user], scores[1], split, scores[1].dtype.name)
    return ScoreCounter(scores, split, user, users_of_batch(split.training.shape[1], batch_size))


def _scores_of_users(scores: Any, users: Ints, items: int) -> Any:
    """Return the scores of (users,) chosen users alone, ascending, from those of `scores_and_shape`."""
    if isinstance(scores, tuple):
        factors = Device(*scores).take(scores[0], users) if is_on_device(scores[0]) else scores[0][users]
        return factors, scores[1]

    def of_slice(rows: slice) -> Any:
        runs = np.split(users[rows], np.flatnonzero(np.diff(users[rows]) > 1) + 1)
        found = [batch_of_scores(scores, run, items, as_array)[0] for run in runs]
        if len(found) == 1:
            return found[0]
        return Device(*found).xp.concat(found) if is_on_device(found[0]) else np.concatenate(found)

    return of_slice


def _factors(given: tuple[Any, ...], read: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return factors of users as they are, and of items in the precision of the scores, or both as on a device.

    The factors of the users may be in a file that is larger than the memory, so they are converted when they are used.
    """
    stay = read is as_array and any(map(is_on_device, given))
    found: list[Any] = [detached(each) if stay else as_scores(each) for each in given]
    if len(found) != 2 or any(each.ndim != 2 for each in found) or found[0].shape[1] != found[1].shape[1]:
        shapes = ", ".join(str(tuple(each.shape)) for each in found)
        raise DataError(f"a tuple of scores must be two factors, (users, d) and (items, d), not arrays of {shapes}")
    if not found[0].shape[1]:
        raise DataError("factors must have one dimension or more, not 0")
    if stay:
        Device(*found)
        return found[0], found[1]
    kind = np.float32 if all(each.dtype == np.float32 for each in found) else np.float64
    return found[0], found[1].astype(kind, copy=False)
