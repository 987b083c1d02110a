"""What the formats of separated fields have in common, on the same events written in each.

tests/faults/test_data_faults.py has what is malformed or unusual in a line.
"""

import io

import numpy as np
import pytest
from faults.test_data_faults import WAYS, Way, expected

from sampled_metrics.data import formats, text
from sampled_metrics.data.events import Events, binarize
from sampled_metrics.errors import ConfigError, DataError

each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
with_text_ids = pytest.mark.parametrize("way", [way for way in WAYS if way.has_text_ids], ids=lambda way: way.name)


def written(way: Way, rows: list[tuple]) -> bytes:
    return way.file([way.line(*row) for row in rows]).encode()


def events_of(way: Way, rows: list[tuple]) -> Events:
    stream = io.BytesIO(written(way, rows))
    return binarize(formats.get(way.name).parse(stream, "events", **way.options), 0)


@each_way
def test_blocks_may_end_anywhere(way, monkeypatch):
    rows = [(1 + number % 3, number, number / 2, 10**17 + 1 - number) for number in range(1, 13)]
    for size in (1, 2, 5, 8, 21):
        monkeypatch.setattr(text, "_BLOCK_BYTES", size)
        assert way.read(written(way, rows)) == expected(way, rows)


@pytest.mark.parametrize("way", [way for way in WAYS if way.name != "ncf"], ids=lambda way: way.name)
def test_users_and_items_are_numbered_in_the_order_of_their_numbers(way):
    events = events_of(way, [(70, 30, 3.5, 9), (8, 120, 5, 1), (70, 120, 0.5, 3)])
    assert (events.user_ids.tolist(), events.item_ids.tolist()) == ([8, 70], [30, 120])
    assert (events.users.tolist(), events.items.tolist()) == ([1, 0, 1], [0, 1, 1])
    assert events.user_ids.dtype == events.item_ids.dtype == events.timestamps.dtype == np.int64


@each_way
@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ((1, 2, 3), "has 3 fields, but the lines before have 4: "),
        ((1, 2, "\x1b[31m", 4), r"must be a number, not '\x1b[31m'"),
        (("1\0", 2, 3, 4), "holds a zero byte, so this is no table"),
        ((), "is empty"),
    ],
)
def test_a_message_is_the_same_in_one_block_or_several(way, fields, says, monkeypatch):
    content = written(way, [(3, 30, 3, 1), (3, 31, 3, 1), (2, 31, 3, 1), fields, (1, 9, 9, 9)])
    for block in (30, 2**24):
        monkeypatch.setattr(text, "_BLOCK_BYTES", block)
        with pytest.raises(DataError) as caught:
            way.read(content)
        assert str(caught.value).startswith(f"events, line {way.first_line + 3}: ")
        assert says in str(caught.value)
        assert str(caught.value).isprintable()


def test_formats_by_name():
    members = {name: formats.get(name).member for name in ("movielens-dat", "movielens-100k", "movielens-csv")}
    assert members == {"movielens-dat": "ratings.dat", "movielens-100k": "u.data", "movielens-csv": "ratings.csv"}
    assert (formats.get("recbole-inter").member, formats.get("delimited").member) == ("*.inter", None)
    with pytest.raises(ConfigError, match=r"^unknown format 'x'; it may be .*movielens-dat"):
        formats.get("x")


def test_the_number_of_fields_is_known_without_a_header():
    with pytest.raises(DataError, match=r"^events, line 1: has 3 fields, and 4 are expected$"):
        WAYS[0].read(b"1::2::3\n")


@with_text_ids
class TestTextIds:
    def test_one_id_that_is_no_number_makes_its_column_text_also_in_another_chunk(self, way, monkeypatch):
        monkeypatch.setattr(text, "_BLOCK_BYTES", 10)
        events = events_of(way, [*[(10, 30, 1, 1)] * 20, ("u 1", 30, 1, 1), (9, 4, 1, 1)])
        assert events.user_ids.tolist() == ["10", "9", "u 1"]
        assert events.item_ids.tolist() == [4, 30]

    @pytest.mark.parametrize("id_", ["07", "+7", "7.0", "-7", "1234567890123456789", "nan", "NA", "null", "٧"])
    def test_text_that_only_resembles_a_number_is_not_merged_with_it(self, way, id_):
        events = events_of(way, [(7, 1, 1, 1), (id_, 1, 1, 1)])
        assert sorted(events.user_ids.tolist()) == sorted(["7", id_])

    def test_ratings_and_times_are_the_nearest_floats(self, way):
        texts = ["8.81250949e8", "8.8e8", "-1", "5.", ".5", *(f"{number / 1000:.3f}" for number in range(10_000))]
        rows = way.read(written(way, [(1, 2, each, each) for each in texts]))
        assert [row[2] for row in rows] == [row[3] for row in rows] == [float(each) for each in texts]

    def test_a_huge_header_is_shown_shortened(self, way):
        with pytest.raises(DataError, match=r"^events, line 1: there is no column '") as caught:
            way.read(way.separator.join(["x" * 1000] * 900).encode())
        assert len(str(caught.value)) < 3000


class TestRecBole:
    def test_columns_are_found_by_name_in_any_order_and_quotes_are_text(self):
        content = (
            b'timestamp:float\tsource:token_seq\titem_id:token\tuser_id:token\n8.8e8\ta b\tB00\t"1\n1\t\t"a"\tu\'1\n'
        )
        (chunk,) = formats.get("recbole-inter").parse(io.BytesIO(content), "events")
        assert (chunk.users.tolist(), chunk.items.tolist()) == (['"1', "u'1"], ["B00", '"a"'])
        assert (chunk.ratings, chunk.timestamps.tolist()) == (None, [880000000.0, 1.0])
