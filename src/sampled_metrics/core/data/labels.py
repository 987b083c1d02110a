"""Labels of pandas objects.

A named index of a table is a column; an index by default, 0, 1, 2, …, only counts rows.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.checks import shown
from sampled_metrics.errors import DataError


def counts_rows(index: pd.Index) -> bool:
    """Return whether an index has no labels: no name, and the entries 0, 1, 2, …, in this order."""
    if isinstance(index, pd.MultiIndex) or index.name is not None:
        return False
    if not pd.api.types.is_integer_dtype(index.dtype):
        return not len(index)
    return bool(np.array_equal(np.asarray(index), np.arange(len(index))))


def has_labels(data: Any) -> bool:
    """Return whether this is a Series or a DataFrame of pandas whose rows have labels."""
    return isinstance(data, pd.Series | pd.DataFrame) and not counts_rows(data.index)


def refuse_other_labels(columns: Mapping[str, Any], what: str) -> None:
    """Raise DataError if two columns are Series whose labels differ, even only in their order."""
    labelled = {
        name: values.index for name, values in columns.items() if isinstance(values, pd.Series)
    }
    for (name, index), (next_name, next_index) in pairwise(labelled.items()):
        if not index.equals(next_index):
            raise DataError(
                f"{what}: {name} and {next_name} are Series with other labels; give arrays in the "
                "same order"
            )


def with_index(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a table with the named levels of its index as its first columns.

    The index itself stays, without names. One without a name only counts rows. Messages call the
    table `name`.

    Raises:
        DataError: a level and a column have the same name and differ, or one of several levels has
            no name and is not of integers.
    """
    index = frame.index
    has_names = isinstance(index, pd.MultiIndex) or index.name is not None
    if isinstance(frame.columns, pd.MultiIndex) or not has_names:  # no table may have the former
        return frame
    table = frame.set_axis(index.set_names([None] * index.nlevels), axis="index")
    for depth, level in reversed(list(enumerate(index.names))):
        labels = index.get_level_values(depth)
        if level is None:
            if not pd.api.types.is_integer_dtype(labels.dtype):
                raise DataError(
                    f"{name}: a level of the index, which holds {shown(labels[0])}, has no name; "
                    "give it a name, such as user or item, or remove it by droplevel"
                )
        elif level not in table.columns:
            table.insert(
                0, level, labels.to_numpy() if isinstance(labels, pd.RangeIndex) else labels
            )
        elif (table.columns == level).sum() == 1:
            texts = table[level].astype(str).to_numpy()
            if (texts != labels.astype(str).to_numpy()).any():
                raise DataError(
                    f"{name}: the index {level} and the column of this name differ; leave one of "
                    "them out"
                )
    return table
