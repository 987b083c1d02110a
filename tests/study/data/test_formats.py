"""Formats of files of events: separated fields, lists of items, lines of JSON, and parquet.

tests/faults/test_data_faults.py has what is malformed or unusual in a line of each format.
"""

import gzip
import io
import json
import sys
import zipfile
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import parquet
from ways_to_write_events import WAYS, expected

from sampled_metrics.core.data import tables
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics_study.data import formats
from sampled_metrics_study.data.events import binarize
from sampled_metrics_study.data.formats import read_events
from sampled_metrics_study.data.split import split_events

BY_NAME = {"user": "user", "item": "item"}
BY_PLACE = {"user": 1, "item": 2}
TIMED = BY_NAME | {"timestamp": "when"}


def parse(content, form="delimited", **options):
    stream = io.BytesIO(content if isinstance(content, bytes) else content.encode())
    return list(formats.get(form).parse(stream, "events", **options))


def rows(chunks, columns=2):
    """The users, items, and if wanted ratings and times of events."""
    rows = []
    for chunk in chunks:
        present = [column for column in chunk[:4] if column is not None]
        for user, item, *numbers in zip(*present, strict=True):
            rows.append((str(user), str(item), *numbers[: columns - 2]))
    return rows


def error_of(content, kind=DataError, **options):
    with pytest.raises(kind) as caught:
        parse(content, **options)
    return str(caught.value)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_blocks_may_end_anywhere(way, monkeypatch):
    events = [(1 + number % 3, number, number / 2, 10**17 + 1 - number) for number in range(1, 5)]
    content = way.file([way.line(*row) for row in events]).encode()
    for size in (70, 90):
        monkeypatch.setattr(tables, "BLOCK_BYTES", size)
        assert way.read(content) == expected(events)


def test_columns_by_name_in_any_order_or_by_position_and_others_ignored():
    columns = {"user": "who", "item": "what", "rating": "how much", "timestamp": "when"}
    chunks = parse(
        'note,when,what,how much,who\nhm,"20",B,4.5,ann\n,10,A,-1,bob\n', columns=columns
    )
    assert rows(chunks, 4) == [("ann", "B", 4.5, 20), ("bob", "A", -1.0, 10)]
    chunks = parse(
        "9,x,ann,5\n8,y,bob,4\n", columns={"user": 3, "item": 2, "rating": 4, "timestamp": 1}
    )
    assert rows(chunks, 4) == [("ann", "x", 5, 9), ("bob", "y", 4, 8)]
    for separator in ",;:|\t ":
        content = "user,item,x\nann,B-1,\n".replace(",", separator)
        assert rows(parse(content, columns=BY_NAME, separator=separator)) == [("ann", "B-1")]


@pytest.mark.parametrize(
    ("content", "columns", "says"),
    [
        (
            'user,item\n1,"over\ntwo lines"\n"",8\n',
            BY_NAME,
            ", line 4: user must be text in one line, not ''; see the options on_bad_lines",
        ),
        (
            'user,item\n"7\n1",8\n',
            BY_NAME,
            r", line 2: user must be text in one line, not '7\n1'",
        ),
        ("1,2\n", {"user": 1, "item": 3}, ", line 1: there is no column 3; the columns are 1, 2"),
    ],
    ids=["an empty id", "a line break in an id", "no column"],
)
def test_refused(content, columns, says):
    assert error_of(content, columns=columns).startswith(f"events{says}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"columns": {"user": "id", "item": "id"}},
            "columns: user and item must name different columns, not ['id', ",
        ),
        (
            {"columns": TIMED, "timestamp": "order"},
            "timestamp: order has no use for the column of timestamps",
        ),
        (
            {"columns": TIMED, "timestamp_format": "%q"},
            "timestamp_format: '%q' is not a pattern of strptime: ",
        ),
    ],
    ids=[
        "a column twice",
        "order and a column of times",
        "an unknown directive",
    ],
)
def test_options_that_cannot_be(options, says):
    assert error_of("user,item,when\n1,2,2020\n", ConfigError, **options).startswith(says)


def written(text, form="iso"):
    """The timestamp of a written time."""
    [chunk] = parse(f"user,item,when\nann,B,{text}\n", columns=TIMED, timestamp_format=form)
    assert chunk.timestamps.dtype == np.int64
    return chunk.timestamps.item()


@pytest.mark.parametrize(
    ("text", "form", "seconds"),
    [
        ("1970-01-02", "iso", 86_400),
        ("02/13/2009 11:31:30 PM", "%m/%d/%Y %I:%M:%S %p", 1_234_567_890),
        ("14.2.2009 00:31:30 +0100", "%d.%m.%Y %H:%M:%S %z", 1_234_567_890),
    ],
)
def test_written_times_are_nanoseconds_since_1970_in_utc(text, form, seconds):
    assert written(text, form) == seconds * 10**9


@given(st.datetimes(datetime(1700, 1, 1), datetime(2261, 1, 1), timezones=st.timezones()))
def test_written_times_are_those_of_python(when):
    assume(when.utcoffset().total_seconds() % 60 == 0)
    since_1970 = when - datetime(1970, 1, 1, tzinfo=UTC)
    assert written(when.isoformat()) == since_1970 // timedelta(microseconds=1) * 1000


@pytest.mark.parametrize("time", ["2010-02-30", "", "1287532527", "9999-12-31"])
def test_a_time_that_is_none_is_refused_with_its_line(time, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK_BYTES", 60)
    content = "user,item,x,when\n" + '1,2,"over\ntwo lines",2020-01-01\n' * 5 + f"1,2,3,{time}\n"
    message = error_of(content, columns=TIMED, timestamp_format="iso")
    assert message.startswith("events, line 12: when must be a time (iso) of the years 1678 to")


def test_lines_with_a_value_may_be_kept():
    content = 'user,item,event\n1,2,view\n3,4,"buy"\n5,6,\n7,8,sale\n'
    keep = {"column": "event", "values": ["sale", "buy"]}
    assert rows(parse(content, columns=BY_NAME, keep=keep)) == [("3", "4"), ("7", "8")]
    for last_line, keep, says in (
        (",9,view\n", {"column": "event", "values": ["buy"]}, ", line 6: user "),
        ("", {"column": "event", "values": ["bye"]}, ": holds no events with a value of keep"),
        ("", {"column": "type", "values": ["buy"]}, ", line 1: there is no column 'type'"),
    ):
        message = error_of(content + last_line, columns=BY_NAME, keep=keep)
        assert message.startswith(f"events{says}")


def test_the_order_of_lines_may_be_the_timestamps():
    keep = {"column": 3, "values": ["x"]}
    chunk, _ = parse(
        "a,b,x\na,c,y\n,d,x\nb,e,x\n",
        columns=BY_PLACE,
        timestamp="order",
        on_bad_lines="skip",
        keep=keep,
    )
    assert (chunk.items.tolist(), chunk.timestamps.tolist()) == (["b", "e"], [0, 1])


SKIPPED = {"columns": BY_PLACE | {"timestamp": 3}, "on_bad_lines": "skip"}


def test_bad_lines_are_skipped_and_counted(caplog):
    content = "a,b,1\n,b,2\na,b\n\na,c,x\na,d,3\na,e,4\na,f,5\na,g,6\nz"
    assert rows(parse(content, **SKIPPED)) == [("a", item) for item in "bdefg"]
    dates = "a,b,2020-01-01\na,c,2020-02-30\na,d,\na,e,2020-01-02\n"
    assert rows(parse(dates, **SKIPPED, timestamp_format="iso")) == [("a", item) for item in "be"]
    assert rows(parse("a,b,1\na,c,2\n\n", **SKIPPED)) == [("a", "b"), ("a", "c")]
    assert caplog.messages == [
        f"events: {count} lines are malformed, and are skipped" for count in ("5 of 10", "2 of 4")
    ]


@pytest.mark.parametrize(
    ("content", "column", "says"),
    [
        (
            "a,b,x\na,b,x\na,b,1\n",
            2,
            ": 2 of 3 lines are malformed, too many to skip (on_bad_lines)",
        ),
    ],
    ids=["most lines malformed"],
)
def test_where_bad_lines_are_skipped_other_faults_are_still_refused(content, column, says):
    columns = {"user": 1, "item": column, "timestamp": 3}
    assert error_of(content, columns=columns, on_bad_lines="skip").startswith(f"events{says}")


GOOD = {"a,b,1,": ("a", "b"), '"x, y",c,2,': ("x, y", "c"), 'u,v,3,"over\ntwo, lines"': ("u", "v")}


@given(
    st.lists(st.sampled_from([*GOOD, "bad", ",,", "", "a,b,1,2,3", '"a\nb",c,1,'])),
    st.integers(30, 90),
)
def test_bad_lines_leave_the_others_wherever_a_block_ends(lines, block):
    lines = ["a,b,1,", *lines, *["a,b,1,"] * len(lines)]  # most lines are well-formed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", block)
        chunks = list(parse("".join(f"{line}\n" for line in lines), **SKIPPED))
    good = [GOOD[line] for line in lines if line in GOOD]
    assert rows(chunks) == good
    assert sum(chunk.malformed for chunk in chunks) == len(lines) - len(good)


def test_typed_columns_of_recbole_are_found_by_name_and_quotes_are_text():
    content = (
        b"timestamp:float\tsource:token_seq\titem_id:token\tuser_id:token\n8.8e8\ta "
        b'b\tB00\t"1\n1\t\t"a"\tu\'1\n'
    )
    [chunk] = parse(content, "recbole-inter")
    assert (chunk.users.tolist(), chunk.items.tolist()) == (['"1', "u'1"], ["B00", '"a"'])
    assert (chunk.ratings, chunk.timestamps.tolist()) == (None, [880000000.0, 1.0])


def test_of_lists_the_order_is_the_time_and_the_last_item_or_a_second_file_is_held_out(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(tables, "BLOCK_BYTES", 12)
    # a user may have no items
    chunks = parse(b"0 5 07 3\n1\n2 \nann\t5 \r\n\n \n", "item-lists")
    assert rows(chunks, 3) == [("0", "5", 0), ("0", "07", 1), ("0", "3", 2), ("ann", "5", 3)]
    train = tmp_path / "train.txt"
    test = tmp_path / "test.txt"
    train.write_text("0 5 8 3\n4 8 5\n1 7 9 6\n")
    test.write_text("0 7\n4 3\n")
    for test_file, held_out in ((None, [3, 6, 5]), (test, [7, 3])):
        events = binarize(read_events(train, formats.get("item-lists"), test=test_file), 0)
        split = split_events(events, "last-event", "first", np.random.default_rng(0))
        assert split.item_ids[split.item].tolist() == held_out
    assert error_of("0 1\n\n1 2\n", form="item-lists") == "events, line 2: is empty"
    assert error_of("0\n", form="item-lists").startswith("events: holds no events")


def test_two_files_of_which_one_has_times(tmp_path):
    timed = tmp_path / "timed.inter"
    timed.write_text("user_id:token\titem_id:token\ttimestamp:float\n1\t2\t3\n")
    untimed = tmp_path / "untimed.inter"
    untimed.write_text("user_id:token\titem_id:token\n1\t4\n")
    for train, test_file in ((timed, untimed), (untimed, timed)):
        chunks = read_events(train, formats.get("recbole-inter"), test=test_file)
        with pytest.raises(DataError, match="timestamps"):
            binarize(chunks, 0)


KEYS = {"user": "u", "item": "i"}
TIMED_KEYS = KEYS | {"timestamp": "t"}
JSON = {"form": "json-lines", "columns": KEYS}
PARQUET = {"form": "parquet", "columns": KEYS}
TIMED_JSON = JSON | {"columns": TIMED_KEYS}
TIMED_PARQUET = PARQUET | {"columns": TIMED_KEYS}


def test_keys_of_json_in_any_order_and_others_ignored_and_times_exact_or_written():
    content = (
        '{"x": {"u": 9}, "t": 20, "i": 7, "r": 4.5, "u": "ann"}\n{"u": "bob", "i": "8", '
        '"r": -1, "t": 10}\n'
    )
    [chunk] = parse(content, "json-lines", columns=TIMED_KEYS | {"rating": "r"})
    assert [array.tolist() for array in chunk[:4]] == [
        ["ann", "bob"],
        ["7", "8"],
        [4.5, -1.0],
        [20, 10],
    ]
    [chunk] = parse('{"u": 1, "i": 2, "t": 1700000000000000001}\n', **TIMED_JSON)
    assert chunk.timestamps.tolist() == [1700000000000000001]
    [chunk] = parse(
        '{"u": 1, "i": 2, "t": "1970-01-01 00:00:01"}', **TIMED_JSON, timestamp_format="iso"
    )
    assert chunk.timestamps.tolist() == [10**9]


BAD = {
    **{line: f"expected an object of JSON, got '{line}'" for line in ("{", "")},
    "[1]": "expected an object of JSON, got '[1]'",
    '{"u": 1}': "i must be text in one line, not ''",
    **{
        f'{{"u": {user}, "i": 2}}': "u must be text in one line, not "
        for user in ("null", '"a\\nb"')
    },
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_of_json_is_named_or_skipped(line, caplog):
    content = f'{{"u": "a", "i": 1}}\n{line}\n{{"u": "b", "i": 2}}\n'
    assert error_of(content, **JSON).startswith(f"events, line 2: {BAD[line]}")
    assert rows(parse(content, on_bad_lines="skip", **JSON)) == [("a", "1"), ("b", "2")]
    assert "lines are malformed, and are skipped" in caplog.text


def test_json_as_pandas_writes_it():
    events = pd.DataFrame({"u": ["a", "b"], "i": [1, 2]})
    array = events.to_json(orient="records")
    for text in (array, events.to_json(orient="records", indent=1)):
        assert rows(parse(text, **JSON)) == [("a", "1"), ("b", "2")]
    assert "no column 'x'" in error_of(array, form="json-lines", columns=KEYS | {"item": "x"})
    assert "objects" in error_of("[1, 2]", **JSON)
    assert error_of(events.to_json(), **JSON).startswith("events, line 1: u must be text")


def test_json_without_a_key_a_line_or_an_end(monkeypatch):
    assert (
        error_of('{"u": 1, "j": 2}\n', **JSON)
        == "events, line 1: there is no column 'i'; the columns are 'u', 'j'"
    )
    assert error_of("", **JSON) == "events: holds no events"
    monkeypatch.setattr(tables, "BLOCK_BYTES", 100)
    stream = io.BytesIO(b'{"u": "' + b"x" * 10_000)
    with pytest.raises(DataError, match=r"^events, line 1: "):
        list(formats.get("json-lines").parse(stream, "events", columns=KEYS))
    assert stream.tell() < 300


TEXT = st.text(st.characters(exclude_characters="\0\r\n", codec="utf-8"), min_size=1).filter(
    str.strip
)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6), st.integers(1, 60), st.booleans())
def test_reads_the_json_that_python_writes(events, block, ascii_only):
    lines = [json.dumps({"u": user, "i": item}, ensure_ascii=ascii_only) for user, item in events]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", max(len(line.encode()) for line in lines) + block)
        assert rows(parse("\n".join(lines), **JSON)) == [
            (user.strip(), item.strip()) for user, item in events
        ]


def parquet_of(row_group_size=None, **columns):
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file, row_group_size=row_group_size)
    return file.getvalue()


@pytest.mark.parametrize(
    "kind", [pa.uint32(), pa.float64(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_types_of_ids_of_parquet(kind):
    ids = pa.array(["3", "20"]).cast(kind)
    content = parquet_of(u=ids, i=['a, "b"', "ß"], t=[1, 2], other=[[1], [2]])
    assert rows(parse(content, **TIMED_PARQUET)) == [("3", 'a, "b"'), ("20", "ß")]


@pytest.mark.parametrize(
    ("times", "kind", "unit"),
    [
        ([1700000000000000001, -5], pa.int64(), 1),
        ([1.5, 2.0], pa.float64(), 1),
        ([1_234_567_890, 0], pa.timestamp("s"), 10**9),
        ([1, 1_234_567_890_123_456_789], pa.timestamp("ns", "Asia/Tokyo"), 1),
        ([1, 2], pa.date32(), 86_400 * 10**9),
    ],
    ids=["int64", "float64", "seconds", "nanoseconds with a zone", "days"],
)
def test_types_of_times_of_parquet(times, kind, unit):
    [chunk] = parse(parquet_of(u=[1, 2], i=[3, 4], t=pa.array(times, kind)), **TIMED_PARQUET)
    assert chunk.timestamps.tolist() == [time * unit for time in times]


def test_missing_numbers_and_kept_rows_of_parquet():
    content = parquet_of(u=[1, 2, 3], i=[4, 5, 6], r=[0.5, None, 4.0], ok=[True, False, True])
    rated = PARQUET | {"columns": KEYS | {"rating": "r"}}
    assert error_of(content, **rated).startswith("events, row 2: r must be a number, not nan")
    chunk, _ = parse(content, **rated, keep={"column": "ok", "values": [True]}, on_bad_lines="skip")
    assert (chunk.users.tolist(), chunk.ratings.tolist()) == ([1, 3], [0.5, 4.0])


def test_parquet_as_pandas_writes_it():
    """A named index is a column, and a missing whole number is no id."""
    ids = pd.array([2**60, 2**60 + 1, None], dtype="Int64")
    events = pd.DataFrame({"u": ["a", "b", "c"], "i": ids, "t": [3, 2, 1]}).set_index("u")
    content = events.to_parquet()
    assert error_of(content, **TIMED_PARQUET).startswith("events, row 3: i must be")
    chunk, _ = parse(content, **TIMED_PARQUET, on_bad_lines="skip")
    assert rows([chunk]) == [("a", str(2**60)), ("b", str(2**60 + 1))]
    without = events.iloc[:2].convert_dtypes().to_parquet()
    assert rows(parse(without, **TIMED_PARQUET)) == rows([chunk])


def test_packed_files_of_parquet(tmp_path):
    content = parquet_of(
        row_group_size=100, u=np.arange(1000), i=np.arange(1000), t=np.arange(1000)
    )
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/a.parquet", content)
    for name in ("a.parquet.gz", "a.zip"):
        chunks = read_events(
            tmp_path / name, formats.get("parquet"), options={"columns": TIMED_KEYS}
        )
        assert [time for chunk in chunks for time in chunk.timestamps.tolist()] == list(range(1000))


NUMBERS = list(range(50_000))
NOTHING = pa.array([], pa.int64())
DAMAGED = bytearray(parquet_of(u=NUMBERS, i=NUMBERS))
DAMAGED[5_000:150_000] = bytes(145_000)


REFUSED = {
    "a column is missing": (
        parquet_of(u=[1], j=[2]),
        ": there is no column 'i'; the columns are 'u', 'j'",
    ),
    "lists": (
        parquet_of(u=[1], i=[[2]]),
        ": column 'i' is of type list<element: int64>; expected numbers, text",
    ),
    "damaged inside": (bytes(DAMAGED), ": cannot be read: "),
    "no row": (parquet_of(u=NOTHING, i=NOTHING), ": holds no events"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_parquet_is_refused(name, monkeypatch):
    content, says = REFUSED[name]
    assert error_of(content, **PARQUET).startswith(f"events{says}")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "events: parquet needs pyarrow" in error_of(content, **PARQUET)
