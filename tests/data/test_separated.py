"""What the formats of separated fields have in common, on the same events written in each.

tests/faults/test_data_faults.py has what is malformed or unusual in a line.
"""

import io

import pytest
from faults.test_data_faults import WAYS, Way, expected

from sampled_metrics.data import formats
from sampled_metrics.data import tables as text
from sampled_metrics.data.events import Events, binarize
from sampled_metrics.errors import DataError

each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
with_text_ids = pytest.mark.parametrize("way", [way for way in WAYS if way.has_text_ids], ids=lambda way: way.name)


def written(way: Way, rows: list[tuple]) -> bytes:
    return way.file([way.line(*row) for row in rows]).encode()


def events_of(way: Way, rows: list[tuple]) -> Events:
    stream = io.BytesIO(written(way, rows))
    return binarize(formats.get(way.name).parse(stream, "events", **way.options), 0)


@each_way
def test_blocks_may_end_anywhere(way, monkeypatch):
    rows = [(1 + number % 3, number, number / 2, 10**17 + 1 - number) for number in range(1, 7)]
    for size in (1, 2, 5, 8, 21):
        monkeypatch.setattr(text, "_BLOCK_BYTES", size)
        assert way.read(written(way, rows)) == expected(way, rows)


@each_way
@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ((1, 2, 3), "has 3 fields, but the lines before have 4: "),
        ((1, 2, "\x1b[31m", 4), r"must be a number, not '\x1b[31m'"),
        (("1\0", 2, 3, 4), "holds a zero byte, so this is not a table"),
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


@each_way
@pytest.mark.parametrize("has_rows", [False, True])
def test_endless_empty_lines_are_refused_before_they_fill_the_memory(way, has_rows, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 128)
    monkeypatch.setattr(text, "LONGEST_LINE", 100)
    content = written(way, [(1, 2, 3, 4), (1, 3, 3, 4)]) if has_rows else b""
    line = content.rstrip(b"\n").count(b"\n") + 2 if has_rows else 1
    with pytest.raises(DataError, match=rf"^events, line {line}: begins more than 100 bytes of empty lines"):
        way.read(content.rstrip(b"\n") + b"\n" * 500)


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


class TestRecBole:
    def test_columns_are_found_by_name_in_any_order_and_quotes_are_text(self):
        content = (
            b'timestamp:float\tsource:token_seq\titem_id:token\tuser_id:token\n8.8e8\ta b\tB00\t"1\n1\t\t"a"\tu\'1\n'
        )
        (chunk,) = formats.get("recbole-inter").parse(io.BytesIO(content), "events")
        assert (chunk.users.tolist(), chunk.items.tolist()) == (['"1', "u'1"], ["B00", '"a"'])
        assert (chunk.ratings, chunk.timestamps.tolist()) == (None, [880000000.0, 1.0])
