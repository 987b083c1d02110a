"""The rows of tables by group, for metrics by group: groups of users, or of held-out items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._validation import counted, enumerated, shown
from sampled_metrics.data.tables import refuse_rows
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranks.reading import read_columns
from sampled_metrics.ranks.table import Table

ALL = "all"
"""The name of all rows together."""

MOST_GROUPS = 100
"""More groups are refused, as they come from a wrong column."""

LEFT_OUT = "Left out"
"""Words of the sentence on groups that are too small."""

FEWEST_USERS = 2
"""An interval needs so many users; smaller groups are left out."""

Groups = bool | Mapping[Any, Any]
"""Whether to use the groups of the tables; or a mapping from users to the names of their groups."""


def read_groups(path: str, kind: str) -> dict[str, str]:
    """Read the groups of users from a csv or parquet file with the column user and a column of groups.

    Raises:
        DataError: the file cannot be read, lacks a column, or has a user twice.
    """
    columns = read_columns(path, names=[kind])
    columns.require("user")
    users, groups = (
        columns.frame[name].where(columns.frame[name].notna(), "").astype(str)
        for name in (columns.names["user"], columns.in_source(kind))
    )
    refuse_rows(users.duplicated(), lambda row: f"user {users.iloc[row]} is there twice", columns.place)
    return dict(zip(users, groups, strict=True))


def tables_by_group(tables: Mapping[str, Table], groups: Groups) -> tuple[dict[str, dict[str, Table]], list[str]]:
    """Return the rows of tables by group, and sentences on groups that are left out.

    Args:
        tables: by name, for messages.
        groups: False gives no groups.

    Returns:
        For each group the parts of the tables, by the names of the tables. The groups are in the order of their names,
        or of their numbers.

    Raises:
        DataError: a table has no groups, or users; a user has none; all groups are too small; or the tables do not have
            the same groups.
        ConfigError: `groups` has another type.
    """
    if groups is False or groups is None:
        return {}, []
    of_rows = {name: groups_of_rows(table, name, groups) for name, table in tables.items()}
    names = _names(of_rows)
    parts, too_small = dict[str, dict[str, Table]](), list[str]()
    for group in names:
        positions = {name: np.flatnonzero(rows == group) for name, rows in of_rows.items()}
        if missing := [name for name, rows in positions.items() if not len(rows)]:
            raise DataError(f"{missing[0]}: has no row of the group {shown(group)}, and another table has")
        part = {name: table.rows(positions[name]) for name, table in tables.items()}
        users = min(len(np.unique(table.user_numbers)) for table in part.values())
        if users < FEWEST_USERS:
            too_small.append(f"{group} ({counted(users, 'user')})")
        else:
            parts[group] = part
    if not parts:
        raise DataError(f"groups: none has the {FEWEST_USERS} users that an interval needs")
    remark = (
        f"{LEFT_OUT}, as an interval needs {FEWEST_USERS} users or more: {enumerated(too_small)}." if too_small else ""
    )
    return parts, [remark] if remark else []


def groups_of_rows(table: Table, name: str, groups: Groups) -> NDArray[np.str_]:
    """Return the (rows,) names of the groups of a table.

    Args:
        table: the ranks.
        name: the name of the table, for messages.
        groups: True, or a mapping from users to names.

    Raises:
        DataError: the table has no groups, or no users; or a user has none.
        ConfigError: `groups` has another type.
    """
    if groups is True:
        if table.groups is None:
            raise DataError(
                f"{name or 'ranks'}: has no groups; read it with groups, the name of a column, or give a mapping from "
                "users to groups"
            )
        return np.asarray(table.groups, dtype=np.str_)
    if not isinstance(groups, Mapping):
        raise ConfigError(f"groups must be True or a mapping from users to groups, not {shown(groups)}")
    if table.user is None:
        raise DataError(f"{name or 'ranks'}: has no column user, which a mapping from users to groups needs")
    by_user = {str(user): str(group) for user, group in groups.items()}
    users = np.asarray(table.user).astype(np.str_)
    if missing := [user for user in dict.fromkeys(users.tolist()) if not by_user.get(user, "").strip()]:
        raise DataError(
            f"groups: {counted(len(missing), 'user')} of {name or 'the ranks'} have none, for instance {missing[0]}"
        )
    return np.array([by_user[user] for user in users.tolist()], dtype=np.str_)


def _names(of_rows: Mapping[str, NDArray[np.str_]]) -> list[str]:
    """Return the names of the groups, in the order of their numbers if all are numbers.

    Raises:
        DataError: there is one group alone, there are too many, or one is called as all rows are.
    """
    names = sorted({str(name) for rows in of_rows.values() for name in np.unique(rows)})
    if ALL in names:
        raise DataError(f"groups: a group is called {ALL}, as all rows are here; give it another name")
    if not 2 <= len(names) <= MOST_GROUPS:
        raise DataError(
            f"groups: there must be from 2 to {MOST_GROUPS} groups, not {len(names)}, such as {shown(names[0])}"
        )
    try:
        return sorted(names, key=float)
    except ValueError:
        return names
