import io

import numpy as np

from sampled_metrics.data import formats
from sampled_metrics.data.events import EventChunk


def parse(content: bytes) -> list[EventChunk]:
    return list(formats.get("movielens-100k").parse(io.BytesIO(content), "ml-100k.zip/u.data"))


def test_names_the_member_of_the_archive():
    assert formats.get("movielens-100k").member == "u.data"


def test_keeps_file_order_values_and_types():
    (chunk,) = parse(b"196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    assert [array.tolist() for array in chunk[:4]] == [[196, 186], [242, 302], [3.0, 3.0], [881250949, 891717742]]
    assert [array.dtype for array in chunk[:4]] == [np.int64, np.int64, np.float64, np.int64]
