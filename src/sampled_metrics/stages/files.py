"""Files of staged ranks: Parquet, which needs pyarrow, or SQLite.

What is read is checked: it has what a run can write (`staged_rules`), and the checksum of what was
written. The checksum finds damage and changes by hand or by other programs, not those of who also
changes the checksum.
"""

from __future__ import annotations

import hashlib
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
from sampled_metrics._validation import shown
from sampled_metrics.core.data.ids import as_text, column_of
from sampled_metrics.errors import ConfigError, DataError, reason
from sampled_metrics.stages.rules import fault

KEY = b"sampled_metrics.staged_ranks"
"""The key of the metadata of a Parquet file with k, depth, seed, boundaries, digests and checksum,
as JSON.
"""

CHECKSUM = "checksum"
"""The name of the checksum in the file, beside k, depth and the others."""

_ROWS = "SELECT * FROM ranks"

APPLICATION = 0x53_4D_53_52
"""The number by which a SQLite file says what it is; the letters SMSR."""


_UNREADABLE = (
    *(
        OSError,
        ValueError,
        TypeError,
        LookupError,
        RuntimeError,
        MemoryError,
    ),  # those of Arrow are among these
    *(sqlite3.Error, pd.errors.DatabaseError),
)
"""What libraries raise on a damaged file. Content that is nested too deeply is a RuntimeError."""


def require_ending(path: str | os.PathLike[str]) -> None:
    """Raise ConfigError unless the name of a file ends in .sqlite, or in .parquet, with pyarrow
    installed.
    """
    name = path_text(path)
    ending = Path(name).suffix.lower()
    if ending not in (".parquet", ".sqlite"):
        raise ConfigError(f"{name}: the name of the file must end in .parquet or .sqlite")
    if ending == ".parquet" and find_spec("pyarrow") is None:
        raise ConfigError(
            f"{name}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]', or end it "
            "in .sqlite"
        )


def write(path: str | os.PathLike[str], rows: pd.DataFrame, content: Mapping[str, Any]) -> None:
    """Write the rows of staged ranks, and what they are of; raise ConfigError as in
    `require_ending`, or WriteError.

    The file has a checksum of both as they are read from it.
    """
    require_ending(path)
    with _files.atomic_write(path) as temporary:
        if temporary.suffix.lower() == ".parquet":
            import pyarrow.parquet

            table = _arrow(rows).replace_schema_metadata(None)
            kept = {**content, CHECKSUM: checksum(table.to_pandas(), content)}
            pyarrow.parquet.write_table(
                table.replace_schema_metadata({KEY: json.dumps(kept)}), temporary
            )
        else:
            with closing(sqlite3.connect(temporary)) as connection:
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                rows.to_sql("ranks", connection, index=False)
                kept = {
                    **content,
                    CHECKSUM: checksum(pd.read_sql_query(_ROWS, connection), content),
                }
                connection.execute("CREATE TABLE run (content TEXT)")
                connection.execute("INSERT INTO run VALUES (?)", (json.dumps(kept),))
                connection.commit()


def checksum(rows: pd.DataFrame, content: Mapping[str, Any]) -> str:
    """Return a digest of rows and what they are of, whatever wrote and read the file.

    Whole numbers and floats have 64 bits, and all else is text. The order of the rows and columns
    counts.
    """
    digest = hashlib.blake2b(digest_size=16)

    def add(part: bytes) -> None:
        digest.update(len(part).to_bytes(8, "little") + part)

    add(json.dumps(content, sort_keys=True).encode())
    for name, (_, cells) in zip(rows.columns, rows.items(), strict=True):
        kind = (
            cells.dtype.kind
            if isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "iuf"
            else "text"
        )
        add(f"{name}, {kind}".encode(errors="backslashreplace"))
        if kind == "text":
            add(json.dumps(as_text(cells).tolist()).encode())
        else:
            add(cells.to_numpy().astype({"i": "<i8", "u": "<u8", "f": "<f8"}[kind]).tobytes())
    return digest.hexdigest()


def require_ids(path: str | None, users: NDArray[Any], items: NDArray[Any]) -> None:
    """Check, before the first score, that staged ranks can have ids, and that a file gives them
    back.

    Args:
        path: the file; None if there is to be none.
        users: (users,) ids.
        items: (items,) ids.

    Raises:
        DataError: they are of types without a common order, are no text, or would be others in the
            file.
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
            row = int(
                np.argmax(as_text(kept).to_numpy(dtype=object) != before.to_numpy(dtype=object))
            )
            raise DataError(
                f"{kind}_ids: {_NOT_KEPT}: it would have {shown(kept.iloc[row])} for "
                f"{shown(ids[row])}"
            )


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
                return bool(
                    connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
                )
    except Exception:  # whatever a library raises that reads a damaged file
        return False
    return False


def read(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read the rows of staged ranks, and what they are of.

    Raises ConfigError as in `require_ending`, and DataError if the file cannot be read, has no
    staged ranks, or has a value that they cannot have; the message names the row.
    """
    require_ending(path)
    name = os.fspath(path)
    if not os.path.exists(name):
        raise DataError(f"{name}: there is no such file")
    if not is_staged(name):
        raise DataError(f"{name}: has no staged ranks, or is damaged{_if_rewritten(name)}")
    with _files.reading(name):
        if name.lower().endswith(".parquet"):
            import pyarrow.parquet

            with _files.opened(name) as file:
                table = pyarrow.parquet.ParquetFile(file).read()
            content = json.loads(table.schema.metadata[KEY])
            rows = table.replace_schema_metadata(None).to_pandas()
        else:
            with closing(_opened(name)) as connection:
                content = json.loads(connection.execute("SELECT content FROM run").fetchone()[0])
                rows = pd.read_sql_query(_ROWS, connection)
    kept = content.pop(CHECKSUM, None) if isinstance(content, dict) else None
    with _files.reading(name):
        what = fault(rows, content)
        is_changed = not what and kept != checksum(rows, content)
    if what:
        raise DataError(f"{name}{what}")
    if is_changed:
        raise DataError(
            f"{name}: was changed after it was written, or is damaged: its content does not fit "
            "its checksum; take the file as a run or `concat` has written it"
        )
    return rows, content


def _if_rewritten(path: str) -> str:
    """Return what is said of a file that has the columns of staged ranks alone, as pandas writes
    them.
    """
    columns: set[str] = set()
    try:
        if path.lower().endswith(".parquet"):
            import pyarrow.parquet

            with _files.opened(path) as file:
                columns = {*pyarrow.parquet.read_schema(file).names}
        else:
            with closing(_opened(path)) as connection:
                columns = {*pd.read_sql_query(f"{_ROWS} LIMIT 0", connection).columns}
    except _UNREADABLE:  # DataError is a ValueError
        pass
    is_rewritten = {"above_0", "uniform", "fold", "scored"} <= columns
    return (
        "; another program has written its columns, without k, depth, seed and digests"
        if is_rewritten
        else ""
    )


def _opened(path: str) -> sqlite3.Connection:
    """Return a connection that only reads."""
    return sqlite3.connect(f"file:{pathname2url(os.path.abspath(path))}?mode=ro", uri=True)
