"""Files of staged ranks: both kinds give the same ranks, and what staged ranks cannot have is
refused with its row.
"""

import itertools
import json
import sqlite3
from contextlib import closing
from dataclasses import fields

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

import sampled_metrics as sm
from sampled_metrics.stages import files as staged_files

RNG = np.random.default_rng(2)
SCORES = RNG.normal(size=(60, 90)).round(1)


@pytest.fixture(scope="module")
def ranks():
    users = [f"u{number}" for number in range(60)]
    items = [f"i{number}" for number in range(90)]
    scores = pd.DataFrame(SCORES, index=users, columns=items)
    return sm.staged_ranks(
        lambda users, items: [scores.at[pair] for pair in zip(users, items, strict=True)],
        pd.DataFrame({"user": ["u1"], "item": ["i80"]}),
        pd.DataFrame({"user": users, "item": items[:60]}),
        **{"k": 5, "depth": 20, "user_ids": users, "item_ids": items},
    )


def write(path, ranks, rows, **changes):
    """Write a file that no run has written."""
    content = (
        ranks.design
        | {"boundaries": ranks.boundaries.tolist(), "digests": dict(ranks.digests)}
        | changes
    )
    staged_files.write(path, rows.infer_objects(), content)


def test_give_what_was_written(ranks, tmp_path):
    for name in ("x.parquet", "x.sqlite"):
        ranks.write(tmp_path / name)
        for table in (sm.StagedRanks.read(tmp_path / name), sm.read_ranks(tmp_path / name)):
            for field in fields(ranks):
                np.testing.assert_array_equal(
                    getattr(table, field.name), getattr(ranks, field.name), field.name
                )


ALL = (lambda users, items: SCORES[users, items], np.zeros((60, 90)), np.arange(60))


def test_a_job_runs_without_pyarrow(ranks, tmp_path, monkeypatch):
    monkeypatch.setattr(staged_files, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        sm.ConfigError, match=r"x.parquet: parquet needs pyarrow; .* or end it in .sqlite"
    ):
        ranks.write("x.parquet")
    table = sm.staged_ranks(*ALL, k=5, depth=None, file="night.sqlite")
    from_file = sm.evaluate(sm.read_ranks("night.sqlite"), metrics="recall@5")
    expected = sm.evaluate(table, metrics="recall@5")
    assert from_file["value"][0] == pytest.approx(expected["value"][0])
    assert {path.name for path in tmp_path.iterdir()} == {"night.sqlite"}


DAMAGED = {
    "candidates": [0, 2**60],
    "above": [-1, 6],
    "tied": [-1, lambda row: row["candidates"] - row["above"]],
    "scored": [0, 91],
    "fold": [-1, 99],
    "uniform": [-0.1, 1.5, np.nan],
    "score": [np.nan, np.inf],
    "outcome": ["done", "beaten"],
    "above_10": [-2, 6],
    "above_0": [1],
    "tied_10": [-2, -1, 90],
    "user": [None],
}


@pytest.mark.parametrize("column", DAMAGED)
def test_a_value_that_staged_ranks_cannot_have_is_refused_with_its_row(ranks, tmp_path, column):
    for value, ending in itertools.product(DAMAGED[column], ("sqlite", "parquet")):
        rows = ranks.to_frame()
        row = int(np.flatnonzero(rows["outcome"] == "open")[0])
        rows[column] = rows[column].astype(object)
        rows.loc[row, column] = value(rows.loc[row]) if callable(value) else value
        write(tmp_path / f"x.{ending}", ranks, rows)
        with pytest.raises(sm.DataError, match=rf"x\.{ending}, row {row + 1}: {column} must be "):
            sm.StagedRanks.read(tmp_path / f"x.{ending}")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"k": "5"}, ": k must be a whole number"),
        ({"depth": 0.5}, ": depth must be a number of 1 or more"),
        ({"seed": -1}, ": seed must be"),
        ({"boundaries": [0, 30, 10]}, ": boundaries must be 0, 10, 30, 100, 300, and so on"),
        ({"boundaries": [0, 10, 30, 100]}, ": lacks the column above_100"),
        ({"digests": {"users": 3}}, ": digests must be text"),
        ({"digests": None}, ": digests must be text"),
        ({}, ", row 1: user must be an id, not "),
    ],
)
def test_what_they_are_of_is_checked_too(ranks, tmp_path, change, says):
    rows = ranks.to_frame() if change else ranks.to_frame().assign(user=[[0]] * 60)
    write(tmp_path / "x.parquet", ranks, rows, **change)
    with pytest.raises(sm.DataError, match=rf"x\.parquet{says}"):
        sm.StagedRanks.read(tmp_path / "x.parquet")


def rows_and_content(path):
    """Read a file as another program does."""
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        return table.to_pandas(), json.loads(table.schema.metadata[staged_files.KEY])
    with closing(sqlite3.connect(path)) as connection:
        [content] = connection.execute("SELECT content FROM run").fetchone()
        return pd.read_sql_query("SELECT * FROM ranks", connection), json.loads(content)


def write_as_another(path, rows, content):
    """Write a file as another program does: with the checksum of what was there."""
    path.unlink()
    if path.suffix == ".parquet":
        table = pyarrow.Table.from_pandas(rows, preserve_index=False)
        metadata = {staged_files.KEY: json.dumps(content)}
        pyarrow.parquet.write_table(
            table.replace_schema_metadata(metadata), path, compression="zstd"
        )
        return
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"PRAGMA application_id = {staged_files.APPLICATION}")
        connection.execute("CREATE TABLE run (content TEXT)")
        connection.execute("INSERT INTO run VALUES (?)", (json.dumps(content),))
        rows.to_sql("ranks", connection, index=False)


def with_cell(column, change):
    def changed(rows, content):
        rows.loc[17, column] = change(rows.loc[17, column])
        return rows, content

    return changed


CHANGED = {
    "the last bit of a score": with_cell("score", lambda score: np.nextafter(score, 9)),
    "an item": with_cell("item", lambda item: "i89"),
    "two rows swapped": lambda rows, content: (rows.iloc[[1, 0, *range(2, 60)]], content),
    "an item and a score of two rows": lambda rows, content: (
        rows.assign(item=rows["item"].to_numpy()[::-1], score=rows["score"].to_numpy()[::-1]),
        content,
    ),
    "a column more": lambda rows, content: (rows.assign(age=1), content),
    "another training": lambda rows, content: (
        rows,
        content | {"digests": content["digests"] | {"training": "0"}},
    ),
    "a key more": lambda rows, content: (rows, content | {"note": ""}),
    "another checksum": lambda rows, content: (rows, content | {"checksum": "0" * 32}),
    "no checksum": lambda rows, content: (
        rows,
        {key: content[key] for key in content if key != "checksum"},
    ),
}


@pytest.mark.parametrize("ending", ["parquet", "sqlite"])
def test_a_file_that_was_changed_is_refused_and_one_that_was_only_written_anew_is_not(
    ranks, tmp_path, ending
):
    path = tmp_path / f"x.{ending}"
    for change in CHANGED.values():
        ranks.write(path)
        write_as_another(path, *change(*rows_and_content(path)))
        with pytest.raises(
            sm.DataError, match=rf"x\.{ending}: was changed after it was written, or is damaged"
        ):
            sm.StagedRanks.read(path)
    ranks.write(path)
    write_as_another(path, *rows_and_content(path))
    np.testing.assert_array_equal(sm.StagedRanks.read(path).to_frame(), ranks.to_frame())


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"depth": 50}, ", row 17: outcome must be that of counts, depth and uniform, not 'open'"),
        ({"depth": 2}, ", row .*: above_30 must be -1 if the user does not go on from 10"),
        ({"seed": 1}, ", row 1: uniform must be that of the user by seed 1"),
        (
            {"boundaries": [0]},
            r": boundaries must be \[0, 10, 30\], as there are up to 90 candidates, not \[0\]",
        ),
        ({"k": 6}, ", row .*: outcome must be beaten where above is k = 6"),
    ],
)
def test_rows_that_contradict_what_they_are_of_are_refused(ranks, tmp_path, changes, says):
    """Also with a checksum that fits."""
    write(tmp_path / "x.sqlite", ranks, ranks.to_frame(), **changes)
    with pytest.raises(sm.DataError, match=rf"x\.sqlite{says}"):
        sm.StagedRanks.read(tmp_path / "x.sqlite")


def test_rows_of_another_set_of_users_are_refused(ranks, tmp_path):
    """Also with a checksum that fits."""
    rows = ranks.to_frame()
    for changed, says in (
        (pd.concat([rows, rows[:1]]), ", row 61: user 'u0' has item 'i0' twice"),
        (rows[1:], ": users are not those who were ranked"),
        (
            rows.assign(fold=(rows["fold"] + 1) % 5),
            ", row 1: fold must be that of the user by seed 0",
        ),
        (
            rows.assign(uniform=rows["uniform"][::-1].to_numpy()),
            ", row 1: uniform must be that of the user by seed 0",
        ),
    ):
        write(tmp_path / "x.sqlite", ranks, changed)
        with pytest.raises(sm.DataError, match=rf"x\.sqlite{says}"):
            sm.StagedRanks.read(tmp_path / "x.sqlite")


def test_a_copy_that_pandas_writes_says_what_it_lacks(ranks, tmp_path):
    ranks.write(tmp_path / "x.parquet")
    pd.read_parquet(tmp_path / "x.parquet").to_parquet(tmp_path / "copy.parquet")
    with closing(sqlite3.connect(tmp_path / "copy.sqlite")) as connection:
        ranks.to_frame().to_sql("ranks", connection)
    for name in ("copy.parquet", "copy.sqlite"):
        with pytest.raises(
            sm.DataError, match="another program has written its columns, without k, depth, seed"
        ):
            sm.StagedRanks.read(tmp_path / name)


def test_a_database_of_another_program_is_refused_and_left(tmp_path):
    path = tmp_path / "theirs.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE ranks (user TEXT)")
    content = path.read_bytes()
    for read in (sm.StagedRanks.read, sm.read_ranks, sm.exact_ranks):
        with pytest.raises(sm.DataError):
            read(path)
    with pytest.raises(sm.DataError, match="has no staged ranks"):
        sm.staged_ranks(*ALL, file=path)
    assert path.read_bytes() == content


def test_are_never_read_as_another_kind(ranks, tmp_path):
    ranks.write(tmp_path / "x.parquet")
    frame = pd.read_parquet(tmp_path / "x.parquet")
    frame.to_parquet(tmp_path / "copy.parquet")  # without the metadata
    frame.to_csv(tmp_path / "x.csv", index=False)
    files = [tmp_path / name for name in ("x.parquet", "copy.parquet", "x.csv")]
    for table in (*files, frame):
        for reader in (sm.exact_ranks, lambda table: sm.sampled_ranks(table, negatives=9)):
            with pytest.raises(
                sm.DataError, match=r"has staged ranks, which are not exact.* read_ranks reads"
            ):
                reader(table)
