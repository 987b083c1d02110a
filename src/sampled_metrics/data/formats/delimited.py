"""Any csv or tsv file. Config names the columns of users, items, ratings and timestamps.

Other columns are ignored. Columns have the names of the header; in a file without one, they have positions from 1. Ids
may be any text, fields may be quoted, and timestamps are numbers in any unit, or written times.
"""

import csv
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.columns import Column, chosen, layout_of, options, require_columns
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import read_events, read_header, shown
from sampled_metrics.errors import DataError

_COLUMN = {"type": ["string", "integer"], "minLength": 1, "minimum": 1}


@register(
    "delimited",
    member=None,
    options={
        "separator": {
            "description": "Separator of fields: a comma, semicolon, colon, bar, tab or space.",
            "type": "string",
            "pattern": r"^[,;:|\t ]$",
            "maxLength": 1,
            "default": ",",
        },
        "quotes": {
            "description": "Whether a field may be in double quotes, as in csv; if false, quotes are part of the text.",
            "type": "boolean",
            "default": True,
        },
        **options(_COLUMN),
    },
    required=["columns"],
)
def parse(
    stream: BinaryIO,
    name: str,
    *,
    columns: Mapping[str, Column | None],
    separator: str = ",",
    quotes: bool = True,
    keep: Mapping[str, Any] | None = None,
    **reading: Any,
) -> Iterator[EventChunk]:
    """Yield the events in the order of the file; see `read_events`.

    Args:
        stream: the file's bytes.
        name: name of the file in errors.
        columns: column of "user", "item", "rating" and "timestamp"; the last two may be None. Positions from 1, not
            names, if the file has no header.
        separator: separator of fields.
        quotes: whether a field may be in double quotes.
        keep: see `chosen`.
        reading: timestamp_format and on_bad_lines of `layout_of`.

    Raises:
        ConfigError: two roles have the same column, or the format of timestamps is unknown.
        DataError: a column is missing, a line is malformed, or there is no event.
    """
    wanted = chosen(columns, keep)
    has_header = isinstance(wanted["user"], str)
    first_line = read_header(stream, name)
    try:
        reader = csv.reader([first_line], delimiter=separator, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
        fields = next(reader, [])
    except csv.Error as error:
        raise DataError(f"{name}, line 1: expected a header, got {shown(first_line.encode())} ({error})") from None
    header = fields if has_header else list(range(1, len(fields) + 1))
    require_columns(name, header, wanted)
    layout = layout_of(header, wanted, separator, has_quotes=quotes, keep=keep, **reading)
    beginning = b"" if has_header else first_line.encode() + b"\n"
    yield from read_events(stream, name, layout, lines_before=int(has_header), beginning=beginning)
