"""Training and held-out items of users, from matrices, arrays of indices, or tables of users and items."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse

from sampled_metrics._validation import Ints, refuse_masked, shown
from sampled_metrics.data.split import Split, pair_matrix
from sampled_metrics.data.tables import refuse_rows
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.arrays import MATRIX, refuse_device
from sampled_metrics.ranks.frames import Columns, as_pandas, as_text, columns_of

PairsLike = Any
"""Accepted forms of pairs of users and items: a dense or sparse matrix, a table, or columns of a file."""


@dataclass(frozen=True)
class Ids:
    """Ids of the rows or the columns of the scores.

    Attributes:
        kind: user or item, for messages.
        values: the ids.
        is_given: whether the caller gave them. Otherwise they are the indices.
    """

    kind: str
    values: NDArray[np.generic]
    is_given: bool

    @classmethod
    def from_given(cls, kind: str, given: ArrayLike | None, count: int) -> "Ids":
        """Return distinct ids, or the indices if none are given; raise DataError if one is missing or repeated."""
        if given is None:
            return cls(kind, np.arange(count), False)
        refuse_masked(given, f"{kind}_ids")
        ids = pd.Series(np.asarray(given).ravel())
        if np.shape(given) != (count,):
            raise DataError(
                f"{kind}_ids must have an id for each of the {count} {kind}s, not the shape {np.shape(given)}"
            )
        missing, repeated = ids.isna(), as_text(ids).duplicated()
        if missing.any():
            raise DataError(f"{kind}_ids: entry {int(np.argmax(missing)) + 1} is missing")
        if repeated.any():
            raise DataError(f"{kind}_ids: {ids[repeated].iloc[0]} is there twice; each {kind} needs an id of its own")
        return cls(kind, ids.to_numpy(), True)

    def positions(self, columns: Columns) -> Ints:
        """Return the (rows,) indices of the ids in a column; ids are compared as text, so 7 and "7" are the same.

        Raises:
            DataError: an id is missing or unknown; the message names it and its place.
        """
        column = columns.frame[self.kind]
        codes, distinct = pd.factorize(column)
        known = pd.Index(as_text(pd.Series(self.values)))
        positions = np.append(known.get_indexer(pd.Index(as_text(pd.Series(distinct)))), -1)[codes]

        def message(row: int) -> str:
            where = f"in {self.kind}_ids" if self.is_given else f"an index from 0 to {len(self.values) - 1}"
            hint = "" if self.is_given else f"; give {self.kind}_ids if the table has ids"
            return f"{self.kind} {shown(column.iloc[row])} is not {where}{hint}"

        refuse_rows(positions < 0, message, columns.place)
        return positions


def split_of(
    training: PairsLike,
    held_out: Any,
    shape: tuple[int | None, int | None],
    user_ids: ArrayLike | None,
    item_ids: ArrayLike | None,
) -> tuple[Split, Ids, Ids]:
    """Return the split of training and held-out items, and the ids of users and items; parameters as in `rank`.

    Args:
        training: as in `rank`.
        held_out: as in `rank`.
        shape: numbers of users and items of the scores; None if they are not known.
        user_ids: as in `rank`.
        item_ids: as in `rank`.

    Raises:
        DataError: an argument is wrong, or two do not fit each other.
    """
    refuse_device(training, "training")
    refuse_device(held_out, "held_out")
    train = None if is_table(training) else matrix(training, "training")
    shapes = [
        shape if train is None else train.shape,
        [None if ids is None else np.size(ids) for ids in (user_ids, item_ids)],
    ]
    count, items = (next((n for n in counts if n is not None), None) for counts in zip(*shapes, strict=True))
    unknown = [name for name, number in (("user", count), ("item", items)) if number is None]
    if unknown or count is None or items is None:
        missing = " and ".join(f"{name}_ids (--{name}-ids)" for name in unknown)
        counted = " and ".join(f"{name}s" for name in unknown)
        raise DataError(f"the number of {counted} is not known: give {missing}, or training as a matrix")
    if (shape[0] or count, shape[1] or items) != (count, items):
        raise DataError(f"scores have shape {shape}, but training has {count} users and {items} items")
    ids = Ids.from_given("user", user_ids, count), Ids.from_given("item", item_ids, items)
    train = _of_table(training, "training", *ids) if train is None else train
    test = _of_table(held_out, "held_out", *ids) if is_table(held_out) else _of_array(held_out, *ids)
    if not test.nnz:
        raise DataError("held_out: no user has a held-out item")
    return Split(train, test, ids[0].values, ids[1].values), *ids


def warn_of_users_without(split: Split, users: Ints) -> None:
    """Warn if users, (k,) indices, have no held-out item."""
    without = len(users) - np.count_nonzero(np.diff(split.held_out.indptr)[users])
    if without:
        warnings.warn(f"{without} of {len(users)} users have no held-out item, and are left out", stacklevel=3)


def is_table(pairs: PairsLike) -> bool:
    """Return whether pairs are a table of users and items."""
    if isinstance(pairs, Columns | Mapping):
        return isinstance(pairs, Columns)
    return not issparse(pairs) and isinstance(as_pandas(pairs, "pairs"), pd.DataFrame)


def table_of_pairs(table: PairsLike, name: str) -> Columns:
    """Return a table as columns user and item; raise DataError if it has no such columns."""
    columns = columns_of(table, name).by_usual_name("item")
    columns.require("user", "item")
    return columns


def matrix(pairs: PairsLike, name: str) -> csr_array:
    """Return a (users, items) matrix with each pair stored once, as 1. The caller's array does not change."""
    refuse_masked(pairs, name)
    try:
        coordinates = coo_array(pairs)
    except (TypeError, ValueError):
        raise DataError(f"{name} {MATRIX}") from None
    if coordinates.ndim != 2 or coordinates.dtype.kind not in "biuf":
        raise DataError(f"{name} {MATRIX}")
    if not np.isfinite(coordinates.data).all():
        raise DataError(f"{name} {MATRIX}; some are not finite")
    is_stored = coordinates.data != 0
    return pair_matrix(coordinates.row[is_stored], coordinates.col[is_stored], coordinates.shape, np.int8)


def _of_table(table: PairsLike, name: str, users: Ids, items: Ids) -> csr_array:
    columns = table_of_pairs(table, name)
    shape = len(users.values), len(items.values)
    return pair_matrix(users.positions(columns), items.positions(columns), shape, np.int8)


def _of_array(held_out: Any, users: Ids, items: Ids) -> csr_array:
    """Return the matrix of held-out items from a matrix, or from one index for each user."""
    refuse_masked(held_out, "held_out")
    shape = len(users.values), len(items.values)
    try:
        array = held_out if issparse(held_out) else np.asarray(held_out)
    except ValueError:  # rows that differ in length
        array = np.empty(0)
    if array.shape == shape:
        return matrix(array, "held_out")
    if array.shape != shape[:1]:
        raise DataError(
            f"held_out must be an item of each of the {shape[0]} users, {shape} numbers, or a table of users and "
            f"items, not of shape {array.shape}"
        )
    missing = np.asarray(pd.isna(array))
    numbers = np.asarray(array[~missing].tolist()) if array.dtype == object else array[~missing]
    if len(numbers) and numbers.dtype.kind not in "iuf":
        raise DataError(f"held_out must hold indices of the {shape[1]} items, whole numbers, not {numbers.dtype}")
    wrong = ~np.isfinite(numbers) | (numbers != np.floor(numbers)) | (numbers >= shape[1])
    user = np.flatnonzero(~missing)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"user {users.values[user[row]]}: held_out must be an index of the {shape[1]} items, 0 to {shape[1] - 1}, "
            f"not {numbers[row]:g}"
        )
    has_item = numbers >= 0
    return pair_matrix(user[has_item], numbers[has_item], shape, np.int8)
