"""Columns that tell the runs of a recommender apart, such as its seeds. Folds are not such runs."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

import numpy as np
import pandas as pd

from sampled_metrics.checks import Ints
from sampled_metrics.core.data.ids import as_text
from sampled_metrics.core.ranks.frames import Columns
from sampled_metrics.errors import DataError

_MOST_SHOWN = 5

MOST_SEEDS = 1000
"""More values are refused, as they come from a wrong column."""


def runs_of(columns: Columns, seeds: str | None, may_be_by: bool) -> Columns | list[Columns]:
    """Return the columns of a recommender, or those of its seeds by a column `seeds`, in order.

    Seeds are in the order of their numbers, or in that of their texts if one is not a number. A
    column of one value gives the columns without it. `may_be_by` says whether a column could also
    name recommenders.

    Raises:
        DataError: a column that is called as one of runs is named by no argument and has several
            values; there is no column `seeds`, it is another one that is known, or a cell is empty;
            each user is in one value alone, as in folds; or there are no users, and seeds differ in
            the number of rows.
    """
    if seeds is None:
        refuse_unnamed_runs(columns, may_be_by)
        return columns
    source = columns.in_source(seeds)
    if roles := [column for column, name in columns.names.items() if name == source]:
        raise DataError(
            f"{columns.header}: seeds names the column {source}, which is taken as {roles[0]}"
        )
    if source == columns.grouped_by:
        raise DataError(f"{columns.header}: seeds and groups name the same column, {source}")
    column = columns.id_column(source, "and each row has a seed")
    if len(column.ids) > 1:
        _require_seeds(columns, source, column.number)
    by_label = columns.parts(source, column)
    parts = [replace(by_label[label], seed_name=label) for label in in_order(list(by_label))]
    for part in parts:
        refuse_unnamed_runs(part, may_be_by, seeds)
    return parts[0] if len(parts) == 1 else parts


def in_order(labels: Sequence[str]) -> list[str]:
    """Return labels in the order of their numbers, or of their texts if one is not a number."""
    try:
        numbers = {label: Decimal(label) for label in labels}
    except InvalidOperation:
        return sorted(labels)
    if not all(number.is_finite() for number in numbers.values()):
        return sorted(labels)
    return sorted(labels, key=lambda label: (numbers[label], label))


def refuse_unnamed_runs(columns: Columns, may_be_by: bool, seeds: str | None = None) -> None:
    """Raise DataError if a column that no argument names has a name of runs and several values.

    A column of one value says of which run all rows are, and changes nothing.
    """
    for column in columns.unnamed_runs:
        name = str(column)
        number, _ = pd.factorize(as_text(columns.frame[columns.in_source(column)]))
        has = (
            f"{columns.header}: has the column {name}, which no argument names, with "
            f"{_values(columns, column)}"
        )
        if _are_folds(columns, number):
            raise DataError(
                f"{has}, and each user is in one of them, as in folds: {_fold_advice(name)}"
            )
        if seeds is not None:
            advice = f"seeds names {seeds}; make one column of both if both tell runs apart"
        else:
            advice = (
                f"if they are seeds of a training, say --seeds {name} (in Python seeds={name!r})"
            )
            advice += f", and if recommenders, --by {name} (by={name!r})" if may_be_by else ""
            advice += ", or give each a table of its own"
        raise DataError(f"{has}; {advice}; if not, leave the column out")


def refuse_runs_of_judged_items(columns: Columns) -> None:
    """Raise DataError if judged items have a column of runs that is not that of the groups.

    The groups are those of `ranked_lists`.
    """
    for column in columns.unnamed_runs:
        raise DataError(
            f"{columns.header}: has the column {column}, which no argument names, with "
            f"{_values(columns, column)}; judged items are the same for all seeds, so leave the "
            "column out, or, if it is the same for all items of a user, name it as groups "
            f"(--groups {column}, in Python groups={str(column)!r})"
        )


def _require_seeds(columns: Columns, source: str, number: Ints) -> None:
    """Raise DataError if the values of a column cannot be seeds.

    They are folds, or too many, or users are not known and seeds differ in the number of rows.
    """
    if _are_folds(columns, number):
        raise DataError(
            f"{columns.header}: each user is in one value of {source} alone, so these are folds "
            f"and not seeds: {_fold_advice(str(source))}"
        )
    rows = np.bincount(number)
    if len(rows) > MOST_SEEDS:
        raise DataError(
            f"{columns.header}: {source} has {len(rows)} values, and there may be {MOST_SEEDS} "
            "seeds or fewer"
        )
    if "user" not in columns and rows.min() < rows.max():
        ids = columns.id_column(source).ids
        raise DataError(
            f"{columns.header}: {source} {ids[rows.argmin()]} has {rows.min()} rows and "
            f"{ids[rows.argmax()]} {rows.max()}; without a column user, row i of each seed is "
            "taken to be the same user"
        )


def _are_folds(columns: Columns, number: Ints) -> bool:
    """Return whether users are known, and each has rows of one value alone.

    `number` are the (rows,) numbers of the values.
    """
    if "user" not in columns:
        return False
    user, users = columns.ids("user")
    return len(np.unique(user * (number.max() + 1) + number)) == len(users)


def _fold_advice(name: str) -> str:
    return (
        "users of all folds are read together, so leave the column out, or, for rows by fold, "
        f"name it as groups (--groups {name}, in Python groups={name!r}; of lists, a column of the "
        "judged items)"
    )


def _values(columns: Columns, column: str) -> str:
    """Return how many values a column has, and the first of them."""
    labels = in_order(as_text(columns.frame[column]).unique().tolist())
    examples = ", ".join(f"{label or 'empty':.20}" for label in labels[:_MOST_SHOWN])
    return f"{len(labels)} values ({examples}{', ...' if len(labels) > _MOST_SHOWN else ''})"
