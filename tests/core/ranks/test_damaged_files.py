"""Damaged files, and those that hold no ranks: each is refused in one line, or read as it was."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damaged_files import METADATA, RANGE, require_that_damage_is_refused, write_with_metadata

import sampled_metrics as sm
from sampled_metrics.errors import DataError

RANKS = pd.DataFrame({"user": np.arange(60) + 5, "rank": [1, 50, 3] * 20, "candidates": 100})


@pytest.mark.parametrize("metadata", METADATA)
def test_what_pandas_wrote_of_its_index_is_checked(metadata, tmp_path) -> None:
    table = pa.Table.from_pandas(RANKS, preserve_index=False)
    path = write_with_metadata(tmp_path / "x.parquet", table, metadata)
    says = (
        r"x\.parquet: what pandas wrote of its index is damaged: .*; write the file again, "
        r"with to_parquet$"
    )
    with pytest.raises(DataError, match=says):
        sm.exact_ranks(path)


def test_a_level_that_was_left_out_and_a_range_of_other_rows_are_no_damage(tmp_path) -> None:
    table = pa.Table.from_pandas(RANKS, preserve_index=False)
    columns = [
        {"name": name, "field_name": name, "pandas_type": "int64", "numpy_type": "int64"}
        for name in RANKS
    ]
    for levels in (["nope"], [RANGE], [RANGE | {"stop": 7}]):
        metadata = {"index_columns": levels, "columns": columns, "column_indexes": []}
        path = write_with_metadata(tmp_path / "x.parquet", table, metadata)
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


def test_a_file_with_flipped_bits_or_cut_off_is_read_or_refused_in_a_line(tmp_path) -> None:
    RANKS.set_index("user").to_parquet(tmp_path / "ranks.parquet")
    require_that_damage_is_refused(tmp_path / "ranks.parquet", sm.exact_ranks)


HALF = "a\ud800"
"""Half a pair of surrogates, which no file can hold: written as a\\ud800, as Python does."""


@pytest.mark.xfail(pd.__version__ < "3", reason="pandas 2 takes such texts as equal")
def test_halves_of_surrogates_in_tables() -> None:
    ranks = RANKS.assign(user=pd.Series([f"{HALF}{n}" for n in range(60)], dtype=object))
    ranks["g"] = pd.Series([HALF, "b"] * 30, dtype=object)
    result = sm.evaluate(sm.exact_ranks(ranks, groups="g"), metrics="recall@10", groups=True)
    assert result["group"].tolist() == ["all", "a\\ud800", "b"]
    assert json.dumps(result.plain_rows(), ensure_ascii=False).encode()
