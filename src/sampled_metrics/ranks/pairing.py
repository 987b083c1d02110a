"""Pair the users of two recommenders, and check that several recommenders ranked the same events."""

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._arrays import Ints
from sampled_metrics._validation import shown
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.table import RankTable, read_ranks


class Ranked(Protocol):
    """Exact or sampled ranks of users."""

    @property
    def user(self) -> NDArray[np.generic] | None:
        """(events,) the users; None if they are not known."""
        ...

    @property
    def candidates(self) -> Ints:
        """(events,) n."""
        ...


def pair_users(one: Ranked, other: Ranked, names: tuple[str, str], *per_user: ArrayLike | None) -> tuple[Ints, str]:
    """Return the (events,) positions of the users of one table in the other, and a sentence that states the pairing.

    Users are paired by user if both tables have users, else by position. Raises DataError if the users of the tables
    differ, or the candidates of a user do, or if an argument `per_user` gives a number for each row and the tables
    have their users in different orders.
    """
    first, second = one.user, other.user
    if first is not None and second is not None:
        positions = _positions(pd.Index(first), pd.Index(second), names)
        if (positions != np.arange(len(positions))).any() and any(
            each is not None and np.size(each) > 1 for each in per_user
        ):
            raise DataError(
                f"{names[0]} and {names[1]} have their users in different orders, so candidates and negatives that "
                "differ by user must be columns of both, not arguments"
            )
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
    for index, name in zip((first, second), names, strict=True):
        if not index.is_unique:
            raise DataError(f"{name}: user {shown(index[index.duplicated()][0])} has an earlier row too")
    if first.dtype != second.dtype:  # users 1, 2 of one table and "1", "b" of the other are compared as text
        first, second = first.astype(str), second.astype(str)
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
    """Read the rank tables of a dataset's recommenders with `read_ranks`, one file for each name.

    Raises DataError if a file is damaged, or the tables have different held-out items.
    """
    tables = {name: read_ranks(path) for name, path in zip(names, paths, strict=True)}
    require_same_events(tables)
    return tables


def require_same_events(tables: Mapping[str, RankTable]) -> None:
    """Raise DataError if the tables differ in their users, or in the candidates of a user.

    Tables without users, which a file numbers from 1, may be in any order.
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
    """Return whether users are 1, 2, 3, ..., as in the file of a table without users."""
    return np.array_equal(table.users, np.arange(1, len(table) + 1))


def _summary(table: RankTable) -> str:
    n = table.candidates
    return f"{len(table)} users with {n.min()} to {n.max()} candidates, {n.sum()} in all"
