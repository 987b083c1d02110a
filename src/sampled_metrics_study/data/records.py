"""Rows of events from other files than csv: lists of items, objects of JSON, and parquet."""

import json
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
    is_array = stream.read(1) == b"["
    stream.seek(0)
    if is_array:
        yield from _array_rows(stream, name, columns, numbers)
        return
    text = Text(stream, name)
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
            if number == 1 and not skips_bad_lines:
                require_columns(f"{name}, line 1", list(parsed), columns.values())
        skipped = len(lines) - len(objects)
        yield Rows(_frame(objects, columns, numbers), _line_place(name, places), skipped)


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
    if not isinstance(value, str):
        return ""
    return value.encode(errors="backslashreplace").decode()  # half a pair of surrogates is not text


def parquet_rows(stream: Any, name: str, columns: Mapping[str, str], **_: Any) -> Iterator[Rows]:
    """Yield some columns of a parquet file, many rows at a time.

    Times, dates and numbers keep their type. Whole numbers of a column with missing ones are
    objects, as floats would lose digits.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.
        columns: the column of the file for each column.

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
            # pandas' notes in the file would make columns the index, and missing ids numbers
            table = batch.to_pandas(
                date_as_object=False, integer_object_nulls=True, ignore_metadata=True
            )
        frame = pd.DataFrame({role: table[column] for role, column in columns.items()})
        yield Rows(frame, _row_place(name, before))
        before += len(frame)


def _row_place(name: str, before: int) -> Location:
    return lambda row: f"{name}, row {before + row + 1}"
