"""What the formats have in common, on the same events written in each."""

import io

import numpy as np
import pytest

from sampled_metrics.data import formats, text
from sampled_metrics.data.events import EventChunk, binarize
from sampled_metrics.errors import DataError

EVENTS = [(7, 30, 3.5, 978300760), (1, 12, 5, 1), (7, 12, 0.5, 978300759)]
COLUMNS = {"user": "u", "item": "i", "rating": "r", "timestamp": "t"}
HEADERS = {
    "movielens-dat": b"",
    "movielens-100k": b"",
    "movielens-csv": b"userId,movieId,rating,timestamp\n",
    "recbole-inter": b"user_id:token\titem_id:token\trating:float\ttimestamp:float\n",
    "delimited": b"u;i;r;t\n",
}
SEPARATORS = {
    "movielens-dat": b"::",
    "movielens-100k": b"\t",
    "movielens-csv": b",",
    "recbole-inter": b"\t",
    "delimited": b";",
}
OPTIONS = {"delimited": {"separator": ";", "columns": COLUMNS}}
RATINGS = {
    "movielens-dat": "column 3",
    "movielens-100k": "column 3",
    "movielens-csv": "rating",
    "recbole-inter": "rating",
    "delimited": "r",
}

each_format = pytest.mark.parametrize("form", HEADERS)
each_with_text_ids = pytest.mark.parametrize("form", ["recbole-inter", "delimited"])
each_with_integer_ids = pytest.mark.parametrize("form", ["movielens-dat", "movielens-100k", "movielens-csv"])


def line(form: str, *fields: object) -> bytes:
    return SEPARATORS[form].join(str(field).encode() for field in fields) + b"\n"


def written(form: str, events=EVENTS) -> bytes:
    return HEADERS[form] + b"".join(line(form, *event) for event in events)


def parse(form: str, content: bytes) -> list[EventChunk]:
    return list(formats.get(form).parse(io.BytesIO(content), "file", **OPTIONS.get(form, {})))


def error_of(form: str, content: bytes) -> str:
    with pytest.raises(DataError) as caught:
        parse(form, content)
    message = str(caught.value)
    assert "\n" not in message
    return message


def columns(chunks: list[EventChunk]) -> list[list]:
    """Users, items, ratings, timestamps of all chunks; ids as text."""
    users, items, ratings, timestamps = (np.concatenate(each) for each in list(zip(*chunks, strict=True))[:4])
    return [[str(id_) for id_ in users], [str(id_) for id_ in items], ratings.tolist(), timestamps.tolist()]


EVENT_COLUMNS = [["7", "1", "7"], ["30", "12", "12"], [3.5, 5.0, 0.5], [978300760, 1, 978300759]]


@each_format
class TestEveryFormat:
    def test_reads_the_same_events(self, form):
        assert columns(parse(form, written(form))) == EVENT_COLUMNS

    def test_gives_the_same_numbers(self, form):
        events = binarize(parse(form, written(form)), 0)
        assert events.user_ids.tolist() == [1, 7]
        assert events.item_ids.tolist() == [12, 30]
        assert events.user_ids.dtype == events.item_ids.dtype == events.timestamps.dtype == np.int64
        assert events.users.tolist() == [1, 0, 1]
        assert events.items.tolist() == [1, 0, 0]

    def test_chunks_may_be_cut_anywhere(self, form, monkeypatch):
        events = [(number, 7, 4, 20 - number) for number in range(1, 21)]
        for size in (1, 2, 3, 5, 8, 13, 21, 34):
            monkeypatch.setattr(text, "_BLOCK_BYTES", size)
            chunks = parse(form, written(form, events))
            assert len(chunks) > 4
            assert columns(chunks)[0] == [str(number) for number in range(1, 21)]
            assert columns(chunks)[3] == list(range(19, -1, -1))

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            ((1, 2, 3), "has 3 fields, but the lines before have 4: "),
            ((1, 2, "x", 4), "{} must be a number, not 'x'"),
            (("1\0", 2, 3, 4), "holds a zero byte, so this is no table"),
            ((), "is empty"),
        ],
    )
    def test_names_the_file_and_the_line(self, form, fields, says, monkeypatch):
        """In one block or in several; tests/faults/test_data_faults.py has what else is malformed."""
        content = written(form) + line(form, *fields) + line(form, 9, 9, 9, 9)
        number = 4 + bool(HEADERS[form])
        for block in (30, 2**24):
            monkeypatch.setattr(text, "_BLOCK_BYTES", block)
            assert error_of(form, content).startswith(f"file, line {number}: {says.format(RATINGS[form])}")

    def test_a_file_without_events(self, form):
        assert error_of(form, HEADERS[form]) == "file: holds no events"


@each_with_integer_ids
def test_ids_of_movielens_are_not_quoted(form):
    assert error_of(form, written(form) + line(form, '"1"', 2, 3, 4)).endswith(
        """must be a whole number from 0, not '"1"'"""
    )


@each_with_text_ids
class TestTextIds:
    def test_one_id_that_is_no_number_makes_all_of_its_column_text(self, form):
        events = binarize(parse(form, written(form, [(10, 30, 1, 1), (9, 4, 1, 1), ("u 1", 30, 1, 1)])), 0)
        assert events.user_ids.tolist() == ["10", "9", "u 1"]
        assert events.item_ids.tolist() == [4, 30]
        assert events.users.tolist() == [0, 1, 2]

    def test_also_where_it_comes_in_another_chunk(self, form, monkeypatch):
        monkeypatch.setattr(text, "_BLOCK_BYTES", 10)
        chunks = parse(form, written(form, [(10, 1, 1, 1)] * 20 + [("x", 1, 1, 1)] + [(10, 2, 1, 1)]))
        assert len(chunks) > 5
        events = binarize(chunks, 0)
        assert events.user_ids.tolist() == ["10", "x"]
        assert events.users.tolist() == [0, 1, 0]

    @pytest.mark.parametrize("id_", ["07", "+7", "7.0", "-7", "1234567890123456789", "nan", "NA", "null", "٧"])
    def test_text_that_only_resembles_a_number_is_not_merged_with_it(self, form, id_):
        events = binarize(parse(form, written(form, [(7, 1, 1, 1), (id_, 1, 1, 1)])), 0)
        assert sorted(events.user_ids.tolist()) == sorted(["7", id_])

    def test_ids_in_utf8(self, form):
        assert columns(parse(form, written(form, [("é", "東京", 1, 1)])))[:2] == [["é"], ["東京"]]

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("8.81250949e8", 881250949.0),
            ("8.8e8", 8.8e8),
            ("881250949.25", 881250949.25),
            ("-1", -1),
            ("5.", 5),
            (".5", 0.5),
        ],
    )
    def test_numbers_may_be_floats(self, form, text, value):
        (chunk,) = parse(form, written(form, [(1, 2, text, text)]))
        assert chunk.ratings.tolist() == chunk.timestamps.tolist() == [value]

    def test_whole_timestamps_are_exact(self, form):
        (chunk,) = parse(form, written(form, [(1, 2, 3, 10**17 + 1)]))
        assert chunk.timestamps.tolist() == [10**17 + 1]

    def test_ratings_are_the_nearest_floats(self, form):
        texts = [f"{number / 1000:.3f}" for number in range(10_000)]
        (chunk,) = parse(form, written(form, [(1, 2, text, 1) for text in texts]))
        assert chunk.ratings.tolist() == [float(text) for text in texts]

    def test_a_huge_header_is_shown_shortened(self, form):
        message = error_of(form, SEPARATORS[form].join([b"x" * 1000] * 900))
        assert message.startswith("file, line 1: there is no column 'u")
        assert len(message) < 3000
        assert message.endswith(f"'{'x' * 79}, …")

    def test_a_column_that_is_there_twice(self, form):
        name = HEADERS[form].split(SEPARATORS[form])[0]
        message = error_of(form, SEPARATORS[form].join([name, HEADERS[form]]))
        assert message.startswith("file, line 1: there is more than one column 'u")
