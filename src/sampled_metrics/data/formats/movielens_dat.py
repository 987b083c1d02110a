"""The `ratings.dat` of MovieLens 1M and 10M: each line is `UserID::MovieID::Rating::Timestamp`; there is no header."""

from collections.abc import Iterator
from typing import BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import Layout, read_events

LAYOUT = Layout("::", ("user", "item", "rating", "timestamp"), "UserID::MovieID::Rating::Timestamp")


@register("movielens-dat", member="ratings.dat")
def parse(stream: BinaryIO, name: str) -> Iterator[EventChunk]:
    """Yield the events in the order of the file; see `read_events`.

    Raises:
        DataError: a line is malformed, or there is no event.
    """
    return read_events(stream, name, LAYOUT)
