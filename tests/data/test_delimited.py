"""The format delimited: its options, and written times.

tests/data/test_table_reader.py has the reader of tables under it, tests/faults/test_data_faults.py what is malformed.
"""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sampled_metrics.data import formats, tables
from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import ConfigError, DataError

USER_ITEM = {"user": "user", "item": "item", "rating": None, "timestamp": None}


def parse(content: str, columns=USER_ITEM, **options) -> list[EventChunk]:
    parser = formats.get("delimited").parse
    return list(parser(io.BytesIO(content.encode()), "events.csv", columns=columns, **options))


def pairs(content: str, columns=USER_ITEM, **options) -> list[tuple]:
    chunks = parse(content, columns, **options)
    return [(str(user), str(item)) for chunk in chunks for user, item in zip(chunk.users, chunk.items, strict=True)]


def error_of(content: str, columns=USER_ITEM, **options) -> str:
    with pytest.raises(DataError) as caught:
        parse(content, columns, **options)
    return str(caught.value)


def test_columns_by_name_in_any_order_and_others_ignored():
    columns = {"user": "who", "item": "what", "rating": "how much", "timestamp": "when"}
    (chunk,) = parse('note,when,what,how much,who\nhm,"20",B,4.5,ann\n,10,A,-1,bob\n', columns)
    assert [array.tolist() for array in chunk[:4]] == [["ann", "bob"], ["B", "A"], [4.5, -1.0], [20, 10]]


def test_columns_by_position():
    [chunk] = parse("9,x,ann,5\n8,y,bob,4\n", {"user": 3, "item": 2, "rating": 4, "timestamp": 1})
    assert [array.tolist() for array in chunk[:4]] == [["ann", "bob"], ["x", "y"], [5, 4], [9, 8]]


@pytest.mark.parametrize("separator", [",", ";", ":", "|", "\t", " "])
def test_separator(separator):
    content = "user,item,x\nann,B-1,\n7,8,9\n".replace(",", separator)
    assert pairs(content, separator=separator) == [("ann", "B-1"), ("7", "8")]


@pytest.mark.parametrize(
    ("content", "columns", "says"),
    [
        ('user,item,x\n1,2,"over\ntwo lines"\n"",8,\n', {}, "line 4: user is empty; or state on_bad_lines: skip"),
        (
            'user,item\n"7\n1",8\n',
            {},
            r"line 2: user must be text in one line, not '7\n1'; or state on_bad_lines: skip",
        ),
        ("user,b\n1,2\n", {}, "line 1: there is no column 'item'; the columns are 'user', 'b'"),
        ("user;item\n1;2\n", {}, "line 1: there is no column 'user'; the columns are 'user;item'"),
        ("user,item\n1,2\n", {"rating": "stars"}, "line 1: there is no column 'stars'; the columns are 'user', 'item'"),
        ("1,2\n", {"user": 1, "item": 3}, "line 1: there is no column 3; the columns are 1, 2"),
        (
            "1,2,2022-04-17T12:12:28\n",
            {"user": 1, "item": 2, "timestamp": 3},
            "line 1: column 3 must be a number, not '2022-04-17T12:12:28'; or state timestamp_format, such as iso",
        ),
    ],
)
def test_refused(content, columns, says):
    assert error_of(content, USER_ITEM | columns) == f"events.csv, {says}"


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"user": "id", "item": "id"}, r"user and item must name different columns, not \['id', 'id'\]$"),
        ({"user": "id", "item": 2}, r"must all be names or all be positions, not \['id', 2\]$"),
    ],
)
def test_columns_that_cannot_be(columns, says):
    with pytest.raises(ConfigError, match=says):
        parse("id,item\n1,2\n", columns)


def test_a_format_may_have_a_timestamp_format_of_its_own():
    form = replace(formats.get("movielens-csv"), timestamp_format="iso")
    content = b"userId,movieId,rating,timestamp\n1,2,5,1970-01-02\n"
    [chunk] = form.parse(io.BytesIO(content), "ratings.csv")
    assert chunk.timestamps.tolist() == [86_400 * NANOSECONDS]
    [chunk] = form.parse(io.BytesIO(content.replace(b"-01-02", b"-02-01")), "a.csv", timestamp_format="%Y-%d-%m")
    assert chunk.timestamps.tolist() == [86_400 * NANOSECONDS]


WITH_TIME = USER_ITEM | {"timestamp": "when"}
NANOSECONDS = 10**9


def written(text: str, form: str = "iso") -> int:
    """The timestamp of a written time."""
    [chunk] = parse(f"user,item,when\nann,B,{text}\n", WITH_TIME, timestamp_format=form)
    assert chunk.timestamps.dtype == np.int64
    return chunk.timestamps.item()


class TestWrittenTimes:
    @pytest.mark.parametrize(
        ("text", "form", "seconds"),
        [
            ("1970-01-02", "iso", 86_400),
            ("1969-12-31T23:59:58Z", "iso", -2),
            ("2009-02-13 23:31:30", "iso", 1_234_567_890),
            ("2009-02-14T00:31:30+01:00", "iso", 1_234_567_890),
            ("2009-02-13T23:31:30.5Z", "iso", 1_234_567_890.5),
            ("02/13/2009 11:31:30 PM", "%m/%d/%Y %I:%M:%S %p", 1_234_567_890),
            ("13.2.2009 23:31:30 +0000", "%d.%m.%Y %H:%M:%S %z", 1_234_567_890),
            ('"Fri, 13 Feb 2009"', "%a, %d %b %Y", 1_234_483_200),
        ],
    )
    def test_are_nanoseconds_since_1970_in_utc(self, text, form, seconds):
        assert written(text, form) == seconds * NANOSECONDS

    @given(st.datetimes(datetime(1700, 1, 1), datetime(2261, 1, 1), timezones=st.timezones()))
    def test_are_those_of_python(self, when):
        since = when - datetime(1970, 1, 1, tzinfo=UTC)
        assume(when.utcoffset().total_seconds() % 60 == 0)
        assert written(when.isoformat()) == (since // timedelta(microseconds=1)) * 1000

    @pytest.mark.parametrize(
        "time", ["2010-02-30", "now", "today", "NaT", "", "1287532527", "0001-01-01", "2300-01-01"]
    )
    def test_that_are_none_are_refused_with_their_line(self, time, monkeypatch):
        monkeypatch.setattr(tables, "_BLOCK_BYTES", 40)
        content = "user,item,x,when\n" + '1,2,"over\ntwo lines",2020-01-01\n' * 100 + f"1,2,3,{time}\n"
        fault = f"must be a time (iso), not {time!r}" if time else "is empty"
        says = f"events.csv, line 202: when {fault}; or state on_bad_lines: skip"
        assert error_of(content, WITH_TIME, timestamp_format="iso") == says

    @pytest.mark.parametrize("form", ["%q", "%Y-%m-%"])
    def test_pattern_that_is_none(self, form):
        with pytest.raises(ConfigError, match=rf"^timestamp_format: '{form}' is not a pattern of strptime: "):
            written("2020", form)


class TestKeep:
    CONTENT = 'user,item,event\n1,2,view\n3,4,"buy"\n5,6,\n7,8,sale\n'

    def test_lines_with_one_of_the_values(self):
        keep = {"column": "event", "values": ["sale", "buy"]}
        assert pairs(self.CONTENT, keep=keep) == [("3", "4"), ("7", "8")]

    @pytest.mark.parametrize(
        ("more", "keep", "says"),
        [
            (",9,view\n", {"column": "event", "values": ["buy"]}, ", line 6: user is empty"),
            ("", {"column": "event", "values": ["bye"]}, ": holds no events with 'bye' (keep)"),
            ("", {"column": "type", "values": ["buy"]}, ", line 1: there is no column 'type'"),
        ],
    )
    def test_refused(self, more, keep, says):
        """A malformed line whatever its value, no line left, and a column that is not there."""
        assert error_of(self.CONTENT + more, keep=keep).startswith(f"events.csv{says}")


def test_the_order_of_lines_may_be_the_timestamps():
    content = "a,b,x\na,c,y\n,d,x\nb,e,x\n"
    keep = {"column": 3, "values": ["x"]}
    (chunk,) = parse(content, {"user": 1, "item": 2}, timestamp="order", on_bad_lines="skip", keep=keep)
    assert (chunk.items.tolist(), chunk.timestamps.tolist()) == (["b", "e"], [0, 1])
    with pytest.raises(ConfigError, match="timestamp: order has no use for the column of timestamps"):
        parse(content, {"user": 1, "item": 2, "timestamp": 3}, timestamp="order")


class TestBadLines:
    COLUMNS: ClassVar = {"user": 1, "item": 2, "timestamp": 3}

    @pytest.mark.parametrize(
        ("content", "options", "found", "messages"),
        [
            (
                "a,b,1\n,b,2\na,b\n\na,c,x\na,d,3\na,e,4\na,f,5\na,g,6\nz",
                {},
                "bdefg",
                ["events.csv: 5 of 10 lines are malformed, and are skipped"],
            ),
            (
                "a,b,2020-01-01\na,c,2020-02-30\na,d,\na,e,2020-01-02\n",
                {"timestamp_format": "iso"},
                "be",
                ["events.csv: 2 of 4 lines are malformed, and are skipped"],
            ),
            ("a,b,1\na,c,2\n\n", {}, "bc", []),
        ],
    )
    def test_are_skipped_and_counted(self, content, options, found, messages, caplog):
        read = pairs(content, self.COLUMNS, on_bad_lines="skip", **options)
        assert read == [("a", item) for item in found]
        assert caplog.messages == messages

    def test_other_faults_are_still_refused_with_their_line(self):
        assert error_of("a,b,1\n" * 2 + "c", {"user": 1, "item": 4}, on_bad_lines="skip").startswith(
            "events.csv, line 1:"
        )
        most = error_of("a,b,x\n" * 2 + "a,b,1\n", self.COLUMNS, on_bad_lines="skip")
        assert most.startswith("events.csv: 2 of 3 lines are malformed, too many to skip (on_bad_lines)")
        content = "a,b,1\nbad\nbad\na,b,9007199254740993\na,b,0.5\n"
        message = error_of(content, self.COLUMNS, on_bad_lines="skip")
        assert message.startswith("events.csv, line 4: column 3 is 2^53 or more")

    @settings(deadline=None, max_examples=50)
    @given(
        st.lists(
            st.sampled_from(
                ["a,b,1,", '"x, y",c,2,', 'u,v,3,"over\ntwo, lines"', "bad", ",,", "", "a,b,1,2,3", '"a\nb",c,1,']
            )
        ),
        st.integers(1, 60),
    )
    def test_leave_the_others_wherever_a_block_ends(self, lines, block):
        lines = [*lines, *["a,b,1,"] * len(lines)]  # most lines are well-formed
        good = {"a,b,1,": ("a", "b"), '"x, y",c,2,': ("x, y", "c"), 'u,v,3,"over\ntwo, lines"': ("u", "v")}
        content = "".join(f"{line}\n" for line in ["a,b,1,", *lines])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tables, "_BLOCK_BYTES", block)
            patch.setattr(tables, "LONGEST_LINE", 30)
            found = pairs(content, self.COLUMNS, on_bad_lines="skip")
        assert found == [good[line] for line in ["a,b,1,", *lines] if line in good]
