"""The `ratings.dat` of MovieLens 1M and 10M: a line `UserID::MovieID::Rating::Timestamp` per event, without header."""

import csv
import io
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pandas as pd

from sampled_metrics.data.formats.registry import EventChunk, register
from sampled_metrics.errors import DataError

# Numbers of up to 18 digits fit int64, so what matches needs no further check. Possessive (++, *+): linear in time.
_ID = rb"[0-9]{1,18}+"
_RATING = rb"-?[0-9]{1,18}+(?:\.[0-9]{1,18}+)?+"
_TIMESTAMP = rb"-?[0-9]{1,18}+"
_EVENTS = re.compile(rb"(?:%b::%b::%b::%b\r?\n)*+" % (_ID, _ID, _RATING, _TIMESTAMP))

_BLOCK_BYTES = 16 * 2**20
_LINE_BYTES = 1024  # more than a well-formed line can have; bounds what a file without line ends takes
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN_CHARACTERS = 80


@register("movielens-dat", member="ratings.dat")
def parse(stream: BinaryIO, name: str) -> Iterator[EventChunk]:
    r"""Yield the events in file order, in chunks of about 16 MiB of text.

    Ids are integers from 0, ratings decimal numbers, timestamps integers, each of at most 18 digits. Tolerated are
    `\r\n` line ends, a UTF-8 byte order mark, a last line without its line end, and an empty last line.

    Args:
        stream: the file's bytes.
        name: what errors call the file.

    Raises:
        DataError: a line is malformed, or there is no event.
    """
    lines_before = 0
    block = _read_lines(stream).removeprefix(_BYTE_ORDER_MARK)
    while block:
        following = _read_lines(stream)
        if not following and not block.endswith(b"\n"):
            block += b"\n"
        match = _EVENTS.match(block)
        events = match[0] if match else b""
        rest = block[len(events) :]
        is_empty_last_line = not following and rest in (b"\n", b"\r\n")
        if rest and not is_empty_last_line:
            line_number = lines_before + events.count(b"\n") + 1
            raise DataError(
                f"{name}, line {line_number}: expected UserID::MovieID::Rating::Timestamp, got {_shown(rest)}"
            )
        if events:
            yield _convert(events)
        lines_before += events.count(b"\n")
        block = following
    if lines_before == 0:
        raise DataError(f"{name}: holds no events")


def _read_lines(stream: BinaryIO) -> bytes:
    """Read about a block, to the end of a line; a line longer than any well-formed one may be cut."""
    return stream.read(_BLOCK_BYTES) + stream.readline(_LINE_BYTES)


def _convert(events: bytes) -> EventChunk:
    """Turn lines that are known to be well-formed into arrays."""
    table = pd.read_csv(
        io.BytesIO(events.replace(b"::", b"\t")),  # one byte, for pandas' C engine
        sep="\t",
        names=["user", "item", "rating", "timestamp"],
        dtype={"user": np.int64, "item": np.int64, "rating": np.float64, "timestamp": np.int64},
        engine="c",
        na_filter=False,
        quoting=csv.QUOTE_NONE,
    )
    return EventChunk(*(table[column].to_numpy() for column in table))


def _shown(lines: bytes) -> str:
    """Quote the first line so that it is short and harmless on a terminal."""
    line, _, _ = lines.partition(b"\n")
    text = line.removesuffix(b"\r").decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")
