"""Files of staged ranks: Parquet, which needs pyarrow, or SQLite. What is read is checked like any table of ranks."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import pathname2url

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics import _files
from sampled_metrics._files import path_text
from sampled_metrics._validation import MOST, is_real, is_whole, shown
from sampled_metrics.data.ids import as_text, column_of
from sampled_metrics.errors import ConfigError, DataError, reason

KEY = b"sampled_metrics.staged_ranks"
"""The key of the metadata of a Parquet file with k, depth, seed, boundaries and digests, as JSON."""

FOLDS = 5
"""Number of folds of the users, whose predictions are those of the others."""

APPLICATION = 0x53_4D_53_52
"""The number by which a SQLite file says what it is; the letters SMSR."""

OUTCOMES = ("beaten", "complete", "open")


def require_ending(path: str | os.PathLike[str]) -> None:
    """Raise ConfigError unless the name of a file ends in .sqlite, or in .parquet, with pyarrow installed."""
    name = path_text(path)
    ending = Path(name).suffix.lower()
    if ending not in (".parquet", ".sqlite"):
        raise ConfigError(f"{name}: the name of the file must end in .parquet or .sqlite")
    if ending == ".parquet" and find_spec("pyarrow") is None:
        raise ConfigError(
            f"{name}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]', or end it in .sqlite"
        )


def write(path: str | os.PathLike[str], rows: pd.DataFrame, content: Mapping[str, Any]) -> None:
    """Write the rows of staged ranks, and what they are of; raise ConfigError as in `require_ending`, or WriteError."""
    require_ending(path)
    with _files.atomic_write(path) as temporary:
        if temporary.suffix.lower() == ".parquet":
            import pyarrow.parquet

            table = _arrow(rows)
            pyarrow.parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(content)}), temporary)
        else:
            with closing(sqlite3.connect(temporary)) as connection:
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute("CREATE TABLE run (content TEXT)")
                connection.execute("INSERT INTO run VALUES (?)", (json.dumps(content),))
                rows.to_sql("ranks", connection, index=False)
                connection.commit()


def require_ids(path: str | None, users: NDArray[Any], items: NDArray[Any]) -> None:
    """Check, before the first score, that staged ranks can have ids, and that a file gives them back.

    Args:
        path: the file; None if there is to be none.
        users: (users,) ids.
        items: (items,) ids.

    Raises:
        DataError: they are of types without a common order, are no text, or would be others in the file.
    """
    for kind, ids in (("user", users), ("item", items)):
        try:
            np.argsort(ids, kind="stable")
            np.array(ids, dtype=str)
            kept = None if path is None else _kept(path, pd.DataFrame({kind: ids}))[kind]
        except (ValueError, TypeError, OverflowError, NotImplementedError, OSError) as error:
            raise DataError(f"{kind}_ids: {_NOT_KEPT}: {reason(error)}") from None
        before = as_text(column_of(ids))
        if kept is not None and not np.array_equal(as_text(kept), before):
            row = int(np.argmax(as_text(kept).to_numpy(dtype=object) != before.to_numpy(dtype=object)))
            raise DataError(f"{kind}_ids: {_NOT_KEPT}: it would have {shown(kept.iloc[row])} for {shown(ids[row])}")


_NOT_KEPT = "must be text, or whole numbers of 64 bits, which a file of staged ranks can hold"


def _kept(path: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows as a file with such an ending would give them back."""
    if path.lower().endswith(".parquet"):
        kept: pd.DataFrame = _arrow(rows).replace_schema_metadata().to_pandas()
        return kept
    with closing(sqlite3.connect(":memory:")) as connection:
        rows.to_sql("ranks", connection, index=False)
        return pd.read_sql_query("SELECT * FROM ranks", connection)


def _arrow(rows: pd.DataFrame) -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(rows, preserve_index=False)


def is_staged(path: str) -> bool:
    """Return whether a file says that it holds staged ranks."""
    ending = Path(path).suffix.lower()
    try:
        if ending == ".parquet" and find_spec("pyarrow") is not None:
            import pyarrow.parquet

            with _files.opened(path) as file:
                return KEY in (pyarrow.parquet.read_schema(file).metadata or {})
        if ending == ".sqlite":
            with closing(_opened(path)) as connection:
                return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)
    except Exception:  # whatever a library raises that reads a damaged file
        return False
    return False


def read(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read the rows of staged ranks, and what they are of.

    Raises ConfigError as in `require_ending`, and DataError if the file cannot be read, has no staged ranks, or has a
    value that they cannot have; the message names the row.
    """
    require_ending(path)
    name = os.fspath(path)
    if not os.path.exists(name):
        raise DataError(f"{name}: there is no such file")
    if not is_staged(name):
        raise DataError(f"{name}: has no staged ranks, or is damaged")
    with _files.reading(name):
        if name.lower().endswith(".parquet"):
            import pyarrow.parquet

            with _files.opened(name) as file:
                table = pyarrow.parquet.ParquetFile(file).read()
            content, rows = json.loads(table.schema.metadata[KEY]), table.to_pandas()
        else:
            with closing(_opened(name)) as connection:
                content = json.loads(connection.execute("SELECT content FROM run").fetchone()[0])
                rows = pd.read_sql_query("SELECT * FROM ranks", connection)
    with _files.reading(name):
        fault = _fault(rows, content)
    if fault:
        raise DataError(f"{name}{fault}")
    return rows, content


def _opened(path: str) -> sqlite3.Connection:
    """Return a connection that only reads."""
    return sqlite3.connect(f"file:{pathname2url(os.path.abspath(path))}?mode=ro", uri=True)


def _fault(rows: pd.DataFrame, content: Any) -> str:
    """Return the first thing that staged ranks cannot have, with its row if it is in one; empty if there is none."""
    if not isinstance(content, dict) or not {"k", "depth", "seed", "boundaries", "digests"} <= {*content}:
        return ": lacks k, depth, seed, boundaries or digests"
    k, depth, seed, boundaries, digests = (content[key] for key in ("k", "depth", "seed", "boundaries", "digests"))
    rules: dict[str, tuple[bool, str]] = {
        "k": (is_whole(k) and 1 <= k <= MOST, "a whole number, 1 or more"),
        "depth": (depth is None or (is_real(depth) and depth >= 1), "a number of 1 or more, or null"),
        "seed": (is_whole(seed) and seed >= 0, "a whole number, 0 or more"),
        "boundaries": (
            isinstance(boundaries, list)
            and boundaries[:1] == [0]
            and all(map(is_whole, boundaries))
            and boundaries == sorted(set(boundaries))
            and boundaries[-1] <= MOST,
            "whole numbers that ascend from 0",
        ),
        "digests": (
            isinstance(digests, dict) and all(isinstance(digest, str) for digest in digests.values()),
            "text by name",
        ),
    }
    for key, (is_right, rule) in rules.items():
        if not is_right:
            return f": {key} must be {rule}, not {shown(content[key])}"
    return _fault_of_rows(rows, k, boundaries)


def _fault_of_rows(rows: pd.DataFrame, k: int, boundaries: list[int]) -> str:
    counts = {f"above_{boundary}": f"tied_{boundary}" for boundary in boundaries}
    whole = ["candidates", "scored", "above", "tied", "fold", *counts, *counts.values()]
    for column in ["user", "item", "score", "uniform", "outcome", *whole]:
        if column not in rows:
            return f": lacks the column {column}"
        dtype = rows[column].dtype
        if column in whole and dtype.kind != "i":
            return f": {column} must be whole numbers, not {dtype}"
        if column in ("score", "uniform") and dtype.kind not in "if":
            return f": {column} must be numbers, not {dtype}"
    if not len(rows):
        return ": has no rows"
    candidates, above, tied, scored = (rows[column] for column in ("candidates", "above", "tied", "scored"))
    is_beaten, users = rows["outcome"] == "beaten", rows["user"]
    is_list = users.map(pd.api.types.is_list_like) if users.dtype == object else False
    rules = {
        "candidates": ((candidates < 1) | (candidates > MOST), "from 1 on"),
        "above": ((above < 0) | (above > k) | (above >= candidates), f"from 0 to k = {k}, and below candidates"),
        "tied": ((tied < 0) | (above + tied >= candidates), "0 or more, and with above below candidates"),
        "scored": ((scored < 1) | (scored > candidates), "from 1 to candidates"),
        "fold": ((rows["fold"] < 0) | (rows["fold"] >= FOLDS), f"from 0 to {FOLDS - 1}"),
        "uniform": (~rows["uniform"].between(0, 1), "from 0 to 1"),
        "score": (rows["score"].isna() | (rows["score"] == np.inf), "a number below infinity"),
        "outcome": (
            ~rows["outcome"].isin(OUTCOMES) | (is_beaten != (above == k)),
            f"beaten where above is k = {k}, and complete or open elsewhere",
        ),
        **{column: ((rows[column] < -1) | (rows[column] > k), f"from -1 to k = {k}") for column in counts},
        **{
            ties: (_are_wrong(rows[ties], rows[column], candidates), f"-1 where {column} is -1, and from 0 elsewhere")
            for column, ties in counts.items()
        },
        "user": (users.isna() | is_list, "an id"),
    }
    for column, (is_wrong, rule) in rules.items():
        if is_wrong.any():
            row = int(np.flatnonzero(is_wrong)[0])
            return f", row {row + 1}: {column} must be {rule}, not {shown(rows[column].iloc[row])}"
    return ""


def _are_wrong(ties: pd.Series[Any], above: pd.Series[Any], candidates: pd.Series[Any]) -> pd.Series[Any]:
    """Return whether (rows,) ties at a boundary are missing or too many, or are of a row that did not get there."""
    return (ties < -1) | ((ties < 0) != (above < 0)) | (above + ties >= candidates)
