"""What the formats of separated fields have in common, on the same events written in each.

tests/faults/test_data_faults.py has what is malformed or unusual in a line.
"""

import io
from typing import Any, NamedTuple

import numpy as np
import pytest

from sampled_metrics.data import formats, text
from sampled_metrics.data.events import EventChunk, binarize
from sampled_metrics.errors import ConfigError, DataError


class Form(NamedTuple):
    """How events are written; the first event's rating is at `rating` in messages."""

    separator: str
    header: str
    rating: str
    member: str | None
    options: dict[str, Any]


COLUMNS = {"user": "u", "item": "i", "rating": "r", "timestamp": "t"}
RECBOLE = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
FORMS = {
    "movielens-dat": Form("::", "", "column 3", "ratings.dat", {}),
    "movielens-100k": Form("\t", "", "column 3", "u.data", {}),
    "movielens-csv": Form(",", "userId,movieId,rating,timestamp\n", "rating", "ratings.csv", {}),
    "recbole-inter": Form("\t", RECBOLE, "rating", "*.inter", {}),
    "delimited": Form(";", "u;i;r;t\n", "r", None, {"separator": ";", "columns": COLUMNS}),
}
each_format = pytest.mark.parametrize("name", FORMS)
each_with_text_ids = pytest.mark.parametrize("name", ["recbole-inter", "delimited"])


def written(name: str, *events: tuple) -> bytes:
    form = FORMS[name]
    return (form.header + "".join(form.separator.join(map(str, event)) + "\n" for event in events)).encode()


def parse(name: str, content: bytes) -> list[EventChunk]:
    return list(formats.get(name).parse(io.BytesIO(content), "file", **FORMS[name].options))


def error_of(name: str, content: bytes) -> str:
    with pytest.raises(DataError) as caught:
        parse(name, content)
    assert str(caught.value).isprintable()
    return str(caught.value)


@each_format
def test_blocks_may_end_anywhere(name, monkeypatch):
    events = [(number, 7, number / 2, 10**17 + 1 - number) for number in range(1, 13)]
    for size in (1, 2, 5, 8, 21):
        monkeypatch.setattr(text, "_BLOCK_BYTES", size)
        chunks = parse(name, written(name, *events))
        assert len(chunks) > 4
        users, _, ratings, times = (np.concatenate(column) for column in list(zip(*chunks, strict=True))[:4])
        assert [str(user) for user in users] == [str(user) for user, *_ in events]
        assert ratings.tolist() == [rating for *_, rating, _ in events]
        assert times.tolist() == [time for *_, time in events]


@each_format
def test_users_and_items_are_numbered_in_the_order_of_their_numbers(name):
    events = binarize(parse(name, written(name, (70, 30, 3.5, 9), (8, 120, 5, 1), (70, 120, 0.5, 3))), 0)
    assert (events.user_ids.tolist(), events.item_ids.tolist()) == ([8, 70], [30, 120])
    assert (events.users.tolist(), events.items.tolist()) == ([1, 0, 1], [0, 1, 1])
    assert events.user_ids.dtype == events.item_ids.dtype == events.timestamps.dtype == np.int64


@each_format
@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ((1, 2, 3), "has 3 fields, but the lines before have 4: "),
        ((1, 2, "\x1b[31m", 4), r"{} must be a number, not '\x1b[31m'"),
        (("1\0", 2, 3, 4), "holds a zero byte, so this is no table"),
        ((), "is empty"),
    ],
)
def test_a_message_names_the_file_the_line_and_the_column_in_one_block_or_several(name, fields, says, monkeypatch):
    content = written(name, (7, 30, 3, 1), (7, 31, 3, 1), (8, 31, 3, 1), fields, (9, 9, 9, 9))
    line = 4 + bool(FORMS[name].header)
    for block in (30, 2**24):
        monkeypatch.setattr(text, "_BLOCK_BYTES", block)
        assert error_of(name, content).startswith(f"file, line {line}: {says.format(FORMS[name].rating)}")


@each_format
def test_the_file_in_an_archive(name):
    assert formats.get(name).member == FORMS[name].member


def test_an_unknown_format_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"^unknown format 'x'; it may be .*movielens-dat"):
        formats.get("x")


def test_the_number_of_fields_is_known_without_a_header():
    assert error_of("movielens-dat", b"1::2::3\n") == "file, line 1: has 3 fields, and 4 are expected"


@each_with_text_ids
class TestTextIds:
    def test_one_id_that_is_no_number_makes_its_column_text_also_in_another_chunk(self, name, monkeypatch):
        monkeypatch.setattr(text, "_BLOCK_BYTES", 10)
        chunks = parse(name, written(name, *[(10, 30, 1, 1)] * 20, ("u 1", 30, 1, 1), (9, 4, 1, 1)))
        assert len(chunks) > 5
        events = binarize(chunks, 0)
        assert events.user_ids.tolist() == ["10", "9", "u 1"]
        assert events.item_ids.tolist() == [4, 30]

    @pytest.mark.parametrize("id_", ["07", "+7", "7.0", "-7", "1234567890123456789", "nan", "NA", "null", "٧"])
    def test_text_that_only_resembles_a_number_is_not_merged_with_it(self, name, id_):
        events = binarize(parse(name, written(name, (7, 1, 1, 1), (id_, 1, 1, 1))), 0)
        assert sorted(events.user_ids.tolist()) == sorted(["7", id_])

    @pytest.mark.parametrize("number", ["8.81250949e8", "8.8e8", "881250949.25", "-1", "5.", ".5"])
    def test_numbers_may_be_floats(self, name, number):
        (chunk,) = parse(name, written(name, (1, 2, number, number)))
        assert chunk.ratings.tolist() == chunk.timestamps.tolist() == [float(number)]

    def test_ratings_are_the_nearest_floats(self, name):
        texts = [f"{number / 1000:.3f}" for number in range(10_000)]
        (chunk,) = parse(name, written(name, *[(1, 2, each, 1) for each in texts]))
        assert chunk.ratings.tolist() == [float(each) for each in texts]

    def test_a_huge_header_is_shown_shortened(self, name):
        message = error_of(name, FORMS[name].separator.join(["x" * 1000] * 900).encode())
        assert message.startswith("file, line 1: there is no column 'u")
        assert len(message) < 3000


class TestRecBole:
    def test_columns_are_found_by_name_in_any_order(self):
        (chunk,) = parse(
            "recbole-inter",
            b"timestamp:float\tsource:token_seq\titem_id:token\tuser_id:token\n8.8e8\ta b\tB00\t196\n1\t\tB01\tu'1\n",
        )
        assert (chunk.users.tolist(), chunk.items.tolist()) == (["196", "u'1"], ["B00", "B01"])
        assert (chunk.ratings, chunk.timestamps.tolist()) == (None, [880000000.0, 1.0])

    def test_quotes_are_text(self):
        (chunk,) = parse("recbole-inter", b'user_id:token\titem_id:token\tname:token\n"1\t2"\t5" nail\n""\t"a"\t"\n')
        assert (chunk.users.tolist(), chunk.items.tolist()) == (['"1', '""'], ['2"', '"a"'])
