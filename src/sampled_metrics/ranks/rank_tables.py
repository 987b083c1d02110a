"""The rank tables of a dataset's recommenders, which must be of the same held-out items among as many candidates."""

import itertools
import os
from collections.abc import Mapping, Sequence

import numpy as np

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.frames import places_of_users
from sampled_metrics.ranks.table import RankTable, read_ranks


def read_rank_tables(names: Sequence[str], paths: Sequence[str | os.PathLike[str]]) -> dict[str, RankTable]:
    """Read the rank tables of recommenders, by recommender.

    Args:
        names: of the recommenders.
        paths: what `read_ranks` reads, a file each.

    Raises:
        DataError: a file is damaged, or the tables are not of the same held-out items.
    """
    tables = {name: read_ranks(path) for name, path in zip(names, paths, strict=True)}
    require_same_events(tables)
    return tables


def require_same_events(tables: Mapping[str, RankTable]) -> None:
    """Refuse tables whose metrics cannot be compared: of other users, or of users with other candidates.

    Tables that name no users, numbered from 1 instead, may be in any order.

    Raises:
        DataError: two of them differ.
    """
    named = [name for name, table in tables.items() if not _is_numbered(table)]
    for first, other in itertools.pairwise(named):
        places_of_users(tables[first], tables[other], (first, other))
    for first, other in itertools.pairwise(tables):
        one, two = tables[first], tables[other]
        if not np.array_equal(np.sort(one.candidates), np.sort(two.candidates)):
            raise DataError(
                f"{first} and {other} must be ranks of the same users among the same items, but they have "
                f"{_about(one)} and {_about(two)}"
            )


def _is_numbered(table: RankTable) -> bool:
    """Whether users are 1, 2, 3, ..., as those of a table that names none are once it is written."""
    return np.array_equal(table.user, np.arange(1, len(table) + 1))


def _about(table: RankTable) -> str:
    n = table.candidates
    return f"{len(table)} users with {n.min()} to {n.max()} candidates, {n.sum()} in all"
