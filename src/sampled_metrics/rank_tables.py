"""The rank tables of a dataset's recommenders, which must be of the same held-out items among as many candidates."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.errors import DataError
from sampled_metrics.ranks import RankTable, read_ranks


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
    names = {name: table.user.astype(str) for name, table in tables.items()}
    first = next((name for name in tables if not _are_numbers(names[name])), next(iter(tables), None))
    for name in tables:
        if first is not None and name != first:
            _require_same(tables, names, first, name)


def _require_same(
    tables: Mapping[str, RankTable], names: Mapping[str, NDArray[np.str_]], first: str, other: str
) -> None:
    if len(names[first]) != len(names[other]):
        raise DataError(
            f"{first} has the ranks of {len(names[first])} held-out items, and {other} of {len(names[other])}; "
            "recommenders are compared on the same"
        )
    named = not (_are_numbers(names[first]) or _are_numbers(names[other]))
    strangers = names[first][~np.isin(names[first], names[other])]
    if named and len(strangers):
        raise DataError(f"{first} has a rank of user {strangers[0]}, and {other} none; they are compared on the same")
    order = {name: np.argsort(names[name] if named else tables[name].candidates) for name in (first, other)}
    n, n_other = (tables[name].candidates[order[name]] for name in (first, other))
    if (n != n_other).any():
        at = int(np.argmax(n != n_other))
        who = f"of user {names[first][order[first][at]]}" if named else "of some user"
        raise DataError(
            f"{first} ranks the held-out item {who} among {n[at]} candidates, and {other} among {n_other[at]}; "
            "recommenders are compared on the same"
        )


def _are_numbers(users: NDArray[np.str_]) -> bool:
    """Whether users are 1, 2, 3, ..., as those of a table that names none are."""
    return np.array_equal(users, np.arange(1, len(users) + 1).astype(str))
