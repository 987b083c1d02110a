"""Strata of the candidates of users, by labels of items or by lists of items for each user, and ranks by stratum."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sampled_metrics._arrays import Ints
from sampled_metrics._progress import Progress
from sampled_metrics._validation import is_whole, refuse_masked, shown
from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.counter import require_finite
from sampled_metrics.ranking.held_out import HeldOut, Ids, Pairs, is_table, matrix, table_of_pairs
from sampled_metrics.ranking.scores import ScoredModel, ScoreFunction, batch_of_scores, batches, scores_of_model
from sampled_metrics.ranks.frames import as_pandas, as_text, columns_of, refuse_rows

REST = "rest"
"""Label of the items that no list names."""

TOGETHER = 2**18
"""Scores that are counted at a time; a single row may have more."""


@dataclass(frozen=True)
class Strata:
    """The stratum of each item, for each user.

    Attributes:
        labels: the labels of the strata, as text.
        usual: (items,) the number of each item's stratum, if no list of the user names another.
        listed: (users, items) 1 + the number of the stratum, of the items that the user's lists name. A stratum has
            items by `usual` or by `listed`, not by both.
    """

    labels: list[str]
    usual: Ints
    listed: csr_array

    @cached_property
    def members(self) -> list[Ints]:
        """The ascending items of each stratum by `usual`."""
        return [np.flatnonzero(self.usual == number) for number in range(len(self.labels))]

    @cached_property
    def places(self) -> Ints:
        """(items,) the place of each item among the members of its stratum by `usual`."""
        found = np.empty_like(self.usual)
        for each in self.members:
            found[each] = np.arange(len(each))
        return found

    def of_users(self, users: Ints) -> Ints:
        """Return the (rows, items) numbers of the strata, from the (rows,) users."""
        found, lists = np.tile(self.usual, (len(users), 1)), self.listed[users].tocoo()
        found[lists.row, lists.col] = lists.data - 1
        return found

    def pool(self, number: int, users: Ints, others: csr_array) -> tuple[Ints, Callable[[Ints, Ints], Ints]]:
        """Number the candidates of a stratum from 0 for each user, in the order of the items.

        Args:
            number: of the stratum.
            users: (rows,) indices of the users.
            others: (rows, items), stored where the item is no candidate of the user.

        Returns:
            The (rows,) numbers of candidates, and the function from (drawn,) rows and numbers of candidates to items.
        """
        mine, members, items = self.listed[users], self.members[number], others.shape[1]
        if not len(members):
            row = rows_of(mine)
            taken = np.isin(row * items + mine.indices, rows_of(others) * items + others.indices)
            left = (mine.data == number + 1) & ~taken
            item, count = mine.indices[left], np.bincount(row[left], minlength=len(users))
            first = np.cumsum(count) - count
            return count, lambda at, drawn: item[first[at] + drawn]
        gone = csr_array(others + mine) if mine.nnz else others
        inside = self.usual[gone.indices] == number
        row, place = rows_of(gone)[inside], self.places[gone.indices[inside]]
        first = np.searchsorted(row, np.arange(len(users) + 1))
        # the number of the first candidate after each item that is gone; rows are apart, for one search in all of them
        after = row * items + place - (np.arange(len(row)) - first[row])

        def item_of(at: Ints, drawn: Ints) -> Ints:
            return members[drawn + np.searchsorted(after, at * items + drawn, side="right") - first[at]]

        return len(members) - np.diff(first), item_of


def rows_of(matrix: csr_array) -> Ints:
    """Return the (stored,) row of each stored entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def strata_of(given: Any, data: HeldOut) -> Strata:
    """Return strata from (items,) labels, or from a table with the columns item, stratum and perhaps user.

    Raises:
        DataError: a label is missing, an item is unknown, or it has two strata.
    """
    shape, nothing = data.training.shape, csr_array(data.training.shape, dtype=np.int64)
    if not is_table(given) and not isinstance(given, Mapping):
        refuse_masked(given, "strata")
        if np.shape(given) != shape[1:]:
            raise DataError(
                f"strata must be a label for each of the {shape[1]} items, or a table with the columns item, stratum "
                "and perhaps user"
            )
        labels, usual = _numbered(pd.Series(as_pandas(given, "strata")))
        if (usual < 0).any():
            raise DataError(f"strata: item {shown(data.items.values[usual.argmin()])} has no label")
        return Strata(labels, usual, nothing)
    columns = columns_of(given, "strata").by_usual_name("item")
    columns.require("item", "stratum")
    labels, number = _numbered(columns.frame["stratum"])
    refuse_rows(number < 0, lambda row: "stratum is empty", columns.place)
    item = data.items.positions(columns)
    user = data.users.positions(columns) if "user" in columns else np.zeros_like(item)
    pairs = pd.DataFrame({"user": user, "item": item, "number": number}).drop_duplicates()
    twice = np.isin(np.arange(len(item)), pairs.index[pairs.duplicated(["user", "item"])])
    refuse_rows(twice, lambda row: f"item {shown(data.items.values[item[row]])} is in two strata", columns.place)
    if REST not in labels and ("user" in columns or len(pairs) < shape[1]):
        labels.append(REST)
    usual = np.full(shape[1], labels.index(REST) if REST in labels else 0)
    if "user" not in columns:
        usual[item] = number
        return Strata(labels, usual, nothing)
    pairs = pairs[pairs["number"] != usual[0]]
    listed = csr_array((pairs["number"] + 1, (pairs["user"], pairs["item"])), shape=shape)
    listed.sort_indices()
    return Strata(labels, usual, listed)


def _numbered(column: pd.Series) -> tuple[list[str], Ints]:
    """Return distinct labels as text, in their order, and the (rows,) number of each row's label, -1 for none."""
    codes, distinct = pd.factorize(column, sort=True)  # in the order of categories
    text = as_text(pd.Series(distinct))  # 7 and "7" are the same
    again, labels = pd.factorize(text.where(text != ""))
    return labels.tolist(), np.append(again, -1)[codes]


def rank_by_stratum(
    scores: ScoreFunction,
    strata: Strata,
    parts: Iterable[tuple[Ints, Split]],
    batch_size: int,
    progress: Progress,
) -> pd.DataFrame:
    """Count the candidates of each stratum that score above the held-out items, or tie with them; as in `rank`.

    Args:
        scores: function from a slice of the users to their (users, items) scores.
        strata: of the items.
        parts: the (rows,) users of a part of the rows, and the split of these rows, as of `HeldOut.parts`.
        batch_size: number of users whose scores are computed at a time.
        progress: wraps the range of batches, for a progress bar.
    """
    items, found = len(strata.usual), []
    for user, split in parts:
        blocks = batches(user, batch_size)
        for step in progress(range(len(blocks))):
            batch, place = batch_of_scores(scores, user[blocks[step]], items)
            count = min(len(place), -(-len(place) * items // TOGETHER))
            for rows, at in zip(np.array_split(blocks[step], count), np.array_split(place, count), strict=True):
                number = strata.of_users(user[rows])
                counts = _count(batch[at], number, len(strata.labels), split, rows)
                found.append((split.user_ids[rows], split.candidates[rows], *counts))
    users, candidates, above, tied, size = (np.concatenate(each) for each in zip(*found, strict=True))
    return table_by_stratum(users, candidates, strata.labels, above=above, tied=tied, size=size)


def rank_model_by_stratum(
    model: ScoredModel,
    split: Split,
    labels: pd.Categorical,
    progress: Progress,
    *,
    precision: str = "float64",
    memory: int | None = None,
) -> pd.DataFrame:
    """Count for each user the candidates of each stratum that score above the held-out item, or tie with it.

    Args:
        model: the trained recommender.
        split: its training events and the held-out items.
        labels: (items,) strata, as of `popularity_strata`.
        progress: wraps the range of batches, for a progress bar.
        precision: as in `rank_held_out`.
        memory: as in `rank_held_out`.

    Returns:
        A table as that of `rank` with strata. Its sums over the strata are the counts of `rank_held_out`.

    Raises:
        ConfigError: the memory is too small; the message states the smallest that is enough.
        DataError: a candidate's score is not a finite number; or some users have several held-out items, or none.
    """
    if split.user is not None:
        raise DataError("sampling.strata: each user must have one held-out item, but some have several, or none")
    users, items, events = split.shape
    more = 24 * events  # two copies of the events, to count items
    scores, size = scores_of_model(model, split, "ranking by stratum", precision=precision, memory=memory, more=more)
    strata = Strata(list(labels.categories), labels.codes.astype(np.int64), csr_array((users, items), dtype=np.int64))
    return rank_by_stratum(scores, strata, [(np.arange(users), split)], size, progress)


def _count(score: NDArray[Any], number: Ints, count: int, split: Split, rows: Ints) -> list[Ints]:
    """Return above, tied and size, (rows, strata) each, from (rows, items) scores and numbers of the strata."""
    row, trained = np.arange(len(rows)), split.training[rows]
    number[np.repeat(row, np.diff(trained.indptr)), trained.indices] = count
    number[row, split.held_out[rows]] = count
    target = score[row, split.held_out[rows], np.newaxis]
    wrong = ~np.isfinite(score) & (number < count)
    require_finite(wrong.any(axis=1) | ~np.isfinite(target[:, 0]), split.user_ids[rows])
    cell = number + (count + 1) * row[:, np.newaxis]
    least = (count + 1) * len(rows)
    return [
        np.bincount(cell[which], minlength=least).reshape(-1, count + 1)[:, :count]
        for which in (score > target, score == target, number < count)
    ]


def table_by_stratum(
    users: NDArray[np.generic], candidates: Ints, labels: Sequence[str], **counts: Ints
) -> pd.DataFrame:
    """Return user, candidates, and for each stratum its columns of the (rows, strata) counts, such as above_rest."""
    columns = {f"{name}_{label}": count[:, at] for at, label in enumerate(labels) for name, count in counts.items()}
    return pd.DataFrame({"user": users, "candidates": candidates, **columns})


def popularity_strata(
    training: Pairs, sizes: Sequence[int] = (500,), *, item_ids: ArrayLike | None = None
) -> pd.Categorical:
    """Label items by their popularity, for the argument `strata` of `rank_among_negatives` and `rank`.

    Args:
        training: as in `rank`. The popularity of an item is the number of users that have it in training.
        sizes: number of items of each stratum, the most popular first. Items of the same popularity are in the order
            of their indices.
        item_ids: as in `rank`; needed if training is a table.

    Returns:
        (items,) labels. With the sizes 100 and 400, they are top100, top101-500 and rest.

    Raises:
        DataError: training is wrong, or a table without item_ids.
        ConfigError: sizes are not whole numbers of 1 or more, or leave no item for the rest.

    Examples:
        >>> import sampled_metrics as sm
        >>> training = [[1, 0, 0, 1, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 0]]
        >>> sm.popularity_strata(training, [1, 2]).tolist()
        ['top2-3', 'rest', 'top2-3', 'top1', 'rest']

    References:
        W. G. Cochran, Sampling Techniques, 3rd edition, Wiley, 1977, chapter 5.
    """
    if is_table(training):
        if item_ids is None:
            raise DataError("the number of items is not known: give item_ids, or training as a matrix")
        columns, items = table_of_pairs(training, "training"), Ids.of("item", item_ids, np.size(item_ids))
        pairs = pd.DataFrame({"user": as_text(columns.frame["user"]), "item": items.positions(columns)})
        popularity = np.bincount(pairs.drop_duplicates()["item"], minlength=len(items.values))
    else:
        found = matrix(training, "training")
        popularity = np.bincount(found.indices, minlength=found.shape[1])
    wanted = np.atleast_1d(np.asarray(sizes, dtype=object))
    if not wanted.size or not all(is_whole(size) and size >= 1 for size in wanted.flat):
        raise ConfigError(f"sizes must be whole numbers, 1 or more, not {shown(sizes)}")
    if (taken := sum(map(int, wanted.flat))) >= len(popularity):
        raise ConfigError(f"sizes: the strata take {taken} items of {len(popularity)}, and leave none for the rest")
    ends = np.cumsum(wanted.astype(np.int64))
    order = np.argsort(-popularity, kind="stable")
    stratum = np.empty_like(order)
    stratum[order] = np.searchsorted(ends, np.arange(len(order)), side="right")
    later = [f"top{first + 1}-{last}" for first, last in pairwise(ends)]
    return pd.Categorical.from_codes(stratum, [f"top{ends[0]}", *later, REST], ordered=True)
