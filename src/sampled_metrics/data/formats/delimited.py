"""Any csv or tsv file with a header. Config names the columns of users, items, ratings and timestamps.

Other columns are ignored. Ids may be any text, fields may be quoted, and timestamps are numbers in any unit.
"""

import csv
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import layout_by_names, read_events, read_header, shown
from sampled_metrics.errors import DataError

_NAME = {"type": "string", "minLength": 1}
_NAME_OR_NONE = {"type": ["string", "null"], "minLength": 1, "default": None}


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
        "columns": {
            "description": "Names of the columns in the header.",
            "type": "object",
            "additionalProperties": False,
            "required": ["user", "item"],
            "properties": {
                "user": {"description": "The column of user ids.", **_NAME},
                "item": {"description": "The column of item ids.", **_NAME},
                "rating": {"description": "The column of ratings; null if there is none.", **_NAME_OR_NONE},
                "timestamp": {"description": "The column of timestamps; null if there is none.", **_NAME_OR_NONE},
            },
        },
    },
    required=["columns"],
)
def parse(
    stream: BinaryIO, name: str, *, columns: Mapping[str, str | None], separator: str = ","
) -> Iterator[EventChunk]:
    """Yield the events in the order of the file; see `read_events`.

    Args:
        stream: the file's bytes.
        name: name of the file in errors.
        columns: name of the column of "user", "item", "rating" and "timestamp"; the last two may be None.
        separator: separator of fields.

    Raises:
        ConfigError: two roles have the same column.
        DataError: a column is missing, a line is malformed, or there is no event.
    """
    first_line = read_header(stream, name)
    try:
        header = next(csv.reader([first_line], delimiter=separator), [])
    except csv.Error as error:
        raise DataError(f"{name}, line 1: expected a header, got {shown(first_line.encode())} ({error})") from None
    named = {role: column for role, column in columns.items() if column is not None}
    layout = layout_by_names(name, header, named, separator, has_quotes=True)
    yield from read_events(stream, name, layout, lines_before=1)
