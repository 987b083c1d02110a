"""Tables of other libraries, other names of columns and other separators: the result is that of the plain table."""

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tables_of_ranks import rank_table

from sampled_metrics import evaluate, expect
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.files import read_columns

FRAME = pd.DataFrame({"user": ["ann", "bob", "eve"], "candidates": [50, 60, 70], "rank": [1, 12, 5]})
TABLE = rank_table(FRAME)
FORMS = {
    "dict": lambda frame: frame.to_dict("list"),
    "polars": pl.DataFrame,
    "polars, lazy": lambda frame: pl.DataFrame(frame).lazy(),
    "pyarrow": pa.Table.from_pandas,
}


def same(found, table=TABLE):
    for name in ("user", "candidates", "above", "tied"):
        assert getattr(found, name).tolist() == getattr(table, name).tolist()


class TestForms:
    @pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
    def test_of_tables_are_the_same(self, form):
        same(rank_table(form(FRAME.to_dict("list") if form is pl.DataFrame else FRAME)))

    def test_of_what_is_no_table_are_refused(self):
        with pytest.raises(DataError, match="ranks: is no table: All arrays must be of the same length"):
            rank_table({"rank": [1, 2], "user": [1]}, 50)
        with pytest.raises(DataError, match="ranks: rank must have one dimension"):
            rank_table(object(), 50)


class TestNames:
    @pytest.mark.parametrize(
        "names",
        [
            ["user_id", "n_candidates", "rank"],
            ["uid", "num_candidates", "Rank"],
            ["query_id", "n_items", "position"],
            ["UserID", "Candidates", "ranks"],
        ],
    )
    def test_of_columns_may_be_others(self, names):
        same(rank_table(FRAME.set_axis(names, axis="columns")))


class TestFiles:
    def test_parquet(self, tmp_path):
        FRAME.to_parquet(tmp_path / "r.parquet")
        same(rank_table(read_columns(tmp_path / "r.parquet")))
        FRAME.assign(rank=[1, -2, 3]).to_parquet(tmp_path / "wrong.parquet")
        with pytest.raises(DataError, match=r"wrong.parquet, row 2: rank must be .* not -2"):
            rank_table(read_columns(tmp_path / "wrong.parquet"))
        (tmp_path / "no.parquet").write_bytes(b"user,rank\n1,2\n")
        with pytest.raises(DataError, match=r"no.parquet: cannot be read: .*[Pp]arquet"):
            read_columns(tmp_path / "no.parquet")


class TestPaths:
    """A path is read as the command reads it."""

    @pytest.mark.parametrize("kind", [str, Path])
    def test_of_exact_ranks(self, tmp_path, kind):
        FRAME.to_csv(tmp_path / "x.csv", index=False, sep=";")
        path = kind(tmp_path / "x.csv")
        pd.testing.assert_frame_equal(evaluate(path), evaluate(FRAME))
        pd.testing.assert_frame_equal(
            expect({"X": path}, negatives=5).drop(columns="recommender"),
            expect({"Y": FRAME}, negatives=5).drop(columns="recommender"),
        )


LONG = pd.DataFrame(
    {"user": [1, 2, 3, 1, 2, 3], "model": ["gmf"] * 3 + ["mlp"] * 3, "rank": [1, 12, 5, 4, 2, 30], "candidates": 50}
)
WIDE = pd.DataFrame({"user": [1, 2, 3], "gmf": [1, 12, 5], "mlp": [4, 2, 30], "candidates": 50})
BOTH = {name: LONG[LONG["model"] == name].drop(columns="model") for name in ("gmf", "mlp")}
FORMS_OF_BOTH = {"by": (LONG, {"by": "model"}), "wide": (WIDE, {"rank_column": ["gmf", "mlp"]}), "mapping": (BOTH, {})}


@pytest.mark.parametrize("form", FORMS_OF_BOTH)
class TestSeveralRecommenders:
    """A long table, a wide one, and a mapping of the same ranks give the same, worked out by hand."""

    def test_of_evaluate(self, form):
        ranks, given = FORMS_OF_BOTH[form]
        found = evaluate(ranks, metrics=["recall@10", "ap"], **given)
        assert found["recommender"].tolist() == ["gmf", "gmf", "mlp", "mlp"]
        expected = [2 / 3, (1 + 1 / 12 + 1 / 5) / 3, 2 / 3, (1 / 4 + 1 / 2 + 1 / 30) / 3]
        assert found["value"].tolist() == pytest.approx(expected)
        assert not any("not used" in remark for remark in found.remarks)
        assert sum("There are only 3 users" in remark for remark in found.remarks) == 1


class TestColumnsOfRecommenders:
    @pytest.mark.parametrize(
        ("ranks", "given", "says"),
        [
            (LONG, {"by": "modle"}, "ranks: lacks the column modle (the columns are"),
            (LONG.assign(model=["a", "", "a", "a", "b", "b"]), {"by": "model"}, "model is empty"),
            (LONG, {"by": "model", "rank_column": ["rank", "user"]}, "by is for one column of ranks"),
            (BOTH, {"by": "model"}, "are for one table that has the ranks of all recommenders"),
            ({" ": [1, 2]}, {"candidates": 9}, "the name of a recommender is empty"),
            (WIDE.assign(mlp=[4, None, 30]), {"rank_column": ["gmf", "mlp"]}, "user 2, column mlp: rank must be"),
            (WIDE, {}, "name the column of ranks, or several, by rank_column (--rank-column)"),
            (rank_table(FRAME), {"by": "model"}, "by and several of rank_column are for a table of columns"),
            (rank_table(FRAME), {"zero_based": True}, "is a RankTable, which has no columns to name"),
        ],
    )
    def test_that_cannot_be_used_are_refused(self, ranks, given, says):
        with pytest.raises(DataError) as caught:
            evaluate(ranks, **given)
        assert says in str(caught.value)
