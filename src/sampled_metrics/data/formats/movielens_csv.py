"""The `ratings.csv` of MovieLens 20M, 25M, 32M and latest: a header, then one event per line."""

from collections.abc import Iterator
from typing import BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import Layout, read_events, read_header, shown
from sampled_metrics.errors import DataError

HEADER = "userId,movieId,rating,timestamp"
LAYOUT = Layout(",", ("user", "item", "rating", "timestamp"), HEADER)


@register("movielens-csv", member="ratings.csv")
def parse(stream: BinaryIO, name: str) -> Iterator[EventChunk]:
    """Yield the events in the order of the file; see `read_events`.

    Raises:
        DataError: the header differs, a line is malformed, or there is no event.
    """
    header = read_header(stream, name)
    if header != HEADER:
        raise DataError(f"{name}, line 1: expected the header {HEADER}, got {shown(header.encode())}")
    yield from read_events(stream, name, LAYOUT, lines_before=1)
