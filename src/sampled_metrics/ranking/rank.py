"""Exact ranks of held-out items by the scores of any model.

A model, a matrix or a function gives the scores of a block of users and all items, on the host or
on a device. Items that are not candidates are counted too and then subtracted, so no array needs to
mark the candidates. `sampled_metrics.ranking.factors` counts by factors on the host, and
`sampled_metrics.ranking.device_factors` on a device.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import Ints
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.device_factors import DeviceCounts
from sampled_metrics.ranking.factors import FactorCounts, blocks_of_rows
from sampled_metrics.ranking.inputs import (
    Device,
    Factors,
    PairsLike,
    ScoreFunction,
    as_array,
    as_scores,
    is_on_device,
    on_all_tied,
    read_inputs,
    source_of_scores,
    warn_of_last,
)
from sampled_metrics.ranking.split import Split
from sampled_metrics.running import Progress, no_progress, parallel, threads_of_linear_algebra

TIE = 2.0**-40
"""Computed scores tie if they differ by at most this fraction of the item's sum of similarities.

The item is the held-out one. Rounding separates sums that are equal in exact arithmetic. If no term
is negative and each sum takes n roundings, the sums differ by a fraction of n ε at most, with ε =
2⁻⁵². So n may be 4000. On MovieLens 1M, rounding separates sums of item-CF by less than 10⁻¹⁵, and
the other sums differ by 10⁻⁹ or more.
"""

BATCH_BYTES = 2**28
"""Bytes of the scores of a block of users, if they are float64."""

MOST_USERS = 1024
"""Largest number of users of a block, unless the caller chooses another."""

_TOGETHER = 2**18
_TOGETHER_ON_DEVICE = 2**25
"""Scores that are counted at a time; those on the host stay in the cache between comparisons."""

_MUCH_WORK = 2**28
"""Products of factors that are worth the start of threads, which takes some milliseconds."""

Tolerance = Callable[[Ints, NDArray[Any]], NDArray[Any]]
"""Function from users, (rows,), and scores of their held-out items, (rows,), to the largest
difference of a tie.
"""


def rank_users(
    scores: ScoreFunction | Factors,
    split: Split,
    users: slice | Ints = slice(None),
    *,
    batch_size: int | None = None,
    tolerance: Tolerance | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> ExactRanks:
    """Return the ranks of users' held-out items among their candidates.

    The candidates are all items except the user's training items and other held-out items.

    Args:
        scores: a function of a slice of the users, or factors. The scores of factors on the host
            have the precision of the items' factors.
        split: training and held-out items.
        users: a part of the users, ascending. The tables of parts, one after another, are the table
            of all.
        batch_size: number of users of a block; the default is that of `users_of_batch`.
        tolerance: of scores from a function; by default they are compared exactly, in their own
            type.
        threads: number of blocks to count at a time; the counts do not depend on it. The default is
            as many as linear algebra has for many scores of factors on the host, and 1 otherwise.
        progress: wraps the range of blocks, for a progress bar.

    Raises:
        DataError: a candidate's score is NaN or +inf.
    """
    chosen = np.arange(split.shape.users)[users]
    rows = np.flatnonzero(np.isin(split.user, chosen))
    last_by_block: list[int] = []  # how many held-out items are at -inf
    threads = _threads_for(scores, len(rows)) if threads is None else threads
    with parallel(threads) as run:
        count: Callable[[Ints], tuple[Ints, Ints]]
        if not isinstance(scores, tuple):
            # The last digit of a score may depend on the other users of its block. So a block ends
            # where one would end if all users were ranked, and at users who are left out.
            size = users_of_batch(split.shape.items, batch_size)
            follows_a_gap = np.diff(chosen, prepend=-2) > 1
            begins_block = follows_a_gap | (np.diff(chosen // size, prepend=-1) > 0)
            block_of_chosen = np.cumsum(begins_block)
            block_of_row = block_of_chosen[np.searchsorted(chosen, split.user[rows])]
            count = partial(
                _count_scores,
                scores=scores,
                split=split,
                tolerance=tolerance,
                last_by_block=last_by_block,
            )
            blocks = in_blocks(rows, block_of_row)
        elif is_on_device(scores[0]):
            on_device = DeviceCounts(*scores, split)
            count = on_device.count
            blocks = on_device.blocks_of_rows(rows)
        else:
            count = FactorCounts(*scores, split, run).count
            blocks = blocks_of_rows(rows, threads)
        steps = progress(range(len(blocks)))
        counted = [block_counts for _, block_counts in zip(steps, run(count, blocks), strict=True)]
    warn_of_last(sum(last_by_block), len(rows), stacklevel=4)
    nothing = np.empty(0, dtype=np.int64)  # for a split without rows
    above = np.concatenate([nothing, *(above_of_block for above_of_block, _ in counted)])
    tied = np.concatenate([nothing, *(tied_of_block for _, tied_of_block in counted)])
    candidates = split.candidates[rows]
    findings = on_all_tied(candidates, above, tied)
    return ExactRanks(split.user_ids[split.user[rows]], candidates, above, tied, findings=findings)


def _threads_for(scores: ScoreFunction | Factors, rows: int) -> int:
    """Return how many threads of linear algebra are worth their start, for factors on the host."""
    if not isinstance(scores, tuple) or is_on_device(scores[0]):
        return 1
    return threads_of_linear_algebra() if rows * scores[1].size >= _MUCH_WORK else 1


def users_of_batch(items: int, batch_size: int | None = None, most_bytes: int = BATCH_BYTES) -> int:
    """Return the number of users of a block.

    The default is 1024, or fewer, so that their scores in float64 take at most `most_bytes`.
    """
    if batch_size is not None:
        return min(batch_size, 2**31)  # more users than there are, in an integer of numpy
    return min(MOST_USERS, max(1, most_bytes // (8 * items)))


def in_blocks(rows: Ints, number: NDArray[Any]) -> list[Ints]:
    """Return the rows of each block, from the (rows,) ascending numbers of their blocks."""
    return np.split(rows, np.flatnonzero(np.diff(number)) + 1) if len(rows) else []


def block_of_scores(
    scores: ScoreFunction, users: slice, items: int, read: Callable[[Any], Any] = as_scores
) -> Any:
    """Return the (users, items) scores of consecutive users, read by `as_scores` or `read`.

    Raises:
        DataError: they have another shape.
    """
    try:
        block = read(scores(users))
        shape = (users.stop - users.start, items)
    except Exception as error:
        error.add_note(f"scores of the users {users.start} to {users.stop - 1}")
        raise
    if tuple(block.shape) != shape:
        raise DataError(
            f"scores of a block of users have shape {tuple(block.shape)}, not {shape} (users, "
            "items)"
        )
    return block


def not_comparable(scores: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which scores are NaN or +∞. -∞ is a score: that of a masked item."""
    return ~(scores < np.inf)


def require_comparable(wrong: NDArray[np.bool_], user_ids: NDArray[np.generic]) -> None:
    """Raise DataError if a candidate of (users,) users has a score that is NaN or +∞.

    The message names the first of these users.
    """
    if wrong.any():
        raise DataError(
            f"the recommender gives user {user_ids[np.argmax(wrong)]} a score that is NaN or +inf; "
            "scores are finite numbers, or -inf for items that rank last"
        )


def _count_scores(
    rows: Ints,
    scores: ScoreFunction,
    split: Split,
    tolerance: Tolerance | None,
    last_by_block: list[int],
) -> tuple[Ints, Ints]:
    """Return above and tied, (rows,) each, of a block of users.

    The number of held-out items at -inf is added to `last_by_block`.
    """
    # --- scores of the held-out items, and of the items that are not candidates
    user = split.user[rows]
    users = slice(int(user[0]), int(user[-1]) + 1)
    block = block_of_scores(scores, users, split.shape.items, as_array)
    device = Device(block)
    user_in_block = user - user[0]
    held_out_score = device.entries(block, user_in_block, split.item[rows])
    last_by_block.append(int(np.count_nonzero(held_out_score == -np.inf)))
    excluded, offsets = split.non_candidates(rows)
    row_of_excluded = np.repeat(np.arange(len(rows)), np.diff(offsets))
    excluded_scores = device.entries(block, user_in_block[row_of_excluded], excluded)

    # --- the ends of the tie
    low = held_out_score
    high = held_out_score
    if tolerance is not None:
        with np.errstate(invalid="ignore"):
            slack = np.where(np.isfinite(held_out_score), tolerance(user, held_out_score), 0.0)
        low = held_out_score - slack
        high = held_out_score + slack

    # --- counts among all items, less those among the items that are not candidates
    above, reached, wrong = _compared(device, block, user_in_block, (low, high))
    if wrong.any():
        wrong_excluded = row_of_excluded[not_comparable(excluded_scores)]
        wrong -= np.bincount(wrong_excluded, minlength=len(rows))
        require_comparable(wrong > 0, split.user_ids[user])
    excluded_above = row_of_excluded[excluded_scores > high[row_of_excluded]]
    above -= np.bincount(excluded_above, minlength=len(rows))
    excluded_reached = row_of_excluded[excluded_scores >= low[row_of_excluded]]
    reached -= np.bincount(excluded_reached, minlength=len(rows))
    return above, reached - above - 1  # the held-out item reaches its own score


def _compared(
    device: Device, block: Any, user: Ints, thresholds: tuple[NDArray[Any], NDArray[Any]]
) -> NDArray[np.int64]:
    """Return how many scores of each row are above its tie, in it or above it, and not comparable.

    Args:
        device: of the block.
        block: (users, items) scores.
        user: (rows,) the user of each row, as an index in the block, ascending.
        thresholds: low and high, (rows,) each: the ends of the tie.

    Returns:
        (3, rows) numbers of scores above the high threshold, of those from the low one on, and of
        those that are NaN or +∞.
    """
    items = block.shape[1]
    step = max(1, (_TOGETHER if device.is_host else _TOGETHER_ON_DEVICE) // items)
    are_floats = thresholds[0].dtype.kind == "f"  # whole numbers are always comparable
    counts = np.zeros((3, len(user)), dtype=np.int64)
    for start in range(0, len(user), step):
        part = slice(start, start + step)
        scores = device.comparable(device.rows(block, user[part]))
        low, high = (device.put(threshold[part, np.newaxis]) for threshold in thresholds)
        counts[0, part] = device.count(scores > high)
        counts[1, part] = device.count(scores >= low)
        # the largest score is NaN or +∞ if any is
        if are_floats and not device.pull(device.xp.max(scores)) < np.inf:
            counts[2, part] = device.count(~(scores < np.inf))
    return counts


ScoresLike = Any
"""Accepted forms of scores: (users, items) dense or sparse, a tuple of factors, or a function of a
slice of users.
"""


def rank(
    scores: ScoresLike,
    training: PairsLike,
    held_out: Any,
    *,
    users: slice | ArrayLike | None = None,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    batch_size: int | None = None,
    progress: Progress = no_progress,
) -> ExactRanks:
    """Rank the held-out items of users among all candidates, by the scores of a model.

    The candidates are all items except the user's training items. If a user has several held-out
    items, each is a row of its own and is ranked without the others. For each row, the table counts
    the candidates that score above the held-out item, and those that tie with it. The scores of
    other items are ignored.

    Inputs are labelled or in order. A DataFrame whose index or columns are not pandas' default has
    ids of users or items there, in any order. If one matrix or factor has labels on an axis, all
    have, or `user_ids` or `item_ids` name the rows and columns of the others. Without labels, row u
    is user u, and column i is item i. Ids are compared as text.

    Many scores of factors on the host are ranked in as many threads as linear algebra has, which
    OMP_NUM_THREADS limits. The ranks do not depend on the number of threads.

    Args:
        scores: one of

            - (users, items) numbers, dense, or sparse with 0 for what is not stored;
            - a tuple of factors, (users, d) and (items, d). The scores are the inner products,
              computed in double precision, or in single precision if both are float32; items with
              equal factors tie;
            - a function that takes a slice of the users, and returns their (users, items) scores as
              an array or a DataFrame.

            Higher is better, equal is a tie. Candidates with -inf, such as masked items, rank last
            and tie with each other; factors are finite. Scores are compared in their own type,
            without rounding. Dense scores and factors may be arrays of torch, CuPy or JAX. Arrays
            in the memory of a GPU are counted there, in blocks of 1.5 GB at most; this needs
            array-api-compat. Both factors must belong to one library and one device. Their ranks
            are those of the same factors in double precision on the host.
        training: what the users have in training: (users, items), sparse or dense, not 0 where the
            user has the item; or a table with the columns user and item.
        held_out: (users,) index of each user's held-out item, negative or missing (NaN, None) for
            none; or a Series of items with users as its index; or (users, items), sparse or dense,
            not 0 where an item is held out; or a table with the columns user and item. Users
            without a held-out item are left out, and a warning counts them.
        users: a part of the users to rank, such as ``slice(1000, 2000)``, or (k,) indices of them.
            The other arguments are for all users. The ranks are the same as in the table of all
            users, so parts may be ranked separately and joined. Factors and scores may be arrays in
            files, as ``numpy.load(name, mmap_mode="r")`` returns; those of other users are not
            read. The default is all users.
        user_ids: (users,) distinct ids of all users, in the order of the scores. Tables and the
            result have them. The default is the labels of users, and without labels the indices 0,
            1, ...
        item_ids: (items,) distinct ids, likewise.
        batch_size: number of users whose scores are computed at a time, by a function or from a
            matrix. The default is as many as take 256 MB in double precision, up to 1024. Factors
            have no batches.
        progress: wraps the range of batches, for a progress bar.

    Returns:
        The exact ranks: a row for each held-out item, in the order of the users. `evaluate` takes
        it.

    Raises:
        DataError: shapes, labels, libraries or devices do not fit, a candidate's score is NaN or
            +inf or would have to be rounded, an entry is masked, an id or a label is unknown,
            missing or repeated, an index is out of range, a held-out item is one of its user's
            training items, or no user has one; `users` has no user, or one twice.
        ConfigError: batch_size is not a whole number of 1 or more, or is given for factors.

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
        >>> factors = np.array([[1.0, 0.0], [0.5, 1.0]]), np.array([[3.0, 0.0], [1.0, 1.0], [0.0,
        ...     2.0], [2.0, 2.0]])
        >>> training = pd.DataFrame({"user": ["ada", "ben"], "item": ["x", "w"]})
        >>> held_out = pd.DataFrame({"user": ["ada", "ben"], "item": ["y", "z"]})
        >>> table = sm.rank(factors, training, held_out, user_ids=["ada", "ben"], item_ids=["x",
        ...     "y", "z", "w"])
        >>> print(table.above)
        [1 0]
        >>> print(sm.rank(factors, training, held_out, users=[1], user_ids=["ada", "ben"],
        ...     item_ids=list("xyzw")).user)
        ['ben']

        By labels, in any order:

        >>> scores = pd.DataFrame([[0.2, 0.9, 0.5], [0.3, 0.1, 0.4]], index=["ben", "ada"],
        ...     columns=["y", "x", "z"])
        >>> training = pd.DataFrame({"user": ["ada"], "item": ["x"]})
        >>> print(sm.rank(scores, training, pd.Series({"ada": "z", "ben": "z"})).to_frame())
          user  candidates  above  tied
        0  ben           3      1     0
        1  ada           2      0     0

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3:
        the rank of the relevant item among all candidates.
    """
    source = source_of_scores(scores, batch_size)
    inputs = read_inputs(source, training, held_out, users, user_ids, item_ids)
    return rank_users(
        inputs.scores, inputs.split, inputs.users, batch_size=batch_size, progress=progress
    )
