import io
import re

import numpy as np
import pytest

from sampled_metrics.data import formats, text
from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import ConfigError, DataError


def parse(content: bytes) -> list[EventChunk]:
    return list(formats.get("movielens-dat").parse(io.BytesIO(content), "ml-1m.zip/ratings.dat"))


def error_of(content: bytes) -> str:
    with pytest.raises(DataError) as caught:
        parse(content)
    return str(caught.value)


class TestRegistry:
    def test_names_the_member_of_the_archive(self):
        assert formats.get("movielens-dat").member == "ratings.dat"

    def test_unknown_format_lists_the_known_ones(self):
        with pytest.raises(ConfigError, match=r"^unknown format 'x'; it may be .*movielens-dat"):
            formats.get("x")


class TestWellFormed:
    def test_keeps_file_order_values_and_types(self):
        (chunk,) = parse(b"7::0::3.5::978300760\n1::12::5::-1\n")
        assert [array.tolist() for array in chunk[:4]] == [[7, 1], [0, 12], [3.5, 5.0], [978300760, -1]]
        assert [array.dtype for array in chunk[:4]] == [np.int64, np.int64, np.float64, np.int64]

    def test_ids_of_18_digits_are_exact(self):
        (chunk,) = parse(b"999999999999999999::123456789012345678::1::4\n")
        assert (chunk.users[0], chunk.items[0]) == (999999999999999999, 123456789012345678)


class TestMalformed:
    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("1::2::3", "has 3 fields, but the lines before have 4: '1\\t2\\t3'"),
            ("1::2::3::4::5", "has 5 fields, but the lines before have 4: '1\\t2\\t3\\t4\\t5'"),
            ("::2::3::4", "column 1 is empty"),
            ("1::2.5::3::4", "column 2 must be a whole number from 0, not 2.5"),
            ("1::-2::3::4", "column 2 must be a whole number from 0, not -2"),
            ("1::9999999999999999999::3::4", "column 2 must be a whole number from 0, not 9999999999999999999"),
            ("1::2:::3::4", "column 3 must be a number, not ':3'"),
            ("1::2::1e999::4", "column 3 must be a number, not inf"),
            ("1::2::3::9223372036854775808", "column 4 must be a number, not 9223372036854775808"),
        ],
    )
    def test_names_the_file_the_line_and_the_column(self, line, says):
        content = f"1::2::3::4\n5::6::4::8\n{line}\n9::9::9::9\n".encode()
        assert error_of(content) == f"ml-1m.zip/ratings.dat, line 3: {says}"

    def test_the_number_of_fields_is_known(self):
        assert error_of(b"1::2::3\n") == "ml-1m.zip/ratings.dat, line 1: has 3 fields, and 4 are expected"

    def test_shows_control_characters_escaped(self):
        message = error_of(b"1::2::3::4\n1::2::\x1b[31m::4\n")
        assert message.endswith(r"column 3 must be a number, not '\x1b[31m'")
        assert message.isprintable()

    @pytest.mark.parametrize("content", [b"", b"\n", b"\r\n", b"\xef\xbb\xbf"])
    def test_a_file_without_events_is_refused(self, content):
        assert error_of(content) == "ml-1m.zip/ratings.dat: holds no events"

    def test_what_comes_before_the_malformed_line_in_earlier_chunks_is_yielded(self, monkeypatch):
        monkeypatch.setattr(text, "_BLOCK_BYTES", 1)
        chunks = formats.get("movielens-dat").parse(io.BytesIO(b"1::2::3::4\nx\n"), "f")
        assert next(chunks).users.tolist() == [1]
        with pytest.raises(DataError, match=re.escape("f, line 2:")):
            next(chunks)
