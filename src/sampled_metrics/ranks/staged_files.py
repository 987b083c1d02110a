"""Files of staged ranks: Parquet, which needs pyarrow, or SQLite. What is read is checked like any table of ranks."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import pathname2url

import numpy as np
import pandas as pd

from sampled_metrics import _files
from sampled_metrics._validation import MOST, is_real, is_whole, shown
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
    name = os.fspath(path)
    ending = Path(name).suffix.lower()
    if ending not in (".parquet", ".sqlite"):
        raise ConfigError(f"{name}: the name of the file must end in .parquet or .sqlite")
    if ending == ".parquet" and find_spec("pyarrow") is None:
        raise ConfigError(
            f"{name}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]', or end it in .sqlite"
        )


def write(path: str | os.PathLike[str], rows: pd.DataFrame, content: Mapping[str, Any]) -> None:
    """Write the rows of staged ranks, and what they are of.

    Raises:
        ConfigError: as in `require_ending`.
        WriteError: the file cannot be written.
    """
    require_ending(path)
    with _files.atomic_write(path) as temporary:
        if temporary.suffix.lower() == ".parquet":
            import pyarrow
            import pyarrow.parquet

            table = pyarrow.Table.from_pandas(rows, preserve_index=False)
            pyarrow.parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(content)}), temporary)
        else:
            with closing(sqlite3.connect(temporary)) as connection:
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute("CREATE TABLE run (content TEXT)")
                connection.execute("INSERT INTO run VALUES (?)", (json.dumps(content),))
                rows.to_sql("ranks", connection, index=False)
                connection.commit()


def is_staged(path: str) -> bool:
    """Return whether a file says that it holds staged ranks."""
    ending = Path(path).suffix.lower()
    try:
        if ending == ".parquet" and find_spec("pyarrow") is not None:
            import pyarrow.parquet

            return KEY in (pyarrow.parquet.read_schema(path).metadata or {})
        if ending == ".sqlite":
            with closing(_opened(path)) as connection:
                return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)
    except (OSError, ValueError, sqlite3.Error):  # ArrowException is a ValueError or an OSError
        pass
    return False


def read(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read the rows of staged ranks, and what they are of.

    Raises:
        ConfigError: as in `require_ending`.
        DataError: the file cannot be read, has no staged ranks, or has a value that staged ranks cannot have; the
            message names the row.
    """
    require_ending(path)
    name = os.fspath(path)
    if not os.path.exists(name):
        raise DataError(f"{name}: there is no such file")
    if not is_staged(name):
        raise DataError(f"{name}: has no staged ranks, or is damaged")
    try:
        if name.lower().endswith(".parquet"):
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(name, partitioning=None)
            content, rows = json.loads(table.schema.metadata[KEY]), table.to_pandas()
        else:
            with closing(_opened(name)) as connection:
                content = json.loads(connection.execute("SELECT content FROM run").fetchone()[0])
                rows = pd.read_sql_query("SELECT * FROM ranks", connection)
    except (OSError, ValueError, TypeError, sqlite3.Error, pd.errors.DatabaseError) as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None
    if fault := next(_faults(rows, content), ""):
        raise DataError(f"{name}{fault}")
    return rows, content


def _opened(path: str) -> sqlite3.Connection:
    """Return a connection that only reads."""
    return sqlite3.connect(f"file:{pathname2url(os.path.abspath(path))}?mode=ro", uri=True)


def _faults(rows: pd.DataFrame, content: Any) -> Iterator[str]:
    """Yield what staged ranks cannot have, the row first where it is one."""
    if not isinstance(content, dict) or not {"k", "depth", "seed", "boundaries", "digests"} <= {*content}:
        yield ": lacks k, depth, seed, boundaries or digests"
        return
    k, depth, boundaries, digests = (content[key] for key in ("k", "depth", "boundaries", "digests"))
    if not (is_whole(k) and 1 <= k <= MOST):
        yield f": k must be a whole number, 1 or more, not {shown(k)}"
    elif not (depth is None or (is_real(depth) and depth >= 1)):
        yield f": depth must be a number of 1 or more, or null, not {shown(depth)}"
    elif not (is_whole(content["seed"]) and content["seed"] >= 0):
        yield f": seed must be a whole number, 0 or more, not {shown(content['seed'])}"
    elif not (
        isinstance(boundaries, list)
        and boundaries[:1] == [0]
        and all(map(is_whole, boundaries))
        and boundaries == sorted(set(boundaries))
        and boundaries[-1] <= MOST
    ):
        yield f": boundaries must be whole numbers that ascend from 0, not {shown(boundaries)}"
    elif not (isinstance(digests, dict) and all(isinstance(value, str) for value in digests.values())):
        yield ": digests must be text by name"
    else:
        yield from _faults_of_rows(rows, k, [f"above_{boundary}" for boundary in boundaries])


def _faults_of_rows(rows: pd.DataFrame, k: int, counts: list[str]) -> Iterator[str]:
    """Yield the first fault of the columns."""
    numbers = ["candidates", "scored", "above", "tied", "fold", *counts]
    wanted = ["user", "item", "score", "uniform", "outcome", *numbers]
    if missing := [column for column in wanted if column not in rows]:
        yield f": lacks the column {missing[0]}"
        return
    if not len(rows):
        yield ": has no rows"
        return
    for column in (*numbers, "score", "uniform"):
        kinds = "if" if column in ("score", "uniform") else "i"
        if rows[column].dtype.kind not in kinds:
            yield f": {column} must be {'numbers' if kinds == 'if' else 'whole numbers'}, not {rows[column].dtype}"
            return
    candidates, above, tied, scored = (rows[column] for column in ("candidates", "above", "tied", "scored"))
    is_beaten = rows["outcome"] == "beaten"
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
        "user": (rows["user"].isna(), "given"),
    }
    for column, (is_wrong, rule) in rules.items():
        if is_wrong.any():
            row = int(np.flatnonzero(is_wrong)[0])
            yield f", row {row + 1}: {column} must be {rule}, not {shown(rows[column].iloc[row])}"
            return
