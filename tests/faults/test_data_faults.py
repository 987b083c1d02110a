"""Events, each wrong or unusual in one way.

They give the right numbers, or one line that says where.
"""

import io
from typing import Any

import numpy as np
import pytest
from ways_to_write_events import WAYS, Row, expected

from sampled_metrics.errors import DataError
from sampled_metrics_study.data import formats
from sampled_metrics_study.data.events import binarize
from sampled_metrics_study.data.split import leave_last_out

ROWS: list[Row] = [(1, 10, 5, 100), (1, 20, 4, 90), (2, 10, 3, 80), (2, 30, 2, 85), (3, 20, 1, 70)]
"""Events of three users and three items; the faults are in the third."""
by_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name + way.separator.strip())


def with_third(line, way):
    lines = [way.line(*row) for row in ROWS]
    lines[2] = line
    return way.file(lines).encode()


UNUSUAL: list[Row] = [
    (2, 10, 3.5, 80),
    (2, 10, -3, -80),  # before 1970
    (2, 10, 3, 1700000000000000001),  # in nanoseconds
    (999999999999999999, 123456789012345678, 3, 80),
    (0, 0, 3, 80),
]
TEXT_IDS = [
    "Žofie 東京 🎬",
    "-3",
    "3.0",
    "007",
    "1" * 25,
    " 3 ",
    "nan",
    "NULL",
    "1e3",
    "=cmd|'/C calc'!A0",
    'a"b',
]


@by_way
def test_what_is_unusual_is_read_as_it_is(way):
    """Text is taken as it is, but for spaces around it."""
    ids: list[tuple[str, Any]] = [(text, text.strip()) for text in TEXT_IDS]
    rows = [(row, row) for row in UNUSUAL]
    rows += [((text, 10, 3, 80), (value, 10, 3, 80)) for text, value in ids]
    rows += [((2, text, 3, 80), (2, value, 3, 80)) for text, value in ids]
    for written, read in rows:
        events = way.read(with_third(way.line(*written), way))
        assert events == expected([*ROWS[:2], read, *ROWS[3:]])


BAD_RATINGS = ["", "nan", "1e999", "1.2.3", "５"]
BAD_TIMES = ["", "2020-01-01", "NaN", "99999999999999999999", "1 0"]


@by_way
def test_a_line_that_is_wrong_is_refused_with_its_number(way):
    lines = [(2, 10, 3), (2, 10, 3, 80, 7), ("", 10, 3, 80), (2, "", 3, 80), ("2|10|3|80",)]
    lines += [(2, 10, text, 80) for text in BAD_RATINGS] + [(2, 10, 3, text) for text in BAD_TIMES]
    for fields in lines:
        with pytest.raises(DataError) as caught:
            way.read(with_third(way.line(*fields), way))
        message = str(caught.value)
        assert message.startswith(f"events, line {4 if way.header else 3}: "), fields
        assert len(message.splitlines()) == 1
        assert len(message) < 500


@by_way
def test_no_events_or_a_header_with_a_wrong_name(way):
    contents = ["", "\n", way.file([])]
    if way.header:
        # a column twice, another one not
        header = way.header.replace("user", "item").replace("who", "what")
        wrong_headers = (header, way.header.upper())
        contents += [f"{wrong}\n{way.line(1, 2, 3, 4)}" for wrong in wrong_headers]
    for content in contents:
        with pytest.raises(DataError, match=r"^events(, line [12])?: ") as caught:
            way.read(content.encode())
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("order", [1, -1])
def test_times_of_64_bits_that_differ_in_the_last_bit(order):
    # one, as float64
    lines = ["1::1::5::9007199254740993\n", "1::2::5::9007199254740992\n"][::order]
    chunks = formats.get("movielens-dat").parse(io.BytesIO("".join(lines).encode()), "ratings.dat")
    split = leave_last_out(binarize(chunks, 0), "first", np.random.default_rng(0))
    assert split.item_ids[split.item].tolist() == [1]


def test_times_of_64_bits_beside_others_that_have_decimals():
    lines = ["1,1,5,9007199254740993\n", "1,2,5,9007199254740992\n", "2,1,5,0.5\n"]
    way = WAYS[4]
    stream = io.BytesIO(way.file(lines).encode())
    with pytest.raises(DataError, match=r"timestamps are 2\^53 or more"):
        binarize(formats.get(way.name).parse(stream, "events", **way.options), 0)
