"""The reader of files of ranks: what it gives, what it refuses, and that nothing else ever comes out of it."""

import csv
import gzip
import io
import re
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables_of_ranks import parse_columns, rank_table, sampled_ranks

from sampled_metrics.data import tables
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.frames import NAMES, Columns
from sampled_metrics.ranks.reading import MOST_COLUMNS, SEPARATORS, read_columns


def parse(text):
    return parse_columns(text if isinstance(text, bytes) else text.encode(), "f.csv")


def refused(text):
    with pytest.raises(DataError) as caught:
        parse(text)
    return str(caught.value)


class TestFields:
    def test_a_single_column_needs_no_header(self):
        for text in ("3\n1\n2\n", "\ufeff3\r\n1\r\n2", " 3 \n1\n2\n"):
            table = parse(text)
            assert table.whole_numbers("rank", 1).tolist() == [3, 1, 2]
            assert table.place(0) == "f.csv, line 1"


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "content", "says"),
        [
            ("a.csv.gz", gzip.compress(b"rank\n" + bytes(range(48, 58)) * 500)[:-12], "cannot be read: "),
            ("a.csv.gz", b"rank\n1\n", "cannot be read: Not a gzipped file"),
            ("a.csv.gz", gzip.compress(b"rank\n1\n")[:12] + b"\xff" * 20, "cannot be read: "),
            ("a.csv.gz", b"", "is empty"),
            ("a.csv", gzip.compress(b"rank\n1\n"), "is packed by gzip, but not by its name"),
        ],
        ids=["truncated", "not gzip", "damaged", "empty", "gzip without its ending"],
    )
    def test_damaged(self, tmp_path, name, content, says):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError, match=says) as caught:
            read_columns(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)


VALID = b"user,candidates,rank,negatives\n1,50,3,9\n2,50,10,9\n3,60,1,9\n"


@st.composite
def mutated(draw):
    """A valid file to which one to five things happened."""
    text = bytearray(VALID)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(text)))
        to = draw(st.integers(at, min(len(text), at + 12)))
        new = draw(
            st.one_of(
                st.binary(max_size=3),
                st.sampled_from(
                    [b'"', b",", b"\n", b"\r", b"\r\n", b";", b"\t", b"-", b"0", b"9" * 30, b"nan", b"\xef\xbb\xbf"]
                ),
                st.just(bytes(text[at:to]) * 2),
            )
        )
        text[at:to] = new
    return bytes(text)


def given_or_refused(read):
    """Return what is read, or None after a DataError of one line that begins with the file's name."""
    message = None
    try:
        return read()
    except DataError as error:
        message = str(error)
    assert message.startswith("f.csv")
    assert len(message.splitlines()) == 1
    return None


class TestFuzz:
    def check(self, content):
        """Everything is a table or one line that begins with the file's name."""
        table = given_or_refused(lambda: parse_columns(content, "f.csv"))
        if table is None:
            return
        assert isinstance(table, Columns)
        for use in (
            lambda: rank_table(table),
            lambda: rank_table(table, 50),
            lambda: sampled_ranks(table),
            lambda: sampled_ranks(table, 50, 9),
        ):
            given_or_refused(use)

    @given(mutated())
    def test_mutated_files(self, content):
        self.check(content)

    @given(mutated())
    def test_what_is_accepted_is_what_the_csv_module_reads(self, content):
        """Where ranks come out, they are those of Python's own reader, in its lines."""
        try:
            table = sampled_ranks(parse_columns(content, "f.csv"))
        except DataError:
            return
        text = content.decode("utf-8-sig")
        separator = next((each for each in SEPARATORS if each in text.splitlines()[0]), ",")
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        plain = [re.sub("[^a-z]", "", name.lower()) for name in lines[0]]
        header = [next((column for column, names in NAMES.items() if name in names), name) for name in plain]
        for name, values in (("rank", table.x + 1), ("candidates", table.candidates), ("negatives", table.negatives)):
            column = header.index(name)
            assert np.array_equal(values, [int(float(line[column])) for line in islice(lines, 1, 1 + len(table))])


class TestTrec:
    """TREC runs and qrels, which have no header; numbers by hand."""

    RUN = b"q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 8.25 bm25\nq2\tQ0\td1\t1\t-0.5e1\tbm25\n"
    QRELS = b"q1 0 d2 1\nq2 0 d1 2\nq2 0 d3 0\n"

    def test_have_the_columns_of_lists(self):
        run, qrels = parse(self.RUN), parse(self.QRELS)
        assert [*run.frame] == ["user", "item", "score"]
        assert run.frame.to_numpy().tolist() == [["q1", "d1", "9.5"], ["q1", "d2", "8.25"], ["q2", "d1", "-0.5e1"]]
        assert [*qrels.frame] == ["user", "item", "relevance"]
        assert qrels.frame.to_numpy().tolist() == [["q1", "d2", 1], ["q2", "d1", 2], ["q2", "d3", 0]]

    def test_are_the_same_wherever_a_block_ends(self, monkeypatch):
        whole = parse(self.RUN).frame
        for size in range(1, 40):
            monkeypatch.setattr(tables, "_BLOCK_BYTES", size)
            assert parse(self.RUN.replace(b"bm25", b"bm25  ")).frame.equals(whole)

    def test_name_the_line_of_what_is_wrong(self):
        assert refused(b"q1 0 d2 1\nq1 0 d2 1 5\n").startswith(
            "f.csv, line 2: has 5 fields, but the lines before have 4"
        )
        table = parse(b"\nq1 0 d2 1\nq1 0 d3 x\n")
        with pytest.raises(DataError, match=r"f\.csv, line 3: relevance must be a number"):
            table.with_usual("relevance").numbers("relevance")


class TestManyColumns:
    """Of a wide table, only the columns that can be of use are kept."""

    MORE = tuple(f"f{number}" for number in range(MOST_COLUMNS))

    def wide(self, rows, header=("user", "rank")):
        lines = [[*header, *self.MORE]] + [[user, rank, *("0.5" for _ in self.MORE)] for user, rank in rows]
        return "".join(",".join(line) + "\n" for line in lines).encode()

    def test_keep_those_of_use(self, monkeypatch):
        monkeypatch.setattr(tables, "_BLOCK_BYTES", 800)  # three lines at a time
        table = parse(self.wide([("a", "4"), ("b", "5"), ("c", "6"), ("d", "7")]))
        assert table.frame.to_dict("list") == {"user": ["a", "b", "c", "d"], "rank": [4, 5, 6, 7]}
        assert table.remarks == (f"f.csv: 64 of its 66 columns are not used: {', '.join(self.MORE):.100} ...",)
