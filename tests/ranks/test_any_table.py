"""Tables of other libraries, other names of columns and other separators: the result is that of the plain table."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tables_of_ranks import parse_columns, rank_table

from sampled_metrics import compare, correct, evaluate, expect, plan, report
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranks.files import read_columns

HINT = "If a column names recommenders, say which by `by` (--by)."
SOURCES = Path(__file__).parents[2] / "src"
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

    def test_of_a_relation_of_duckdb_are_the_same(self):
        """In a process of its own, as DuckDB writes of leaks when a process ends that had imported it."""
        code = (
            "import duckdb; from tables_of_ranks import rank_table; "
            "print(rank_table(duckdb.sql('select 7 as user, 50 as candidates, 12 as rank')).above)"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), str(Path(__file__).parents[1])])}
        command = [sys.executable, "-c", code]
        found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert found.stdout == "[11]\n"

    @pytest.mark.parametrize(
        "form", [pl.Series, pa.array, pd.Series, tuple], ids=["polars", "pyarrow", "pandas", "tuple"]
    )
    def test_of_columns_are_the_same(self, form):
        assert rank_table(form([1, 12, 5]), 50).above.tolist() == [0, 11, 4]

    def test_missing_values_are_named(self):
        with pytest.raises(DataError, match="ranks, user 'bob': rank must be a whole number, 1 or more, not nan"):
            rank_table(pl.DataFrame({"user": ["ann", "bob"], "rank": [1, None]}), 50)

    def test_of_two_recommenders_may_differ(self):
        one, other = (
            pl.DataFrame({"uid": [1, 2, 3], "rank": [4, 8, 2]}),
            pd.DataFrame({"user": [3, 2, 1], "rank": [1, 4, 2]}),
        )
        row = compare(one, other, candidates=20, metrics="ap").iloc[0]
        assert row["difference"] == pytest.approx(np.mean([1 / 2 - 1 / 4, 1 / 4 - 1 / 8, 1 - 1 / 2]))

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

    def test_of_sampled_ranks_may_be_others(self):
        plain = pd.DataFrame({"user": [1, 2, 3], "candidates": 90, "negatives": 9, "rank": [1, 3, 1]})
        other = plain.set_axis(["uid", "n_items", "num_negatives", "position"], axis="columns")
        given = {"estimators": "uncorrected", "metrics": "recall@2"}
        pd.testing.assert_frame_equal(correct(plain, **given), correct(other, **given))

    def test_that_are_not_used_are_said(self):
        remark = "The columns item_id, model, score are not used. Intervals take users as the unit. "
        remark += HINT
        assert remark in evaluate(FRAME.assign(item_id=7, model="a", score=0.5)).remarks
        assert f"The column session_id is not used. Each row is taken to be a user. {HINT}" in (
            evaluate({"session_id": [4, 5], "rank": [1, 2]}, candidates=9).remarks
        )
        assert not any("not used" in remark for remark in evaluate(FRAME).remarks)

    def test_of_ranks_beside_above_and_tied_are_said(self):
        table = pd.DataFrame({"above": [0, 4], "tied": [1, 0], "Position": [1, 5]})
        found = evaluate(table, candidates=9, metrics="recall@1")
        assert found["value"].tolist() == [0.25]  # the first of two that tie is as likely second
        assert "The column Position is not used, because above and tied give the ranks." in found.remarks


class TestFiles:
    TEXT = "user,candidates,rank\nann,50,1\nbob,60,12.0\neve,70,5\n"

    @pytest.mark.parametrize("separator", [";", "\t", "|"])
    def test_separators_are_noticed(self, separator):
        same(rank_table(parse_columns(self.TEXT.replace(",", separator).encode(), "f.csv")))

    def test_other_separators_are_given(self):
        same(rank_table(parse_columns(self.TEXT.replace(",", " ").encode(), "f.csv", " ")))

    def test_an_error_names_the_line_with_any_separator(self):
        with pytest.raises(DataError, match=r"f\.csv, line 3: rank must be a whole number, 1 or more, not '12\.5'"):
            rank_table(parse_columns(self.TEXT.replace("12.0", "12.5").replace(",", ";").encode(), "f.csv"))

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

    def test_of_sampled_ranks(self, tmp_path):
        frame = FRAME.assign(negatives=20)
        frame.to_csv(tmp_path / "x.csv", index=False)
        pd.testing.assert_frame_equal(
            correct(tmp_path / "x.csv", estimators="bv-0.1"), correct(frame, estimators="bv-0.1")
        )

    @pytest.mark.parametrize("kind", [str, Path, pd.read_csv, pl.scan_csv])
    def test_of_seeds(self, tmp_path, kind):
        paths = [tmp_path / f"{seed}.csv" for seed in range(3)]
        tables = [FRAME.assign(rank=[1, 2 + seed, 5]) for seed in range(3)]
        for table, path in zip(tables, paths, strict=True):
            table.to_csv(path, index=False)
        found = compare({"X": [kind(path) for path in paths], "Y": FRAME}, metrics="ap")
        assert found["value_a"].tolist() == pytest.approx([(1 + (1 / 2 + 1 / 3 + 1 / 4) / 3 + 1 / 5) / 3])

    def test_that_lead_nowhere(self):
        with pytest.raises(DataError, match=r"nowhere\.csv: there is no such file"):
            evaluate("nowhere.csv")

    def test_of_sampled_ranks_are_refused_where_ranks_are_exact(self, tmp_path):
        FRAME.assign(negatives=20).to_csv(tmp_path / "x.csv", index=False)
        says = "x.csv, line 1: has a column negatives, so its ranks are sampled ones"
        for call in (evaluate, lambda path: expect(path, negatives=5), lambda path: plan(path, path)):
            with pytest.raises(DataError, match=says):
                call(tmp_path / "x.csv")


def test_seeds_as_the_rows_of_an_array_are_refused():
    with pytest.raises(DataError, match="X: rank must have one dimension, with a whole number for each user"):
        compare({"X": np.ones((2, 3), dtype=int), "Y": [1, 2, 3]}, candidates=9)


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

    def test_of_compare(self, form):
        ranks, given = FORMS_OF_BOTH[form]
        [row] = compare(ranks, metrics="ap", **given).to_dict("records")
        assert row["difference"] == pytest.approx((1 / 4 + 1 / 2 + 1 / 30 - 1 - 1 / 12 - 1 / 5) / 3)

    def test_of_correct(self, form):
        ranks, given = FORMS_OF_BOTH[form]
        found = correct(ranks, negatives=30, metrics="recall@10", estimators=["uncorrected", "free"], **given)
        values = found.set_index(["recommender", "estimator"])["value"]
        assert values["gmf", "uncorrected"] == values["mlp", "uncorrected"] == pytest.approx(2 / 3)
        assert any("allow any Recall@10 from" in remark for remark in found.remarks)

    def test_of_report_and_expect(self, form):
        ranks, given = FORMS_OF_BOTH[form]
        assert "Comparison of gmf and mlp" in report(ranks, metrics="ap", **given)
        found = expect(ranks, negatives=5, metrics="ap", **given)
        assert found["recommender"].tolist() == ["gmf", "mlp"]


class TestColumnsOfRecommenders:
    def test_that_nobody_named_are_remarked_on(self):
        remark = f"The column model is not used. Intervals take users as the unit. {HINT}"
        assert remark in evaluate(LONG).remarks
        assert f"The column model is not used. Each row is taken to be a user. {HINT}" in (
            evaluate(LONG.drop(columns="user")).remarks
        )
        both = pd.DataFrame({"rank": [1, 2], "position": [7, 8], "candidates": 50})
        assert any("The column position is not used." in remark for remark in evaluate(both).remarks)
        found = evaluate(both, rank_column="position", metrics="ap")
        assert found["value"].item() == pytest.approx((1 / 7 + 1 / 8) / 2)
        assert "The column rank is not used, but position." in found.remarks

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

    @pytest.mark.parametrize("name", ["users", "count", "n_users", "Frequency"])
    def test_of_counts_are_refused_unless_they_are_called_otherwise(self, name):
        with pytest.raises(DataError, match=f"has the column {name}, as a table of counts of ranks has"):
            evaluate({"rank": [1, 2], name: [10, 4]}, candidates=9)
        assert len(evaluate({"rank": [1, 2], "user": [10, 4], name: [10, 4]}, candidates=9)) == 4

    def test_of_lists_may_name_recommenders(self):
        lists = pd.DataFrame(
            {"user": [*"uuvvuuvv"], "item": [*"abababab"], "score": [2, 1] * 2 + [1, 2] * 2, "model": [*"xxxxyyyy"]}
        )
        judged = {"u": {"a": 1}, "v": {"a": 1}}
        found = evaluate(lists, relevance=judged, metrics="mrr", by="model")
        assert found[["recommender", "value"]].to_numpy().tolist() == [["x", 1.0], ["y", 0.5]]
        x, y = {"a": 2, "b": 1}, {"a": 1, "b": 2}
        given = {"x": {"u": x, "v": x}, "y": {"u": y, "v": y}}
        assert evaluate(given, relevance=judged, metrics="mrr")["value"].tolist() == [1.0, 0.5]

    def test_ranks_from_0(self):
        found = evaluate({"rank": [0, 4]}, candidates=9, metrics="ap", zero_based=True)
        assert found["value"].item() == pytest.approx((1 + 1 / 5) / 2)
        assert plan([9, 99] * 9, [19, 1] * 9, candidates=200, metric="ap", zero_based=True)["users"].notna().any()

    def test_have_the_order_of_their_names(self):
        assert list(evaluate(LONG.iloc[::-1], by="model")["recommender"].unique()) == ["gmf", "mlp"]

    def test_are_named_by_text(self):
        with pytest.raises(ConfigError, match="by: a label is text, not"):
            evaluate(LONG, by=["model"])
