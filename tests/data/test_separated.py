"""What the formats of separated fields have in common, on the same events written in each.

tests/faults/test_data_faults.py has what is malformed or unusual in a line.
"""

import io
from pathlib import Path

import pytest
from faults.test_data_faults import WAYS, Way, expected
from made_up_project import complete_config, split

from sampled_metrics.data import formats, tables
from sampled_metrics.data.events import Events, binarize
from sampled_metrics.data.split import read_split
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.reading import read_stream

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
        monkeypatch.setattr(tables, "_BLOCK_BYTES", size)
        assert way.read(written(way, rows)) == expected(way, rows)


@with_text_ids
class TestTextIds:
    def test_one_id_that_is_no_number_makes_its_column_text_also_in_another_chunk(self, way, monkeypatch):
        monkeypatch.setattr(tables, "_BLOCK_BYTES", 10)
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

    HEADER = b"user_id:token\titem_id:token\trank:float\tcandidates:float\n"

    @pytest.mark.parametrize("user", ["user_id", "user_id:token"])
    def test_typed_columns_are_found_by_name_in_any_delimited_file(self, user):
        columns = {"user": user, "item": "item_id", "rating": "rank"}
        stream = io.BytesIO(self.HEADER + b"a\tb\t3.5\t9\n")
        (chunk,) = formats.get("delimited").parse(stream, "events", columns=columns, separator="\t")
        assert [column.tolist() for column in chunk[:3]] == [["a"], ["b"], [3.5]]

    def test_a_header_of_which_a_name_has_no_type_is_taken_as_it_is(self):
        stream = io.BytesIO(b"user:token,item\n1,2\n")
        with pytest.raises(
            DataError, match=r"line 1: there is no column 'user'; the columns are 'user:token', 'item'$"
        ):
            list(formats.get("delimited").parse(stream, "events", columns={"user": "user", "item": "item"}))

    def test_ranks_may_have_it(self):
        columns = read_stream(io.BytesIO(self.HEADER + b"a\tb\t3.0\t9\n"), "ranks")
        assert columns.names == {"user": "user_id", "rank": "rank", "candidates": "candidates"}


class TestItemLists:
    def read(self, content: bytes) -> list[list]:
        chunks = list(formats.get("item-lists").parse(io.BytesIO(content), "train.txt"))
        return [list(row) for chunk in chunks for row in zip(chunk.users, chunk.items, chunk.timestamps, strict=True)]

    @pytest.mark.parametrize("block", [1, 3, 5, 2**21])
    def test_the_order_is_the_time_and_a_user_may_have_no_items(self, block, monkeypatch):
        monkeypatch.setattr(tables, "_BLOCK_BYTES", block)
        expected = [["0", "5", 0], ["0", "07", 1], ["0", "3", 2], ["ann", "5", 3]]
        assert self.read(b"0 5 07 3\n1\n2 \nann\t5 \r\n\n \n") == expected

    @pytest.mark.parametrize(("more", "held_out"), [({}, [3, 6, 5]), ({"test": "test.txt"}, [7, 3])])
    def test_a_study_holds_out_the_last_item_of_a_line_or_a_second_file(self, more, held_out, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("train.txt").write_text("0 5 8 3\n4 8 5\n1 7 9 6\n")
        Path("test.txt").write_text("0 7\n4 3\n")
        entry = {"path": "train.txt", "format": "item-lists", **more}
        config = complete_config({"study": ["lists"], "datasets": {"lists": entry}, "sampling": {"negatives": 1}})
        assert split(config, "lists") == []
        found = read_split("split.npz")
        assert found.item_ids[found.item].tolist() == held_out

    @pytest.mark.parametrize(
        ("content", "says"), [(b"0 1\n\n1 2\n", ", line 2: is empty"), (b"0\n", ": holds no events")]
    )
    def test_refused(self, content, says):
        with pytest.raises(DataError, match=rf"^train\.txt{says}"):
            self.read(content)
