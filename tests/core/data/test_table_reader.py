"""The reader of csv files: what it gives, and what it refuses, as Python's own reader has it."""

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampled_metrics as sm
from sampled_metrics.core.data import tables
from sampled_metrics.core.data.tables import Csv, Text, joined
from sampled_metrics.errors import DataError


def read(content, separator=",", block=2**21, **options):
    """The rows of a file with a header, as lists of fields, with the number of the line of each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", block)
        table = Csv(Text(io.BytesIO(content), "f"), separator)
        parts = list(table.rows(dict(enumerate(table.header)), has_header=True, **options))
    if not parts:
        return [], []
    rows = joined(parts)
    places = [rows.location(row) for row in range(len(rows.frame))]
    assert all(place.startswith("f, line ") for place in places)
    fields = rows.frame.astype(str).to_numpy().tolist()
    return fields, [int(place.removeprefix("f, line ")) for place in places]


def refused(content, *arguments, **options):
    with pytest.raises(DataError) as caught:
        read(content, *arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


FIELD = st.one_of(
    st.text(st.sampled_from('ab17 é",;\n'), max_size=4), st.sampled_from(["0", "12", "", '""'])
)
ROW = st.lists(FIELD, min_size=1, max_size=4)


@given(
    rows=st.lists(ROW, max_size=12),
    header=st.sampled_from([["a", "b", "c"], ["rank", "b", "rank"], ["a"]]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    separator=st.sampled_from(",;|\t"),
    block=st.sampled_from([150, 400, 2**21]),
    skips=st.booleans(),
)
def test_reads_what_the_csv_module_reads(
    rows, header, line_end, mark, quoting, separator, block, skips
):
    """Rows of fewer fields end with empty ones, and rows of more are refused or skipped."""
    rows = [*rows, ["z"]]
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=separator, quoting=quoting, lineterminator=line_end)
    writer.writerows([header, *rows])
    text = written.getvalue()
    reader = csv.reader(io.StringIO(text.replace("\r\n", "\n"), newline=""), delimiter=separator)
    expected = []
    lines = []
    too_long = []
    start = 1
    for fields in reader:
        if len(fields) > len(header):
            too_long.append(start)
        else:
            expected.append(fields + [""] * (len(header) - len(fields)))
            lines.append(start)
        start = reader.line_num + 1
    content = (mark + text).encode()
    if too_long and not skips:
        message = refused(content, separator, block)
        assert message.startswith(f"f, line {too_long[0]}: has ")
    else:
        assert read(content, separator, block, skips_bad_lines=skips) == (expected[1:], lines[1:])


WAYS = {
    "no end": b"a,b\n1,2\n3,4",
    "old Mac": b"a,b\r1,2\r3,4\r",
    "blank lines at the end": b"a,b\n1,2\n3,4\n\n\r\n \n",
    "empty fields at the end": b"a,b\n1,2\n3,4\n,\n,\n",
}


@pytest.mark.parametrize("content", WAYS.values(), ids=WAYS)
def test_the_same_table_in_other_ways(content):
    for block in (20, 2**21):
        assert read(content, block=block) == ([["1", "2"], ["3", "4"]], [2, 3])


def test_a_blank_line_and_a_missing_last_field_are_empty():
    assert read(b"a,b\n\n1\n2,3\n") == ([["", ""], ["1", ""], ["2", "3"]], [2, 3, 4])
    for content in (b"user,rank\n1,1\n2\n", b"user,rank\n1,1\n\n3,1\n", b"rank\n1\n\n3\n"):
        with pytest.raises(DataError, match=r"^f, line 3: .* (not ''|empty)"):
            sm.exact_ranks(sm_columns(content), candidates=9)


def sm_columns(content):
    from sampled_metrics.core.ranks.reading import read_stream

    return read_stream(io.BytesIO(content), "f")


@pytest.mark.parametrize(
    "content",
    [
        b"user,rank,rank\n1,2,3\n",
        b"user,rank\n1,000,5\n",
        b"user,rank\n1,2\n1,000,5\n",
        b'user,rank\n1,"2\n',
    ],
    ids=["a name twice", "more fields at first", "more fields later", "an open quotation mark"],
)
def test_a_table_that_pandas_would_read_otherwise_is_refused(content):
    with pytest.raises(DataError, match=r"^f(, line [123])?: "):
        sm.exact_ranks(sm_columns(content), candidates=9)


NOT_TEXT = {
    "gzip": (gzip.compress(b"rank\n1\n"), 1),
    "UTF-16": ("rank\n1\n".encode("utf-16"), 1),
    "a zero byte": (b"a,b\n1,2\n\0,4\n", 3),
    "Latin-1, far down": (b"a,b\n" + b"1,2\n" * 2000 + b"\xff,2\n", 2002),
    "half a letter at the end": ("a,b\n1,é".encode()[:-1], 2),
}


@pytest.mark.parametrize("name", NOT_TEXT)
def test_what_is_not_utf_8_is_refused_with_its_line(name):
    content, line = NOT_TEXT[name]
    for block in (2**21, 100):
        assert refused(content, block=block).startswith(f"f, line {line}: is not UTF-8 text")


class Endless(io.RawIOBase):
    """A stream that begins with some bytes and goes on without end."""

    def __init__(self, beginning, more):
        self.beginning = beginning
        self.more = more
        self.read_bytes = 0

    def read(self, size=-1):
        beginning = self.beginning
        self.beginning = b""
        self.read_bytes += size
        return beginning or self.more * size


@pytest.mark.parametrize(
    ("beginning", "more", "line"),
    [
        (b'a,b\n"', b"1", 2),
        (b'a,b\n1,"\n', b"1,2\n", 2),
        (b"", b"\n", 1),
        (b"a,b\n1,2\n", b"\n", 3),
    ],
)
def test_what_has_no_end_is_not_read_to_the_end(beginning, more, line, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK_BYTES", 2000)
    stream = Endless(beginning, more)
    with pytest.raises(DataError, match=f"^f, line {line}: "):
        list(Csv(Text(stream, "f")).rows({0: "a"}, has_header=True))
    assert stream.read_bytes < 20_000


def test_a_quotation_mark_in_an_unquoted_field_hides_no_line():
    lines = ['d"1,2'] + [f"{number},2" for number in range(400)]
    content = "\n".join(["a,b", *lines]).encode()
    fields, numbers = read(content, block=300)
    assert fields == [line.split(",") for line in lines]
    assert numbers == list(range(2, 403))


NUMBERS = ["7", "07", "0", "-0", "-7", "+7", "7 ", " 7", "7.0", "1e3", "x", "", "9" * 18, "9" * 25]
NUMBER = st.sampled_from(NUMBERS)


@given(
    st.lists(st.tuples(NUMBER, st.one_of(st.just("7"), NUMBER), st.just("0.5")), min_size=1),
    st.sampled_from([",", "\t", " "]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([110, 2**21]),
)
def test_whole_numbers_have_the_text_of_the_file(rows, separator, quoting, block):
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=separator, quoting=quoting, lineterminator="\n")
    writer.writerows(["abc", *rows])
    fields, _ = read(written.getvalue().encode(), separator, block)
    assert [tuple(row) for row in fields] == rows


def test_a_column_is_whole_numbers_until_a_field_is_not():
    def kinds(content):
        table = Csv(Text(io.BytesIO(content), "f"))
        [part] = table.rows({0: "a", 1: "b"}, has_header=True)
        return [dtype.kind for dtype in part.frame.dtypes]

    assert kinds(b"a,b\n0,x\n10,7\n") == ["i", "O"]
    assert kinds(b"a,b\n0,1\n04,7\n") == ["O", "O"]
    assert read(b"a,b\n1000,1\n2000,1\nx,1\n", block=14)[0] == [
        ["1000", "1"],
        ["2000", "1"],
        ["x", "1"],
    ]
