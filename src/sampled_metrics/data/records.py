"""Rows of records: lists of items, objects of JSON, and parquet."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.data.labels import with_index
from sampled_metrics.data.tables import (
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
from sampled_metrics.errors import DataError, reason

_PARQUET_ROWS = 2**16
_BUFFER_BYTES = 2**20


def list_rows(
    stream: Readable, name: str, columns: Mapping[str, Any], *, numbers: Collection[str], skips_bad_lines: bool
) -> Iterator[Rows]:
    """Yield the users, items and timestamps of a file with a user and then all of the user's items on each line.

    The timestamps are the order of the items in the file, from 0. A user may have no items.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the columns to yield: user, item and timestamp.
        numbers: taken as in `json_rows`, but without effect: ids are text, and timestamps numbers.
        skips_bad_lines: whether empty lines are left out. Otherwise they are refused, but for those at the end.

    Raises:
        DataError: a line is empty.
    """
    text, before = Text(stream, name), 0
    while text.block.strip(SPACES.encode() + b"\n"):
        whole = whole_lines(text.block, SPACES)
        lists = [line.split() for line in whole.split(b"\n")[:-1]]
        is_empty = [not words for words in lists]
        numbered = np.arange(text.line, text.line + len(lists))
        if not skips_bad_lines:
            refuse_rows(is_empty, lambda row: "is empty", partial(line_place, name, numbered))
        counts = [max(len(words) - 1, 0) for words in lists]
        places = np.repeat(numbered, counts)
        values = {
            "user": np.repeat(np.array([b"".join(words[:1]).decode() for words in lists], dtype=object), counts),
            "item": np.array([word.decode() for words in lists for word in words[1:]], dtype=object),
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

    Text is empty where the key is missing, or where the value is null, a list, an object, or text with a line break or
    a zero byte.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the key of each column.
        numbers: columns that are numbers in a block in which all their values are; other columns are text.
        skips_bad_lines: whether lines without an object are left out. Otherwise they are refused.

    Raises:
        DataError: a line has no JSON object, or the first line lacks a key.
    """
    text = Text(stream, name)
    first = text.line
    while text.block.strip(b"\n"):
        whole = whole_lines(text.block)
        objects, places = [], list[int]()
        lines = whole.split(b"\n")[:-1]
        for number, line in enumerate(lines, text.line):
            if parsed := _object(line):
                objects.append(parsed)
                places.append(number)
            elif not skips_bad_lines:
                raise DataError(f"{name}, line {number}: expected an object of JSON, got {quoted(line)}")
            if number == first and not skips_bad_lines:
                require_columns(f"{name}, line {number}", list(parsed), columns.values())
        values = {
            column: _values([row.get(key) for row in objects], column in numbers) for column, key in columns.items()
        }
        yield Rows(pd.DataFrame(values), partial(line_place, name, places), skipped=len(lines) - len(objects))
        text.advance(len(whole))


def _object(line: bytes) -> dict[str, Any]:
    """Return the object on a line; an empty one if there is none."""
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _values(values: list[Any], may_be_numbers: bool) -> pd.Series:
    if may_be_numbers and all(type(value) in (int, float) and abs(value) < 2**63 for value in values):
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
    """Yield some or all columns of a parquet file, many rows at a time, so that its pages bound the memory.

    A column that may be numbers keeps times, dates and numbers, if none of the numbers is missing. Floats stay floats.
    All else is text.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the column of the file for each column; None for all, of an index of pandas as `with_index` has them.
        numbers: columns that may be numbers; None for all columns as pandas converts them.
        skips_bad_lines: taken as in `json_rows`, but without effect: no row of parquet is malformed.

    Raises:
        DataError: pyarrow is not installed, the file is not parquet, or a named column is missing or of another type.
    """
    pa, parquet = _pyarrow(name)
    try:
        file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER_BYTES)  # reads page by page
        schema, before = file.schema_arrow, 0
        levels = _levels(schema, file.metadata.num_rows) if columns is None else {}
        if columns is None:
            columns = {name_in_file: name_in_file for name_in_file in schema.names if name_in_file not in levels}
            require_columns(name, schema.names, columns)
        else:
            require_columns(f"{name}, line 1", schema.names, columns.values())
            for column in columns.values():
                kind = schema.field(column).type
                if pa.types.is_nested(kind) or pa.types.is_binary(kind):
                    raise DataError(f"{name}: column {column!r} is of type {kind}; expected numbers, text or times")
        stored = [*columns.values(), *(level for level in levels if level in schema.names)]
        for batch in file.iter_batches(_PARQUET_ROWS, columns=stored, use_threads=False):
            frame = {}
            for role, column in columns.items():
                values = batch.column(column)
                frame[role] = values.to_pandas() if numbers is None else _of_arrow(values, role in numbers)
            table = pd.DataFrame(frame, index=range(batch.num_rows))
            if levels:
                table = with_index(table.set_axis(_index(levels, batch, before), axis="index"), name, before)
            yield Rows(table.reset_index(drop=True), partial(_row, name, before))
            before += batch.num_rows
        if not before:
            yield Rows(pd.DataFrame(columns=list(columns)), str)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None


def parquet_array(stream: Any, name: str) -> Any:
    """Return a parquet file as a frame with its labels if pandas wrote it, else as an array, (rows, columns).

    Raises:
        DataError: pyarrow is not installed, the file is not parquet, or it has no rows.
    """
    pa, parquet = _pyarrow(name)
    try:
        table = parquet.read_table(stream, use_threads=False)
        frame = table.to_pandas()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None
    if not len(frame):
        raise DataError(f"{name}: has no rows")
    return frame if table.schema.pandas_metadata else frame.to_numpy()


def _pyarrow(name: str) -> tuple[Any, Any]:
    """Return pyarrow and its module of parquet; raise DataError if it is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DataError(f"{name}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'") from None
    return pyarrow, parquet


def _levels(schema: Any, rows: int) -> dict[Any, tuple[Any, range | None]]:
    """Return the levels of the index that pandas wrote, by their columns: the name, and the numbers if it is a range.

    A range of another length is of the table before rows were left out of it.
    """
    metadata = schema.pandas_metadata or {}
    names = {column.get("field_name"): column.get("name") for column in metadata.get("columns", [])}
    levels: dict[Any, tuple[Any, range | None]] = {}
    for number, level in enumerate(metadata.get("index_columns", [])):
        if isinstance(level, str) and level in schema.names:
            levels[level] = names.get(level, level), None
        elif isinstance(level, dict):
            numbers = range(level["start"], level["stop"], level["step"])
            if len(numbers) == rows:
                levels[number] = level["name"], numbers
    return levels


def _index(levels: Mapping[Any, tuple[Any, range | None]], batch: Any, before: int) -> pd.Index:
    """Return the index of the rows of a batch, which has so many rows before it."""
    arrays = [
        batch.column(column).to_pandas() if numbers is None else numbers[before : before + batch.num_rows]
        for column, (_, numbers) in levels.items()
    ]
    names = [name for name, _ in levels.values()]
    if len(arrays) > 1:
        return pd.MultiIndex.from_arrays(arrays, names=names)
    return pd.Index(arrays[0]).rename(names[0])


def _row(name: str, before: int, row: int) -> str:
    return f"{name}, row {before + row + 1}"


def _of_arrow(column: Any, may_be_numbers: bool) -> pd.Series:
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
