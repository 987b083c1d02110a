"""Files that are damaged, or hold what no table of ranks can: each is refused in one line, or read
as what it was.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sampled_metrics as sm
from sampled_metrics.errors import DataError, SampledMetricsError, WriteError
from sampled_metrics.ranking.inputs import read_array

RANKS = pd.DataFrame({"user": np.arange(60) + 5, "rank": [1, 50, 3] * 20, "candidates": 100})
RANGE = {"kind": "range", "name": None, "start": 0, "stop": 60, "step": 1}


def write(path: Path, table: pa.Table, metadata: Any) -> str:
    content = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    pq.write_table(table.replace_schema_metadata({b"pandas": content}), path)
    return str(path)


@pytest.mark.parametrize(
    "metadata",
    [
        b"{",
        b"\xff\xfe",
        b"",
        [],
        {},
        5,
        None,
        {"index_columns": 5},
        {"index_columns": 5, "columns": []},
        {"index_columns": [], "columns": {}},
        {"index_columns": [], "columns": ["user"]},
        {"index_columns": [], "columns": [{"field_name": 5}]},
        {"index_columns": [5], "columns": []},
        {"index_columns": [None], "columns": []},
        {"index_columns": [{"kind": "range"}], "columns": []},
        {"index_columns": [RANGE | {"step": 0}], "columns": []},
        {"index_columns": [RANGE | {"stop": "60"}], "columns": []},
        {"index_columns": [RANGE | {"start": 0.5}], "columns": []},
        {"index_columns": [RANGE | {"name": ["a"]}], "columns": []},
        {"index_columns": [RANGE | {"kind": "other"}], "columns": []},
    ],
)
def test_what_pandas_wrote_of_its_index_is_checked(metadata, tmp_path) -> None:
    table = pa.Table.from_pandas(RANKS, preserve_index=False)
    path = write(tmp_path / "x.parquet", table, metadata)
    says = (
        r"x\.parquet: what pandas wrote of its index is damaged: .*; write the file again, "
        r"with to_parquet$"
    )
    for read in (sm.exact_ranks, read_array):
        with pytest.raises(DataError, match=says):
            read(path)


def test_a_level_that_was_left_out_and_a_range_of_other_rows_are_no_damage(tmp_path) -> None:
    table = pa.Table.from_pandas(RANKS, preserve_index=False)
    columns = [
        {"name": name, "field_name": name, "pandas_type": "int64", "numpy_type": "int64"}
        for name in RANKS
    ]
    for levels in (["nope"], [RANGE], [RANGE | {"stop": 7}]):
        path = write(
            tmp_path / "x.parquet",
            table,
            {"index_columns": levels, "columns": columns, "column_indexes": []},
        )
        ranks = sm.exact_ranks(path)
        assert ranks.user.tolist() == RANKS["user"].tolist()
        assert ranks.above.tolist() == (RANKS["rank"] - 1).tolist()


@pytest.mark.parametrize("column", ["user", "rank", "candidates", "group", "unused"])
@pytest.mark.parametrize(("kind", "stored"), [(pa.date32(), pa.int32()), (pa.date64(), pa.int64())])
def test_dates_beyond_the_year_9999_are_refused(kind, stored, column, tmp_path) -> None:
    beyond = 2**30 if stored == pa.int32() else 2**30 * 86_400_000
    columns = {name: RANKS[name].to_numpy() for name in RANKS} | {
        "group": np.arange(60) % 2,
        "unused": np.arange(60),
    }
    columns[column] = pa.array([beyond] * 60, type=stored).cast(kind)
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    with pytest.raises(
        DataError, match=rf"x\.parquet: column '{column}' cannot be read: year .* is out of range"
    ):
        sm.exact_ranks(str(tmp_path / "x.parquet"), groups="group")


def bytes_of(tmp_path: Path, name: str) -> bytes:
    rng = np.random.default_rng(2)
    scores = rng.random((40, 50))
    held_out = rng.integers(0, 50, 40)
    path = tmp_path / name
    if name.startswith("staged"):
        sm.staged_ranks(
            lambda users, items: scores[users, items],
            np.zeros((40, 50)),
            held_out,
            k=5,
            depth=20,
            file=path,
        )
    elif name == "ranks.parquet":
        RANKS.set_index("user").to_parquet(path)
    elif name == "scores.npz":
        np.savez(path, scores)
    else:
        np.save(path, scores)
    return path.read_bytes()


READERS: dict[str, Callable[[str], Any]] = {
    "staged.parquet": sm.read_ranks,
    "staged.sqlite": sm.read_ranks,
    "ranks.parquet": sm.exact_ranks,
    "scores.npy": read_array,
    "scores.npz": read_array,
}


@pytest.mark.parametrize(("name", "read"), READERS.items())
def test_files_with_flipped_bits_or_cut_off_are_read_or_refused_in_a_line(
    name, read, tmp_path
) -> None:
    content = bytes_of(tmp_path, name)
    rng = np.random.default_rng(1)
    path = tmp_path / f"damaged-{name}"
    messages = []
    for attempt in range(120):
        damaged = bytearray(content)
        first = (
            len(content) // 2 if attempt % 3 else 0
        )  # the footer of parquet, the directory of zip
        if attempt % 4:
            for place in rng.integers(first, len(content), 1 + attempt % 5):
                damaged[place] ^= 1 << rng.integers(8)
        else:
            damaged = damaged[: rng.integers(len(content))]
        path.write_bytes(damaged)
        try:
            read(str(path))
        except SampledMetricsError as error:
            messages.append(str(error))
    assert len(messages) > 30  # those that are cut off, at least
    assert all("\n" not in message and str(path) in message for message in messages)


HALF = "a\ud800"
"""Half a pair of surrogates, which no file can hold: written as a\\ud800, as Python does."""


@pytest.mark.parametrize(
    "kind",
    [
        list,
        np.array,
        lambda ids: pd.Series(ids, dtype=object),
        lambda ids: pd.Index(ids, dtype=object),
    ],
)
def test_halves_of_surrogates_in_ids_are_escaped(kind, tmp_path) -> None:
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    ranks = sm.rank(
        scores,
        np.zeros((2, 3)),
        [1, 2],
        user_ids=kind([HALF, "b"]),
        item_ids=kind([HALF, "x", "y"]),
    )
    assert ranks.user.tolist() == ["a\\ud800", "b"]
    assert ranks.above.tolist() == [1, 2]
    for name in ("r.csv", "r.parquet"):
        ranks.write(tmp_path / name)
        again = sm.exact_ranks(tmp_path / name)
        assert again.user.tolist() == ["a\\ud800", "b"]
        assert again.above.tolist() == [1, 2]


def test_halves_of_surrogates_in_tables_and_files_of_stages() -> None:
    ranks = RANKS.assign(user=pd.Series([f"{HALF}{n}" for n in range(60)], dtype=object))
    ranks["g"] = pd.Series([HALF, "b"] * 30, dtype=object)
    result = sm.evaluate(sm.exact_ranks(ranks, groups="g"), metrics="recall@10", groups=True)
    assert result["group"].tolist() == ["all", "a\\ud800", "b"]
    assert json.dumps(result.plain_rows(), ensure_ascii=False).encode()


@pytest.mark.parametrize("ending", ["parquet", "sqlite"])
@pytest.mark.parametrize(
    "ids",
    [
        [2**127, 1, 2],
        [-(2**70), 1, 2],
        [1j, 2, 3],
        [b"\xff", b"b", b"c"],
        [object(), 1, 2],
        pd.Series([[1], [2], [3]]),
        pd.Series([{1}, {2}, {3}]),
        pd.Series([{"a": 1}, {"a": 2}, {"a": 3}]),
        np.zeros(3, dtype=[("a", "i8")]),
    ],
)
@pytest.mark.parametrize("kind", ["user", "item"])
def test_ids_that_no_file_holds_are_refused_before_the_first_score(
    kind, ids, ending, tmp_path
) -> None:
    asked = []

    def score(users: Any, items: Any) -> Any:
        asked.append(len(users))
        return np.ones(len(users))

    with pytest.raises(DataError, match=rf"^{kind}_ids: .*must be text"):
        sm.staged_ranks(
            score,
            np.zeros((3, 3)),
            [0, 1, 2],
            file=tmp_path / f"s.{ending}",
            **{f"{kind}_ids": ids},
        )
    assert not asked
    assert not list(tmp_path.iterdir())


def test_ids_that_parquet_cannot_hold_are_refused_in_a_line(tmp_path) -> None:
    ranks = sm.rank(np.eye(3), np.zeros((3, 3)), [0, 1, 2], user_ids=[2**100, 1, 2])
    with pytest.raises(WriteError, match=r"r\.parquet: parquet cannot hold it: .*; write csv"):
        ranks.write(tmp_path / "r.parquet")
    ranks.write(tmp_path / "r.csv")
    assert sm.exact_ranks(tmp_path / "r.csv").user.tolist() == [str(2**100), "1", "2"]
