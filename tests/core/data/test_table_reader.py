"""The reader of tables of text: what it gives, and everything that it refuses.

All formats and files go through it.
"""

import csv
import gzip
import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.core.data import tables
from sampled_metrics.core.data.tables import LONGEST_LINE, Csv, Text, joined
from sampled_metrics.errors import DataError


def read(content, separator=",", block=2**24, **options):
    """The rows of a file with a header, as lists of fields, with the number of the line of each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_BLOCK_BYTES", block)
        table = Csv(Text(io.BytesIO(content), "f"), separator)
        rows = joined(list(table.rows(dict(enumerate(table.first)), has_header=True, **options)))
    places = [rows.place(row) for row in range(len(rows.frame))]
    assert all(place.startswith("f, line ") for place in places)
    return rows.frame.to_numpy().tolist(), [int(place.removeprefix("f, line ")) for place in places]


def refused(content, **options):
    with pytest.raises(DataError) as caught:
        read(content, **options)
    return str(caught.value)


CLOTHES = {
    "no end": b"a,b\n1,2\n3,4",
    "Windows": b"a,b\r\n1,2\r\n3,4\r\n",
    "old Mac": b"a,b\r1,2\r3,4\r",
    "byte order mark": b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\n",
    "quoted": b'"a","b"\n"1","2"\n"3","4"\n',
    "empty lines at the end": b"a,b\n1,2\n3,4\n\n\r\n\n",
    "empty fields at the end": b"a,b\n1,2\n3,4\n,\n,\n",
}


@pytest.mark.parametrize("clothes", CLOTHES)
def test_the_same_table_in_other_clothes(clothes):
    for block in (3, 5, 2**24) if "mark" in clothes else (1, 2, 3, 5, 2**24):
        assert read(CLOTHES[clothes], block=block) == ([["1", "2"], ["3", "4"]], [2, 3])


FEW = "has 1 fields, but the lines before have 2"
FAULTS = {
    "a zero byte": (b"a,b\n1,2\n\0,4\n", ", line 3: holds a zero byte, so this is not a table"),
    "Latin-1, far down": (
        b"a,b\n" + b"1,2\n" * 50_000 + b"\xff,2\n",
        ", line 50002: is not UTF-8 text",
    ),
    "half a letter at the end": ("a,b\n1,é".encode()[:-1], ", line 2: is not UTF-8 text"),
    "UTF-16": ("a\n1\n".encode("utf-16"), ": is UTF-16 text; save it as UTF-8"),
    "gzip": (
        gzip.compress(b"a\n1\n"),
        ": is packed by gzip, but not by its name; let that end in .gz, or unpack ",
    ),
    "xz": (lzma.compress(b"a\n1\n"), ": is packed by xz; unpack it first"),
    "zip": (
        b"PK\x03\x04\x14\0",
        ": is a zip archive, as a spreadsheet or an npz file is; unpack it first, or save it as",
    ),
    "an array of numpy": (
        b"\x93NUMPY\x01\0v\0{'descr': '<i8'}\n",
        ": is an array of numpy; save it as csv",
    ),
    "a field too few": (b"a,b\n1,2\n3\n", f", line 3: {FEW}: '3'"),
    "an empty line": (b"a,b\n1,2\n\n3,4\n", ", line 3: is empty"),
    "after lines in quotation marks": (b'a,b\n"1\n\n",2\n3\n', f", line 5: {FEW}"),
    "after empty lines": (b"\n \r\na,b\n1\n", f", line 4: {FEW}: '1'"),
    "an open quotation mark": (
        b'a,b\n"1,2\n3,4\n',
        ", line 2: has a quotation mark that nothing closes: '\"1,2'",
    ),
    "a space": (b'a,b\n"1" ,2\n', ', line 2: has text behind a quotation mark that closes: \'"1" '),
    "a long line": (
        b"a\n1\n" + b"1" * (LONGEST_LINE + 1) + b"\n2\n",
        ", line 3: is longer than 1,000,000 bytes, so ",
    ),
    "a long line of fields": (b"a,b\n" + b"x" * 100_000, f", line 2: {FEW}: '{'x' * 79}…'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_wherever_a_block_ends(fault):
    content, says = FAULTS[fault]
    for block in (2**24, *(range(4, 12) if len(content) < 30 and "line" in says else ())):
        assert refused(content, block=block).startswith(f"f{says}")


def test_separators_that_no_table_has():
    for separator in '\n\r"':
        assert (
            refused(b"a,b\n1,2\n", separator=separator)
            == f"f: {separator!r} cannot separate fields"
        )


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
    ("beginning", "more", "says"),
    [
        (b'a,b\n"', b"1", "2: is longer than 2,000 bytes"),
        (b'a,b\n1,"\n', b"1,2\n", "2: has a quotation mark that nothing closes"),
        (b"", b"\n", "1: begins more than 2,000 bytes of empty lines"),
        (b"a,b\n1,2\n", b"\n", "3: begins more than 2,000 bytes of empty lines"),
    ],
)
def test_what_has_no_end_is_not_read_to_the_end(beginning, more, says, monkeypatch):
    monkeypatch.setattr(tables, "LONGEST_LINE", 2000)
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 3000)
    stream = Endless(beginning, more)
    with pytest.raises(DataError, match=f"^f, line {says}"):
        list(Csv(Text(stream, "f")).rows({0: "a"}, has_header=True))
    assert stream.read_bytes < 10_000


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=6)


@given(
    st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=12),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(",;|\t "),
    st.integers(4, 60),
)
def test_reads_what_python_writes(rows, quoting, separator, block):
    """Fields, and the line on which each row begins, as Python's own reader finds them."""
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(
        [["a", "b"], *rows, "zz"]
    )
    reader = csv.reader(io.StringIO(written.getvalue(), newline=""), delimiter=separator)
    fields = []
    lines = [1]
    for row in reader:
        fields.append(row)
        lines.append(reader.line_num + 1)
    assert read(written.getvalue().encode(), separator, block) == (fields[1:], lines[1:-1])


@given(st.text(st.sampled_from("1,\n"), max_size=40), st.integers(1, 20))
def test_the_first_malformed_line_is_refused_and_all_are_skipped(content, block):
    lines = content.rstrip(",\n").split("\n")
    lines[-1] += content[len("\n".join(lines)) :].partition("\n")[0]  # its own separators
    numbered = list(enumerate(lines, 2)) if content.strip(",\n") else []
    bad = [number for number, line in numbered if line.count(",") != 1]
    content = f"a,b\n{content}".encode()
    if bad:
        assert refused(content, block=block).startswith(f"f, line {bad[0]}: ")
    else:
        assert read(content, block=block) == (
            [line.split(",") for _, line in numbered],
            [number for number, _ in numbered],
        )
    good = [(line.split(","), number) for number, line in numbered if number not in bad]
    rows, numbers = read(content, block=block, skips_bad_lines=True)
    assert list(zip(rows, numbers, strict=True)) == good


@given(
    st.lists(st.sampled_from(['"', '""', "1", ",", "\n", '",', ',"', '"\n', "a"]), max_size=16),
    st.booleans(),
)
def test_quotation_marks_are_right_or_refused_as_by_python(pieces, is_one_block):
    content = "a,b\n" + "".join(pieces) + "\nz,z\n"
    try:
        fields = list(csv.reader(io.StringIO(content, newline=""), strict=True))
    except csv.Error:
        fields = []
    block = 2**21 if is_one_block else 7
    if fields and all(len(row) == 2 for row in fields):
        assert read(content.encode(), block=block)[0] == fields[1:]
    else:
        refused(content.encode(), block=block)


NUMBERS = [
    "7",
    "07",
    "0",
    "-0",
    "-7",
    "+7",
    "7 ",
    " 7",
    "7.0",
    "1e3",
    "x",
    "",
    str(10**18),
    "9" * 18,
]
NUMBER = st.sampled_from(NUMBERS)


@given(
    st.lists(
        st.tuples(NUMBER, st.one_of(st.just("7"), NUMBER), st.just("0.5")), min_size=1, max_size=8
    ),
    st.sampled_from([",", "\t", " "]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([4, 20, 2**21]),
)
def test_integers_are_only_what_str_writes_as_the_file_does(rows, separator, quoting, block):
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(
        ["abc", *rows]
    )
    fields, _ = read(written.getvalue().encode(), separator, block, integers={"a", "b"})
    assert [(str(a), str(b), c) for a, b, c in fields] == rows


def test_integers_are_numbers_until_a_field_is_not():
    rows = b"a,b\n0,7\n1,7\n2,7\n"
    assert read(rows, integers={"a"})[0] == [[0, "7"], [1, "7"], [2, "7"]]
    assert read(rows + b"04,7\n", block=9, integers={"a"})[0][::3] == [["0", "7"], ["04", "7"]]
