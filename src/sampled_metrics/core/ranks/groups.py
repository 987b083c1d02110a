"""Groups of users: from a column, a file or a mapping, and the rows of tables by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.checks import counted, shown
from sampled_metrics.core.data.ids import as_text
from sampled_metrics.core.data.labels import counts_rows
from sampled_metrics.core.data.tables import refuse_rows
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.reading import read_columns
from sampled_metrics.core.ranks.runs import Runs
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.errors import ConfigError, DataError

ALL = "all"
"""The name of all rows together."""

MOST_GROUPS = 100
"""More groups are refused, as they come from a wrong column."""

FEWEST_USERS = 2
"""An interval needs so many users; smaller groups are left out."""

Groups = bool | Mapping[Any, Any]
"""Whether to use the groups of the tables; or the groups by user.

Groups by user are a mapping, or a Series, from users to the names of their groups.
"""


def read_groups(path: str, kind: str) -> dict[str, str]:
    """Read the groups of users from a csv or parquet file.

    It has the column user and a column of groups, which is called `kind`.

    Raises DataError if the file cannot be read, lacks a column, or has a user twice.
    """
    columns = read_columns(path, names=[kind])
    columns.require("user")
    number, users = columns.ids("user")
    groups = as_text(columns.frame[columns.in_source(kind)])
    refuse_rows(
        pd.Series(number).duplicated(),
        lambda row: f"user {users[number[row]]} is there twice",
        columns.place,
    )
    return dict(zip(users[number], groups, strict=True))


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
    parts = dict[str, list[Runs]]()
    too_small = dict[str, int]()
    for group in _names(groups_by_table):
        positions = {
            label: np.flatnonzero(names == group) for label, names in groups_by_table.items()
        }
        if missing := [label for label, rows in positions.items() if not len(rows)]:
            raise DataError(
                f"{missing[0]}: has no row of the group {shown(group)}, and another table has"
            )
        part = []
        for runs in recommenders:
            part.append(runs.rows([positions[label] for label in runs.by_label]))
        users = min(len(np.unique(table.user_numbers)) for runs in part for table in runs.tables)
        if users < FEWEST_USERS:
            too_small[group] = users
        else:
            parts[group] = part
    if not parts:
        raise DataError(f"groups: none has the {FEWEST_USERS} users that an interval needs")
    if not too_small:
        return parts, []
    return parts, [Finding("groups-left-out", values={"users": too_small})]


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
    labels = pd.Series([*groups.keys()], dtype=object)
    names = as_text(labels)
    if names.duplicated().any():
        raise DataError(f"groups: user {names[names.duplicated()].iloc[0]} is there twice, as text")
    if (
        isinstance(groups, pd.Series)
        and counts_rows(groups.index)
        and len(groups) == len(table.user)
    ):
        return _groups_by_row(table, groups, names)
    values = [*groups] if isinstance(groups, pd.Series) else [*groups.values()]
    by_user = dict(zip(names, as_text(pd.Series(values, dtype=object)), strict=True))
    users = as_text(pd.Series(table.user)).tolist()
    if missing := [user for user in dict.fromkeys(users) if not by_user.get(user, "")]:
        raise DataError(
            f"groups: {counted(len(missing), 'user')} of {name or 'the ranks'} have none, for "
            f"instance {missing[0]}"
        )
    return np.array([by_user[user] for user in users], dtype=np.str_)


def _groups_by_row(table: Table, groups: pd.Series, labels: pd.Series) -> NDArray[np.str_]:
    """Return the (rows,) groups from a Series with an entry for each row, and without labels.

    Raises DataError if a row has no group, or the index may be users, too, and these would have
    other groups.
    """
    by_row = as_text(groups.reset_index(drop=True))
    if (by_row == "").any():
        raise DataError(f"groups: row {int(np.argmax(by_row == '')) + 1} has none")
    users = as_text(pd.Series(table.user))
    places = pd.Index(labels).get_indexer(users)
    are_users = len(np.unique(places)) == len(labels) and (places >= 0).all()
    if are_users and (by_row.to_numpy()[places] != by_row.to_numpy()).any():
        raise DataError(
            "groups: the index of the Series may be rows or users; call it user, or read the "
            "ranks with the column of groups"
        )
    return by_row.to_numpy(dtype=np.str_)


def _names(groups_by_table: Mapping[str, NDArray[np.str_]]) -> list[str]:
    """Return the names of the groups in order.

    Raises DataError if one is ALL, or there are too few or too many.
    """
    names = sorted({str(name) for rows in groups_by_table.values() for name in np.unique(rows)})
    if ALL in names:
        raise DataError(
            f"groups: a group is called {ALL}, as all rows are here; give it another name"
        )
    if not 2 <= len(names) <= MOST_GROUPS:
        raise DataError(
            f"groups: there must be from 2 to {MOST_GROUPS} groups, not {len(names)}, such as "
            f"{shown(names[0])}"
        )
    try:
        return sorted(names, key=float)
    except ValueError:
        return names
