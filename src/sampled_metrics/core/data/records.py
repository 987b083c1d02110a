"""Rows of records: lists of items, objects of JSON, and parquet."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.checks import shown
from sampled_metrics.core.data.labels import with_index
from sampled_metrics.core.data.tables import (
    SPACES,
    Readable,
    Rows,
    Text,
    line_place,
    quoted,
    refuse_rows,
    require_columns,
    whole_lines,
)
from sampled_metrics.errors import DataError
from sampled_metrics.file_io import reading

_PARQUET_ROWS = 2**16
_BUFFER_BYTES = 2**20


def list_rows(
    stream: Readable,
    name: str,
    columns: Mapping[str, Any],
    *,
    numbers: Collection[str],
    skips_bad_lines: bool,
) -> Iterator[Rows]:
    """Yield users, items and timestamps of a file with a user and the user's items on each line.

    The timestamps are the order of the items in the file, from 0. A user may have no items.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the columns to yield: user, item and timestamp.
        numbers: taken as in `json_rows`, but without effect: ids are text, and timestamps numbers.
        skips_bad_lines: whether empty lines are left out. Otherwise they are refused, but for those
            at the end.

    Raises:
        DataError: a line is empty.
    """
    text = Text(stream, name)
    before = 0
    while text.block.strip(SPACES.encode() + b"\n"):
        whole = whole_lines(text.block, SPACES)
        lists = [line.split() for line in whole.split(b"\n")[:-1]]
        is_empty = [not words for words in lists]
        numbered = np.arange(text.line, text.line + len(lists))
        if not skips_bad_lines:
            refuse_rows(is_empty, lambda row: "is empty", partial(line_place, name, numbered))
        counts = [max(len(words) - 1, 0) for words in lists]
        places = np.repeat(numbered, counts)
        users = [b"".join(words[:1]).decode() for words in lists]
        items = [word.decode() for words in lists for word in words[1:]]
        values = {
            "user": np.repeat(np.array(users, dtype=object), counts),
            "item": np.array(items, dtype=object),
            "timestamp": np.arange(before, before + len(places)),
        }
        frame = pd.DataFrame({column: values[column] for column in columns})
        yield Rows(frame, partial(line_place, name, places), skipped=sum(is_empty))
        before += len(places)
        text.advance(len(whole))


def json_rows(
    stream: Readable,
    name: str,
    columns: Mapping[str, str],
    *,
    numbers: Collection[str] = (),
    skips_bad_lines: bool = False,
) -> Iterator[Rows]:
    """Yield the values of some keys from a file with a JSON object on each line.

    Text is empty where the key is missing, or where the value is null, a list, an object, or text
    with a line break or a zero byte.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the key of each column.
        numbers: columns that are numbers in a block in which all their values are; other columns
            are text.
        skips_bad_lines: whether lines without an object are left out. Otherwise they are refused.

    Raises:
        DataError: a line has no JSON object, or the first line lacks a key.
    """
    text = Text(stream, name)
    first_line = text.line
    while text.block.strip(b"\n"):
        whole = whole_lines(text.block)
        objects = []
        places = list[int]()
        lines = whole.split(b"\n")[:-1]
        for number, line in enumerate(lines, text.line):
            if parsed := _object(line):
                objects.append(parsed)
                places.append(number)
            elif not skips_bad_lines:
                raise DataError(
                    f"{name}, line {number}: expected an object of JSON, got {quoted(line)}"
                )
            if number == first_line and not skips_bad_lines:
                require_columns(
                    f"{name}, line {number}", list(parsed), columns.values(), _hint_on_lists(parsed)
                )
        values = {}
        for column, key in columns.items():
            cells = [parsed.get(key) for parsed in objects]
            values[column] = _values(cells, column in numbers)
        yield Rows(
            pd.DataFrame(values),
            partial(line_place, name, places),
            skipped=len(lines) - len(objects),
        )
        text.advance(len(whole))


def _hint_on_lists(parsed: Mapping[str, Any]) -> str:
    """Return what to write where a line has a list of events in an object, as in OTTO's files."""
    for key, value in parsed.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            keys = ", ".join(map(str, value[0]))
            return (
                f"; {key!r:.80} is a list of objects with {keys:.80}, as in OTTO's files: write a "
                "line for each of them"
            )
    return ""


def _object(line: bytes) -> dict[str, Any]:
    """Return the object on a line; an empty one if there is none."""
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _values(values: list[Any], may_be_numbers: bool) -> pd.Series:
    if may_be_numbers and all(
        type(value) in (int, float) and abs(value) < 2**63 for value in values
    ):
        return pd.Series(values)
    return pd.Series([_text(value) for value in values], dtype=str)


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if not isinstance(value, str) or re.search("[\n\r\0]", value):
        return ""
    return value.encode(errors="backslashreplace").decode()  # half a pair of surrogates is not text


def parquet_rows(
    stream: Any,
    name: str,
    columns: Mapping[str, str] | None = None,
    *,
    numbers: Collection[str] | None = None,
    skips_bad_lines: bool = False,
) -> Iterator[Rows]:
    """Yield some or all columns of a parquet file, many rows at a time.

    Its pages bound the memory.

    A column that may be numbers keeps times, dates and numbers, if none of the numbers is missing.
    Floats stay floats. All else is text.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the column of the file for each column; None for all, of an index of pandas as
            `with_index` has them.
        numbers: columns that may be numbers; None for all columns as pandas converts them.
        skips_bad_lines: taken as in `json_rows`, but without effect: no row of parquet is
            malformed.

    Raises:
        DataError: pyarrow is not installed, the file is not parquet, or a named column is missing
            or of another type.
    """
    pa, parquet = _pyarrow(name)
    with reading(name):
        # reads page by page
        file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        schema = file.schema_arrow
        before = 0
        levels = _levels(schema, file.metadata.num_rows, name) if columns is None else {}
        batches = file.iter_batches(
            _PARQUET_ROWS, columns=_stored(pa, schema, name, columns, levels), use_threads=False
        )
    if columns is None:
        columns = _columns_beside(levels, schema)
    while True:
        with reading(name):
            batch = next(batches, None)
        if batch is None:
            break
        frame = {}
        for role, column in columns.items():
            with reading(name, f"column {column!r} cannot be read"):
                values = batch.column(column)
                frame[role] = (
                    values.to_pandas() if numbers is None else _of_arrow(values, role in numbers)
                )
        with reading(name):
            table = pd.DataFrame(frame, index=range(batch.num_rows))
            if levels:
                table = with_index(
                    table.set_axis(_index(levels, batch, before), axis="index"), name, before
                )
        yield Rows(table.reset_index(drop=True), partial(_row, name, before))
        before += batch.num_rows
    if not before:
        yield Rows(pd.DataFrame(columns=list(columns)), str)


def _stored(
    pa: Any, schema: Any, name: str, columns: Mapping[str, str] | None, levels: Mapping[Any, Any]
) -> list[str]:
    """Return the columns of a parquet file that are read.

    Raises DataError if one is missing or of another type.
    """
    if columns is None:
        columns = _columns_beside(levels, schema)
        require_columns(name, schema.names, columns)
    else:
        require_columns(name, schema.names, columns.values())
        for column in columns.values():
            kind = schema.field(column).type
            if pa.types.is_nested(kind) or pa.types.is_binary(kind):
                raise DataError(
                    f"{name}: column {column!r} is of type {kind}; expected numbers, text or times"
                )
    return [*columns.values(), *(level for level in levels if level in schema.names)]


def _columns_beside(levels: Mapping[Any, Any], schema: Any) -> dict[str, str]:
    """Return the columns of a file that are no levels of its index, under their own names."""
    return {column: column for column in schema.names if column not in levels}


def parquet_array(stream: Any, name: str) -> Any:
    """Return a parquet file as a frame with its labels if pandas wrote it, else as an array.

    The array is (rows, columns).

    Raises:
        DataError: pyarrow is not installed, the file is not parquet, or it has no rows.
    """
    _, parquet = _pyarrow(name)
    with reading(name):
        table = parquet.read_table(stream, use_threads=False)
        metadata = _pandas_metadata(table.schema, name)
        frame = table.to_pandas()
    if not len(frame):
        raise DataError(f"{name}: has no rows")
    return frame if metadata else frame.to_numpy()


def _pyarrow(name: str) -> tuple[Any, Any]:
    """Return pyarrow and its module of parquet; raise DataError if it is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{name}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'"
        ) from None
    return pyarrow, parquet


def _levels(schema: Any, rows: int, name: str) -> dict[Any, tuple[Any, range | None]]:
    """Return the levels of the index that pandas wrote, by their columns.

    A level has a name, and numbers if it is a range.

    A range of another length is of the table before rows were left out of it.
    """
    metadata = _pandas_metadata(schema, name)
    names = {column.get("field_name"): column.get("name") for column in metadata.get("columns", [])}
    levels: dict[Any, tuple[Any, range | None]] = {}
    for number, level in enumerate(metadata.get("index_columns", [])):
        if isinstance(level, dict):
            numbers = range(level["start"], level["stop"], level["step"])
            if len(numbers) == rows:
                levels[number] = level.get("name"), numbers
        elif level in schema.names:
            levels[level] = names.get(level, level), None
    return levels


def _pandas_metadata(schema: Any, name: str) -> dict[str, Any]:
    """Return what pandas wrote into a parquet file of its index and its columns; empty if nothing.

    Without them the index may count as data, and data as the index. So nothing of them is passed
    over.

    Raises:
        DataError: they are damaged.
    """
    if b"pandas" not in (schema.metadata or {}):
        return {}
    with reading(name, _DAMAGED, _WRITE_AGAIN):
        metadata: dict[str, Any] = schema.pandas_metadata
    if fault := _fault_of_metadata(metadata):
        raise DataError(f"{name}: {_DAMAGED}: {fault}{_WRITE_AGAIN}")
    return metadata


_DAMAGED = "what pandas wrote of its index is damaged"
_WRITE_AGAIN = "; write the file again, with to_parquet"


def _fault_of_metadata(metadata: Any) -> str:
    """Return what is wrong in what pandas wrote of the index; empty if nothing is.

    A level that is no column of the file is one that was left out, as Arrow's `select` does.
    """
    if not isinstance(metadata, dict) or not metadata.keys() >= {"index_columns", "columns"}:
        return "it lacks index_columns or columns"
    levels = metadata["index_columns"]
    columns = metadata["columns"]
    if not isinstance(levels, list) or not isinstance(columns, list):
        return "index_columns and columns must be lists"
    for column in columns:
        if not isinstance(column, dict) or not isinstance(column.get("field_name"), str | None):
            return f"{shown(column)} is no column"
    for level in levels:
        is_range = isinstance(level, dict) and level.get("kind") == "range"
        has_numbers = is_range and all(
            type(level.get(key)) is int for key in ("start", "stop", "step")
        )
        is_right_range = has_numbers and level["step"] and isinstance(level.get("name"), str | None)
        if not isinstance(level, str) and not is_right_range:
            return f"{shown(level)} is neither a column nor a range"
    return ""


def _index(levels: Mapping[Any, tuple[Any, range | None]], batch: Any, before: int) -> pd.Index:
    """Return the index of the rows of a batch, which has so many rows before it."""
    arrays = [
        batch.column(column).to_pandas()
        if numbers is None
        else numbers[before : before + batch.num_rows]
        for column, (_, numbers) in levels.items()
    ]
    names = [name for name, _ in levels.values()]
    if len(arrays) > 1:
        return pd.MultiIndex.from_arrays(arrays, names=names)
    return pd.Index(arrays[0]).rename(names[0])


def _row(name: str, before: int, row: int) -> str:
    return f"{name}, row {before + row + 1}"


def _of_arrow(column: Any, may_be_numbers: bool) -> pd.Series:
    """Return a column of Arrow as numbers or times if it may be these, and else as text."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    is_number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)
    is_time = kinds.is_timestamp(kind) or kinds.is_date(kind)
    if kinds.is_floating(kind) and not may_be_numbers:  # Arrow writes 10000000000.0 as 1e+10
        return column.to_pandas()
    is_other = kinds.is_nested(kind) or kinds.is_binary(kind) or kinds.is_fixed_size_binary(kind)
    if is_other or (may_be_numbers and (is_time or (is_number and not column.null_count))):
        return column.to_pandas(date_as_object=False)
    return column.cast("string").fill_null("").to_pandas().astype(str)
