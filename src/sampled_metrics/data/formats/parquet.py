"""Files of parquet. Config names the columns of users, items, ratings and timestamps; others are not read.

Needs pyarrow. A file is read in parts, so that memory is bounded by the size of its pages.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.columns import NAMED, Parts, chosen, layout_of, require_columns
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import read_events
from sampled_metrics.errors import DataError, reason

_ROWS = 2**17
_BUFFER_BYTES = 2**20


@register("parquet", member=None, options=NAMED, required=["columns"])
def parse(
    stream: BinaryIO,
    name: str,
    *,
    columns: Mapping[str, str | None],
    keep: Mapping[str, Any] | None = None,
    timestamp_format: str | None = None,
    **reading: Any,
) -> Iterator[EventChunk]:
    """Yield the events in the order of the file; see `read_events`. Arguments and errors are as of `delimited`.

    Timestamps may also be of a type for times or dates, which need no `timestamp_format`. An error calls a row a line.

    Raises:
        DataError: pyarrow is not installed, the file is not parquet, or a column is of another type.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise DataError(f"{name}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'") from None
    wanted = chosen(columns, keep)
    try:
        file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER_BYTES)  # reads page by page
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None
    schema = file.schema_arrow
    require_columns(name, schema.names, wanted)
    for column in wanted.values():
        kind = schema.field(column).type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise DataError(f"{name}: column {column!r} is of type {kind}; expected numbers, text or times")
    if "timestamp" in wanted and pa.types.is_temporal(schema.field(wanted["timestamp"]).type):
        timestamp_format = "iso"
    layout = layout_of(list(wanted.values()), wanted, keep=keep, timestamp_format=timestamp_format, **reading)
    yield from read_events(Parts(_rows(file, name, list(wanted.values()))), name, layout)


def _rows(file: Any, name: str, columns: list[Any]) -> Iterator[bytes]:
    """Yield csv of the columns, one line a row."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        for batch in file.iter_batches(_ROWS, columns=columns, use_threads=False):
            part = io.BytesIO()
            csv.write_csv(batch.select(columns), part, csv.WriteOptions(include_header=False))
            yield part.getvalue()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None
