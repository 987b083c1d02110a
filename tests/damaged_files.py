"""Files that are damaged, and how readers have to refuse them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sampled_metrics.errors import SampledMetricsError

RANGE = {"kind": "range", "name": None, "start": 0, "stop": 60, "step": 1}
METADATA = [
    b"{",
    b"\xff\xfe",
    b"",
    [],
    {},
    5,
    None,
    {"index_columns": 5},
    {"index_columns": 5, "columns": []},
    {"index_columns": [], "columns": {}},
    {"index_columns": [], "columns": ["user"]},
    {"index_columns": [], "columns": [{"field_name": 5}]},
    {"index_columns": [5], "columns": []},
    {"index_columns": [None], "columns": []},
    {"index_columns": [{"kind": "range"}], "columns": []},
    {"index_columns": [RANGE | {"step": 0}], "columns": []},
    {"index_columns": [RANGE | {"stop": "60"}], "columns": []},
    {"index_columns": [RANGE | {"start": 0.5}], "columns": []},
    {"index_columns": [RANGE | {"name": ["a"]}], "columns": []},
    {"index_columns": [RANGE | {"kind": "other"}], "columns": []},
]
"""What pandas did not write of an index."""


def write_with_metadata(path: Path, table: pa.Table, metadata: Any) -> str:
    content = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    pq.write_table(table.replace_schema_metadata({b"pandas": content}), path)
    return str(path)


def require_that_damage_is_refused(path: Path, read: Any) -> None:
    """Files with flipped bits, or cut off, are read or refused in a line with their name."""
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    path = path.with_name(f"damaged-{path.name}")
    messages = []
    for attempt in range(120):
        damaged = bytearray(content)
        # the footer of parquet, the directory of zip
        start = len(content) // 2 if attempt % 3 else 0
        if attempt % 4:
            for place in rng.integers(start, len(content), 1 + attempt % 5):
                damaged[place] ^= 1 << rng.integers(8)
        else:
            damaged = damaged[: rng.integers(len(content))]
        path.write_bytes(damaged)
        try:
            read(str(path))
        except SampledMetricsError as error:
            messages.append(str(error))
    assert len(messages) > 30  # those that are cut off, at least
    assert all("\n" not in message and str(path) in message for message in messages)
