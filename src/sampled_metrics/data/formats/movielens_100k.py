"""The `u.data` of MovieLens 100K: each line has user, item, rating and timestamp of one event, separated by tabs."""

from collections.abc import Iterator
from typing import BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import Layout, read_events

LAYOUT = Layout("\t", ("user", "item", "rating", "timestamp"), "user, item, rating and timestamp, separated by tabs")


@register("movielens-100k", member="u.data")
def parse(stream: BinaryIO, name: str) -> Iterator[EventChunk]:
    """Yield the events in the order of the file; see `read_events`.

    Raises:
        DataError: a line is malformed, or there is no event.
    """
    return read_events(stream, name, LAYOUT)
