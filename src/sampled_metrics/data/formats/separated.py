"""Lines of separated fields, common to all text formats: checked by a regular expression, parsed by pandas."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import ConfigError, DataError

# A match needs no further check: int64 holds numbers of up to 18 digits, or of 19 if they do not begin with 9 (times
# in nanoseconds); float64 holds exponents of two digits. Possessive quantifiers (++, *+, ?+) take linear time.
_ID = rb"[0-9]{1,18}+"
_DECIMAL = rb"-?[0-9]{1,18}+(?:\.[0-9]{1,18}+)?+"
_DIGITS = rb"(?>[0-8][0-9]{18}|[0-9]{1,18}+)"
_WHOLE = rb"-?" + _DIGITS
_NUMBER = rb"-?(?:%b(?:\.[0-9]{0,18}+)?+|\.[0-9]{1,18}+)(?:[eE][+-]?[0-9]{1,2}+)?+" % _DIGITS

_BLOCK_BYTES = 16 * 2**20
_LINE_BYTES = 2**20  # longer than any well-formed line; bounds the memory for a file without line ends
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN_CHARACTERS = 80
_SHOWN_COLUMNS = 20


@dataclass(frozen=True)
class Layout:
    """Layout of a line.

    Attributes:
        separator: separator of the fields.
        columns: role of each field, in order: "user", "item", "rating", "timestamp", or None for an ignored field.
        expected: description of a well-formed line, for messages.
        has_text_ids: if False, ids are whole numbers from 0 and ratings decimal numbers, each of at most 18 digits, and
            timestamps are whole numbers of 64 bits. If True, ids are any text but the empty one, and ratings and
            timestamps any finite numbers.
        has_quotes: whether a field may be in double quotes, as in csv; a quote inside is doubled.
    """

    separator: str
    columns: tuple[str | None, ...]
    expected: str
    has_text_ids: bool = False
    has_quotes: bool = False


def read_events(stream: BinaryIO, name: str, layout: Layout, *, lines_before: int = 0) -> Iterator[EventChunk]:
    r"""Yield the events in the order of the file, in chunks of about 16 MiB of text.

    The file may have `\r\n` line ends, a UTF-8 byte order mark, a last line without line end, and an empty last line.

    Args:
        stream: the file's bytes, from the first event on.
        name: name of the file in errors.
        layout: layout of a line.
        lines_before: lines of the file that are already read.

    Raises:
        DataError: a line is malformed, or there is no event.
    """
    pattern = _events(layout)
    has_events = False
    large, has_decimals = "", False
    rest = b"" if lines_before else stream.read(len(_BYTE_ORDER_MARK)).removeprefix(_BYTE_ORDER_MARK)
    is_end = False
    while not is_end:
        read = stream.read(_BLOCK_BYTES)
        is_end = len(read) < _BLOCK_BYTES
        block = rest + read
        if is_end and not block.endswith(b"\n"):
            block += b"\n"
        match = pattern.match(block)
        events = match[0] if match else b""
        rest = block[len(events) :]
        if events:
            has_events = True
            chunk = _convert(events, layout, name, lines_before)
            if chunk.timestamps is not None:
                has_decimals |= chunk.timestamps.dtype.kind == "f"
                large = large or _large_timestamp(chunk.timestamps, events, lines_before)
            if large and has_decimals:  # float64 would lose digits
                raise DataError(
                    f"{name}, {large} is 2^53 or more, and others in the file have decimals or exponents: "
                    "together they would lose digits; write all as whole numbers"
                )
            yield chunk
            lines_before += events.count(b"\n")
        # before the end, an incomplete line is tried again with the next block
        is_malformed = rest not in (b"", b"\n", b"\r\n") if is_end else not events and len(rest) > _LINE_BYTES
        if is_malformed:
            line, _, _ = rest.partition(b"\n")
            raise DataError(f"{name}, line {lines_before + 1}: expected {layout.expected}, got {shown(line)}")
    if not has_events:
        raise DataError(f"{name}: holds no events")


def _large_timestamp(timestamps: NDArray[np.int64] | NDArray[np.float64], events: bytes, lines_before: int) -> str:
    """Return the place of the first timestamp of 2^53 or more, which float64 may not hold; empty if there is none."""
    large = np.flatnonzero((timestamps >= 2**53) | (timestamps <= -(2**53)))
    if not len(large):
        return ""
    line = events.split(b"\n", large[0] + 1)[large[0]]
    return f"line {lines_before + large[0] + 1}: the timestamp of {shown(line)}"


def read_header(stream: BinaryIO, name: str) -> str:
    """Read the first line, without its line end.

    Raises:
        DataError: it is not UTF-8.
    """
    line = stream.readline(_LINE_BYTES).removeprefix(_BYTE_ORDER_MARK)
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise DataError(f"{name}, line 1: expected a header in UTF-8, got {shown(line.rstrip())}") from None


def layout_by_names(
    name: str, header: Sequence[str], columns: Mapping[str, str], separator: str, *, has_quotes: bool
) -> Layout:
    """Return the layout, with text ids, of a file whose header names its columns.

    Args:
        name: name of the file in errors.
        header: names of all columns, in order.
        columns: name of the column of each role: "user", "item", "rating", "timestamp".
        separator: separator of the fields.
        has_quotes: see `Layout`.

    Raises:
        ConfigError: two roles have the same column.
        DataError: a column is missing or repeated.
    """
    roles = {column: role for role, column in columns.items()}
    if len(roles) < len(columns):
        raise ConfigError(f"columns: {' and '.join(columns)} must name different columns, not {list(columns.values())}")
    for column in roles:
        if header.count(column) != 1:
            number = "no" if column not in header else "more than one"
            names = ", ".join(shown(each.encode()) for each in header[:_SHOWN_COLUMNS])
            more = ", …" if len(header) > _SHOWN_COLUMNS else ""
            raise DataError(f"{name}, line 1: there is {number} column {column!r}; the columns are {names}{more}")
    ids = f"{columns['user']!r} and {columns['item']!r} not empty"
    numbers = " and ".join(repr(columns[role]) for role in ("rating", "timestamp") if role in columns)
    return Layout(
        separator,
        tuple(roles.get(column) for column in header),
        f"{len(header)} fields separated by {separator!r}, {ids}" + (f", {numbers} numbers" if numbers else ""),
        has_text_ids=True,
        has_quotes=has_quotes,
    )


def shown(line: bytes) -> str:
    """Quote a line, shortened and safe for a terminal."""
    text = line.removesuffix(b"\r").decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")


def _events(layout: Layout) -> re.Pattern[bytes]:
    """Return a pattern that matches all consecutive well-formed lines."""
    separator = re.escape(layout.separator.encode())
    fields = {"user": _ID, "item": _ID, "rating": _DECIMAL, "timestamp": _WHOLE, None: rb"[^%b\0\r\n]*+" % separator}
    if layout.has_text_ids:
        fields |= dict.fromkeys(("user", "item"), rb"[^%b\0\r\n]++" % separator)
        fields |= dict.fromkeys(("rating", "timestamp"), _NUMBER)
    if layout.has_quotes:
        # a quote opens only at the beginning of a field; (?!"(?!")): the quoted text is not empty
        bare = rb'(?!")[^%b\0\r\n]' % separator
        enclosed = rb'"[^"\0]*+(?:""[^"\0]*+)*+"'
        enclosed_id = rb'"(?!"(?!"))[^"\0\r\n]*+(?:""[^"\0\r\n]*+)*+"'
        fields |= dict.fromkeys(("user", "item"), rb"(?:%b++|%b)" % (bare, enclosed_id))
        fields |= dict.fromkeys(("rating", "timestamp"), rb'(?:%b|"%b")' % (_NUMBER, _NUMBER))
        fields[None] = rb"(?:%b*+|%b)" % (bare, enclosed)
    return re.compile(rb"(?:%b\r?\n)*+" % separator.join(fields[column] for column in layout.columns))


def _convert(events: bytes, layout: Layout, name: str, lines_before: int) -> EventChunk:
    """Convert well-formed lines to arrays."""
    if layout.has_text_ids:
        _require_utf8(events, name, lines_before)
    if len(layout.separator) > 1:
        events = events.replace(layout.separator.encode(), b"\t")  # one byte, for pandas' C engine
    id_type = object if layout.has_text_ids else np.int64  # category would convert text like numbers
    types = {"user": id_type, "item": id_type, "rating": np.float64}
    table = pd.read_csv(
        io.BytesIO(events),
        sep="\t" if len(layout.separator) > 1 else layout.separator,
        names=[column or f"ignored {position}" for position, column in enumerate(layout.columns)],
        usecols=[column for column in layout.columns if column],
        dtype={column: types[column] for column in layout.columns if column in types},  # timestamps: int64 if possible
        engine="c",
        low_memory=False,
        na_filter=False,
        quoting=csv.QUOTE_MINIMAL if layout.has_quotes else csv.QUOTE_NONE,
    )
    return EventChunk(
        table["user"].to_numpy(),
        table["item"].to_numpy(),
        table["rating"].to_numpy() if "rating" in table else None,
        table["timestamp"].to_numpy() if "timestamp" in table else None,
    )


def _require_utf8(events: bytes, name: str, lines_before: int) -> None:
    try:
        events.decode()
    except UnicodeDecodeError as error:
        line_number = lines_before + events.count(b"\n", 0, error.start) + 1
        line = events[events.rfind(b"\n", 0, error.start) + 1 :].partition(b"\n")[0]
        raise DataError(f"{name}, line {line_number}: expected text in UTF-8, got {shown(line)}") from None
