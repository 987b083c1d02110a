"""The columns of one recommender or of several, from a table, a file or a mapping from names to them."""

import itertools
import os
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from sampled_metrics._validation import check_label, check_labels, require_flags
from sampled_metrics.errors import DataError, printable
from sampled_metrics.ranks.files import read_columns
from sampled_metrics.ranks.frames import NAMES, Columns, PerUser, are_lists, columns_of, plain
from sampled_metrics.ranks.table import Table

UNNAMED = ""
"""Name of a recommender that has none."""


def columns_by_recommender(
    ranks: Any,
    by: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    zero_based: bool = False,
    groups: str | None = None,
) -> Columns | dict[str, Columns]:
    """Return the columns of a recommender, or of several by name; ranks start at 1.

    Args:
        ranks: a table, a file or ranks alone; or a mapping from names of recommenders to them.
        by: the column of a table that names the recommenders of its rows.
        rank_column: the column of ranks, or several columns of several recommenders.
        zero_based: whether ranks start at 0.
        groups: the column of the groups of the rows.

    Raises:
        ConfigError: `by` or `rank_column` is not text, or `zero_based` is not True or False.
        DataError: a table cannot be read or lacks a column, two names are the same text, or there are no ranks.
    """
    require_flags(zero_based=zero_based)
    rank_columns = [] if rank_column is None else check_labels(rank_column, "rank_column")
    if by is not None:
        check_label(by, "by")
    if groups is not None:
        check_label(groups, "groups")
    is_split = by is not None or len(rank_columns) > 1
    names = {"rank": rank_columns[0]} if rank_columns else {}

    def renamed(columns: Columns) -> Columns:
        return columns.with_groups(groups).named(names, zero_based).refuse_counts()

    if not is_table(ranks, rank_columns):
        if is_split:
            raise DataError("by, and several of rank_column, are for one table that has the ranks of all recommenders")
        return {name: renamed(columns_of_table(data, name)) for name, data in by_name(ranks).items()}
    columns = columns_of_table(ranks, "ranks")
    if not is_split:
        return renamed(columns)
    if by is None:
        return by_name(columns.with_groups(groups).by_rank_column(rank_columns, zero_based))
    if len(rank_columns) > 1:
        raise DataError("by is for one column of ranks, and rank_column names several; give one of them")
    return {name: renamed(part) for name, part in by_name(columns.by_column(by)).items()}


def require_same_order(tables: Mapping[str, Any], per_user: Sequence[PerUser | None]) -> None:
    """Raise DataError if numbers by user are given as arrays, and the tables have their users in different orders."""
    if all(numbers is None or np.size(numbers) == 1 for numbers in per_user):
        return
    known = [(name, table.user) for name, table in tables.items() if table.user is not None]
    for (first, one), (second, other) in itertools.pairwise(known):
        if not np.array_equal(one, other):
            raise DataError(
                f"{first} and {second} have their users in different orders, so candidates and negatives that differ "
                "by user must be columns of both, not arguments"
            )


def is_table(ranks: Any, rank_columns: Sequence[str]) -> bool:
    """Return whether ranks are a table of columns, and not a mapping from names of recommenders to their ranks.

    A mapping is a table if a name that a column of ranks may have, such as rank, position, above or one of
    `rank_columns`, has numbers: those of a list or a one-dimensional array. Ranked lists, {user: {item: score}}, are a
    table, too.
    """
    if not isinstance(ranks, Mapping) or (ranks and are_lists(ranks)):
        return True
    usual = NAMES["rank"] | NAMES["above"]
    named = [values for name, values in ranks.items() if plain(name) in usual or name in rank_columns]
    return any(
        len(getattr(values, "shape", ())) == 1
        or (isinstance(values, list | tuple) and all(isinstance(number, Number) for number in values))
        for values in named
    )


def by_name(ranks: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a mapping from names as printable text.

    Raises:
        DataError: it is empty, or a name is empty or repeated.
    """
    names = [printable(str(name)) for name in ranks]
    if not names:
        raise DataError("there are no ranks")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(f"ranks: two recommenders are called {repeated[0]!r}; give each a name of its own")
    if not all(name.strip() for name in names):
        raise DataError("ranks: the name of a recommender is empty")
    return dict(zip(names, ranks.values(), strict=True))


def columns_of_table(data: Any, name: str) -> Columns:
    """Return the columns of a table, a file or ranks alone, as they are named there.

    Raises:
        DataError: the table cannot be read.
    """
    if isinstance(data, Table):
        raise DataError(f"{name}: is {type(data).__name__} already, which is not read again")
    if isinstance(data, str | os.PathLike):
        return read_columns(data)
    return columns_of(data, name)
