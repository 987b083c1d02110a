"""Ranks of held-out items among a few negatives of each user, by the scores of any model."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._progress import Progress, no_progress
from sampled_metrics._validation import is_whole, refuse_masked, shown
from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.counter import require_finite
from sampled_metrics.ranking.held_out import HeldOut, Ids, Pairs, held_out_items, is_table, table_of_pairs
from sampled_metrics.ranking.near_ties import pair_scores
from sampled_metrics.ranking.rank import MOST_USERS, ScoresLike, scores_and_shape, users_of_batch
from sampled_metrics.ranking.scores import batch_of_scores, batches
from sampled_metrics.ranking.unequal import keep
from sampled_metrics.ranks.frames import Columns

_Draw = Callable[[int, Ints, np.random.Generator], Ints]
"""Function from a user and the ascending items that are no negatives to the user's negatives."""


def rank_among_negatives(
    scores: ScoresLike,
    training: Pairs,
    held_out: Any,
    *,
    negatives: Any = 100,
    weights: Any = None,
    replacement: bool = False,
    seed: int = 0,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    batch_size: int | None = None,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """Rank the held-out items of users among sampled negatives, by the scores of a model.

    Negatives are drawn from the candidates of `rank` other than the held-out item. Of factors, only the scores of the
    held-out item and the negatives are computed. Ties are broken at random: the rank is uniform among those of the tie.
    All held-out items of a user are ranked among the same negatives.

    Args:
        scores: as in `rank`. A function returns the scores of all items, of which those of the negatives are taken.
        training: as in `rank`.
        held_out: as in `rank`.
        negatives: m, the number of negatives to draw for each held-out item. Or the negatives themselves: (users, m)
            indices of items, or a list of them for each user; a dict of such lists by user, or a DataFrame with the
            columns user and item, with ids if there are `user_ids` and `item_ids`.
        weights: (items,) numbers of 0 or more, or a Series or dict of them by item id. Negatives are drawn one after
            another, with probabilities in proportion to the weights. With replacement, each is kept with a probability
            in proportion to 1 / weight. What is kept is a uniform sample of a random size, which `correct` and
            `compare` use. They refuse ranks among weighted negatives that were drawn without replacement, or where a
            candidate has the weight 0.
        replacement: whether a negative may be there twice for the same held-out item. Give it to `correct` too.
        seed: of the negatives and the ties. The negatives do not depend on the scores, so all models with the same
            seed, training and held-out items have the same ones.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        batch_size: as in `rank`; it does not change the ranks.
        progress: as in `rank`.

    Returns:
        A row for each held-out item, with the columns user, candidates (n, among which an exact evaluation would rank
        the item), negatives (m) and rank (from 1 to m + 1). `correct` and `compare` take it. With weights there is a
        column weighted too, and, of the negatives that are kept as a uniform sample, uniform_negatives and
        uniform_rank.

    Raises:
        DataError: as in `rank`; a user has too few candidates to draw from; or a given negative is no candidate, is
            the held-out item, or is there twice without replacement.
        ConfigError: an option is wrong.

    Examples:
        Two users and six items; the first user has item 0 in training:

        >>> import sampled_metrics as sm
        >>> scores = [[0.9, 0.5, 0.4, 0.1, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4, 0.6, 0.5]]
        >>> training = [[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
        >>> sm.rank_among_negatives(scores, training, [2, 0], negatives=[[1, 3, 4], [2, 4, 5]])
           user  candidates  negatives  rank
        0     0           5          3     2
        1     1           5          3     4

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 4.
    """
    if not is_whole(seed) or seed < 0:
        raise ConfigError(f"seed must be a whole number, 0 or more, not {shown(seed)}")
    given, shape = scores_and_shape(scores, batch_size)
    data = held_out_items(training, held_out, shape, user_ids, item_ids)
    weight = None if weights is None else _checked(weights, data.items)
    draw = _draw_from(negatives, weight, replacement, data)
    # the children of a seed do not depend on their number
    of_negatives, of_ties, of_kept = (np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(3))
    items = data.training.shape[1]
    size = MOST_USERS if isinstance(given, tuple) else users_of_batch(items, batch_size)
    found, smallest = [], np.inf
    for user, split in data.parts():
        blocks = batches(user, size)
        for step in progress(range(len(blocks))):
            rows, drawn, kept = blocks[step], list[Ints](), list[NDArray[np.bool_]]()
            for row in rows:
                if row == rows[0] or user[row] != user[row - 1]:
                    others = _no_negatives(split, row)
                    mine = draw(int(user[row]), others, of_negatives)
                    stays = np.ones(len(mine), dtype=bool)
                    if weight is not None and replacement:
                        least = np.delete(weight, others).min()
                        stays, smallest = keep(weight[mine], least, of_kept), min(smallest, least)
                drawn.append(mine)
                kept.append(stays)
            compared, tie = _compare(given, user[rows], split, rows, drawn), of_ties.random(len(rows))
            stays = np.concatenate(kept)
            ranks = _ranks(tie, *compared), _ranks(tie, *(each[stays] for each in compared))
            found.append((split.user_ids[rows], split.candidates[rows], *ranks[0], *ranks[1]))
    columns = [np.concatenate(each) for each in zip(*found, strict=True)]
    table = pd.DataFrame(dict(zip(("user", "candidates", "negatives", "rank"), columns, strict=False)))
    if weight is None:
        return table
    uniform = dict(zip(("uniform_negatives", "uniform_rank"), columns[4:], strict=True))
    return table.assign(weighted=True, **(uniform if replacement and smallest > 0 else {}))


def _no_negatives(split: Split, row: int) -> Ints:
    """Return the ascending items that are no negatives of a row."""
    training = split.training.indices[split.training.indptr[row] : split.training.indptr[row + 1]]
    return np.insert(training.astype(np.int64), np.searchsorted(training, split.held_out[row]), split.held_out[row])


def _compare(scores: Any, user: Ints, split: Split, rows: Ints, drawn: list[Ints]) -> tuple[Ints, Ints]:
    """Return, for all drawn negatives, the place of their row in `rows`, and 1, 0 or -1: above, tied or below."""
    count = len(rows)
    row = np.repeat(np.arange(count), [len(each) for each in drawn])
    pair, item = np.concatenate((np.arange(count), row)), np.concatenate((split.held_out[rows], *drawn))
    score: NDArray[Any]
    if isinstance(scores, tuple):
        score = pair_scores(scores[0], scores[1], user[pair], item)
    else:
        batch, at = batch_of_scores(scores, user, split.training.shape[1])
        score = batch[at[pair], item]
    require_finite(np.bincount(pair[~np.isfinite(score)], minlength=count) > 0, split.user_ids[rows])
    target, other = score[:count][row], score[count:]
    return row, (other > target).astype(np.int64) - (other < target)


def _ranks(tie: Floats, row: Ints, sign: Ints) -> tuple[Ints, Ints]:
    """Return the (rows,) numbers of negatives, and ranks among them; (rows,) numbers from 0 to 1 break the ties."""
    drawn, above, tied = (np.bincount(row[which], minlength=len(tie)) for which in (slice(None), sign > 0, sign == 0))
    return drawn, 1 + above + (tie * (tied + 1)).astype(np.int64)


def _draw_from(negatives: Any, weight: Floats | None, replacement: bool, data: HeldOut) -> _Draw:
    """Return the function that draws, or looks up, the negatives of a user."""
    items = data.training.shape[1]
    if not is_whole(negatives):
        if weight is not None:
            raise ConfigError("weights are for negatives that are drawn, and negatives is a list of them")
        return _look_up(negatives, replacement, data)
    if negatives < 1:
        raise ConfigError(f"negatives must be 1 or more, not {negatives}")

    def draw(user: int, others: Ints, rng: np.random.Generator) -> Ints:
        free, p = items - len(others), None
        if weight is not None:
            p = weight.copy()
            p[others] = 0
            free = np.count_nonzero(p)
        if free < (1 if replacement else negatives):
            less = "" if replacement or not free else "; take fewer, or draw with replacement"
            of_weight = "" if p is None else " with a weight above 0"
            raise DataError(
                f"user {shown(data.users.values[user])}: {negatives} negatives cannot be drawn from {free} "
                f"items{of_weight}{less}"
            )
        if p is not None:
            return rng.choice(items, negatives, replace=replacement, p=p / p.sum(), shuffle=False)
        if replacement:
            drawn = rng.integers(free, size=negatives)
        else:
            drawn = rng.choice(free, negatives, replace=False, shuffle=False)
        return drawn + np.searchsorted(others - np.arange(len(others)), drawn, side="right")  # numbers of other items

    return draw


def _checked(weights: Any, items: Ids) -> Floats:
    """Return weights in the order of the items; those with an index or keys are found by id."""
    if isinstance(weights, Mapping):
        weights = pd.Series(dict(weights))
    if isinstance(weights, pd.Series) and not isinstance(weights.index, pd.RangeIndex):
        missing = ~np.isin(items.values, weights.index)
        if missing.any():
            raise DataError(f"weights: lack item {shown(items.values[missing.argmax()])}")
        weights = weights[~weights.index.duplicated()].loc[items.values]
    refuse_masked(weights, "weights")
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (len(items.values),) or not (np.isfinite(found) & (found >= 0)).all():
        count = len(items.values)
        raise DataError(f"weights must be a number of 0 or more for each of the {count} items, in their order")
    scaled = found / (found.max() or 1.0)
    if np.count_nonzero(scaled) < np.count_nonzero(found):
        raise DataError("weights differ by more than double precision holds")
    return scaled


def _look_up(negatives: Any, replacement: bool, data: HeldOut) -> _Draw:
    """Return the function that looks up given negatives."""
    columns, users, items = _listed(negatives, data)
    user, item = users.positions(columns), items.positions(columns)
    order = np.argsort(user, kind="stable")
    item, ends = item[order], np.append(0, np.cumsum(np.bincount(user, minlength=len(users.values))))

    def draw(user: int, others: Ints, rng: np.random.Generator) -> Ints:
        mine = item[ends[user] : ends[user + 1]]
        sorted_ones = np.sort(mine)
        again = sorted_ones[1:] == sorted_ones[:-1]
        wrong = np.isin(sorted_ones, others)
        if not len(mine):
            fault = "has no negatives"
        elif wrong.any():
            fault = (
                f"item {shown(items.values[sorted_ones[wrong.argmax()]])} is no negative, but a training or held-out "
                "item of the user"
            )
        elif again.any() and not replacement:
            fault = f"item {shown(items.values[sorted_ones[again.argmax()]])} is there twice; give replacement=True"
        else:
            return mine
        raise DataError(f"negatives, user {shown(users.values[user])}: {fault}")

    return draw


def _listed(negatives: Any, data: HeldOut) -> tuple[Columns, Ids, Ids]:
    """Return given negatives as columns user and item, and the ids that these columns have."""
    if is_table(negatives):
        return table_of_pairs(negatives, "negatives"), data.users, data.items
    refuse_masked(negatives, "negatives")
    users, items = Ids.of("user", None, len(data.users.values)), Ids.of("item", None, len(data.items.values))
    named = negatives if isinstance(negatives, Mapping) else None
    try:
        lists = [np.asarray(each) for each in (negatives if named is None else named.values())]
        lists = [each.astype(object) for each in lists]  # so that ids of several types stay as they are
    except (TypeError, ValueError):
        lists = []
    if not lists or any(each.ndim != 1 for each in lists) or (named is None and len(lists) != len(users.values)):
        raise DataError(
            f"negatives must be their number, a list of items for each of the {len(users.values)} users, a dict of "
            "such lists, or a table of users and items"
        )
    keys = pd.Series(list(named)) if named is not None else pd.Series(users.values)
    table = pd.DataFrame({"user": keys.repeat([len(each) for each in lists]).to_numpy(), "item": np.concatenate(lists)})
    columns = table_of_pairs(table, "negatives")
    return (columns, users, items) if named is None else (columns, data.users, data.items)
