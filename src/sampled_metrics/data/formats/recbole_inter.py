r"""The atomic interaction file of RecBole, `NAME.inter`: tab-separated fields with a typed header.

An example of a header is `user_id:token\titem_id:token\trating:float\ttimestamp:float`. The columns user_id and item_id
are required, rating and timestamp are optional, and others are ignored. Tokens may be any text; nothing is quoted.
"""

from collections.abc import Iterator
from typing import BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.columns import layout_of, require_columns
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import read_events, read_header

COLUMNS = {"user": "user_id", "item": "item_id", "rating": "rating", "timestamp": "timestamp"}
OPTIONAL = ("rating", "timestamp")


@register("recbole-inter", member="*.inter")
def parse(stream: BinaryIO, name: str) -> Iterator[EventChunk]:
    """Yield the events in the order of the file; see `read_events`.

    Raises:
        DataError: a column is missing, a line is malformed, or there is no event.
    """
    header = [field.partition(":")[0] for field in read_header(stream, name).split("\t")]
    columns = {role: column for role, column in COLUMNS.items() if column in header or role not in OPTIONAL}
    require_columns(name, header, columns)
    layout = layout_of(header, columns, "\t", has_quotes=False)
    yield from read_events(stream, name, layout, lines_before=1)
