import io

import numpy as np
import pytest

from sampled_metrics.data import formats
from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import DataError


def parse(content: str) -> list[EventChunk]:
    return list(formats.get("recbole-inter").parse(io.BytesIO(content.encode()), "ml-100k.inter"))


def test_columns_are_found_by_name_in_any_order():
    (chunk,) = parse(
        "timestamp:float\tsource:token_seq\titem_id:token\tuser_id:token\trating:float\n"
        "8.8e8\ta b\tB00\t196\t3\n881250949\t\tB01\tu'1\t4.5\n"
    )
    assert chunk.users.tolist() == ["196", "u'1"]
    assert chunk.items.tolist() == ["B00", "B01"]
    assert chunk.ratings.tolist() == [3.0, 4.5]
    assert chunk.timestamps.tolist() == [880000000.0, 881250949.0]
    assert chunk.timestamps.dtype == np.float64


def test_rating_and_timestamp_may_be_missing():
    (chunk,) = parse("user_id:token\titem_id:token\n1\t2\n")
    assert (chunk.users.tolist(), chunk.items.tolist()) == (["1"], ["2"])
    assert chunk.ratings is None
    assert chunk.timestamps is None
    (chunk,) = parse("user_id:token\titem_id:token\ttimestamp:float\n1\t2\t3\n")
    assert chunk.ratings is None
    assert chunk.timestamps.tolist() == [3]


def test_quotes_are_text():
    (chunk,) = parse('user_id:token\titem_id:token\tname:token\n"1\t2"\t5" nail\n""\t"a"\t"\n')
    assert chunk.users.tolist() == ['"1', '""']
    assert chunk.items.tolist() == ['2"', '"a"']


@pytest.mark.parametrize(
    ("header", "missing", "there"),
    [
        ("user_id:token\tartist_id:token\tweight:float", "item_id", "'user_id', 'artist_id', 'weight'"),
        ("USER_ID:token\titem_id:token", "user_id", "'USER_ID', 'item_id'"),
        ("user_id:token,item_id:token", "item_id", "'user_id'"),
    ],
)
def test_missing_column(header, missing, there):
    with pytest.raises(DataError) as caught:
        parse(header + "\n1\t2\t3\n")
    assert str(caught.value) == f"ml-100k.inter, line 1: there is no column {missing!r}; the columns are {there}"
