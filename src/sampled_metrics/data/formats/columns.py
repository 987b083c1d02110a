"""Columns of a table, chosen by config: options that formats share, and the layout that follows from them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sampled_metrics.data.formats.separated import Layout, shown
from sampled_metrics.errors import ConfigError, DataError

Column = str | int
"""Name of a column, or its position from 1 in a file without a header."""

_SHOWN = 20


def options(column: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schemas of the options, by name, where `column` is the schema of a column."""
    types = column["type"] if isinstance(column["type"], list) else [column["type"]]
    optional = {**column, "type": [*types, "null"], "default": None}
    return {
        "columns": {
            "description": "The columns of users, items, ratings and timestamps.",
            "type": "object",
            "additionalProperties": False,
            "required": ["user", "item"],
            "properties": {
                "user": {"description": "The column of user ids.", **column},
                "item": {"description": "The column of item ids.", **column},
                "rating": {"description": "The column of ratings; null if there is none.", **optional},
                "timestamp": {"description": "The column of timestamps; null if there is none.", **optional},
            },
        },
        "timestamp_format": {
            "description": (
                "How times are written: iso, as 2020-01-31 or 2020-01-31T23:59:59Z, or a pattern of strptime, as "
                "%d/%m/%Y %H:%M. A time without an offset is in UTC. null: timestamps are numbers."
            ),
            "type": ["string", "null"],
            "pattern": "^iso$|%",
            "default": None,
        },
        "keep": {
            "description": "Keep only the lines that have one of `values` in `column`; null keeps all.",
            "type": ["object", "null"],
            "additionalProperties": False,
            "required": ["column", "values"],
            "properties": {
                "column": {"description": "The column.", **column},
                "values": {
                    "description": "Values of that column, as in the file.",
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": ["string", "integer", "boolean"]},
                },
            },
            "default": None,
        },
        "on_bad_lines": {
            "description": "error: a malformed line ends the run. skip: it is left out, and counted in the log.",
            "enum": ["error", "skip"],
            "default": "error",
        },
    }


NAMED = options({"type": "string", "minLength": 1})
"""Options of formats whose columns have names."""


def chosen(columns: Mapping[str, Column | None], keep: Mapping[str, Any] | None = None) -> dict[str, Column]:
    """Return the column of each role that the options name.

    Args:
        columns: column of each role: "user", "item", "rating", "timestamp"; None if the file has none.
        keep: the "column" whose "values" count, which gets the role "keep"; None if all lines count.

    Raises:
        ConfigError: two roles have the same column, or some columns are names and others positions.
    """
    found = {role: column for role, column in columns.items() if column is not None}
    if keep is not None:
        found["keep"] = keep["column"]
    roles, listed = " and ".join(found), list(found.values())
    if len(set(listed)) < len(listed):
        raise ConfigError(f"columns: {roles} must name different columns, not {listed}")
    if len(set(map(type, listed))) > 1:
        raise ConfigError(f"columns: {roles} must all be names or all be positions, not {listed}")
    return found


def require_columns(name: str, header: Sequence[Column], columns: Mapping[str, Column]) -> None:
    """Refuse a file without the chosen columns.

    Args:
        name: name of the file in errors.
        header: all columns of the file, in order.
        columns: the column of each role.

    Raises:
        DataError: a column is missing or repeated.
    """
    for column in columns.values():
        if header.count(column) != 1:
            number = "no" if column not in header else "more than one"
            names = ", ".join(shown(each.encode()) if isinstance(each, str) else str(each) for each in header[:_SHOWN])
            more = ", …" if len(header) > _SHOWN else ""
            raise DataError(f"{name}, line 1: there is {number} column {column!r}; the columns are {names}{more}")


def layout_of(
    header: Sequence[Column],
    columns: Mapping[str, Column],
    separator: str | None = None,
    *,
    has_quotes: bool = True,
    timestamp_format: str | None = None,
    keep: Mapping[str, Any] | None = None,
    on_bad_lines: str = "error",
) -> Layout:
    """Return the layout, with text ids, of lines with these columns.

    Args:
        header: all columns of a line, in order.
        columns: the column of each role.
        separator: separator of the fields; None if the lines are not those of the file, but csv made of them.
        has_quotes: see `Layout`.
        timestamp_format: see `Layout`.
        keep: see `chosen`.
        on_bad_lines: "error" or "skip".
    """
    fields = "" if separator is None else f"{len(header)} fields separated by {separator!r}, "
    named = {role: repr(column) if isinstance(column, str) else f"column {column}" for role, column in columns.items()}
    expected = f"{fields}{named['user']} and {named['item']} not empty"
    numbers = [named[role] for role in ("rating", "timestamp") if role in named]
    time = numbers.pop() if timestamp_format is not None and "timestamp" in named else None
    if numbers:
        expected += f", {' and '.join(numbers)} numbers"
    if time is not None:
        expected += f", {time} a time ({timestamp_format})"
    roles = {column: role for role, column in columns.items()}
    return Layout(
        separator or ",",
        tuple(roles.get(column) for column in header),
        expected,
        has_text_ids=True,
        has_quotes=has_quotes,
        timestamp_format=None if time is None else timestamp_format,
        kept=None if keep is None else frozenset(_text(value) for value in keep["values"]),
        skips_bad_lines=on_bad_lines == "skip",
    )


def _text(value: str | int) -> str:
    return value if isinstance(value, str) else json.dumps(value)  # true, as JSON and parquet files have it


class Parts:
    """A stream of the bytes that an iterator yields in parts, none of them empty."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._rest = parts, b""

    def read(self, size: int, /) -> bytes:
        """Return the next `size` bytes; fewer if there are no more."""
        found, length = [self._rest], len(self._rest)
        while length < size and (part := next(self._parts, b"")):
            found.append(part)
            length += len(part)
        joined = b"".join(found)
        self._rest = joined[size:]
        return joined[:size]
