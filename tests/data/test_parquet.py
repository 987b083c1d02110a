"""Parquet files."""

import datetime
import gzip
import io
import sys
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sampled_metrics.data import formats, tables
from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats import read_events
from sampled_metrics.data.records import parquet_rows
from sampled_metrics.errors import DataError

COLUMNS = {"user": "u", "item": "i", "rating": None, "timestamp": "t"}


def written(row_group_size: int | None = None, **columns) -> bytes:
    to = io.BytesIO()
    parquet.write_table(pa.table(columns), to, row_group_size=row_group_size)
    return to.getvalue()


def parse(content: bytes, columns=COLUMNS, **options) -> list[EventChunk]:
    return list(formats.get("parquet").parse(io.BytesIO(content), "events.parquet", columns=columns, **options))


def error_of(content: bytes, columns=COLUMNS, **options) -> str:
    with pytest.raises(DataError) as caught:
        parse(content, columns, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([3, 20], pa.uint32()),
        pa.array([3, 20], pa.int64()),
        pa.array([3.0, 20.0]),
        pa.array(["3", "20"]),
        pa.array(["3", "20"], pa.large_string()),
        pa.array(["3", "20"]).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type),
)
def test_types_of_ids(ids):
    [chunk] = parse(written(u=ids, i=['a, "b"', "ß"], t=[1, 2], other=[[1], [2]]))
    assert [array.tolist() for array in chunk[:2]] == [["3", "20"], ['a, "b"', "ß"]]


FIRST = datetime.datetime(2009, 2, 13, 23, 31, 30)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (pa.array([1700000000000000001, -5]), [1700000000000000001, -5]),
        (pa.array([1.5, 2.0]), [1.5, 2.0]),
        (pa.array([FIRST, FIRST], pa.timestamp("s")), [1_234_567_890 * 10**9] * 2),
        (pa.array([1, 1_234_567_890_123_456_789], pa.timestamp("ns", "Asia/Tokyo")), [1, 1_234_567_890_123_456_789]),
        (pa.array([1, 2], pa.date32()), [86_400 * 10**9, 2 * 86_400 * 10**9]),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pa.Array) else "",
)
def test_types_of_times(times, expected):
    [chunk] = parse(written(u=[1, 2], i=[3, 4], t=times))
    assert chunk.timestamps.tolist() == expected


def test_ratings_and_kept_rows():
    content = written(u=[1, 2, 3], i=[4, 5, 6], t=[1, 2, 3], r=[0.5, None, 4.0], ok=[True, False, True])
    columns = COLUMNS | {"rating": "r"}
    assert error_of(content, columns) == "events.parquet, row 2: r is empty; or state on_bad_lines: skip"
    [chunk] = parse(content, columns, keep={"column": "ok", "values": [True]}, on_bad_lines="skip")
    assert (chunk.users.tolist(), chunk.ratings.tolist()) == (["1", "3"], [0.5, 4.0])


def test_numbers_that_are_missing_are_nan_where_nothing_is_made_text():
    content = io.BytesIO(written(score=[1.5, None], rank=[None, 2], user=["a", "b"]))
    [rows] = parquet_rows(content, "ranks.parquet")
    assert rows.frame.fillna(-1.0).to_dict("list") == {"score": [1.5, -1.0], "rank": [-1.0, 2.0], "user": ["a", "b"]}
    assert rows.place(1) == "ranks.parquet, row 2"


def test_packed_files(tmp_path):
    content = written(row_group_size=100, u=np.arange(1000), i=np.arange(1000), t=np.arange(1000))
    (tmp_path / "a.parquet").write_bytes(content)
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/a.parquet", content)
    for name in ("a.parquet", "a.parquet.gz", "a.zip"):
        chunks = read_events(tmp_path / name, formats.get("parquet"), options={"columns": COLUMNS})
        assert [time for chunk in chunks for time in chunk.timestamps.tolist()] == list(range(1000))


@pytest.mark.slow
def test_rows_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 2**20)
    numbers = np.random.default_rng(1).permutation(2_000_000)
    path = tmp_path / "events.parquet"
    path.write_bytes(written(u=numbers % 1000, i=numbers, t=numbers))
    count = 0
    tracemalloc.start()
    for chunk in read_events(path, formats.get("parquet"), options={"columns": COLUMNS}):
        count += len(chunk.users)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == len(numbers)
    assert peak < 25e6  # the text of all rows alone has 35 MB


GOOD = written(u=[1], i=[2], t=[3])
NOTHING = pa.array([], pa.int64())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (written(u=[1], j=[2], t=[3]), ", line 1: there is no column 'i'; the columns are 'u', 'j', 't'"),
        (
            written(u=[1], i=[[2]], t=[3]),
            ": column 'i' is of type list<element: int64>; expected numbers, text or times",
        ),
        (b"u,i,t\n1,2,3\n", ": cannot be read: "),
        (GOOD[:-9], ": cannot be read: "),
        (b"", ": cannot be read: "),
        (written(u=NOTHING, i=NOTHING, t=NOTHING), ": holds no events"),
    ],
)
def test_refused(content, says):
    assert error_of(content).startswith(f"events.parquet{says}")


def test_damage_inside():
    content = bytearray(written(u=list(range(50_000)), i=list(range(50_000)), t=list(range(50_000))))
    content[5_000:150_000] = bytes(145_000)
    assert error_of(bytes(content)).startswith("events.parquet: cannot be read: ")


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert error_of(b"") == "events.parquet: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'"
