"""Files of staged ranks: Parquet, which needs pyarrow, or SQLite.

What is read is checked: it has what a run can write (`rules.py`), and the checksum of what was
written. The checksum finds damage, and changes by hand or by other programs. It does not find the
changes of someone who also changes the checksum.
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

from sampled_metrics import file_io
from sampled_metrics.checks import shown
from sampled_metrics.core.data.ids import as_text, column_of
from sampled_metrics.errors import ConfigError, DataError, reason
from sampled_metrics.file_io import path_text
from sampled_metrics.stages.rules import fault

KEY = b"sampled_metrics.staged_ranks"
"""The key of the metadata of a Parquet file.

It has k, depth, seed, boundaries, digests and checksum, as JSON.
"""

CHECKSUM = "checksum"
"""The name of the checksum in the file, beside k, depth and the others."""

_SELECT_ROWS = "SELECT * FROM ranks"

APPLICATION = 0x53_4D_53_52
"""The number by which a SQLite file says what it is; the letters SMSR."""


_READING_ERRORS = (
    OSError,
    ValueError,
    TypeError,
    LookupError,
    RuntimeError,
    MemoryError,
    sqlite3.Error,
    pd.errors.DatabaseError,
)
"""What libraries raise on a damaged file.

Those of Arrow are among these. Content that is nested too deeply is a RuntimeError.
"""


def require_ending(path: str | os.PathLike[str]) -> None:
    """Raise ConfigError unless the name of a file ends in .sqlite or .parquet.

    The latter needs pyarrow.
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
    """Write the rows of staged ranks, and what they are of.

    The file has a checksum of both as they are read from it. Raises ConfigError as in
    `require_ending`, and WriteError.
    """
    require_ending(path)
    with file_io.atomic_write(path) as temporary:
        if temporary.suffix.lower() == ".parquet":
            import pyarrow.parquet

            table = _arrow(rows).replace_schema_metadata(None)
            text = _with_checksum(content, table.to_pandas())
            pyarrow.parquet.write_table(table.replace_schema_metadata({KEY: text}), temporary)
        else:
            with closing(sqlite3.connect(temporary)) as connection:
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                rows.to_sql("ranks", connection, index=False)
                text = _with_checksum(content, pd.read_sql_query(_SELECT_ROWS, connection))
                connection.execute("CREATE TABLE run (content TEXT)")
                connection.execute("INSERT INTO run VALUES (?)", (text,))
                connection.commit()


def _with_checksum(content: Mapping[str, Any], rows: pd.DataFrame) -> str:
    """Return what rows are of as JSON, with the checksum of both."""
    return json.dumps({**content, CHECKSUM: checksum(rows, content)})


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
        is_number = isinstance(cells.dtype, np.dtype) and cells.dtype.kind in _STORED
        kind = cells.dtype.kind if is_number else "text"
        add(f"{name}, {kind}".encode(errors="backslashreplace"))
        if is_number:
            add(cells.to_numpy().astype(_STORED[kind]).tobytes())
        else:
            add(json.dumps(as_text(cells).tolist()).encode())
    return digest.hexdigest()


_STORED = {"i": "<i8", "u": "<u8", "f": "<f8"}
"""The types of numbers in the checksum, by NumPy's kind."""


def require_ids(path: str | None, users: NDArray[Any], items: NDArray[Any]) -> None:
    """Check, before the first score, that a file of staged ranks would give ids back.

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
            stored = None if path is None else _round_trip(path, pd.DataFrame({kind: ids}))[kind]
        except (ValueError, TypeError, OverflowError, NotImplementedError, OSError) as error:
            raise DataError(f"{kind}_ids: {_ALLOWED_IDS}: {reason(error)}") from None
        if stored is None:
            continue
        texts = as_text(column_of(ids))
        stored_texts = as_text(stored)
        if not np.array_equal(stored_texts, texts):
            differs = stored_texts.to_numpy(dtype=object) != texts.to_numpy(dtype=object)
            row = int(np.argmax(differs))
            raise DataError(
                f"{kind}_ids: {_ALLOWED_IDS}: it would have {shown(stored.iloc[row])} for "
                f"{shown(ids[row])}"
            )


_ALLOWED_IDS = "must be text, or whole numbers of 64 bits, which a file of staged ranks can hold"


def _round_trip(path: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows as a file with such an ending would give them back."""
    if path.lower().endswith(".parquet"):
        stored: pd.DataFrame = _arrow(rows).replace_schema_metadata().to_pandas()
        return stored
    with closing(sqlite3.connect(":memory:")) as connection:
        rows.to_sql("ranks", connection, index=False)
        return pd.read_sql_query(_SELECT_ROWS, connection)


def _arrow(rows: pd.DataFrame) -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(rows, preserve_index=False)


def is_staged(path: str) -> bool:
    """Return whether a file says that it holds staged ranks."""
    ending = Path(path).suffix.lower()
    try:
        if ending == ".parquet" and find_spec("pyarrow") is not None:
            import pyarrow.parquet

            with file_io.opened(path) as file:
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
    with file_io.reading(name):
        rows, content = _rows_and_content(name)
    stated = content.pop(CHECKSUM, None) if isinstance(content, dict) else None
    with file_io.reading(name):
        message = fault(rows, content)
        is_changed = not message and stated != checksum(rows, content)
    if message:
        raise DataError(f"{name}{message}")
    if is_changed:
        raise DataError(
            f"{name}: was changed after it was written, or is damaged: its content does not fit "
            "its checksum; take the file as a run or `concat` has written it"
        )
    return rows, content


def _rows_and_content(path: str) -> tuple[pd.DataFrame, Any]:
    """Return the rows of a file, and the JSON of what they are of."""
    if path.lower().endswith(".parquet"):
        import pyarrow.parquet

        with file_io.opened(path) as file:
            table = pyarrow.parquet.ParquetFile(file).read()
        content = json.loads(table.schema.metadata[KEY])
        return table.replace_schema_metadata(None).to_pandas(), content
    with closing(_opened(path)) as connection:
        text = connection.execute("SELECT content FROM run").fetchone()[0]
        return pd.read_sql_query(_SELECT_ROWS, connection), json.loads(text)


def _if_rewritten(path: str) -> str:
    """Return what is said of a file with the columns of staged ranks alone, as pandas writes it."""
    try:
        columns = _column_names(path)
    except _READING_ERRORS:  # DataError is a ValueError
        return ""
    if not {"above_0", "uniform", "fold", "scored"} <= columns:
        return ""
    return "; another program has written its columns, without k, depth, seed and digests"


def _column_names(path: str) -> set[str]:
    """Return the names of the columns of a file."""
    if path.lower().endswith(".parquet"):
        import pyarrow.parquet

        with file_io.opened(path) as file:
            return {*pyarrow.parquet.read_schema(file).names}
    with closing(_opened(path)) as connection:
        return {*pd.read_sql_query(f"{_SELECT_ROWS} LIMIT 0", connection).columns}


def _opened(path: str) -> sqlite3.Connection:
    """Return a connection that only reads."""
    return sqlite3.connect(f"file:{pathname2url(os.path.abspath(path))}?mode=ro", uri=True)
