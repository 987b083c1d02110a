import csv
import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampled_metrics.data import formats
from sampled_metrics.data.formats import separated
from sampled_metrics.errors import ConfigError, DataError

USER_ITEM = {"user": "user", "item": "item", "rating": None, "timestamp": None}


def parse(content: str, columns=USER_ITEM, **options) -> list[formats.EventChunk]:
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
        "line", ['"",8,', '7,"",', '"7,8,9', '"7"x,8,9', '7,8,"9', '7,8,"9"9', '"7\n1",8,9', '7,8,9"9","9', '"7" ,8,9']
    )
    def test_malformed(self, line):
        content = f'user,item,x\n1,2,"over\ntwo lines"\n{line}\n'
        assert error_of(content) == (
            "events.csv, line 4: expected 3 fields separated by ',', 'user' and 'item' not empty, "
            f"got {line.partition(chr(10))[0]!r}"
        )

    def test_lines_are_counted_over_chunks(self, monkeypatch):
        monkeypatch.setattr(separated, "_BLOCK_BYTES", 40)
        content = "user,item,x\n" + '1,2,"over\ntwo lines"\n' * 100 + "1,2\n" + "1,2,3\n" * 100
        assert "line 202:" in error_of(content)

    def test_a_quote_that_is_never_closed_is_not_read_to_the_end(self, monkeypatch):
        monkeypatch.setattr(separated, "_LINE_BYTES", 1000)
        monkeypatch.setattr(separated, "_BLOCK_BYTES", 1000)
        content = 'user,item,x\n1,2,"\n' + "1,2,3\n" * 10_000
        stream = io.BytesIO(content.encode())
        with pytest.raises(DataError, match=r"line 2: .* got '1,2,\"'"):
            list(formats.get("delimited").parse(stream, "events.csv", columns=USER_ITEM))
        assert stream.tell() < 3000

    @settings(deadline=None, max_examples=25)
    @given(
        st.lists(
            st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1)] * 2),
            min_size=1,
            max_size=20,
        ),
        st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        st.sampled_from(",;|\t "),
        st.integers(1, 50),
    )
    def test_reads_what_python_writes(self, events, quoting, separator, block):
        with io.StringIO(newline="") as file, pytest.MonkeyPatch.context() as patch:
            patch.setattr(separated, "_BLOCK_BYTES", block)
            writer = csv.writer(file, delimiter=separator, quoting=quoting)
            writer.writerow(["user", "item", "other"])
            writer.writerows((user, item, f"{item}\n{user}") for user, item in events)
            assert pairs(file.getvalue(), separator=separator) == events


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
