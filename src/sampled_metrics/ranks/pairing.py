"""Pair the users of tables of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._validation import Ints, shown
from sampled_metrics.errors import DataError


class RankedUsers(Protocol):
    """Ranks of users; the attributes are those of `sampled_metrics.ranks.table.Ranked`."""

    @property
    def user(self) -> NDArray[np.generic] | None:
        """The (rows,) users; None if they are not known."""

    @property
    def candidates(self) -> Ints:
        """The (rows,) numbers of candidates."""

    @property
    def user_numbers(self) -> Ints:
        """The (rows,) numbers of the users from 0."""


class Pairs(NamedTuple):
    """Users of two tables.

    Attributes:
        one: (rows,) numbers of the users of the first table, from 0.
        other: (rows,) numbers of the users of the second table; the same users have the same numbers.
        sentence: how the users were paired.
    """

    one: Ints
    other: Ints
    sentence: str


def pair_users(one: RankedUsers, other: RankedUsers, names: tuple[str, str]) -> Pairs:
    """Pair the users of two tables by user if both have users, else by position. A user may have several rows.

    Raises DataError if the users of the tables differ, or the rows or candidates of a user do.
    """
    if one.user is not None and other.user is not None:
        first, second = _paired(pd.Index(one.user), pd.Index(other.user), names)
        sentence = "Users are paired by the column user."
    elif len(one.candidates) == len(other.candidates):
        known = one if one.user is not None else other
        first = second = known.user_numbers
        sentence = "Users are paired by position: row i of both tables is taken to be the same user."
    else:
        raise DataError(
            f"{names[0]} has {len(one.candidates)} users and {names[1]} {len(other.candidates)}; to be compared they "
            "must have the same users"
        )
    order, other_order = np.lexsort((one.candidates, first)), np.lexsort((other.candidates, second))
    user, n, other_n = first[order], one.candidates[order], other.candidates[other_order]
    if (n != other_n).any():
        row = int(np.argmax(n != other_n))
        known = one if one.user is not None else other
        rows = order if known is one else other_order
        label = user[row] + 1 if known.user is None else shown(known.user[rows[row]])
        raise DataError(
            f"user {label} has {n[row]} candidates in {names[0]} and {other_n[row]} in {names[1]}; "
            "to be compared they must have ranked the same items"
        )
    return Pairs(first, second, sentence)


def pair_all(tables: Sequence[RankedUsers], names: Sequence[str]) -> tuple[list[Ints], list[str]]:
    """Pair the users of several tables, as `pair_users` does for two.

    Each table is paired with one of them: the first that has users, or, if none has, the first.

    Returns:
        For each table the (rows,) numbers of the users from 0, and the sentences on how they were paired.

    Raises:
        DataError: two tables cannot be paired.
    """
    base = next((place for place, table in enumerate(tables) if table.user is not None), 0)
    numbers, sentences = [tables[base].user_numbers] * len(tables), []
    for place in range(len(tables)):
        if place == base:
            continue
        one, other = sorted((base, place))
        pairs = pair_users(tables[one], tables[other], (names[one], names[other]))
        in_base, own = (pairs.one, pairs.other) if one == base else (pairs.other, pairs.one)
        number = np.empty(in_base.max() + 1, dtype=np.int64)  # the same users may have other numbers in another pair
        number[in_base] = numbers[base]
        numbers[place] = number[own]
        sentences.append(pairs.sentence)
    return numbers, list(dict.fromkeys(sentences))


def _paired(first: pd.Index, second: pd.Index, names: tuple[str, str]) -> tuple[Ints, Ints]:
    if first.dtype != second.dtype:  # users 1, 2 of one table and "1", "b" of the other are compared as text
        first, second = first.astype(str), second.astype(str)
    numbers, users = pd.factorize(first, sort=True)
    other_numbers = users.get_indexer(second)
    missing = first.difference(second).append(second.difference(first)).unique()
    if len(missing):
        raise DataError(
            f"{names[0]} and {names[1]} must have the same users to be compared: {len(missing)} are in one of them "
            f"only, for instance {shown(missing[0])}"
        )
    rows, other_rows = np.bincount(numbers), np.bincount(other_numbers, minlength=len(users))
    if (rows != other_rows).any():
        user = int(np.argmax(rows != other_rows))
        raise DataError(
            f"user {shown(users[user])} has {rows[user]} rows in {names[0]} and {other_rows[user]} in {names[1]}; to "
            "be compared they must have the same rows"
        )
    return np.asarray(numbers), np.asarray(other_numbers)
