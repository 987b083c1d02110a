"""Lines of separated fields, common to all text formats: checked by a regular expression, parsed by pandas."""

import csv
import io
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, Protocol

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

_TIME = rb"[^%b\0\r\n0-9]*+[0-9][^%b\0\r\n]*+"  # has a digit, as pandas takes "now" and "today" for times

_EARLIEST, _LATEST = pd.Timestamp("1678", tz="UTC"), pd.Timestamp("2262", tz="UTC")  # int64 holds their nanoseconds

_BLOCK_BYTES = 16 * 2**20
_LINE_BYTES = 2**20  # longer than any well-formed line; bounds the memory for a file without line ends
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN_CHARACTERS = 80
_ENDS = (b"", b"\n", b"\r\n")  # what may come after the last line

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Layout:
    """Layout of a line.

    Attributes:
        separator: separator of the fields.
        columns: role of each field, in order: "user", "item", "rating", "timestamp", "keep" (see `kept`), or None for
            an ignored field.
        expected: description of a well-formed line, for messages.
        has_text_ids: if False, ids are whole numbers from 0 and ratings decimal numbers, each of at most 18 digits, and
            timestamps are whole numbers of 64 bits. If True, ids are any text but the empty one, and ratings and
            timestamps any finite numbers.
        has_quotes: whether a field may be in double quotes, as in csv; a quote inside is doubled.
        timestamp_format: "iso" or a pattern of strptime, if timestamps are written times. They become nanoseconds since
            1970 in UTC. None if they are numbers.
        kept: values of the field "keep"; lines with other values are left out. None if no field has this role.
        skips_bad_lines: whether malformed lines are skipped, and their number logged. Otherwise they are an error.
    """

    separator: str
    columns: tuple[str | None, ...]
    expected: str
    has_text_ids: bool = False
    has_quotes: bool = False
    timestamp_format: str | None = None
    kept: frozenset[str] | None = None
    skips_bad_lines: bool = False


class Readable(Protocol):
    """What has a method `read`, such as a stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return the next `size` bytes; fewer if there are no more."""


def read_events(
    stream: Readable, name: str, layout: Layout, *, lines_before: int = 0, beginning: bytes = b""
) -> Iterator[EventChunk]:
    r"""Yield the events in the order of the file, in chunks of about 16 MiB of text.

    The file may have `\r\n` line ends, a UTF-8 byte order mark, a last line without line end, and an empty last line.

    Args:
        stream: the file's bytes, from the first event on.
        name: name of the file in errors.
        layout: layout of a line.
        lines_before: lines of the file that are already read.
        beginning: bytes of the file that are already read, and parsed before those of `stream`.

    Raises:
        ConfigError: `timestamp_format` is not a pattern of strptime.
        DataError: a line is malformed, or there is no event.
    """
    _require_format(layout.timestamp_format)
    line, any_line = _patterns(layout)
    patterns = re.compile(rb"(?:%b)*+" % line), re.compile(any_line)
    has_events, skipped = False, 0
    large, has_decimals = "", False
    at_start = not (lines_before or beginning)
    rest = stream.read(len(_BYTE_ORDER_MARK)).removeprefix(_BYTE_ORDER_MARK) if at_start else beginning
    is_end = False
    while not is_end:
        read = stream.read(_BLOCK_BYTES)
        is_end = len(read) < _BLOCK_BYTES
        block = rest + read
        if is_end and not block.endswith(b"\n"):
            block += b"\n"
        events, bad_lines, rest = _well_formed(block, *patterns, layout, is_end)
        skipped += bad_lines
        if events.strip(b"\n"):
            table = _convert(events, layout, name, lines_before)
            if "timestamp" in table and layout.timestamp_format is None:
                has_decimals |= table["timestamp"].dtype.kind == "f"
                large = large or _large_timestamp(table["timestamp"].to_numpy(), events, layout, lines_before)
            if large and has_decimals:  # float64 would lose digits
                raise DataError(
                    f"{name}, {large} is 2^53 or more, and others in the file have decimals or exponents: "
                    "together they would lose digits; write all as whole numbers"
                )
            if layout.timestamp_format is not None:
                is_time = table["timestamp"].notna().to_numpy()
                if not (is_time.all() or layout.skips_bad_lines):
                    raise _malformed(name, *_place(int(is_time.argmin()), events, layout, lines_before), layout)
                skipped += int((~is_time).sum())
                table = table[is_time]
            if layout.kept is not None:
                table = table[table["keep"].isin(layout.kept)]
            if len(table):
                has_events = True
                yield _chunk(table)
        lines_before += events.count(b"\n")
        # before the end, an incomplete line is tried again with the next block
        is_malformed = rest not in _ENDS if is_end else not events and len(rest) > _LINE_BYTES
        if is_malformed:
            raise _malformed(name, lines_before + 1, rest.partition(b"\n")[0], layout)
    if skipped:
        _LOG.warning("%s: malformed lines skipped: %d; expected %s", name, skipped, layout.expected)
    if not has_events:
        kept = "" if layout.kept is None else f" with {', '.join(sorted(map(repr, layout.kept)))} (keep)"
        raise DataError(f"{name}: holds no events{kept}")


def _well_formed(
    block: bytes, lines: re.Pattern[bytes], any_line: re.Pattern[bytes], layout: Layout, is_end: bool
) -> tuple[bytes, int, bytes]:
    """Return the well-formed lines, with an empty line for each one skipped, the number of these, and the rest."""
    parts, skipped, position = [], 0, 0
    while True:
        match = lines.match(block, position)
        parts.append(match[0] if match else b"")
        position += len(parts[-1])
        left = len(block) - position
        # before the end, the last line may go on in the next block
        is_rest = left <= 2 and block[position:] in _ENDS if is_end else left <= _LINE_BYTES
        if is_rest or not layout.skips_bad_lines:
            return b"".join(parts), skipped, block[position:]
        bad = any_line.match(block, position)  # with all lines of a quoted field
        end = bad.end() if bad else (block.find(b"\n", position) + 1) or len(block)
        parts.append(b"\n" * block.count(b"\n", position, end))
        position, skipped = end, skipped + 1


def _malformed(name: str, number: int, line: bytes, layout: Layout) -> DataError:
    return DataError(f"{name}, line {number}: expected {layout.expected}, got {shown(line)}")


def _place(event: int, events: bytes, layout: Layout, lines_before: int) -> tuple[int, bytes]:
    """Return the number and the text of the line of an event."""
    match = next(islice(re.finditer(_patterns(layout)[0], events), event, None))
    return lines_before + events.count(b"\n", 0, match.start()) + 1, match[0].rstrip(b"\n")


def _large_timestamp(
    timestamps: NDArray[np.int64] | NDArray[np.float64], events: bytes, layout: Layout, lines_before: int
) -> str:
    """Return the place of the first timestamp of 2^53 or more, which float64 may not hold; empty if there is none."""
    large = np.flatnonzero((timestamps >= 2**53) | (timestamps <= -(2**53)))
    if not len(large):
        return ""
    number, line = _place(large[0], events, layout, lines_before)
    return f"line {number}: the timestamp of {shown(line)}"


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


def shown(line: bytes) -> str:
    """Quote a line, shortened and safe for a terminal."""
    text = line.removesuffix(b"\r").decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")


def _patterns(layout: Layout) -> tuple[bytes, bytes]:
    """Return a pattern of a well-formed line, and one of any line, which may have other fields."""
    separator = re.escape(layout.separator.encode())
    ignored = rb"[^%b\0\r\n]*+" % separator
    fields = {"user": _ID, "item": _ID, "rating": _DECIMAL, "timestamp": _WHOLE, "keep": ignored, None: ignored}
    if layout.has_text_ids:
        fields |= dict.fromkeys(("user", "item"), rb"[^%b\0\r\n]++" % separator)
        fields |= dict.fromkeys(("rating", "timestamp"), _NUMBER)
    if layout.timestamp_format is not None:
        fields["timestamp"] = _TIME % (separator, separator)
    if layout.has_quotes:
        # a quote opens only at the beginning of a field; (?!"(?!")): the quoted text is not empty
        bare = rb'(?!")[^%b\0\r\n]' % separator
        enclosed = rb'"[^"\0]*+(?:""[^"\0]*+)*+"'
        enclosed_id = rb'"(?!"(?!"))[^"\0\r\n]*+(?:""[^"\0\r\n]*+)*+"'
        fields |= dict.fromkeys(("user", "item"), rb"(?:%b++|%b)" % (bare, enclosed_id))
        fields |= dict.fromkeys(("rating", "timestamp"), rb'(?:%b|"%b")' % (_NUMBER, _NUMBER))
        if layout.timestamp_format is not None:
            fields["timestamp"] = rb'(?:(?!")%b|"%b")' % (_TIME % (separator, separator), _TIME % (b'"', b'"'))
        fields |= dict.fromkeys(("keep", None), rb"(?:%b*+|%b)" % (bare, enclosed))
    line = separator.join(fields[column] for column in layout.columns)
    return rb"%b\r?\n" % line, rb"%b(?:%b%b)*+\r?\n" % (fields[None], separator, fields[None])


def _convert(events: bytes, layout: Layout, name: str, lines_before: int) -> pd.DataFrame:
    """Convert well-formed lines to a table with a column for each role; written times are nanoseconds, or NaT."""
    if layout.has_text_ids:
        _require_utf8(events, name, lines_before)
    if len(layout.separator) > 1:
        events = events.replace(layout.separator.encode(), b"\t")  # one byte, for pandas' C engine
    id_type = object if layout.has_text_ids else np.int64  # category would convert text like numbers
    types = {"user": id_type, "item": id_type, "rating": np.float64, "keep": object}
    if layout.timestamp_format is not None:
        types["timestamp"] = object  # otherwise int64 if possible
    table = pd.read_csv(
        io.BytesIO(events),
        sep="\t" if len(layout.separator) > 1 else layout.separator,
        names=[column or f"ignored {position}" for position, column in enumerate(layout.columns)],
        usecols=[column for column in layout.columns if column],
        dtype={column: types[column] for column in layout.columns if column in types},
        engine="c",
        low_memory=False,
        na_filter=False,
        quoting=csv.QUOTE_MINIMAL if layout.has_quotes else csv.QUOTE_NONE,
    )
    if layout.timestamp_format is not None:
        times = _times(table["timestamp"], layout.timestamp_format)
        times = times.where((times >= _EARLIEST) & (times < _LATEST))
        table["timestamp"] = times.dt.tz_convert(None).dt.as_unit("ns")
    return table


def _times(texts: Any, timestamp_format: str) -> Any:
    """Convert written times, and what is none to NaT."""
    known = "ISO8601" if timestamp_format == "iso" else timestamp_format
    return pd.to_datetime(texts, format=known, utc=True, errors="coerce")


def _require_format(timestamp_format: str | None) -> None:
    try:
        _times(pd.Series(["1"]), timestamp_format or "iso")
    except ValueError as error:
        raise ConfigError(f"timestamp_format: {timestamp_format!r} is not a pattern of strptime: {error}") from None


def _chunk(table: pd.DataFrame) -> EventChunk:
    times = table["timestamp"].to_numpy() if "timestamp" in table else None
    return EventChunk(
        table["user"].to_numpy(),
        table["item"].to_numpy(),
        table["rating"].to_numpy() if "rating" in table else None,
        times.astype(np.int64) if times is not None and times.dtype.kind == "M" else times,
    )


def _require_utf8(events: bytes, name: str, lines_before: int) -> None:
    try:
        events.decode()
    except UnicodeDecodeError as error:
        line_number = lines_before + events.count(b"\n", 0, error.start) + 1
        line = events[events.rfind(b"\n", 0, error.start) + 1 :].partition(b"\n")[0]
        raise DataError(f"{name}, line {line_number}: expected text in UTF-8, got {shown(line)}") from None
