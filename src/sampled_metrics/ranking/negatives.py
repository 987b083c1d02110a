"""Ranks of held-out items among a few negatives of each user, by the scores of any model.

Given negatives are tested for a uniform draw from each user's own candidates. Two statistics are
compared with what uniform draws give. One finds negatives by popularity: the mean over negatives of
log(1 + training events of the item); its mean and variance over draws are exact, and it is taken as
normal. The other finds items that are drawn too often or never, and negatives that users share: Σ_i
(c_i - e_i)² / v_i for the number c_i of users who have item i among their negatives, with its mean
e_i and variance v_i over draws; it is taken as a gamma variable. The p-value is twice the smaller
one of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.special import gammaincc, ndtr, xlogy

from sampled_metrics.checks import (
    MOST,
    MOST_SEED,
    Floats,
    Ints,
    check_memory_limit,
    is_whole,
    refuse_masked,
    require_flags,
    require_whole,
    shown,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.sampled import BY_USER, ONCE, SampledRanks
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.factors import pair_scores
from sampled_metrics.ranking.inputs import (
    Factors,
    Inputs,
    PairsLike,
    ScoreFunction,
    candidates_at,
    is_table,
    ranges,
    read_inputs,
    refuse_device,
    source_of_scores,
    table_of_pairs,
    warn_of_last,
)
from sampled_metrics.ranking.labels import Ids
from sampled_metrics.ranking.rank import (
    ScoresLike,
    block_of_scores,
    in_blocks,
    not_comparable,
    require_comparable,
    users_of_batch,
)
from sampled_metrics.ranking.split import Split
from sampled_metrics.running import Progress, no_progress

Streams = Callable[..., np.random.Generator]
"""Function from whole numbers to the random stream that has them as its address.

Each stream is used in the order of the rows. So rows get the same random numbers in one call as in
several.
"""


def draw_numbers(sizes: Ints, m: int, streams: Streams) -> tuple[Ints, Ints]:
    """Draw m distinct numbers from 0, ..., size - 1 for each row, or all of them if they are fewer.

    Returns:
        The row of each number, ascending, and the number, (drawn,) each.
    """
    row, number = ranges(np.minimum(sizes, m))
    is_larger = sizes > m
    if is_larger.any():
        number[is_larger[row]] = distinct_numbers(sizes[is_larger], m, streams).ravel()
    return row, number


def distinct_numbers(sizes: Ints, m: int, streams: Streams) -> Ints:
    """Draw (rows, m) distinct numbers from 0, ..., size - 1 of each row.

    All subsets of m numbers are equally likely. Numbers that are in a row twice are drawn again
    until none is. So a row has the first m distinct numbers of a sequence of independent ones. If m
    is more than half of the size, this takes long, and each number gets a random key, instead, and
    the row has the numbers with the m smallest keys. Sizes are above m.
    """
    numbers = np.empty((len(sizes), m), dtype=np.int64)
    is_dense = sizes < 2 * m
    keys = streams(0).random((np.count_nonzero(is_dense), 2 * m))
    keys[np.arange(2 * m) >= sizes[is_dense, np.newaxis]] = 1
    numbers[is_dense] = np.argpartition(keys, m - 1, axis=1)[:, :m]
    rows = np.flatnonzero(~is_dense)
    attempt = 1
    numbers[rows] = streams(1).integers(sizes[rows, np.newaxis], size=(len(rows), m))
    while len(rows):
        drawn = np.sort(numbers[rows], axis=1)
        attempt = attempt + 1
        is_repeated = drawn[:, 1:] == drawn[:, :-1]
        sizes_of_repeated = np.repeat(sizes[rows], is_repeated.sum(axis=1))
        drawn[:, 1:][is_repeated] = streams(attempt).integers(sizes_of_repeated)
        numbers[rows] = drawn
        rows = rows[is_repeated.any(axis=1)]
    return numbers


SIGNIFICANCE = 0.01
"""Negatives do not look uniform if their p-value is at most this."""


def uniformity(user: Ints, item: Ints, users: Ints, split: Split, *, replacement: bool) -> Finding:
    """Return a finding with the p-value of given negatives if they are uniform.

    The finding also has the excess of popular items, in standard errors. `item` are the
    (negatives,) items, and `user` the places of their users among (users,) users. With replacement,
    a user may have a negative twice.
    """
    excluded = split.excluded[users]
    popularity = np.log1p(np.bincount(split.training.indices, minlength=split.shape.items))
    m = np.bincount(user, minlength=len(users)).astype(np.float64)
    n = excluded.shape[1] - np.diff(excluded.indptr).astype(np.float64)
    is_excluded = excluded.copy()
    is_excluded.data = np.ones(len(excluded.indices))

    mean = (popularity.sum() - is_excluded @ popularity) / n
    variance = np.maximum(
        (popularity @ popularity - is_excluded @ popularity**2) / n - mean**2, 0.0
    )
    finite_population = 1.0 if replacement else (n - m) / np.maximum(n - 1, 1)
    error = float(np.sqrt((m * finite_population) @ variance))
    excess = popularity[item].sum() - m @ mean
    standardised = float(excess / error) if error > 0 else 0.0

    def over_users(values: Floats) -> Floats:
        """Return (items,) sums of (users,) values over those who have the item as a candidate."""
        return np.asarray(values.sum() - is_excluded.T @ values)

    # probability of an item, in one draw or in all of them
    probability = 1 / n if replacement else m / n
    draws = m if replacement else np.ones_like(m)
    expected = over_users(draws * probability)
    spread = over_users(draws * probability * (1 - probability))
    log_of_never = over_users(draws * np.log1p(-np.minimum(probability, 1 - 1e-12)))
    counts = np.bincount(item, minlength=split.shape.items)
    varies = spread > 1e-9 * max(1.0, float(spread.max()))
    squares = float(((counts - expected)[varies] ** 2 / spread[varies]).sum())
    mean_of_squares = float(varies.sum())
    variance_of_squares = float((2 + 1 / spread[varies]).sum())
    p_value_of_excess = 2 * ndtr(-abs(standardised))
    p_value_of_squares = 1.0
    if mean_of_squares:
        shape = mean_of_squares**2 / variance_of_squares
        p_value_of_squares = gammaincc(shape, squares * mean_of_squares / variance_of_squares)
    is_candidate = expected > 0
    values = {
        "p_value": float(min(1.0, 2 * min(p_value_of_excess, p_value_of_squares))),
        "excess": standardised,
        "frequency": "too often" if standardised > 0 else "too rarely",
        "items": int(is_candidate.sum()),
        "never": int((is_candidate & (counts == 0)).sum()),
        "never_by_chance": float(np.exp(log_of_never[is_candidate]).sum()),
    }
    return Finding("not-uniform", values=values)


MOST_PARTNERS = 0.1
"""Negatives are drawn once for several users if a user shares them with more other users than this,
on average.
"""

_COMPARED = 1000  # most users who are compared with one another
_CHANCE = 1e-3  # most users who seem to share a user's negatives, on average, if all are drawn anew


def sharing(user: Ints, item: Ints, candidates: Ints, items: int) -> tuple[float, Ints]:
    """Return with how many others a user shares negatives, and users of whom no two share them.

    Two users share negatives if they have more of them in common than independent draws have, by
    the bound of Hoeffding for draws with and without replacement. Of many users, some are compared.

    `user` and `item` are the (negatives,) negatives, and `candidates` the (users,) numbers of items
    to draw from.

    References:
        W. Hoeffding, Probability Inequalities for Sums of Bounded Random Variables, JASA 58, 1963.
    """
    users = len(candidates)
    compared = np.sort(np.random.default_rng(0).permutation(users)[:_COMPARED])
    listed = csr_array((np.ones(len(item)), (user, item)), shape=(users, items))[compared]
    listed.data[:] = 1.0  # an item that a user has twice is one
    sizes = np.diff(listed.indptr)
    chance = np.minimum(sizes[:, np.newaxis] / candidates[compared], 1.0)
    common = (listed @ listed.T).toarray() / sizes
    divergence = xlogy(common, common / chance) + xlogy(
        1 - common, (1 - common) / np.maximum(1 - chance, 1e-300)
    )
    share = (common > chance) & (sizes * divergence > np.log(users / _CHANCE))
    np.fill_diagonal(share, False)
    apart: list[int] = []
    for place in range(len(compared)):
        if not share[place, apart].any():
            apart.append(place)
    partners = float(share.sum()) / len(compared) * users / len(compared)
    return partners, compared[apart]


_Draw = Callable[[Ints], tuple[Ints, Ints]]
"""Function from (users,) ascending users to (drawn,) indices of the users, ascending, and their
negatives.
"""

_NEGATIVES, _TIES = range(2)
"""First numbers of the addresses of the random streams."""


def rank_among_negatives(
    scores: ScoresLike,
    training: PairsLike,
    held_out: Any,
    *,
    negatives: Any = 100,
    replacement: bool = False,
    drop_held_out: bool = False,
    seed: int = 0,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    batch_size: int | None = None,
    progress: Progress = no_progress,
) -> SampledRanks:
    """Rank the held-out items of users among sampled negatives, by the scores of a model.

    Negatives are drawn from the candidates of `rank` other than the held-out item. Of factors, only
    the scores of the held-out item and the negatives are computed. Ties are broken at random: the
    rank is uniform among those of the tie. All held-out items of a user are ranked among the same
    negatives.

    Args:
        scores: as in `rank`. A function returns the scores of all items; only the negatives' scores
            are used.
        training: as in `rank`.
        held_out: as in `rank`.
        negatives: m, the number of negatives to draw for each held-out item. Or the negatives
            themselves: a table with the columns user and item, a dict of lists of items by user, or
            a (users, m) array of indices of items. Given negatives that do not look as if they were
            drawn uniformly for each user (p <= .01) have a caution, as results do not hold then.
            Negatives that users share, also within batches of users, are read as drawn "once", as
            in `sampled_ranks`.
        replacement: whether a negative may be there twice for the same held-out item.
        drop_held_out: whether to leave out the user's held-out items from given negatives, which
            some published lists contain. By default they are refused.
        seed: the seed of the negatives and of the order of ties. All models with the same seed,
            training and held-out items have the same negatives.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        batch_size: as in `rank`; it does not change the ranks.
        progress: as in `rank`.

    Returns:
        The ranks, one row for each held-out item, for `correct` and `compare`.

    Raises:
        DataError: as in `rank`; a user has too few candidates to draw from; a given negative is not
            a candidate, is a held-out item of the user, or is repeated without replacement.
        ConfigError: an option is wrong.

    Examples:
        Two users and six items; the first user has item 0 in training:

        >>> import sampled_metrics as sm
        >>> scores = [[0.9, 0.5, 0.4, 0.1, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4, 0.6, 0.5]]
        >>> training = [[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
        >>> ranks = sm.rank_among_negatives(scores, training, [2, 0], negatives=[[1, 3, 4], [2, 4,
        ...     5]])
        >>> ranks
        sampled ranks of 2 users, 3 of 5 candidates
        >>> ranks.to_frame()
           user  candidates  negatives  rank
        0     0           5          3     2
        1     1           5          3     4

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 4.
    """
    require_whole(0, MOST_SEED, seed=seed)
    require_flags(replacement=replacement, drop_held_out=drop_held_out)
    for array in scores if isinstance(scores, tuple) else (scores,):
        refuse_device(array, "scores")
    source = source_of_scores(scores, batch_size)
    inputs = read_inputs(source, training, held_out, None, user_ids, item_ids)
    readable = inputs.scores
    split = inputs.split
    streams = cache(
        lambda *address: np.random.default_rng(np.random.SeedSequence(seed, spawn_key=address))
    )
    is_given = not is_whole(negatives)
    if drop_held_out and not is_given:
        raise ConfigError(
            "drop_held_out is for given negatives; those that are drawn hold no held-out item"
        )
    if is_given:
        largest = 1
        draw = _given_negatives(negatives, replacement, drop_held_out, inputs)
    else:
        largest = negatives if replacement else min(split.shape.items, negatives)
        draw = _drawn_negatives(negatives, replacement, split, streams)
    # factors need several arrays with a number for each negative, instead of the scores of all
    # items
    width = 4 * largest if isinstance(readable, tuple) else split.shape.items
    size = users_of_batch(width, batch_size)
    blocks = in_blocks(np.arange(len(split.user)), split.user // size)
    last_by_block: list[int] = []
    counts = [
        _counts(blocks[step], readable, split, draw, streams, last_by_block)
        for step in progress(range(len(blocks)))
    ]
    warn_of_last(sum(last_by_block), len(split.user), stacklevel=3)
    drawn, x = (np.concatenate(parts) for parts in zip(*counts, strict=True))
    table = SampledRanks(x, drawn, split.candidates, replacement, split.user_ids[split.user])
    if not is_given:
        return table
    ranked = np.unique(split.user)
    free = split.shape.items - np.diff(split.excluded[ranked].indptr)
    partners, apart = sharing(*draw(ranked), free, split.shape.items)
    findings = list[Finding]()
    if partners > MOST_PARTNERS:
        ranked = ranked[apart]
        findings.append(Finding("shared-negatives", values={"partners": partners}))
    drawn_as = ONCE if findings else BY_USER
    departure = uniformity(*draw(ranked), ranked, split, replacement=replacement)
    if departure.values["p_value"] <= SIGNIFICANCE:
        findings.append(departure)
    return replace(table, findings=tuple(findings), drawn=drawn_as)


def _counts(
    rows: Ints,
    scores: ScoreFunction | Factors,
    split: Split,
    draw: _Draw,
    streams: Streams,
    last_by_block: list[int],
) -> tuple[Ints, Ints]:
    """Return the numbers of negatives of some rows, and how many rank above the held-out item.

    Ties are broken at random. The number of held-out items at -inf is added to `last_by_block`.
    """
    user = split.user[rows]
    users, user_place = np.unique(user, return_inverse=True)
    score = _score_function(scores, user, split)
    tie = streams(_TIES).random(len(rows))
    target = score(np.arange(len(rows)), split.item[rows])
    require_comparable(not_comparable(target), split.user_ids[user])
    last_by_block.append(int(np.count_nonzero(target == -np.inf)))
    place, drawn = draw(users)
    count = np.bincount(place, minlength=len(users))
    start = np.cumsum(count) - count
    row, offset = ranges(count[user_place])  # the rows of a user share the negatives
    item = drawn[start[user_place][row] + offset]
    drawn_score = score(row, item)
    wrong = np.bincount(row[not_comparable(drawn_score)], minlength=len(rows)) > 0
    require_comparable(wrong, split.user_ids[user])
    above = np.bincount(row[drawn_score > target[row]], minlength=len(rows))
    tied = np.bincount(row[drawn_score == target[row]], minlength=len(rows))
    return count[user_place], above + (tie * (tied + 1)).astype(np.int64)


def _score_function(
    scores: ScoreFunction | Factors, users: Ints, split: Split
) -> Callable[[Ints, Ints], NDArray[Any]]:
    """Return a function from (pairs,) rows and items to scores.

    `users` are the (rows,) users of the rows.
    """
    if not isinstance(scores, tuple):
        block_of_users = slice(int(users[0]), int(users[-1]) + 1)
        block = block_of_scores(scores, block_of_users, split.shape.items)
        return lambda row, item: block[users[row] - users[0], item]
    factors = scores[0][users].astype(scores[1].dtype, copy=False)

    def products(row: Ints, item: Ints) -> NDArray[Any]:
        score = pair_scores(factors, scores[1], row, item)
        wrong = ~np.isfinite(score)
        if wrong.any():
            user = split.user_ids[users[row[wrong].min()]]
            raise DataError(
                f"the recommender gives user {user} a score that is not a finite number"
            )
        return score

    return products


def _drawn_negatives(negatives: int, replacement: bool, split: Split, streams: Streams) -> _Draw:
    require_whole(1, MOST, negatives=negatives)

    def draw(users: Ints) -> tuple[Ints, Ints]:
        excluded = split.excluded[users]
        n_free = excluded.shape[1] - np.diff(excluded.indptr)
        too_few = n_free < (1 if replacement else negatives)
        if too_few.any():
            row = too_few.argmax()
            user = split.user_ids[users[too_few]][0]
            has_some = not replacement and n_free[row] > 0
            hint = "; take fewer, or draw with replacement" if has_some else ""
            raise DataError(
                f"user {shown(user)}: {negatives} negatives cannot be drawn from {n_free[row]} "
                f"items{hint}"
            )
        if replacement:
            check_memory_limit((4, negatives), "the negatives of a user", "take fewer")
            place = np.repeat(np.arange(len(users)), negatives)
            number = streams(_NEGATIVES).integers(np.repeat(n_free, negatives))
        else:
            place, number = draw_numbers(n_free, negatives, partial(streams, _NEGATIVES))
        return place, candidates_at(excluded)(place, number)

    return draw


def _given_negatives(
    negatives: Any, replacement: bool, drop_held_out: bool, inputs: Inputs
) -> _Draw:
    split = inputs.split
    users, items = inputs.ids
    width = split.shape.items
    user, item = _pairs_of_negatives(negatives, inputs.ids)
    if drop_held_out:
        kept = ~np.isin(user * width + item, split.user * width + split.item)
        user = user[kept]
        item = item[kept]
    order = np.argsort(user, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(user, minlength=split.shape.users)))
    # a matrix in which a negative that is given twice is stored twice
    entries = (np.ones(len(item), np.int8), item[order], offsets)
    matrix = csr_array(entries, shape=split.training.shape)

    def draw(chosen: Ints) -> tuple[Ints, Ints]:
        listed = matrix[chosen]
        excluded = split.excluded[chosen]
        place = ranges(np.diff(listed.indptr))[0]
        drawn = listed.indices
        is_empty = np.diff(listed.indptr) == 0
        pair = np.sort(place * width + drawn)
        wrong = np.isin(pair, ranges(np.diff(excluded.indptr))[0] * width + excluded.indices)
        is_repeated = (np.diff(pair, prepend=-1) == 0) & (not replacement)
        if is_empty.any():
            lacking = shown(users.values[chosen[is_empty.argmax()]])
            raise DataError(f"negatives, user {lacking}: has no negatives")
        if (wrong | is_repeated).any():
            index = (wrong | is_repeated).argmax()
            row, column = divmod(pair[index], width)
            fault = "is there twice; give replacement=True"
            if wrong[index]:
                hint = "" if drop_held_out else "; drop_held_out=True leaves held-out items out"
                fault = f"is not a negative, but a training or held-out item of the user{hint}"
            raise DataError(
                f"negatives, user {shown(users.values[chosen[row]])}: item "
                f"{shown(items.values[column])} {fault}"
            )
        return place, drawn

    return draw


def _pairs_of_negatives(negatives: Any, ids: tuple[Ids, Ids]) -> tuple[Ints, Ints]:
    """Return the (negatives,) users and items of a table, a dict of lists, or an array.

    Raises:
        DataError: they have another form, or an id is unknown.
    """
    users, items = ids
    if isinstance(negatives, Mapping):
        lists = [np.asarray(row, dtype=object).ravel() for row in negatives.values()]
        named = pd.Series([*negatives], dtype=object).repeat([len(row) for row in lists])
        negatives = pd.DataFrame({"user": named.to_numpy(), "item": np.concatenate([[], *lists])})
    if not issparse(negatives) and is_table(negatives):
        columns = table_of_pairs(negatives, "negatives")
        return users.positions(columns), items.positions(columns)
    refuse_masked(negatives, "negatives")
    try:
        array: NDArray[Any] = np.asarray(negatives)
    except ValueError:  # lists that differ in length
        array = np.empty(0)
    is_frame = isinstance(negatives, pd.DataFrame)
    if is_frame or array.ndim != 2 or len(array) != len(users):
        raise DataError(
            "negatives must be their number, a table of user and item, a dict of lists by user, "
            f"or an array with a row of items for each of the {len(users)} users"
        )
    users.order(None, len(array), "negatives")
    user = np.repeat(np.arange(len(users)), array.shape[1])
    return user, items.indices(array.ravel(), "negatives")
