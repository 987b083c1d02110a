"""Rows of events from other files than csv: lists of items, objects of JSON, and parquet."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from sampled_metrics.core.data.tables import NEEDS_PYARROW, Location, Rows, Text, refuse_rows
from sampled_metrics.errors import DataError
from sampled_metrics.file_io import reading

_PARQUET_ROWS = 2**16
_BUFFER_BYTES = 2**20
_SHOWN_COLUMNS = 20


class ColumnError(DataError):
    """A table lacks a column, or has it twice."""


def require_columns(
    place: str, header: Sequence[str | int], columns: Collection[str | int]
) -> None:
    """Raise ColumnError unless a table has each of `columns` exactly once.

    `place` is the place of its header.
    """
    for column in columns:
        if header.count(column) != 1:
            number = "no" if column not in header else "more than one"
            names = ", ".join(f"{name!r:.80}" for name in header[:_SHOWN_COLUMNS])
            more = ", …" if len(header) > _SHOWN_COLUMNS else ""
            raise ColumnError(
                f"{place}: there is {number} column {column!r}; the columns are {names}{more}"
            )


def list_rows(
    stream: BinaryIO,
    name: str,
    columns: Mapping[str, Any],
    *,
    skips_bad_lines: bool,
    **_: Any,
) -> Iterator[Rows]:
    """Yield users, items and timestamps of a file with a user and the user's items on each line.

    The timestamps are the order of the items in the file, from 0. A user may have no items.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the columns to yield: user, item and timestamp.
        skips_bad_lines: whether empty lines are left out. Otherwise they are refused.

    Raises:
        DataError: a line is empty.
    """
    text = Text(stream, name)
    before = 0
    for block in text:
        lists = [line.decode().split() for line in block.split(b"\n")[:-1]]
        is_empty = [not words for words in lists]
        numbered = np.arange(text.line, text.line + len(lists))
        if not skips_bad_lines:
            refuse_rows(is_empty, lambda row: "is empty", _line_place(name, numbered))
        counts = [max(len(words) - 1, 0) for words in lists]
        users = ["".join(words[:1]) for words in lists]
        items = [word for words in lists for word in words[1:]]
        values = {
            "user": np.repeat(np.array(users, dtype=object), counts),
            "item": np.array(items, dtype=object),
            "timestamp": np.arange(before, before + len(items)),
        }
        frame = pd.DataFrame({column: values[column] for column in columns})
        yield Rows(frame, _line_place(name, np.repeat(numbered, counts)), skipped=sum(is_empty))
        before += len(items)


def _line_place(name: str, lines: Any) -> Location:
    """Return the place of each row of a file, from the numbers of the lines."""
    return lambda row: f"{name}, line {lines[row]}"


def json_rows(
    stream: BinaryIO,
    name: str,
    columns: Mapping[str, str],
    *,
    numbers: Collection[str] = (),
    skips_bad_lines: bool = False,
) -> Iterator[Rows]:
    """Yield the values of some keys from a file with a JSON object on each line, or one array.

    Text is empty where the key is missing, or where the value is null, a list or an object.

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
    if _next_byte(stream) == b"[":
        yield from _array_rows(stream, name, columns, numbers)
        return
    text = Text(stream, name)
    is_first = True
    for block in text:
        objects = []
        places = list[int]()
        lines = block.split(b"\n")[:-1]
        for number, line in enumerate(lines, text.line):
            if parsed := _object(line):
                objects.append(parsed)
                places.append(number)
            elif not skips_bad_lines:
                content = line[:80].decode(errors="backslashreplace")
                raise DataError(
                    f"{name}, line {number}: expected an object of JSON, got {content!r}"
                )
            if is_first and not skips_bad_lines:
                _require_keys(f"{name}, line {number}", parsed, columns.values())
            is_first = False
        skipped = len(lines) - len(objects)
        yield Rows(_frame(objects, columns, numbers), _line_place(name, places), skipped)


def _next_byte(stream: Any) -> bytes:
    """Return the next byte of a stream, which is not taken from it."""
    if hasattr(stream, "peek"):
        return bytes(stream.peek(1)[:1])
    byte = bytes(stream.read(1))
    stream.seek(-len(byte), 1)
    return byte


def _array_rows(
    stream: BinaryIO, name: str, columns: Mapping[str, str], numbers: Collection[str]
) -> Iterator[Rows]:
    """Yield the values of some keys from a file with one array of objects, read at once."""
    with reading(name):
        objects = json.loads(stream.read())
    if not all(isinstance(parsed, dict) for parsed in objects):
        raise DataError(f"{name}: must be an array of objects, or have an object on each line")
    if objects:
        require_columns(name, list(objects[0]), columns.values())
    yield Rows(_frame(objects, columns, numbers), lambda row: f"{name}, object {row + 1}")


def _frame(
    objects: Sequence[Mapping[str, Any]], columns: Mapping[str, str], numbers: Collection[str]
) -> pd.DataFrame:
    """Return a column for each key of objects."""
    values = {}
    for column, key in columns.items():
        cells = [parsed.get(key) for parsed in objects]
        values[column] = _values(cells, column in numbers)
    return pd.DataFrame(values)


def _require_keys(place: str, parsed: Mapping[str, Any], keys: Collection[str]) -> None:
    """Raise ColumnError unless an object has these keys, and none has the values of all rows."""
    require_columns(place, list(parsed), keys)
    for key in keys:
        if isinstance(parsed[key], dict):
            raise ColumnError(
                f"{place}: {key!r:.80} has an object, as DataFrame.to_json writes a column; write "
                "with orient='records'"
            )


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
    columns: Mapping[str, str],
    *,
    numbers: Collection[str] = (),
    **_: Any,
) -> Iterator[Rows]:
    """Yield some columns of a parquet file, many rows at a time.

    A column that may be numbers keeps times, dates and numbers, if none of the numbers is missing.
    Floats stay floats. All else is text.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the column of the file for each column.
        numbers: columns that may be numbers.

    Raises:
        DataError: pyarrow is not installed, the file is not parquet, or a column is missing or of
            another type.
    """
    with reading(name, NEEDS_PYARROW):
        import pyarrow.types as kinds
        from pyarrow import parquet
    with reading(name):
        # reads page by page
        file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER_BYTES)
    schema = file.schema_arrow
    require_columns(name, schema.names, columns.values())
    for column in columns.values():
        kind = schema.field(column).type
        if kinds.is_nested(kind) or kinds.is_binary(kind):
            raise DataError(
                f"{name}: column {column!r} is of type {kind}; expected numbers, text or times"
            )
    batches = file.iter_batches(_PARQUET_ROWS, columns=list(columns.values()), use_threads=False)
    before = 0
    while True:
        with reading(name):
            batch = next(batches, None)
        if batch is None:
            break
        frame = {}
        for role, column in columns.items():
            with reading(name, f"column {column!r} cannot be read"):
                frame[role] = _of_arrow(batch.column(column), role in numbers)
        yield Rows(pd.DataFrame(frame), _row_place(name, before))
        before += batch.num_rows


def _row_place(name: str, before: int) -> Location:
    return lambda row: f"{name}, row {before + row + 1}"


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
