"""Pairing the users of two recommenders, and checking that several recommenders ranked the same events."""

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._arrays import Ints
from sampled_metrics._validation import shown
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.table import RankTable, read_ranks


class Ranked(Protocol):
    """Exact or sampled ranks of users."""

    @property
    def user(self) -> NDArray[np.generic] | None:
        """(events,) the users; None where they are not known."""
        ...

    @property
    def candidates(self) -> Ints:
        """(events,) n."""
        ...


def pair_users(one: Ranked, other: Ranked, names: tuple[str, str]) -> tuple[Ints, str]:
    """Return (events,) positions of the users of one table in another, and a sentence that says how they were found.

    Users are paired by user where both tables know theirs, else by position. Raises DataError if the tables do not have
    the same users, or a user has not as many candidates in both.
    """
    first, second = one.user, other.user
    if first is not None and second is not None:
        positions = _positions(pd.Index(first), pd.Index(second), names)
        sentence = "Users are paired by the column user."
    elif len(one.candidates) == len(other.candidates):
        positions = np.arange(len(one.candidates))
        sentence = "Users are paired by position: row i of both tables is taken to be the same user."
    else:
        raise DataError(
            f"{names[0]} has {len(one.candidates)} users and {names[1]} {len(other.candidates)}; to be compared they "
            "must have the same users"
        )
    n = other.candidates[positions]
    if (one.candidates != n).any():
        row = int(np.argmax(one.candidates != n))
        known = first if first is not None else second if second is not None else np.arange(1, len(n) + 1)
        raise DataError(
            f"user {shown(known[row])} has {one.candidates[row]} candidates in {names[0]} and {n[row]} in {names[1]}; "
            "to be compared they must have ranked the same items"
        )
    return positions, sentence


def _positions(first: pd.Index, second: pd.Index, names: tuple[str, str]) -> Ints:
    found = second.get_indexer(first)
    if len(first) != len(second) or (found < 0).any():
        missing = first.difference(second).append(second.difference(first))
        example = f", for instance {shown(missing[0])}" if len(missing) else ""
        raise DataError(
            f"{names[0]} and {names[1]} must have the same users to be compared: {len(missing)} are in one of them "
            f"only{example}"
        )
    return np.asarray(found)


def read_rank_tables(names: Sequence[str], paths: Sequence[str | os.PathLike[str]]) -> dict[str, RankTable]:
    """Read the rank tables of the recommenders of a dataset, a file for each name, as `read_ranks` reads it.

    Raises DataError if a file is damaged, or the tables are not of the same held-out items.
    """
    tables = {name: read_ranks(path) for name, path in zip(names, paths, strict=True)}
    require_same_events(tables)
    return tables


def require_same_events(tables: Mapping[str, RankTable]) -> None:
    """Raise DataError for tables that cannot be compared: of other users, or of users with other candidates.

    Tables without users, which are numbered from 1 in a file, may be in any order.
    """
    named = [name for name, table in tables.items() if not _is_numbered(table)]
    for first, other in itertools.pairwise(named):
        pair_users(tables[first], tables[other], (first, other))
    for first, other in itertools.pairwise(tables):
        one, two = tables[first], tables[other]
        if not np.array_equal(np.sort(one.candidates), np.sort(two.candidates)):
            raise DataError(
                f"{first} and {other} must be ranks of the same users among the same items, but they have "
                f"{_summary(one)} and {_summary(two)}"
            )


def _is_numbered(table: RankTable) -> bool:
    """Return whether users are 1, 2, 3, ..., as those of a table without users are once it is written."""
    return np.array_equal(table.users, np.arange(1, len(table) + 1))


def _summary(table: RankTable) -> str:
    n = table.candidates
    return f"{len(table)} users with {n.min()} to {n.max()} candidates, {n.sum()} in all"
