"""Sources of groups: the numbers of training events of a split, and files of users."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._validation import Ints, counted
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.groups import FEWEST_USERS, MOST_GROUPS, groups_of_rows, read_groups

KINDS: dict[str, Callable[[Split], Ints]] = {
    "activity": lambda split: np.diff(split.training.indptr)[split.user],
    "item-popularity": lambda split: np.bincount(split.training.indices, minlength=split.shape.items)[split.item],
}
"""The kinds of groups: functions from a split to (rows,) numbers of training events, of the user or of the item."""

NO_GROUP = "not stated"
"""The group of users whom a file of groups lacks, or for whom it has an empty cell."""

_LOG = logging.getLogger(__name__)


def thirds(numbers: Ints) -> NDArray[np.str_]:
    """Return the (rows,) names of the thirds of numbers; equal numbers are in the same third.

    Examples:
        >>> thirds(np.array([1, 5, 9, 9, 2, 30])).tolist()
        ['lower third (1 to 2)', 'middle third (5 to 9)', 'middle third (5 to 9)', ...]
    """
    first, second = np.quantile(numbers, [1 / 3, 2 / 3], method="inverted_cdf")
    part = (numbers > first).astype(int) + (numbers > second)
    names = {}
    for number, name in enumerate(("lower", "middle", "upper")):
        own = numbers[part == number]
        names[number] = f"{name} third ({own.min()} to {own.max()})" if len(own) else ""
    return np.array([names[number] for number in part])


def by_thirds(tables: Mapping[str, ExactRanks], split: Split, kinds: Sequence[str]) -> dict[str, dict[str, ExactRanks]]:
    """Return tables whose groups are thirds of the held-out rows, by kind.

    Args:
        tables: rank tables of the split, by recommender.
        split: the split that they are of.
        kinds: keys of `KINDS`. One that does not divide the rows is left out, with a warning.

    Raises:
        DataError: the tables are not of this split.
    """
    for name, table in tables.items():
        same_users = np.array_equal(table.users.astype(str), split.user_ids[split.user].astype(str))
        if not same_users or not np.array_equal(table.candidates, split.candidates):
            raise DataError(
                f"{name}: its users or their candidates are not those of the split, so groups are not known"
            )
    grouped = {}
    for kind in kinds:
        groups = thirds(KINDS[kind](split))
        if len(np.unique(groups)) == 1:
            _LOG.warning("%s is left out: all numbers of training events are equal", kind)
            continue
        grouped[kind] = {name: replace(table, groups=groups) for name, table in tables.items()}
    return grouped


def groups_of_file(path: str) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the groups of users in a file, by column and user, and sentences on the columns that are left out.

    These cannot divide the users: they have one group, too many, or none of two users.

    Args:
        path: a csv or parquet file with a column user, and one or more columns with the names of groups.

    Raises:
        DataError: the file cannot be read, lacks a column, or has a user twice; or no column divides the users.
    """
    columns = read_groups(path)
    frame = columns.frame
    kinds = [str(column) for column in frame.columns if column != "user"]
    if not kinds:
        raise DataError(f"{columns.header}: has no column of groups beside user")
    if unusable := sorted({*KINDS} & {*kinds}):
        raise DataError(f"{columns.header}: the column {unusable[0]} has the name of a kind of groups of the workflow")
    faults = {kind: _fault(frame["user"], frame[kind][frame[kind] != ""]) for kind in kinds}
    usable = [kind for kind in kinds if not faults[kind]]
    if not usable:
        raise DataError(f"{columns.header}: no column divides the users into groups; {kinds[0]} has {faults[kinds[0]]}")
    left_out = [f"{path}: column {kind} is left out: it has {fault}" for kind, fault in faults.items() if fault]
    return {kind: dict(zip(frame["user"], frame[kind], strict=True)) for kind in usable}, left_out


def _fault(users: "pd.Series[str]", groups: "pd.Series[str]") -> str:
    """Return why groups of users cannot be compared; empty if they can. The two are aligned by their index."""
    sizes = users[groups.index].groupby(groups).nunique()
    if not 2 <= len(sizes) <= MOST_GROUPS:
        return f"{counted(len(sizes), 'group')}, and there may be from 2 to {MOST_GROUPS}"
    return "" if sizes.max() >= FEWEST_USERS else f"no group of {FEWEST_USERS} users, which an interval needs"


def _users(tables: Mapping[str, ExactRanks]) -> set[str]:
    """Return the users of all tables, as text."""
    return {str(user) for table in tables.values() if table.user is not None for user in np.unique(table.user)}


def by_file(tables: Mapping[str, ExactRanks], path: str) -> dict[str, dict[str, ExactRanks]]:
    """Return tables whose groups are those of a file of users, by column. Users without one are a group of their own.

    Args:
        tables: rank tables with users, by recommender.
        path: as in `groups_of_file`.

    Raises:
        DataError: as in `groups_of_file`; or a table has no users.
    """
    of_kinds, remarks = groups_of_file(path)
    for remark in remarks:
        _LOG.warning(remark)
    users, grouped = _users(tables), dict[str, dict[str, ExactRanks]]()
    for kind, of_users in of_kinds.items():
        missing = {user for user in users if not of_users.get(user)}
        if users and missing == users:
            raise DataError(f"{path}, column {kind}: has a group for none of the {len(users)} users, as {min(users)}")
        if missing:
            _LOG.warning("%s, column %s: %d of %d users have no group there", path, kind, len(missing), len(users))
        of_users |= dict.fromkeys(missing, NO_GROUP)
        try:
            grouped[kind] = {
                name: replace(table, groups=groups_of_rows(table, name, of_users)) for name, table in tables.items()
            }
        except DataError as error:
            raise DataError(f"{path}, column {kind}: {error}") from None
    return grouped
