"""What a function of the package takes: ranks, or ranked lists, and pairs of their users."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics import _defaults
from sampled_metrics._registry import renderer, words
from sampled_metrics.checks import Floats, Ints, refuse_masked, shown
from sampled_metrics.core.data.ids import INEXACT, are_inexact, as_text
from sampled_metrics.core.findings import Finding
from sampled_metrics.errors import DataError

if TYPE_CHECKING:
    from sampled_metrics.core.metrics import Metric


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
        user: (rows,) the user of each row; None if users are not known.
        groups: (rows,) names of the groups of the rows, which metrics by group use; None if they
            are not known.
        findings: on how the table was read, and on what would make all results wrong.
        source: name of the file or table that it is from.
        seed_name: the seed of which it is, as a column of seeds names it; empty if that is not
            known.
    """

    kind: ClassVar[str]
    """What the table holds, in words."""

    title: ClassVar[str]
    """The title of a page about tables of some recommenders, whose names are {names}."""

    reader: ClassVar[str]
    """The function that reads such a table."""

    taken_by: ClassVar[tuple[str, ...]]
    """The functions that take such a table."""

    compared_with: ClassVar[tuple[str, ...]] = ()
    """The other kinds of tables that such a table is compared with."""

    is_sampled: ClassVar[bool] = False
    """Whether true metrics are estimated by an estimator, as from ranks among sampled negatives."""

    has_one_relevant_item: ClassVar[bool] = True
    """Whether a row has one relevant item, for which some metrics are equal."""

    has_values_of_users: ClassVar[bool] = True
    """Whether the metric of each user is known, as of exact ranks and lists.

    Otherwise its mean alone is estimated.
    """

    default_metrics: ClassVar[tuple[str, ...]] = _defaults.DEFAULT_METRICS
    """The labels of the metrics that are computed if none are given."""

    per_row: ClassVar[tuple[str, ...]]
    """The names of the attributes that have an entry for each row."""

    user: NDArray[np.generic] | None
    groups: NDArray[np.str_] | None
    findings: tuple[Finding, ...]
    source: str
    seed_name: str = ""

    @classmethod
    def recognises(cls, path: str) -> bool:  # most kinds are tables of columns
        """Return whether a file has such a table, in a format of its own."""
        return False

    @classmethod
    def read(cls, path: str) -> Self:
        """Return the table of a file that the kind recognises."""
        raise NotImplementedError(path)

    def rows(self, positions: Ints) -> Self:
        """Return the table of the rows at some positions, in that order."""
        columns = {name: getattr(self, name) for name in self.per_row}
        rows_of_columns = {
            name: column[positions] for name, column in columns.items() if column is not None
        }
        table: Any = self
        return replace(table, **rows_of_columns)

    @property
    @abstractmethod
    def user_numbers(self) -> Ints:
        """The (rows,) numbers of the users from 0."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Return what the numbers describe, as "60 users, n = 100"; empty if it is not known."""

    @property
    def design(self) -> dict[str, Any]:
        """Return what tables that are compared must have in common, by name."""
        return {}

    @property
    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return what was read, by the heading of a column of a report."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return sentences on how the table was read."""
        return tuple(words().remarks(self.findings, words().Setting()))

    @property
    def cautions(self) -> tuple[str, ...]:
        """Return sentences on what would make all results wrong."""
        return tuple(words().cautions(self.findings, words().Setting()))

    def _repr_html_(self) -> str | None:
        show = renderer("page")
        if show is None:
            return None
        return show(pd.DataFrame([{"Kind": self.kind} | self.facts]), self.cautions, self.notes)

    @property
    def is_all_known(self) -> bool:
        """Whether the rank of every row is known, or that it has the metric 0.

        Some of staged ranks may be open.
        """
        return True

    @property
    def ranked_items(self) -> Any:
        """Return the `ExactRanks` of held-out items among the ranked items; None without ranks."""
        return None

    @property
    def expected_above(self) -> Floats | None:
        """Return (rows,) ranks that can be compared with those of other tables; None without ranks.

        The lower, the better.
        """
        return None

    def check_metrics(self, metrics: Mapping[str, Metric]) -> None:  # noqa: B027  # most tables have all metrics
        """Raise ConfigError if a metric does not exist for such a table."""

    @property
    @abstractmethod
    def outcomes(self) -> NDArray[Any]:
        """Return (rows, numbers) what was observed of each row.

        The same numbers are the same ranks, or lists.
        """

    @abstractmethod
    def outcome_values(self, metrics: Sequence[Metric]) -> OutcomeValues:
        """Return the values of metrics, by outcome."""

    def completion(self) -> dict[str, Any]:
        """Return what a run of stages completed, as numbers by name; empty for other ranks."""
        return {}

    @abstractmethod
    def pair(self, others: Sequence[Any], names: Sequence[str]) -> tuple[list[Ints], list[Finding]]:
        """Return the (rows,) numbers of the users of each table, from 0, and findings on pairs.

        `names` are those of all tables. Raises DataError if the tables are not of the same users
        and items.
        """


class Ranked(Table):
    """Ranks of held-out items, one row for each held-out item.

    Attributes:
        candidates: (rows,) int, n: the number of ranked items, including the held-out item.
    """

    candidates: Ints

    def __len__(self) -> int:
        return len(self.candidates)

    def __repr__(self) -> str:
        users = len(np.unique(self.user_numbers))
        rows = f" in {len(self):,} rows" if users < len(self) else ""
        among = f", {self._among}" if len(self) else ""
        return f"{self.kind} of {users:,} user{'s' * (users != 1)}{rows}{among}"

    @property
    @abstractmethod
    def _among(self) -> str:
        """What the held-out items are ranked among, in words."""

    @cached_property
    def user_numbers(self) -> Ints:
        """The (rows,) numbers of the users from 0.

        If users are not known, every row counts as another user.
        """
        if self.user is None:
            return np.arange(len(self))
        try:
            return np.asarray(pd.factorize(self.user, sort=True)[0])
        except TypeError:  # such as members of an Enum
            raise DataError(
                f"users must be text or numbers, not such as {shown(self.user[0])}; give their "
                "names or values"
            ) from None

    def named(self, row: int) -> str:
        """Return the user of a row, or its number from 1, for messages."""
        return f"row {row + 1}" if self.user is None else f"user {shown(self.user[row])}"

    @property
    def description(self) -> str:
        """Return how many users, candidates and negatives there are.

        For instance, "60 users, n = 100, m = 20".
        """
        numbers = [
            f"{name} = {np.mean(values):,.0f}{' on average' if np.ptp(values) else ''}"
            for name, values in self._numbers.items()
        ]
        users = len(np.unique(self.user_numbers))
        return ", ".join([f"{users:,} user{'s' * (users != 1)}", *numbers])

    @property
    def _numbers(self) -> dict[str, Ints]:
        return {"n": self.candidates}

    @property
    def facts(self) -> dict[str, str]:
        """Return the numbers of rows, users and candidates."""
        users = "one for each row" if self.user is None else str(self.user_numbers.max() + 1)
        return {"Rows": str(len(self)), "Users": users, "Candidates": span(self.candidates, "d")}

    def pair(self, others: Sequence[Any], names: Sequence[str]) -> tuple[list[Ints], list[Finding]]:
        """Pair each table with the base: the first that has users, or, if none has, the first."""
        tables: list[Ranked] = [self, *others]
        base = next((index for index, table in enumerate(tables) if table.user is not None), 0)
        numbers = [
            numbers_in(tables[base], table, (names[base], name))
            for table, name in zip(tables, names, strict=True)
        ]
        without = [name for name, table in zip(names, tables, strict=True) if table.user is None]
        if len(tables) == 1 or not without:
            return numbers, []
        return numbers, [Finding("paired-by-position", values={"without": without})]


def numbers_in(base: Ranked, table: Ranked, names: tuple[str, str]) -> Ints:
    """Return the (rows,) numbers that the users of a table have in a base with the same users.

    Users are paired by user if both tables have users, else by position. A user may have several
    rows. `names` are those of the base and the table. Raises DataError if the users of the tables
    differ, or the rows or candidates of a user do.
    """
    if table is base:
        return base.user_numbers
    are_named = base.user is not None and table.user is not None
    if are_named:
        numbers = _numbers_by_user(base, table, names)
    elif len(base) == len(table):
        numbers = base.user_numbers
    else:
        raise DataError(
            f"{names[0]} has {len(base)} users and {names[1]} {len(table)}; to be compared "
            "they must have the same users"
        )
    # a user's rows may be in another order, so that the candidates are compared in theirs
    order = np.lexsort((base.candidates, base.user_numbers))
    n = base.candidates[order]
    other_n = table.candidates[np.lexsort((table.candidates, numbers))]
    if (n != other_n).any():
        row = int(np.argmax(n != other_n))
        label = base.named(order[row]) if are_named else f"row {order[row] + 1}"
        raise DataError(
            f"{label} has {n[row]} candidates in {names[0]} and {other_n[row]} in {names[1]}; "
            "to be compared they must have ranked the same items"
        )
    return numbers


def _numbers_by_user(base: Ranked, table: Ranked, names: tuple[str, str]) -> Ints:
    """Return the (rows,) numbers as `numbers_in` does, of tables that both have users.

    Raises DataError if users, or their rows, differ.
    """
    _, first_rows = np.unique(base.user_numbers, return_index=True)
    users = pd.Index(np.asarray(base.user)[first_rows])
    ids = pd.Index(np.asarray(table.user))
    # users 1, 2 of one table and "1", "b" of the other are compared as text
    if users.dtype != ids.dtype:
        users = pd.Index(as_text(pd.Series(users)))
        ids = pd.Index(as_text(pd.Series(ids)))
    numbers = users.get_indexer(ids)
    rows = np.bincount(base.user_numbers)
    other_rows = np.bincount(numbers[numbers >= 0], minlength=len(users))
    unpaired = {names[0]: users[other_rows == 0], names[1]: ids[numbers < 0].unique()}
    if missing := sum(map(len, unpaired.values())):
        examples = [
            f"{shown(users_of_table[0])} of {name}"
            for name, users_of_table in unpaired.items()
            if len(users_of_table)
        ]
        raise DataError(
            f"{names[0]} and {names[1]} must have the same users to be compared: {missing} are in "
            f"one of them only, for instance {' and '.join(examples)}"
        )
    if (rows != other_rows).any():
        user = int(np.argmax(rows != other_rows))
        raise DataError(
            f"user {shown(users[user])} has {rows[user]} rows in {names[0]} and {other_rows[user]} "
            f"in {names[1]}; to be compared they must have the same rows"
        )
    return numbers


def checked_users(users: Any) -> NDArray[np.generic] | None:
    """Return (rows,) users as an array; None without users.

    Raises DataError if a user is missing, or is a float that may stand for several ids.
    """
    if users is None:
        return None
    refuse_masked(users, "user")
    users = np.asarray(users)
    for is_wrong, fault in (
        (pd.isna(users), "which is not a user"),
        (users.dtype.kind in "fO" and are_inexact(pd.Series(users)), INEXACT),
    ):
        if np.any(is_wrong):
            row = int(np.argmax(is_wrong))
            raise DataError(f"row {row + 1}: user is {shown(users[row])}, {fault}")
    return users


def span(numbers: Ints, form: str = ",d") -> str:
    """Return a number, or the smallest and the largest of several, in words."""
    lowest = int(numbers.min())
    highest = int(numbers.max())
    return f"{lowest:{form}}" if lowest == highest else f"{lowest:{form}} to {highest:{form}}"
