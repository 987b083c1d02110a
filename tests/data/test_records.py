"""Rows of records: lines of JSON, and parquet files."""

import datetime
import gzip
import io
import json
import sys
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from sampled_metrics.data import formats, tables
from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats import read_events
from sampled_metrics.data.records import parquet_rows
from sampled_metrics.errors import DataError

COLUMNS = {"user": "u", "item": "i"}
TIMED = COLUMNS | {"timestamp": "t"}


def parse(content: str | bytes, columns=COLUMNS, **options) -> list[EventChunk]:
    form, raw = ("parquet", content) if isinstance(content, bytes) else ("json-lines", content.encode())
    return list(formats.get(form).parse(io.BytesIO(raw), "events", columns=columns, **options))


def pairs(content: str | bytes, **options) -> list[tuple]:
    return [pair for chunk in parse(content, **options) for pair in zip(chunk.users, chunk.items, strict=True)]


def error_of(content: str | bytes, columns=COLUMNS, **options) -> str:
    with pytest.raises(DataError) as caught:
        parse(content, columns, **options)
    return str(caught.value)


def test_keys_of_json_in_any_order_and_others_ignored():
    content = '{"x": {"u": 9}, "t": 20, "i": 7, "r": 4.5, "u": "ann"}\n{"u": "bob", "i": "8", "r": -1, "t": 10}\n'
    [chunk] = parse(content, TIMED | {"rating": "r"})
    assert [array.tolist() for array in chunk[:4]] == [["ann", "bob"], ["7", "8"], [4.5, -1.0], [20, 10]]


def test_times_of_json_are_exact_whole_numbers_or_written():
    [chunk] = parse('{"u": 1, "i": 2, "t": 1700000000000000001}\n', TIMED)
    assert chunk.timestamps.tolist() == [1700000000000000001]
    [chunk] = parse('{"u": 1, "i": 2, "t": "1970-01-01 00:00:01"}', TIMED, timestamp_format="iso")
    assert chunk.timestamps.tolist() == [10**9]


BAD = {
    **{line: f"expected an object of JSON, got '{line}'" for line in ("{", "[1]", "", "{}")},
    '{"u": 1}': "i is empty; or state on_bad_lines: skip",
    **{f'{{"u": {user}, "i": 2}}': "u is empty; or state on_bad_lines: skip" for user in ("null", "[1]", '"a\\nb"')},
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_of_json_is_named_or_skipped(line, caplog):
    content = f'{{"u": "a", "i": 1}}\n{line}\n{{"u": "b", "i": 2}}\n'
    assert error_of(content) == f"events, line 2: {BAD[line]}"
    assert pairs(content, on_bad_lines="skip") == [("a", "1"), ("b", "2")]
    assert "lines are malformed, and are skipped" in caplog.text


def test_json_without_a_key_a_line_or_an_end(monkeypatch):
    assert error_of('{"u": 1, "j": 2}\n') == "events, line 1: there is no column 'i'; the columns are 'u', 'j'"
    assert error_of("") == "events: holds no events"
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 100)
    monkeypatch.setattr(tables, "LONGEST_LINE", 100)
    stream = io.BytesIO(b'{"u": "' + b"x" * 10_000)
    with pytest.raises(DataError, match=r"^events, line 1: is longer than 100 bytes"):
        list(formats.get("json-lines").parse(stream, "events", columns=COLUMNS))
    assert stream.tell() < 300


TEXT = st.text(st.characters(exclude_characters="\0\r\n", codec="utf-8"), min_size=1)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1), st.integers(1, 60), st.booleans())
def test_reads_the_json_that_python_writes(events, block, ascii_only):
    content = "\n".join(json.dumps({"u": user, "i": item}, ensure_ascii=ascii_only) for user, item in events)
    with pytest.MonkeyPatch.context() as patch:
        longest = max(len(line.encode()) for line in content.split("\n"))
        patch.setattr(tables, "_BLOCK_BYTES", longest + block)
        assert pairs(content) == events


def written(row_group_size: int | None = None, **columns) -> bytes:
    to = io.BytesIO()
    parquet.write_table(pa.table(columns), to, row_group_size=row_group_size)
    return to.getvalue()


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([3, 20], pa.uint32()),
        pa.array([3.0, 20.0]),
        pa.array(["3", "20"], pa.large_string()),
        pa.array(["3", "20"]).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type),
)
def test_types_of_ids_of_parquet(ids):
    content = written(u=ids, i=['a, "b"', "ß"], t=[1, 2], other=[[1], [2]])
    assert pairs(content, columns=TIMED) == [("3", 'a, "b"'), ("20", "ß")]


SECOND = datetime.datetime(2009, 2, 13, 23, 31, 30)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (pa.array([1700000000000000001, -5]), [1700000000000000001, -5]),
        (pa.array([1.5, 2.0]), [1.5, 2.0]),
        (pa.array([SECOND, SECOND], pa.timestamp("s")), [1_234_567_890 * 10**9] * 2),
        (pa.array([1, 1_234_567_890_123_456_789], pa.timestamp("ns", "Asia/Tokyo")), [1, 1_234_567_890_123_456_789]),
        (pa.array([1, 2], pa.date32()), [86_400 * 10**9, 2 * 86_400 * 10**9]),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pa.Array) else "",
)
def test_types_of_times_of_parquet(times, expected):
    [chunk] = parse(written(u=[1, 2], i=[3, 4], t=times), TIMED)
    assert chunk.timestamps.tolist() == expected


def test_missing_numbers_and_kept_rows_of_parquet():
    content = written(u=[1, 2, 3], i=[4, 5, 6], r=[0.5, None, 4.0], ok=[True, False, True])
    columns = COLUMNS | {"rating": "r"}
    assert error_of(content, columns) == "events, row 2: r is empty; or state on_bad_lines: skip"
    [chunk] = parse(content, columns, keep={"column": "ok", "values": [True]}, on_bad_lines="skip")
    assert (chunk.users.tolist(), chunk.ratings.tolist()) == (["1", "3"], [0.5, 4.0])
    [rows] = parquet_rows(io.BytesIO(written(score=[1.5, None], rank=[None, 2], user=["a", "b"])), "ranks")
    assert rows.frame.fillna(-1.0).to_dict("list") == {"score": [1.5, -1.0], "rank": [-1.0, 2.0], "user": ["a", "b"]}
    assert rows.place(1) == "ranks, row 2"


def test_packed_files_of_parquet(tmp_path):
    content = written(row_group_size=100, u=np.arange(1000), i=np.arange(1000), t=np.arange(1000))
    (tmp_path / "a.parquet").write_bytes(content)
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/a.parquet", content)
    for name in ("a.parquet", "a.parquet.gz", "a.zip"):
        chunks = read_events(tmp_path / name, formats.get("parquet"), options={"columns": TIMED})
        assert [time for chunk in chunks for time in chunk.timestamps.tolist()] == list(range(1000))


@pytest.mark.slow
def test_rows_of_parquet_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 2**20)
    numbers = np.random.default_rng(1).permutation(2_000_000)
    path = tmp_path / "events.parquet"
    path.write_bytes(written(u=numbers % 1000, i=numbers, t=numbers))
    tracemalloc.start()
    count = sum(len(chunk.users) for chunk in read_events(path, formats.get("parquet"), options={"columns": TIMED}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == len(numbers)
    assert peak < 25e6  # the text of all rows alone has 35 MB


NUMBERS, NOTHING = list(range(50_000)), pa.array([], pa.int64())
DAMAGED = bytearray(written(u=NUMBERS, i=NUMBERS))
DAMAGED[5_000:150_000] = bytes(145_000)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (written(u=[1], j=[2]), ", line 1: there is no column 'i'; the columns are 'u', 'j'"),
        (written(u=[1], i=[[2]]), ": column 'i' is of type list<element: int64>; expected numbers, text or times"),
        (b"u,i,t\n1,2,3\n", ": cannot be read: "),
        (written(u=[1], i=[2])[:-9], ": cannot be read: "),
        (bytes(DAMAGED), ": cannot be read: "),
        (written(u=NOTHING, i=NOTHING), ": holds no events"),
    ],
    ids=["a column is missing", "lists", "csv", "cut off", "damaged inside", "no row"],
)
def test_parquet_is_refused(content, says):
    assert error_of(content).startswith(f"events{says}")


def test_parquet_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert error_of(b"") == "events: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'"
