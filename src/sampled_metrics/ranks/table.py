"""What a function of the package takes: the ranks, or the ranked lists, of a recommender, and pairs of their users."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics import _defaults
from sampled_metrics._validation import Floats, Ints, shown
from sampled_metrics.errors import DataError

if TYPE_CHECKING:
    from sampled_metrics.metrics.metric import Metric


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
        only = [
            f"{shown(own.difference(other)[0])} of {name}"
            for name, own, other in ((names[0], first, second), (names[1], second, first))
            if len(own.difference(other))
        ]
        raise DataError(
            f"{names[0]} and {names[1]} must have the same users to be compared: {len(missing)} are in one of them "
            f"only, for instance {' and '.join(only)}"
        )
    rows, other_rows = np.bincount(numbers), np.bincount(other_numbers, minlength=len(users))
    if (rows != other_rows).any():
        user = int(np.argmax(rows != other_rows))
        raise DataError(
            f"user {shown(users[user])} has {rows[user]} rows in {names[0]} and {other_rows[user]} in {names[1]}; to "
            "be compared they must have the same rows"
        )
    return np.asarray(numbers), np.asarray(other_numbers)


class OutcomeValues(NamedTuple):
    """Values of metrics for the rows of a table.

    Attributes:
        values: (metrics, outcomes) values of the distinct outcomes.
        outcome: (rows,) the outcome of each row.
        least: (metrics,) smallest value that a row may have.
        most: (metrics,) largest value that a row may have.
        largest: (metrics,) largest value of the metric, which is at least 0.
    """

    values: Floats
    outcome: Ints
    least: Floats
    most: Floats
    largest: Floats


class Table(ABC):
    """Ranks or ranked lists of a recommender, as a reader or a ranker returns them.

    Attributes:
        groups: (rows,) names of the groups of the rows, which metrics by group use; None if they are not known.
        notes: sentences on how the table was read.
        cautions: sentences on what would make all results wrong.
        source: name of the file or table that it is from.
    """

    kind: ClassVar[str]
    """What the table holds, in words."""

    reader: ClassVar[str]
    """The function that reads such a table."""

    taken_by: ClassVar[tuple[str, ...]]
    """The functions that take such a table."""

    beside: ClassVar[tuple[str, ...]] = ()
    """Other kinds that such a table is compared with."""

    is_sampled: ClassVar[bool] = False
    """Whether true metrics are estimated by an estimator, as from ranks among sampled negatives."""

    has_one_relevant_item: ClassVar[bool] = True
    """Whether a row is of one relevant item, for which some metrics are equal."""

    has_values_of_users: ClassVar[bool] = True
    """Whether the metric of each user is known, as of exact ranks and lists. Otherwise its mean alone is estimated."""

    default_metrics: ClassVar[tuple[str, ...]] = _defaults.METRICS
    """The labels of the metrics that are computed if none are given."""

    per_row: ClassVar[tuple[str, ...]]
    """The names of the attributes that have an entry for each row."""

    groups: NDArray[np.str_] | None
    notes: tuple[str, ...]
    cautions: tuple[str, ...]
    source: str

    @property
    @abstractmethod
    def row_users(self) -> NDArray[np.generic] | None:
        """The (rows,) users; None if they are not known."""

    def rows(self, positions: Ints) -> Self:
        """Return the table of the rows at some positions, in that order."""
        columns = {name: getattr(self, name) for name in self.per_row}
        table: Any = self
        return replace(table, **{name: of_rows[positions] for name, of_rows in columns.items() if of_rows is not None})

    @property
    @abstractmethod
    def user_numbers(self) -> Ints:
        """The (rows,) numbers of the users from 0."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Return what the numbers are of, such as "60 users, n = 100"; empty if there is nothing to say."""

    @property
    def design(self) -> dict[str, Any]:
        """Return what tables that are compared must have in common, by name."""
        return {}

    @property
    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return what was read, by the heading of a column of a report."""

    def _repr_html_(self) -> str | None:
        from sampled_metrics.rendering import page

        return page.notebook_table(pd.DataFrame([{"Kind": self.kind} | self.facts]), self.cautions, self.notes)

    @abstractmethod
    def title(self, names: str) -> str:
        """Return the title of a page about tables of some recommenders."""

    @property
    def ranked_items(self) -> Any:
        """Return the `ExactRanks` of the held-out items among the ranked items; None if there are no ranks."""
        return None

    @property
    def places(self) -> Floats | None:
        """Return (rows,) ranks, the lower the better, that can be compared with those of other tables, if there are."""
        return None

    def check_metrics(self, metrics: Mapping[str, Metric]) -> None:  # noqa: B027  # most tables have all metrics
        """Raise ConfigError if a metric does not exist for such a table."""

    @abstractmethod
    def outcome_values(self, metrics: Sequence[Metric]) -> OutcomeValues:
        """Return the values of metrics, by outcome."""

    def without_interval(self) -> dict[str, Any]:
        """Return the numbers that say why there are no intervals; empty if there are intervals."""
        return {}

    @abstractmethod
    def pair(self, others: Sequence[Any], names: Sequence[str]) -> tuple[list[Ints], list[str]]:
        """Pair the users of this table and of others of its kind.

        Args:
            others: the other tables.
            names: of all tables, for messages.

        Returns:
            For each table the (rows,) numbers of the users from 0, the same ones for the same users; and sentences on
            how they were paired.

        Raises:
            DataError: the tables are not of the same users and items.
        """


class Ranked(Table):
    """Ranks of held-out items, one row for each held-out item.

    Attributes:
        user: (rows,) the user of each held-out item; None if users are not known.
        candidates: (rows,) int, n: the number of ranked items, including the held-out item.
    """

    user: NDArray[np.generic] | None
    candidates: Ints

    @property
    def row_users(self) -> NDArray[np.generic] | None:
        """The (rows,) users; None if they are not known."""
        return self.user

    def __len__(self) -> int:
        return len(self.candidates)

    def __repr__(self) -> str:
        users = len(np.unique(self.user_numbers))
        text = f"{self.kind} of {users:,} user{'s' * (users != 1)}"
        if users < len(self):
            text += f" in {len(self):,} rows"
        return f"{text}, {self._among}" if len(self) else text

    @property
    @abstractmethod
    def _among(self) -> str:
        """What the held-out items are ranked among, in words."""

    @cached_property
    def user_numbers(self) -> Ints:
        """The (rows,) numbers of the users from 0; every row is of a user of its own if users are not known."""
        if self.user is None:
            return np.arange(len(self))
        return np.asarray(pd.factorize(self.user, sort=True)[0])

    @property
    def description(self) -> str:
        """Return how many users, candidates and negatives there are, such as "60 users, n = 100, m = 20"."""
        parts = [f"{len(np.unique(self.user_numbers)):,} users"]
        for name, values in self._numbers.items():
            mean = " on average" if np.ptp(values) else ""
            parts.append(f"{name} = {np.mean(values):,.0f}{mean}")
        return ", ".join(parts)

    @property
    def _numbers(self) -> dict[str, Ints]:
        """The numbers that `description` names."""
        return {"n": self.candidates}

    @property
    def facts(self) -> dict[str, str]:
        """Return the numbers of rows, users and candidates."""
        users = "one for each row" if self.user is None else str(self.user_numbers.max() + 1)
        return {"Rows": str(len(self)), "Users": users, "Candidates": span(self.candidates, "d")}

    def pair(self, others: Sequence[Any], names: Sequence[str]) -> tuple[list[Ints], list[str]]:
        """Pair users by user if tables have users, else by position; errors as in `pair_all`."""
        return pair_all([self, *others], names)


def span(numbers: Ints, form: str = ",d") -> str:
    """Return a number, or the smallest and the largest of several, in words."""
    least, most = int(numbers.min()), int(numbers.max())
    return f"{least:{form}}" if least == most else f"{least:{form}} to {most:{form}}"
