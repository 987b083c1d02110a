import io

import numpy as np
import pytest

from sampled_metrics.data import formats
from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import DataError

HEADER = b"userId,movieId,rating,timestamp\n"


def parse(content: bytes) -> list[EventChunk]:
    return list(formats.get("movielens-csv").parse(io.BytesIO(content), "ml-20m.zip/ratings.csv"))


def test_names_the_member_of_the_archive():
    assert formats.get("movielens-csv").member == "ratings.csv"


def test_keeps_file_order_values_and_types():
    (chunk,) = parse(HEADER + b"7,2,3.5,1112486027\n1,29,5,-1\n")
    assert [array.tolist() for array in chunk[:4]] == [[7, 1], [2, 29], [3.5, 5.0], [1112486027, -1]]
    assert [array.dtype for array in chunk[:4]] == [np.int64, np.int64, np.float64, np.int64]
    assert chunk.held_out is None


@pytest.mark.parametrize(
    "header",
    [b"1,2,3.5,1112486027", b"user,item,rating,timestamp", b"userId,itemId,rating,timestamp", b"\x1b[31m,a"],
)
def test_another_header_is_refused(header):
    with pytest.raises(DataError) as caught:
        parse(header + b"\n1,29,5,10\n")
    assert str(caught.value).startswith("ml-20m.zip/ratings.csv, line 1: there is no column ")
