"""Lines of JSON, each an object such as `{"user": "a", "item": 3}`. Config names the keys."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.columns import NAMED, Parts, chosen, layout_of, require_columns
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import read_events, shown
from sampled_metrics.errors import DataError

_BLOCK_BYTES = 16 * 2**20


@register("json-lines", member=None, options=NAMED, required=["columns"])
def parse(
    stream: BinaryIO,
    name: str,
    *,
    columns: Mapping[str, str | None],
    keep: Mapping[str, Any] | None = None,
    **reading: Any,
) -> Iterator[EventChunk]:
    """Yield the events in the order of the file; see `read_events`. Arguments and errors are as of `delimited`.

    A field is empty if its key is missing, or if its value is null, a list, an object, or text with a line break.
    """
    keys = chosen(columns, keep)
    layout = layout_of(list(keys.values()), keys, keep=keep, **reading)
    yield from read_events(Parts(_rows(stream, name, keys, layout.skips_bad_lines)), name, layout)


def _rows(stream: BinaryIO, name: str, keys: Mapping[str, Any], skips_bad_lines: bool) -> Iterator[bytes]:
    """Yield csv of the values of the keys, one row a line; the row of a bad line is empty."""
    number, rest, is_end = 0, b"", False
    while not is_end:
        read = stream.read(_BLOCK_BYTES)
        is_end = len(read) < _BLOCK_BYTES
        *lines, rest = (rest + read).split(b"\n")
        if is_end and rest:
            lines.append(rest)
        if len(rest) > _BLOCK_BYTES:
            raise DataError(f"{name}, line {number + len(lines) + 1}: is longer than {_BLOCK_BYTES} bytes")
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for line in lines:
            number += 1
            found = _object(line)
            if not (found or skips_bad_lines):
                raise DataError(f"{name}, line {number}: expected an object of JSON, got {shown(line)}")
            if number == 1 and not skips_bad_lines:
                require_columns(name, list(found), keys)
            writer.writerow([_field(found.get(key)) for key in keys.values()])
        if lines:
            yield text.getvalue().encode(errors="backslashreplace")


def _object(line: bytes) -> dict[str, Any]:
    """Return the object on a line, empty if there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _field(value: Any) -> str | int | float:
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return "" if "\n" in value or "\r" in value else value
    return value if isinstance(value, int | float) else ""
