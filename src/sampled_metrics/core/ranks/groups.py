"""Groups of users: from a column, a file or a mapping, and the rows of tables by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.checks import shown
from sampled_metrics.core.data.ids import as_text
from sampled_metrics.core.data.tables import refuse_rows
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.frames import in_order
from sampled_metrics.core.ranks.lookup import values_of_rows
from sampled_metrics.core.ranks.reading import read_columns
from sampled_metrics.core.ranks.runs import Runs
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.errors import ConfigError, DataError

ALL = "all"
"""The name of all rows together."""

MOST_GROUPS = 100
"""More groups are refused, as they come from a wrong column."""

FEWEST_USERS = 2
"""An interval needs this many users; smaller groups are left out."""

Groups = bool | Mapping[Any, Any]
"""Whether to use the groups of the tables; or the groups by user.

Groups by user are a mapping, or a Series, from users to the names of their groups.
"""


def read_groups(path: str, kind: str) -> dict[str, str]:
    """Read the groups of users from a csv or parquet file.

    The file has the column user and a column of groups, which is named `kind`.

    Raises DataError if the file cannot be read, lacks a column, or has a user twice.
    """
    columns = read_columns(path)
    columns.require("user", kind)
    codes, users = columns.ids("user")
    refuse_rows(
        pd.Series(codes).duplicated(),
        lambda row: f"user {users[codes[row]]} is there twice",
        columns.location,
    )
    return dict(zip(users[codes], as_text(columns[kind]), strict=True))


def runs_by_group(
    recommenders: Sequence[Runs], groups: Groups
) -> tuple[dict[str, list[Runs]], list[Finding]]:
    """Return the rows of recommenders by group, and a finding on groups that are too small.

    Groups that are too small are left out.

    Groups are in the order of their names or numbers. Raises DataError or ConfigError as
    `groups_of_rows` does, and DataError if all groups are too small, or the tables do not have the
    same groups.
    """
    if groups is False or groups is None:
        return {}, []
    groups_by_table = {
        label: groups_of_rows(table, label, groups)
        for runs in recommenders
        for label, table in runs.by_label.items()
    }
    runs_of_groups = dict[str, list[Runs]]()
    too_small = dict[str, int]()
    for group in _names(groups_by_table):
        positions = {
            label: np.flatnonzero(names == group) for label, names in groups_by_table.items()
        }
        if missing := [label for label, rows in positions.items() if not len(rows)]:
            raise DataError(
                f"{missing[0]}: has no row of the group {shown(group)}, and another table has"
            )
        runs_of_group = []
        for runs in recommenders:
            runs_of_group.append(runs.rows([positions[label] for label in runs.by_label]))
        users = min(
            len(np.unique(table.user_numbers)) for runs in runs_of_group for table in runs.tables
        )
        if users < FEWEST_USERS:
            too_small[group] = users
        else:
            runs_of_groups[group] = runs_of_group
    if not runs_of_groups:
        raise DataError(f"groups: none has the {FEWEST_USERS} users that an interval needs")
    if not too_small:
        return runs_of_groups, []
    return runs_of_groups, [Finding("groups-left-out", values={"users": too_small})]


def groups_of_rows(table: Table, name: str, groups: Groups) -> NDArray[np.str_]:
    """Return the (rows,) groups of a table, from the table itself or from a mapping from users.

    Raises DataError if the table has no groups, or no users, or a user has none; ConfigError if
    `groups` has another type.
    """
    if groups is True:
        if table.groups is None:
            raise DataError(
                f"{name or 'ranks'}: has no groups; read it with groups, the name of a column, or "
                "give a mapping from users to groups"
            )
        return np.asarray(table.groups, dtype=np.str_)
    if not isinstance(groups, Mapping | pd.Series):
        raise ConfigError(
            f"groups must be True or a mapping from users to groups, not {shown(groups)}"
        )
    if table.user is None:
        raise DataError(
            f"{name or 'ranks'}: has no column user, which a mapping from users to groups needs"
        )
    index = pd.RangeIndex(len(table.user))
    what = f"{name or 'ranks'}: groups"

    def location(row: int) -> str:
        return f"{name or 'ranks'}, row {row + 1}"

    names = as_text(pd.Series(values_of_rows(groups, table.user, index, what, location))).to_numpy(
        dtype=np.str_
    )
    refuse_rows(names == "", lambda row: "has no group", location)
    return names


def _names(groups_by_table: Mapping[str, NDArray[np.str_]]) -> list[str]:
    """Return the names of the groups in order.

    Raises DataError if one is ALL, or there are too few or too many.
    """
    names = {str(name) for rows in groups_by_table.values() for name in np.unique(rows)}
    if ALL in names:
        raise DataError(
            f"groups: a group is called {ALL}, as all rows are here; give it another name"
        )
    if not 2 <= len(names) <= MOST_GROUPS:
        raise DataError(
            f"groups: there must be from 2 to {MOST_GROUPS} groups, not {len(names)}, such as "
            f"{shown(min(names))}"
        )
    return in_order(names)
