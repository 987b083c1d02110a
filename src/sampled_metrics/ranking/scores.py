"""Ranks from the scores of held-out items and of their negatives, as benchmarks store them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics.checks import (
    MOST_SEED,
    Ints,
    enumerated,
    require_flags,
    require_whole,
    whole_numbers,
)
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.ranks.sampled import BY_USER, SampledRanks
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.inputs import Device, as_array, on_all_tied

_TOGETHER = 2**17
_TOGETHER_ON_DEVICE = 2**25
"""Scores that are counted at a time; those on the host stay in the cache between comparisons."""


def ranks_of_scores(
    positive: Any,
    negatives: Any,
    *,
    candidates: ArrayLike,
    padding: Any = None,
    users: ArrayLike | None = None,
    replacement: bool = False,
    drawn: str = BY_USER,
    seed: int = 0,
) -> SampledRanks | ExactRanks:
    """Rank held-out items among negatives by scores that are already computed.

    Evaluators of link prediction, such as those of OGB and TGB, take a score for each query and the
    scores of its negatives. So do cross-encoders, language models and the test files of NCF.

    Ties are broken at random: the sampled rank is uniform among those of the tie, so a model that
    gives all items the same score has the metrics of chance. Without ties, the mean reciprocal rank
    and Hits@k of the result are those of the evaluators of OGB (``mrr_list``, ``hits@k_list``) and
    TGB. With ties, both evaluators take the middle of the tie as the rank. Then a constant model
    has Hits@k of 0 or 1, and a reciprocal rank of 1 / (m / 2 + 1), below its mean by chance. OGB's
    ``hits@K`` is another metric: all queries share the negatives.

    All arrays may be of numpy, torch, CuPy or JAX. Arrays in the memory of a GPU are counted there;
    this needs array-api-compat.

    Args:
        positive: (rows,) scores of the held-out items; higher is better.
        negatives: (rows, m) scores of their negatives. NaN is padding, so rows may have fewer
            negatives than others. -inf ranks last.
        candidates: n, the number of items in an exact evaluation, including the held-out item: one
            number, or one for each row.
        padding: (rows, m) booleans, True where an entry is not a negative, or is a negative that
            was not drawn uniformly, such as the historical ones of TGB. NaN is then refused.
        users: (rows,) ids of the users, or queries. A query with several held-out items has a row
            for each. By default, every row is a query of its own.
        replacement: whether a negative may be there twice in a row.
        drawn: as in `sampled_ranks`.
        seed: the seed of the random order of ties.

    Returns:
        The `SampledRanks`, for `correct` and `compare`. If each row has all n - 1 other candidates
        as its negatives, the `ExactRanks`, for `evaluate` and `compare`, which count ties in
        expectation.

    Raises:
        DataError: shapes, libraries or devices do not fit; a score is NaN or +inf; a row has more
            negatives than candidates.
        ConfigError: `drawn` has another value.

    Examples:
        Three queries, of which the last one has two negatives, among 1000 candidates:

        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> negatives = [[0.1, 0.9, 0.3], [0.2, 0.4, 0.1], [0.8, 0.7, np.nan]]
        >>> ranks = sm.ranks_of_scores([0.5, 0.6, 0.1], negatives, candidates=1000)
        >>> ranks.to_frame()
           user  candidates  negatives  rank
        0     1        1000          3     2
        1     2        1000          3     1
        2     3        1000          2     3

        Among all of four candidates:

        >>> ranks = sm.ranks_of_scores([0.5, 0.6], [[0.1, 0.9, 0.3], [0.6, 0.4, 0.1]], candidates=4)
        >>> print(ranks, ranks.above, ranks.tied)
        exact ranks of 2 users, among 4 candidates [1 0] [0 1]

    References:
        Hu et al. (2020), "Open Graph Benchmark: Datasets for Machine Learning on Graphs", NeurIPS.
        Huang et al. (2023), "Temporal Graph Benchmark for Machine Learning on Temporal Graphs",
        NeurIPS Datasets and Benchmarks.
    """
    require_whole(0, MOST_SEED, seed=seed)
    require_flags(replacement=replacement)
    above, tied, m = _counts(positive, negatives, padding)
    n = np.broadcast_to(_by_row(candidates, len(m)), m.shape)
    user = None if users is None else np.asarray(users)
    if len(m) and not replacement and (m == n - 1).all():
        findings = on_all_tied(n, above, tied)
        return ExactRanks(user, n, above, tied, findings=findings, source="scores")
    if tied.any():
        uniform = np.random.default_rng(seed).random(len(tied))
        above = above + (uniform * (tied + 1)).astype(np.int64)
    return SampledRanks(above, m, n, replacement, user, source="scores", drawn=drawn)


def _by_row(candidates: ArrayLike, rows: int) -> Ints:
    """Return n, one number or (rows,) numbers; raise DataError for another shape."""
    n = whole_numbers(candidates, "candidates")
    if n.ndim and n.shape != (rows,):
        raise DataError(
            f"candidates must be one number or one for each of the {rows} rows, not an array of "
            f"shape {n.shape}"
        )
    return n


def _counts(positive: Any, negatives: Any, padding: Any) -> tuple[Ints, Ints, Ints]:
    """Return the (rows,) numbers of negatives above and tied, and of all negatives."""
    arrays = [as_array(positive), as_array(negatives)]
    if padding is not None:
        arrays.append(as_array(padding))
    shapes = [tuple(array.shape) for array in arrays]
    if len(shapes[1]) != 2 or shapes != [shapes[1][:1], shapes[1], shapes[1]][: len(shapes)]:
        raise DataError(
            "positive must be (rows,), negatives (rows, m) and padding (rows, m), not arrays of "
            f"shape {enumerated(map(str, shapes))}"
        )
    device = Device(*arrays)
    if padding is not None and not device.is_boolean(arrays[2]):
        raise DataError(f"padding must be True or False, not {arrays[2].dtype}")
    rows, width = shapes[1]
    step = max(1, (_TOGETHER if device.is_host else _TOGETHER_ON_DEVICE) // max(width, 1))
    counts = np.zeros((3, rows), dtype=np.int64)
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        target, scores, *left_out = (array[part, ...] for array in arrays)
        counts[:, part] = _counts_of_block(device, target, scores, *left_out, first_row=start + 1)
    return counts[0], counts[1], counts[2]


def _counts_of_block(
    device: Device, target: Any, scores: Any, padding: Any = None, *, first_row: int
) -> Ints:
    """Return the (3, rows) counts of `_counts` for consecutive rows."""
    target = device.comparable(target)[:, None]
    scores = device.comparable(scores)
    is_above = scores > target
    is_tied = scores == target
    left_out = scores != scores  # NaN is padding
    is_wrong = scores == np.inf
    if padding is not None:
        is_above = is_above & ~padding
        is_tied = is_tied & ~padding
        is_wrong = (is_wrong | left_out) & ~padding
        left_out = padding
    for name, wrong in {"positive": ~(target < np.inf), "negatives": is_wrong}.items():
        if device.xp.any(wrong):
            row = first_row + int(np.argmax(device.pull(wrong).any(axis=1)))
            raise DataError(
                f"{name}, row {row}: a score is NaN or +inf; scores are finite numbers, or -inf "
                "for items that rank last"
            )
    counts = np.zeros((3, scores.shape[0]), dtype=np.int64)
    counts[0] = device.count(is_above)
    counts[2] = scores.shape[1]
    # most scores have none, and a look at all is faster than counts by row
    if device.xp.any(is_tied):
        counts[1] = device.count(is_tied)
    if device.xp.any(left_out):
        counts[2] -= device.count(left_out)
    return counts
