"""Read files between stages of the workflow. The error for a damaged file names the file.

The checksum of a zip or gzip file detects every changed byte. A plain csv table has no checksum, so its numbers must be
finite and its rows complete.
"""

import gzip
import json
import math
import os
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampled_metrics._validation import is_whole
from sampled_metrics.data.tables import Csv, Rows, Text, joined, refuse_rows
from sampled_metrics.errors import DataError, reason

AGAIN = "remove it, and run again"  # the workflow makes it anew


class TableSchema(NamedTuple):
    """Columns of a csv table between stages.

    Attributes:
        key: columns that identify a row.
        numbers: the other columns.
        may_lack: the numbers that may be missing, such as the deviation over a single repetition.
        within: columns of the key. Each of their values has all combinations of the values of the other key columns.
    """

    key: tuple[str, ...]
    numbers: tuple[str, ...]
    may_lack: tuple[str, ...] = ()
    within: tuple[str, ...] = ()


CELL = ("reading", "metric", "estimator")
FILES = {
    "estimates": TableSchema((*CELL, "repetition"), ("estimate",)),
    "expected": TableSchema(CELL, ("mean_exact", "sd_exact"), may_lack=("mean_exact", "sd_exact")),
    "table-1": TableSchema(("recommender", "metric"), ("value",)),
    "table-2": TableSchema(("recommender", "metric"), ("mean", "sd")),
    "table-3": TableSchema(("recommender", *CELL), ("mean", "sd"), may_lack=("sd",)),
    "table-4": TableSchema(("worse", "better", *CELL), ("correct",), within=("worse", "better", "metric")),
    "figure-2": TableSchema(("recommender", "metric", "negatives"), ("expected",)),
    "figure-3": TableSchema(("metric", "negatives", "rank"), ("expected",)),
    "figure-4": TableSchema(("panel", "estimator", "rank"), ("value",), within=("panel",)),
    "figure-6": TableSchema(("recommender", "metric", "estimator", "negatives"), ("expected", "exact")),
    "seed-spread": TableSchema(("table", "reading", "cell"), ("seeds", "mean", "sd"), within=("table",)),
}
NUMBERED = {"repetition", "negatives", "rank", "table"}  # key columns of numbers; the others are text


def read_table(path: str | os.PathLike[str], kind: str, *, empty: bool = False) -> pd.DataFrame:
    """Return a csv table of a kind of `FILES` that the workflow wrote. One whose name ends in .gz is gzipped.

    The error for a table that lacks a column or a row, or has a wrong one, names the line. A table may be empty if that
    is said, such as Table 4 of recommenders with equal exact metrics.
    """
    key, numbers, may_lack, within = FILES[kind]
    text = [name for name in key if name not in NUMBERED]
    rows = _rows(path, text)
    table = rows.frame
    if "negatives" in table and "negatives" not in key:  # sampling.negatives is a list
        key = ("negatives", *key)
    missing = [name for name in (*key, *numbers) if name not in table]
    if missing:
        raise DataError(f"{path}, line 1: lacks the column {', '.join(missing)}; {AGAIN}")
    if not len(table):
        if empty:
            return table.astype({name: np.float64 for name in (*key, *numbers) if name not in text})
        raise DataError(f"{path}: has no line but its header; {AGAIN}")
    for name in (*key, *numbers):
        if name in text:
            _refuse(table[name] == "", rows, f"{name} is empty")
            continue
        values = pd.to_numeric(table[name].astype(str), errors="coerce").to_numpy(dtype=np.float64)
        wrong = ~np.isfinite(values)
        if name in may_lack:
            wrong &= table[name].notna().to_numpy()
        _refuse(wrong, rows, f"{name} is not a finite number")
        if name in ("repetition", "rank"):
            _refuse((values < 0) | (values % 1 != 0), rows, f"{name} is not a whole number from 0")
    _refuse(table.duplicated(list(key)), rows, f"repeats the {', '.join(key)} of an earlier line")
    for _, part in table.groupby(list(within)) if within else [((), table)]:
        wanted = math.prod(part[name].nunique() for name in key)
        if len(part) != wanted:
            which = "".join(f" of {name} {part[name].iloc[0]}" for name in within)
            raise DataError(f"{path}: has {len(part)} of {wanted} rows{which}; {AGAIN}")
    return table


TEXT = (
    *("recommender", "worse", "better", "metric", "estimator", "reading"),
    *("way", "assumes", "cell", "place", "claim", "tolerance", "holds"),
)
"""Columns of text in the tables of `read_rows`."""


def read_rows(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return a csv table that the workflow wrote, whose rows have no key. Names such as NA and 1e3 stay text.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(TEXT, str), keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: is damaged: {reason(error)}; {AGAIN}") from None
    return table.fillna({name: "" for name in TEXT if name in table})


COUNTS = (
    *("users", "items", "events", "training_events", "held_out_items", "events_in_file"),
    *("users_left_out_with_few_training_events", "users_without_held_out_items"),
    *("events_left_out_malformed", "events_left_out_below_min_rating", "events_left_out_repeated"),
    *("events_left_out_by_core", "users_left_out_by_core", "items_left_out_by_core"),
    "held_out_items_without_training_events",
    "users_whose_last_time_is_shared",
)
WORDS = ("source", "sha256", "md5")  # keys of text in dataset.json; those above are of whole numbers


def read_facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the facts about a dataset that its split wrote, from dataset.json.

    Raises:
        DataError: the file cannot be read, or is damaged.
    """
    try:
        facts = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: is damaged: {reason(error)}; {AGAIN}") from None
    known = facts if isinstance(facts, dict) else {}
    wrong = [name for name in COUNTS if not is_whole(known.get(name))]
    wrong += [name for name in WORDS if not isinstance(known.get(name), str)]
    if wrong:
        raise DataError(f"{path}: is damaged: {wrong[0]} is missing or wrong; {AGAIN}")
    return dict(known)


def _rows(path: str | os.PathLike[str], text: Collection[str]) -> Rows:
    """Return all columns of a csv file. Some are text; in the others, an empty field is NaN."""
    try:
        with gzip.open(path) if Path(path).suffix == ".gz" else open(path, "rb") as file:
            table = Csv(Text(file, str(path)))
            if not table.first or len(set(table.first)) < len(table.first):
                raise DataError(f"{path}: is damaged: it is empty, or names a column twice")
            names = dict(enumerate(table.first))
            parts = list(table.rows(names, has_header=True, numbers=set(table.first) - set(text)))
    except DataError as error:
        raise DataError(f"{error}; {AGAIN}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: is damaged: {reason(error)}; {AGAIN}") from None
    rows = joined(parts)
    for name in set(rows.frame) - set(text):
        column = rows.frame[name]
        if (column == "").any():
            filled = column.mask(column == "")
            numbers = pd.to_numeric(filled, errors="coerce")
            rows.frame[name] = filled if (numbers.isna() & filled.notna()).any() else numbers
    return rows


def read_runs(
    names: Sequence[str], estimates: Sequence[str], expected: Sequence[str]
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Return estimates and exact moments by recommender, from their files; they must have the same rows."""
    runs = [read_table(path, "estimates") for path in estimates]
    moments = [read_table(path, "expected") for path in expected]
    cells = [table.filter(["negatives", *CELL]).drop_duplicates() for table in (*runs, *moments)]
    _require_same_rows([*estimates, *expected], cells)
    most = max(map(len, runs))
    for path, table in zip(estimates, runs, strict=True):
        if len(table) != most:
            raise DataError(f"{path}: has {len(table)} of {most} rows; {AGAIN}")
    return dict(zip(names, runs, strict=True)), dict(zip(names, moments, strict=True))


def _require_same_rows(paths: Sequence[str], tables: Sequence[pd.DataFrame]) -> None:
    """Refuse a file that lacks a row of another recommender's file."""
    row_sets = [set(table.itertuples(index=False, name=None)) for table in tables]
    for path, rows in zip(paths, row_sets, strict=True):
        missing = sorted(set().union(*row_sets) - rows)
        if missing:
            row = " ".join(map(str, missing[0]))
            raise DataError(f"{path}: lacks {row}, which another recommender's file has; {AGAIN}")


def _refuse(wrong: ArrayLike, rows: Rows, problem: str) -> None:
    refuse_rows(wrong, lambda row: f"{problem}; {AGAIN}", rows.place)
