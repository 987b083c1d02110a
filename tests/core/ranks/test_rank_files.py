"""The reader of files of ranks: what it gives, what it refuses, and that it does nothing else."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from tables_of_ranks import parse_columns

import sampled_metrics as sm
from sampled_metrics.core.data import tables
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
    "a number beyond 64 bits": (b"candidates,rank\n50,3\n50," + b"9" * 30 + b"\n", "line 3"),
    "a word for nothing": (b"candidates,rank\n50,nan\n", "line 2"),
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


def test_a_path_from_the_home_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "films.csv").write_text("candidates,rank\n50,3\n")
    assert sm.exact_ranks("~/films.csv").above.tolist() == [2]
    with pytest.raises(DataError, match=r"^~/none.csv"):
        sm.exact_ranks("~/none.csv")
