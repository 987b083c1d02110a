"""The reader of files of ranks: what it gives, what it refuses, and that it does nothing else."""

import csv
import gzip
import io
import re
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables_of_ranks import parse_columns, rank_table, sampled_ranks

import sampled_metrics as sm
from sampled_metrics.core.data import tables
from sampled_metrics.core.ranks.frames import NAMES
from sampled_metrics.core.ranks.reading import SEPARATORS
from sampled_metrics.errors import DataError

FRAME = pd.DataFrame(
    {"user": ["ann", "bob", "eve"], "candidates": [50, 60, 70], "rank": [1, 12, 5]}
)


def parse(text):
    return parse_columns(text if isinstance(text, bytes) else text.encode(), "f.csv")


REFUSED = {
    "a column is missing": (b"user,candidates,above\n1,5,0\n", "tied"),
    "empty": (b"", "no rows"),
    "no rows": (b"candidates,above,tied\n", "no rows"),
    "above n": (b"candidates,rank\n5,5\n5,6\n", "line 3"),
    "a column twice": (b"candidates,rank,rank\n5,1,1\n", "'rank'"),
    "another separator": (b"user rank\n1 2\n", "--separator"),
    "scores": (b"user,item,score\n1,2,3\n", "ranked_lists"),
    "json lines.jsonl": (b'{"rank": 1}\n', "pandas.read_json"),
    "truncated.gz": (
        gzip.compress(b"rank\n" + bytes(range(48, 58)) * 500)[:-12],
        "cannot be read",
    ),
    "no.parquet": (b"user,rank\n1,2\n", "cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_with_its_name_in_one_line(tmp_path, name):
    (content, word) = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}.*{word}") as caught:
        sm.exact_ranks(path)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_is_refused_with_its_row(tmp_path):
    FRAME.assign(rank=[1, -2, 3]).to_parquet(tmp_path / "wrong.parquet")
    (tmp_path / "folder").mkdir()
    for path, says in (
        ("wrong.parquet", "row 2"),
        ("folder", "no parquet files"),
        ("none", "no such file"),
    ):
        with pytest.raises(DataError, match=f"{path}.*{says}"):
            sm.exact_ranks(tmp_path / path)


RUN = b"q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 8.25 bm25\nq2\tQ0\td1\t1\t-0.5e1\tbm25  \n"


@pytest.mark.parametrize("block", [60, 2**21])
def test_runs_and_judgements_of_trec_have_no_header(block, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK_BYTES", block)
    run = parse(RUN)
    qrels = parse(b"q1 0 d2 1\nq2 0 d1 2\nq2 0 d3 0\n")
    assert [*run.frame] == ["user", "item", "score", "run"]
    assert run.frame["run"].tolist() == ["bm25"] * 3
    scored = run.frame.drop(columns="run").to_numpy().tolist()
    assert scored == [["q1", "d1", "9.5"], ["q1", "d2", "8.25"], ["q2", "d1", "-0.5e1"]]
    assert [*qrels.frame] == ["user", "item", "relevance"]
    assert qrels.frame.to_numpy().tolist() == [["q1", "d2", 1], ["q2", "d1", 2], ["q2", "d3", 0]]


def test_read_ranks_reads_what_the_file_is(tmp_path):
    ranks = sm.ExactRanks(np.array([7, 3]), np.array([6, 5]), np.array([0, 3]), np.array([2, 1]))
    ranks.write(tmp_path / "x.csv.gz")
    content = gzip.decompress((tmp_path / "x.csv.gz").read_bytes())
    assert content == b"user,candidates,above,tied\n7,6,0,2\n3,5,3,1\n"
    sampled = sm.sampled_ranks([1, 4, 2], negatives=9, candidates=100)
    sampled.to_frame().to_csv(tmp_path / "s.csv", index=False)
    for written, name in ((ranks, "x.csv.gz"), (sampled, "s.csv")):
        again = sm.read_ranks(tmp_path / name)
        assert type(again) is type(written)
        pd.testing.assert_frame_equal(again.to_frame(), written.to_frame())


VALID = b"user,candidates,rank,negatives\n1,50,3,9\n2,50,10,9\n3,60,1,9\n"
SIGNS = [
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\r\n",
    b";",
    b"\t",
    b"-",
    b"0",
    b"9" * 30,
    b"nan",
    b"\xef\xbb\xbf",
]


@st.composite
def mutated(draw):
    """A valid file to which one to five things happened."""
    text = bytearray(VALID)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(text)))
        to = draw(st.integers(at, min(len(text), at + 12)))
        again = st.just(bytes(text[at:to]) * 2)
        text[at:to] = draw(st.one_of(st.binary(max_size=3), st.sampled_from(SIGNS), again))
    return bytes(text)


def given_or_refused(read):
    """Return what is read; None after a DataError of one line that begins with the file's name."""
    try:
        return read()
    except DataError as error:
        message = str(error)
    assert message.startswith("f.csv")
    assert len(message.splitlines()) == 1
    return None


@given(mutated())
def test_a_mutated_file_is_refused_in_one_line_or_is_what_the_csv_module_reads(content):
    """Where ranks come out, they are those of Python's own reader, in its lines."""
    columns = given_or_refused(lambda: parse(content))
    if columns is None:
        return
    for options in ({}, {"candidates": 50}):
        given_or_refused(lambda options=options: rank_table(columns, **options))
    given_or_refused(lambda: sampled_ranks(columns, 50, 9))
    table = given_or_refused(lambda: sampled_ranks(columns))
    if table is None:
        return
    text = content.decode("utf-8-sig")
    separator = next((sign for sign in SEPARATORS if sign in text.splitlines()[0]), ",")
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    plain = [re.sub("[^a-z]", "", name.lower()) for name in lines[0]]
    header = [
        next((column for column, names in NAMES.items() if name in names), name) for name in plain
    ]
    for name, values in (
        ("rank", table.x + 1),
        ("candidates", table.candidates),
        ("negatives", table.negatives),
    ):
        column = header.index(name)
        assert np.array_equal(
            values, [int(float(line[column])) for line in islice(lines, 1, 1 + len(table))]
        )


def test_a_path_from_the_home_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "films.csv").write_text("candidates,rank\n50,3\n")
    assert sm.exact_ranks("~/films.csv").above.tolist() == [2]
    with pytest.raises(DataError, match=r"^~/none.csv"):
        sm.exact_ranks("~/none.csv")
