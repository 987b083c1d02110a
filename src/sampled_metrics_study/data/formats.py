"""Formats of files of events. A format is a few facts, and a new one is an entry of `FORMATS`."""

import io
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sampled_metrics.checks import did_you_mean
from sampled_metrics.core.data.tables import BLOCK_BYTES, Csv, Rows, Text
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.running import LATE, terminal_bar
from sampled_metrics_study.data.archives import open_member
from sampled_metrics_study.data.events import EventChunk, events_of_rows
from sampled_metrics_study.data.records import (
    ColumnError,
    json_rows,
    list_rows,
    parquet_rows,
    require_columns,
)

Column = str | int
"""Name of a column, or its position from 1 in a file without a header."""


_COLUMN = {"type": ["string", "integer"], "minLength": 1, "minimum": 1}
_OPTIONAL = {**_COLUMN, "type": ["string", "integer", "null"], "default": None}


def _options(**more: Any) -> dict[str, Any]:
    """Return the JSON schema of the options of a format, with more than those of all formats."""
    properties = {
        **more,
        "columns": {
            "description": "The columns of users, items, ratings and timestamps.",
            "type": "object",
            "additionalProperties": False,
            "required": ["user", "item"],
            "properties": {
                "user": {"description": "The column of user ids.", **_COLUMN},
                "item": {"description": "The column of item ids.", **_COLUMN},
                "rating": {
                    "description": "The column of ratings; null if there is none.",
                    **_OPTIONAL,
                },
                "timestamp": {
                    "description": "The column of timestamps; null if there is none.",
                    **_OPTIONAL,
                },
            },
        },
        "timestamp_format": {
            "description": (
                "How times are written: iso, as 2020-01-31 or 2020-01-31T23:59:59Z, or a pattern "
                "of strptime, as %d/%m/%Y %H:%M. A time without an offset is in UTC. null: as the "
                "format says, else numbers."
            ),
            "type": ["string", "null"],
            "pattern": "^iso$|%",
            "default": None,
        },
        "timestamp": {
            "description": "column: times are those of the column, if there is one. order: they "
            "are the line numbers.",
            "enum": ["column", "order"],
            "default": "column",
        },
        "keep": {
            "description": "Keep only the lines that have one of `values` in `column`; null "
            "keeps all.",
            "type": ["object", "null"],
            "additionalProperties": False,
            "required": ["column", "values"],
            "properties": {
                "column": {"description": "The column.", **_COLUMN},
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
            "description": "error: a malformed line ends the run. skip: it is left out, and "
            "counted in the log.",
            "enum": ["error", "skip"],
            "default": "error",
        },
    }
    return _schema(properties, ["columns"])


def _schema(properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(required),
    }


_NAMED = _options()
_DELIMITED = _options(
    separator={
        "description": "Separator of fields: a comma, semicolon, colon, bar, tab or space.",
        "type": "string",
        "pattern": r"^[,;:|\t ]$",
        "maxLength": 1,
        "default": ",",
    },
    quotes={
        "description": "Whether a field may be in double quotes, as in csv; if false, quotes are "
        "part of the text.",
        "type": "boolean",
        "default": True,
    },
)


@dataclass(frozen=True)
class Format:
    """Format of a file of events.

    Attributes:
        rows: function that yields rows with a column for each role, such as `json_rows`.
        file: the layout of the file, in Markdown, for the documentation.
        published_as: datasets that are published in this format, likewise.
        columns: the column of each role: user, item, rating and timestamp; None if an option says
            so.
        timestamp_format: "iso" or a pattern of strptime; None if timestamps are numbers. An option
            may name another.
        member: name of the file of events inside the published archive, or a pattern such as
            `*.inter`; None if the archive holds only that file.
        options: JSON schema of the options of `parse`.
    """

    rows: Callable[..., Iterator[Rows]]
    file: str
    published_as: str
    columns: Mapping[str, Column] | None = None
    timestamp_format: str | None = None
    member: str | None = None
    options: Mapping[str, Any] = field(default_factory=lambda: _schema({}))

    def columns_by_role(
        self,
        *,
        columns: Mapping[str, Column | None] | None = None,
        keep: Mapping[str, Any] | None = None,
        timestamp: str = "column",
        **_: Any,
    ) -> dict[str, Column]:
        """Return the column of each role, by options of `parse` alone; no file is read.

        The column of `keep` has the role "keep".

        Raises:
            ConfigError: two roles have the same column, or times have a column and are the order.
        """
        stated = self.columns or columns or {}
        column_of = {role: column for role, column in stated.items() if column is not None}
        if keep is not None:
            column_of["keep"] = keep["column"]
        chosen = list(column_of.values())
        if len(set(chosen)) < len(chosen):
            roles = " and ".join(column_of)
            raise ConfigError(f"columns: {roles} must name different columns, not {chosen}")
        if timestamp == "order" and "timestamp" in column_of:
            raise ConfigError(
                "timestamp: order has no use for the column of timestamps in columns; leave one out"
            )
        return column_of

    def parse(
        self,
        stream: BinaryIO,
        name: str,
        *,
        columns: Mapping[str, Column | None] | None = None,
        keep: Mapping[str, Any] | None = None,
        timestamp_format: str | None = None,
        timestamp: str = "column",
        on_bad_lines: str = "error",
        **reading: Any,
    ) -> Iterator[EventChunk]:
        """Return an iterator over the events, in the order of the file.

        Args:
            stream: the file's bytes.
            name: name of the file in errors.
            columns: the column of each role, for a format without its own; the options of this name
                and of the next ones are described by the schema of options.
            keep: the column and the values of the lines to keep.
            timestamp_format: how times are written.
            timestamp: whether times are those of a column, or the order of the lines.
            on_bad_lines: whether malformed lines are refused or skipped.
            reading: further options of the format, such as separator.

        Raises:
            ConfigError: two roles have the same column, or the format of timestamps is unknown.
            DataError: a column is missing, a line is malformed, or there is no event.
        """
        columns_by_role = self.columns_by_role(columns=columns, keep=keep, timestamp=timestamp)
        skips = on_bad_lines == "skip"
        timestamp_format = timestamp_format or self.timestamp_format
        numbers = {"rating"} | ({"timestamp"} if timestamp_format is None else set())
        is_named = isinstance(columns_by_role["user"], str)
        labels = {
            role: str(column) if is_named else f"column {column}"
            for role, column in columns_by_role.items()
        }
        rows = self.rows(
            stream, name, columns_by_role, numbers=numbers, skips_bad_lines=skips, **reading
        )
        return events_of_rows(
            rows,
            name,
            labels,
            timestamp_format=timestamp_format,
            kept=None if keep is None else _texts(keep["values"]),
            skips_bad_lines=skips,
            ordered=timestamp == "order",
            hint=_HINT if self.options["properties"] else "",
        )


_HINT = "; see the options on_bad_lines and timestamp_format"


def _texts(values: Sequence[str | int]) -> set[str]:
    """Return values as files may have them: true as JSON and as Python write it."""
    return {str(value) for value in values} | {json.dumps(value) for value in values}


def _csv(
    stream: BinaryIO,
    name: str,
    columns: Mapping[str, Column],
    *,
    numbers: Collection[str],
    skips_bad_lines: bool,
    separator: str = ",",
    quotes: bool = True,
    optional: Collection[str] = (),
) -> Iterator[Rows]:
    """Yield the rows of a file with a separator between fields.

    Args:
        stream: the file's bytes.
        name: name of the file in errors.
        columns: the column of each role, by name or, if the file has no header, by position.
        numbers: the roles that are numbers.
        skips_bad_lines: whether lines with more or fewer fields than the first are left out.
        separator: separator of fields.
        quotes: whether a field may be in double quotes.
        optional: roles that a file may lack.
    """
    text = Text(stream, name)
    place = f"{name}, line {text.line}"
    table = Csv(text, separator, has_quotes=quotes)
    has_header = isinstance(columns["user"], str)
    if has_header and not table.header:
        raise ColumnError(f"{name}: is empty; the first line has the names of the columns")
    header: list[Column] = list(range(1, len(table.header) + 1))
    if has_header:
        # a column may be named with the type that RecBole writes after its name, or without
        header = [
            name if name in columns.values() else _TYPE.sub("", name) for name in table.header
        ]
    present = {
        role: column for role, column in columns.items() if column in header or role not in optional
    }
    if header:
        require_columns(place, header, present.values())
    names = {header.index(column): role for role, column in present.items() if header}
    yield from table.rows(
        names, has_header=has_header, numbers=numbers, skips_bad_lines=skips_bad_lines
    )


_TYPE = re.compile(r":(?:token|float)(?:_seq)?$")
"""The type after a name of a column in RecBole's atomic files, as in `user_id:token`."""

_POSITIONS = {"user": 1, "item": 2, "rating": 3, "timestamp": 4}
_MOVIELENS = {"user": "userId", "item": "movieId", "rating": "rating", "timestamp": "timestamp"}
_RECBOLE = {"user": "user_id", "item": "item_id", "rating": "rating", "timestamp": "timestamp"}
_TABS = partial(_csv, separator="\t", quotes=False)

FORMATS = {
    "movielens-dat": Format(
        partial(_csv, separator="::", quotes=False),
        "`UserID::MovieID::Rating::Timestamp`",
        "MovieLens 1M, 10M",
        _POSITIONS,
        member="ratings.dat",
    ),
    "movielens-csv": Format(
        partial(_csv, quotes=False),
        "csv with the header userId,movieId,rating,timestamp",
        "MovieLens 20M, 25M, 32M, latest",
        _MOVIELENS,
        member="ratings.csv",
    ),
    "movielens-100k": Format(
        _TABS,
        "tab-separated user, item, rating, timestamp",
        "MovieLens 100K (u.data)",
        _POSITIONS,
        member="u.data",
    ),
    "recbole-inter": Format(
        partial(_csv, separator="\t", quotes=False, optional=("rating", "timestamp")),
        "atomic .inter: tab-separated, with a header of names and types, as `user_id:token`",
        "RecBole's datasets",
        _RECBOLE,
        member="*.inter",
    ),
    "item-lists": Format(
        list_rows,
        "`user item item …` on each line, separated by spaces; the timestamps are the order in "
        "the file",
        "LightGCN, NGCF (train.txt, test.txt)",
        {"user": 1, "item": 2, "timestamp": 3},
    ),
    "delimited": Format(
        _csv,
        "csv or tsv, with or without a header; its names may have RecBole's types",
        "many",
        options=_DELIMITED,
    ),
    "json-lines": Format(
        json_rows,
        "an object of JSON on each line, or one array of objects",
        "Yelp, Amazon reviews 2023",
        options=_NAMED,
    ),
    "parquet": Format(
        parquet_rows,
        "parquet; needs pyarrow (`pip install '.[parquet]'`)",
        "Yambda",
        options=_NAMED,
    ),
}
"""The formats by the `format` of a dataset's config entry."""


_USUAL_NAMES = {
    "csv": "delimited",
    "tsv": "delimited",
    "json": "json-lines",
    "jsonl": "json-lines",
}
"""Usual names of files → the format that reads them."""


def get(name: str) -> Format:
    """Return the format of a name.

    Raises:
        ConfigError: no format has the name.
    """
    if name in FORMATS:
        return FORMATS[name]
    names = sorted(FORMATS)
    usual = f" (write {_USUAL_NAMES[name]})" if name in _USUAL_NAMES else did_you_mean(name, names)
    raise ConfigError(f"unknown format {name!r}{usual}; it may be {', '.join(names)}")


def read_events(
    path: Path,
    form: Format,
    *,
    member: str | None = None,
    options: Mapping[str, Any] | None = None,
    test: Path | None = None,
) -> Iterator[EventChunk]:
    """Yield the events of a dataset; a terminal shows a progress bar on stderr after two seconds.

    Args:
        path: the dataset's file: plain, gzipped, or a zip archive such as a wheel.
        form: format of the events.
        member: name of the file inside the archive; None for the default of the format.
        options: options of the format's parser.
        test: a second file in the same format, whose events are held out; those of the first file
            train.

    Raises:
        DataError: a file cannot be read or is malformed; the message names it and the line.
    """
    if test is not None:
        for file, is_held_out in ((path, False), (test, True)):
            for chunk in read_events(file, form, member=member, options=options):
                yield chunk._replace(held_out=np.full(len(chunk.users), is_held_out))
        return
    with open_member(path, member or form.member) as stream:
        source: Any = stream.raw
        with terminal_bar(
            f"reading {path.name}", source.size, delay=LATE, are_bytes=True
        ) as source.advance:
            yield from form.parse(stream, source.name, **(options or {}))


_BEGINNING = 2**16  # bytes that show the columns of a file, up to the end of a line


def check_columns(
    path: Path, form: Format, *, member: str | None, options: Mapping[str, Any]
) -> None:
    """Raise ColumnError if the beginning of a file lacks a column.

    Whatever else is wrong is found later, and so are columns of parquet in an archive, which would
    be unpacked to its end.

    Args:
        path: the file.
        form: format of the events.
        member: name of the file inside an archive, as in `read_events`.
        options: options of the format's parser.
    """
    reading = {key: value for key, value in options.items() if key in ("separator", "quotes")}
    skips = options.get("on_bad_lines") == "skip"
    try:
        if is_packed_parquet(path, form, member=member):
            return
        columns = form.columns_by_role(**options)
        with open_member(path, member or form.member) as stream:
            source: BinaryIO = stream
            if form.rows is not parquet_rows:
                source = io.BytesIO(stream.read(_BEGINNING) + stream.readline(BLOCK_BYTES))
            rows = form.rows(
                source, str(path), columns, numbers=(), skips_bad_lines=skips, **reading
            )
            next(rows, None)
    except ColumnError:
        raise
    except (ConfigError, DataError):
        return


def is_packed_parquet(path: Path, form: Format, *, member: str | None) -> bool:
    """Return whether a file is parquet that is gzipped or in an archive.

    Parquet is read in any order, and each step back unpacks the file from its start.

    Raises:
        DataError: the file cannot be read.
    """
    if form.rows is not parquet_rows:
        return False
    with open_member(path, member or form.member) as stream:
        source: Any = stream.raw
        return bool(source.size != path.stat().st_size)
