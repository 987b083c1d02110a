"""The files of ratings of MovieLens: each line is one event."""

from collections.abc import Iterator
from typing import BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import Layout, read_events, read_header, shown
from sampled_metrics.errors import DataError

COLUMNS = ("user", "item", "rating", "timestamp")
HEADER = "userId,movieId,rating,timestamp"
LAYOUT_OF_100K = Layout("\t", COLUMNS, "user, item, rating and timestamp, separated by tabs")


@register("movielens-100k", member="u.data")
def parse_100k(stream: BinaryIO, name: str) -> Iterator[EventChunk]:
    """Parse the `u.data` of MovieLens 100K, fields separated by tabs; see `read_events`."""
    return read_events(stream, name, LAYOUT_OF_100K)


@register("movielens-dat", member="ratings.dat")
def parse_dat(stream: BinaryIO, name: str) -> Iterator[EventChunk]:
    """Parse the `ratings.dat` of MovieLens 1M and 10M, fields separated by `::`; see `read_events`."""
    return read_events(stream, name, Layout("::", COLUMNS, "UserID::MovieID::Rating::Timestamp"))


@register("movielens-csv", member="ratings.csv")
def parse_csv(stream: BinaryIO, name: str) -> Iterator[EventChunk]:
    """Parse the `ratings.csv` of MovieLens 20M, 25M, 32M and latest, which has a header; see `read_events`.

    Raises:
        DataError: the header differs, a line is malformed, or there is no event.
    """
    header = read_header(stream, name)
    if header != HEADER:
        raise DataError(f"{name}, line 1: expected the header {HEADER}, got {shown(header.encode())}")
    yield from read_events(stream, name, Layout(",", COLUMNS, HEADER), lines_before=1)
