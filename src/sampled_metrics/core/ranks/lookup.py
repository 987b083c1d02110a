"""Values that are given by user, or by row, looked up for the rows of a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.checks import shown
from sampled_metrics.core.data.ids import as_text
from sampled_metrics.core.data.labels import counts_rows, has_labels
from sampled_metrics.core.data.tables import Location, refuse_rows
from sampled_metrics.errors import DataError


def is_by_row(values: Any) -> bool:
    """Return whether these are values in the order of the rows, and not one value or by user."""
    return np.ndim(values) > 0 and not isinstance(values, Mapping) and not has_labels(values)


def values_of_rows(
    values: Mapping[Any, Any] | pd.Series,
    users: NDArray[np.generic] | None,
    index: pd.Index,
    what: str,
    location: Location,
) -> NDArray[Any]:
    """Return the (rows,) values of the rows of a table, from values by user.

    Users are compared as text. A Series with as many entries as rows is in the order of the rows if
    its index is the default one of pandas, or the index of the rows.

    Args:
        values: by user; the labels of a Series are users.
        users: (rows,) the users; None if they are not known.
        index: (rows,) the index of the rows.
        what: what the values are, for messages.
        location: where each row is, for messages.

    Raises:
        DataError: users are not known, a user has no value or several, or the labels of a Series
            may be users or rows, with other values.
    """
    if isinstance(values, pd.Series) and _may_be_of_rows(values.index, index):
        by_row = np.asarray(values)
        if users is not None and len(np.unique(users)) == len(index):
            by_user = _by_user(values, users, what)
            if by_user.notna().all() and (by_user.to_numpy() != by_row).any():
                raise DataError(
                    f"{what}: the labels of the Series may be users or rows; call its index user, "
                    "or give an array in the order of the rows"
                )
        return by_row
    if users is None:
        raise DataError(f"{what}: is by user, and the ranks have no column user")
    by_user = _by_user(values, users, what)
    refuse_rows(
        by_user.isna(),
        lambda row: (
            f"{what.rpartition(' ')[2]} has nothing for the user {shown(users[row])}; its users "
            f"are such as {shown(next(iter(values.keys()), ''))}"
        ),
        location,
    )
    return by_user.infer_objects().to_numpy()


def _may_be_of_rows(labels: pd.Index, index: pd.Index) -> bool:
    is_same = labels.name is None and labels.equals(index)
    return len(labels) == len(index) and (is_same or counts_rows(labels))


def _by_user(
    values: Mapping[Any, Any] | pd.Series, users: NDArray[np.generic], what: str
) -> pd.Series:
    """Return the (rows,) values of users, missing where a user has none.

    Raises DataError if a user has several.
    """
    entries = pd.DataFrame([*values.items()], columns=["user", "value"], dtype=object)
    entries["user"] = as_text(entries["user"])
    by_user = entries.drop_duplicates().set_index("user")["value"]
    if not by_user.index.is_unique:
        user = by_user.index[by_user.index.duplicated()][0]
        raise DataError(f"{what}: the user {user} has several values")
    row, distinct = pd.factorize(users)
    return by_user.reindex(as_text(pd.Series(distinct))).iloc[row].reset_index(drop=True)
