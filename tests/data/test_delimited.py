import csv
import io
import random
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sampled_metrics.data import formats, text
from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import ConfigError, DataError

USER_ITEM = {"user": "user", "item": "item", "rating": None, "timestamp": None}


def parse(content: str, columns=USER_ITEM, **options) -> list[EventChunk]:
    parser = formats.get("delimited").parse
    return list(parser(io.BytesIO(content.encode()), "events.csv", columns=columns, **options))


def pairs(content: str, columns=USER_ITEM, **options) -> list[tuple]:
    return [pair for chunk in parse(content, columns, **options) for pair in zip(chunk.users, chunk.items, strict=True)]


def error_of(content: str, columns=USER_ITEM, **options) -> str:
    with pytest.raises(DataError) as caught:
        parse(content, columns, **options)
    return str(caught.value)


def test_takes_the_only_file_of_an_archive():
    assert formats.get("delimited").member is None


def test_columns_by_name_in_any_order_and_others_ignored():
    columns = {"user": "who", "item": "what", "rating": "how much", "timestamp": "when"}
    (chunk,) = parse("note,when,what,how much,who\nhm,20,B,4.5,ann\n,10,A,-1,bob\n", columns)
    assert [array.tolist() for array in chunk[:4]] == [["ann", "bob"], ["B", "A"], [4.5, -1.0], [20, 10]]


def test_rating_and_timestamp_are_only_read_if_they_are_named():
    (chunk,) = parse("user,item,rating,timestamp\n1,2,x,y\n")
    assert (chunk.ratings, chunk.timestamps, chunk.held_out) == (None, None, None)


@pytest.mark.parametrize("separator", [",", ";", ":", "|", "\t", " "])
def test_separator(separator):
    content = "user,item,x\nann,B-1,\n7,8,9\n".replace(",", separator)
    assert pairs(content, separator=separator) == [("ann", "B-1"), ("7", "8")]


class TestQuotes:
    def test_enclose_separators_and_doubled_quotes(self):
        content = (
            '"user",item,"a, ""b"""\n"ann, the first","say ""hi""",x\n"7",8,"line one\nline two, ""quoted"""\n9,10,\n'
        )
        assert pairs(content) == [("ann, the first", 'say "hi"'), ("7", "8"), ("9", "10")]

    def test_enclose_numbers(self):
        (chunk,) = parse(
            'user,item,r,t\n"1","2","3.5","4"\n', {"user": "user", "item": "item", "rating": "r", "timestamp": "t"}
        )
        assert [array.tolist() for array in chunk[:4]] == [["1"], ["2"], [3.5], [4]]

    def test_inside_a_field_are_text(self):
        assert pairs('user,item,x\n5" nail,a"b"c,6"\n') == [('5" nail', 'a"b"c')]

    def test_that_are_all_of_an_id(self):
        assert pairs('user,item,x\n"""",8,\n') == [('"', "8")]

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ('"",8,', "user is empty"),
            ('7,"",', "item is empty"),
            ('"7\n1",8,9', r"user must be text in one line, not '7\n1'"),
        ],
    )
    def test_malformed(self, line, says):
        assert error_of(f'user,item,x\n1,2,"over\ntwo lines"\n{line}\n') == f"events.csv, line 4: {says}"


class TestRefused:
    def test_missing_column(self):
        assert error_of("userId,movieId\n1,2\n", USER_ITEM | {"user": "userId"}) == (
            "events.csv, line 1: there is no column 'item'; the columns are 'userId', 'movieId'"
        )

    def test_missing_optional_column_that_is_named(self):
        assert "there is no column 'stars'" in error_of("user,item\n1,2\n", USER_ITEM | {"rating": "stars"})

    def test_wrong_separator(self):
        assert error_of("user;item\n1;2\n").endswith("the columns are 'user;item'")

    def test_empty_file(self):
        assert error_of("").startswith("events.csv, line 1: there is no column 'user'")

    def test_one_column_for_two_things(self):
        with pytest.raises(
            ConfigError, match=r"^columns: user and item must name different columns, not \['id', 'id'\]$"
        ):
            parse("id\n1\n", {"user": "id", "item": "id"})

    @pytest.mark.parametrize("header", ["x" * 200_000, "a\0b,c"])
    def test_header_that_csv_cannot_read(self, header):
        message = error_of(header + "\n1,2\n")
        assert message.startswith("events.csv, line 1: ")
        assert len(message) < 300


def test_random_bytes_end_in_an_error_or_in_events():
    rng = random.Random(1)
    for _ in range(500):
        body = "".join(rng.choice('1a,"\n\r; ') for _ in range(rng.randint(1, 30)))
        try:
            found = pairs("user,item\n" + body)
        except DataError:
            continue
        with io.StringIO(body, newline="") as file:
            assert found == [tuple(row) for row in csv.reader(file) if row]


EVENTS = "user,item,when\nann,B,{}\nbob,C,2020-01-02\n"
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
            ('"Fri, 13 Feb 2009"', '"%a, %d %b %Y"'.strip('"'), 1_234_483_200),
        ],
    )
    def test_are_nanoseconds_since_1970_in_utc(self, text, form, seconds):
        assert written(text, form) == seconds * NANOSECONDS

    def test_of_nanoseconds_are_exact(self):
        assert written("2009-02-13T23:31:30.123456789Z") == 1_234_567_890_123_456_789

    @given(st.datetimes(datetime(1700, 1, 1), datetime(2261, 1, 1), timezones=st.timezones()))
    def test_are_those_of_python(self, when):
        since = when - datetime(1970, 1, 1, tzinfo=UTC)
        assume(when.utcoffset().total_seconds() % 60 == 0)
        assert written(when.isoformat()) == (since // timedelta(microseconds=1)) * 1000

    @pytest.mark.parametrize(
        "text", ["2010-02-30", "now", "today", "NaT", "", "1287532527", "0001-01-01", "2300-01-01"]
    )
    def test_that_are_none_are_refused_with_their_line(self, text):
        fault = f"must be a time (iso), not {text!r}" if text else "is empty"
        message = error_of(EVENTS.format("2020-01-01") + f"eve,D,{text}\n", WITH_TIME, timestamp_format="iso")
        assert message == f"events.csv, line 4: when {fault}"

    def test_lines_are_counted_over_chunks_and_fields_of_several_lines(self, monkeypatch):
        monkeypatch.setattr(text, "_BLOCK_BYTES", 40)
        content = "user,item,x,when\n" + '1,2,"over\ntwo lines",2020-01-01\n' * 100 + "1,2,3,2020-13-01\n"
        assert "line 202:" in error_of(content, WITH_TIME, timestamp_format="iso")

    @pytest.mark.parametrize("form", ["%q", "%Y-%m-%"])
    def test_pattern_that_is_none(self, form):
        with pytest.raises(ConfigError, match=rf"^timestamp_format: '{form}' is not a pattern of strptime: "):
            written("2020", form)


class TestWithoutHeader:
    def test_columns_by_position(self):
        [chunk] = parse("9,x,ann,5\n8,y,bob,4\n", {"user": 3, "item": 2, "rating": 4, "timestamp": 1})
        assert [array.tolist() for array in chunk[:4]] == [["ann", "bob"], ["x", "y"], [5, 4], [9, 8]]

    @pytest.mark.parametrize("content", ["\ufeff1,2\r\n3,4\r\n", "1,2\n3,4"])
    def test_line_ends_and_a_byte_order_mark(self, content):
        assert pairs(content, {"user": 1, "item": 2}) == [("1", "2"), ("3", "4")]

    def test_one_line(self):
        assert pairs("1,2", {"user": 1, "item": 2}) == [("1", "2")]

    def test_missing_column(self):
        assert error_of("1,2\n", {"user": 1, "item": 3}) == (
            "events.csv, line 1: there is no column 3; the columns are 1, 2"
        )

    def test_first_line_is_checked(self):
        message = error_of("user,item,time\n1,2,3\n", {"user": 1, "item": 2, "timestamp": 3})
        assert message == "events.csv, line 1: column 3 must be a number, not 'time'"

    def test_names_and_positions(self):
        with pytest.raises(ConfigError, match=r"must all be names or all be positions, not \['user', 2\]$"):
            parse("user,item\n1,2\n", {"user": "user", "item": 2})


def test_quotes_that_are_text():
    content = 'a\t"Weird Al" Yankovic\nb\t7" single\nc\t"\n'
    found = pairs(content, {"user": 1, "item": 2}, separator="\t", quotes=False)
    assert found == [("a", '"Weird Al" Yankovic'), ("b", '7" single'), ("c", '"')]


class TestKeep:
    CONTENT = 'user,item,event\n1,2,view\n3,4,"buy"\n5,6,\n7,8,sale\n'

    def test_lines_with_one_of_the_values(self):
        keep = {"column": "event", "values": ["sale", "buy"]}
        assert pairs(self.CONTENT, keep=keep) == [("3", "4"), ("7", "8")]

    def test_numbers_are_as_in_the_file(self):
        assert pairs("1,2,0\n3,4,1\n", {"user": 1, "item": 2}, keep={"column": 3, "values": [1]}) == [("3", "4")]

    def test_a_malformed_line_is_an_error_whatever_its_value(self):
        assert "line 6:" in error_of(self.CONTENT + ",9,view\n", keep={"column": "event", "values": ["buy"]})

    def test_no_line_left(self):
        assert error_of(self.CONTENT, keep={"column": "event", "values": ["bye"]}) == (
            "events.csv: holds no events with 'bye' (keep)"
        )

    def test_missing_column(self):
        assert "there is no column 'type'" in error_of(self.CONTENT, keep={"column": "type", "values": ["buy"]})


class TestBadLines:
    COLUMNS: ClassVar = {"user": 1, "item": 2, "timestamp": 3}

    def test_are_skipped_and_counted(self, caplog):
        content = "a,b,1\n,b,2\na,b\n\na,c,x\na,d,3\nz"
        assert pairs(content, self.COLUMNS, on_bad_lines="skip") == [("a", "b"), ("a", "d")]
        assert caplog.messages == ["events.csv: malformed lines skipped: 5"]

    def test_are_not_mentioned_if_there_are_none(self, caplog):
        assert len(pairs("a,b,1\na,c,2\n\n", self.COLUMNS, on_bad_lines="skip")) == 2
        assert caplog.messages == []

    def test_times_that_are_none_are_skipped(self, caplog):
        content = "a,b,2020-01-01\na,c,2020-02-30\na,d,\na,e,2020-01-02\n"
        found = pairs(content, self.COLUMNS, on_bad_lines="skip", timestamp_format="iso")
        assert found == [("a", "b"), ("a", "e")]
        assert "malformed lines skipped: 2" in caplog.text

    def test_nothing_else(self):
        assert error_of("a,b,1\n" * 2 + "c", {"user": 1, "item": 4}, on_bad_lines="skip").startswith(
            "events.csv, line 1:"
        )
        assert error_of("a,b,x\n" * 2, self.COLUMNS, on_bad_lines="skip") == "events.csv: holds no events"

    def test_later_lines_have_their_numbers(self):
        content = "a,b,1\nbad\nbad\na,b,9007199254740993\na,b,0.5\n"
        message = error_of(content, self.COLUMNS, on_bad_lines="skip")
        assert message.startswith("events.csv, line 4: column 3 is 2^53 or more")

    @settings(deadline=None, max_examples=50)
    @given(
        st.lists(
            st.sampled_from(
                ["a,b,1", '"x, y",c,2', 'u,v,3,"over\ntwo, lines"', "bad", ",,", "", "a,b,1,2,3", '"a\nb",c,1,']
            )
        ),
        st.integers(1, 60),
    )
    def test_leave_the_others_wherever_a_block_ends(self, lines, block):
        good = {"a,b,1,": ("a", "b"), '"x, y",c,2,': ("x, y", "c"), 'u,v,3,"over\ntwo, lines"': ("u", "v")}
        lines = [line if line.startswith("u") or line not in ("a,b,1", '"x, y",c,2') else f"{line}," for line in lines]
        content = "".join(f"{line}\n" for line in ["a,b,1,", *lines])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text, "_BLOCK_BYTES", block)
            patch.setattr(text, "LONGEST_LINE", 30)
            found = pairs(content, self.COLUMNS, on_bad_lines="skip")
        assert found == [good[line] for line in ["a,b,1,", *lines] if line in good]
