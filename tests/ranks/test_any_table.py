"""Tables of other libraries, other names of columns and other separators: the result is that of the plain table."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from read_and import evaluate, expect
from tables_of_ranks import rank_table

import sampled_metrics
from sampled_metrics import exact_ranks, ranked_lists
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.reading import read_columns

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
        with pytest.raises(DataError, match="ranks: is not a table: All arrays must be of the same length"):
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


class TestNamesOfTheTable:
    def test_columns_that_are_taken_are_named(self):
        """Also of each recommender, once."""
        frame = pd.DataFrame({"userId": [1, 2] * 2, "m": ["a", "a", "b", "b"], "position": 3, "n_items": 50})
        said = [each for each in evaluate(frame, by="m").remarks if "taken as" in each]
        assert len(said) == 1
        assert said[0].startswith("The columns userId, n_items and position are taken as user, candidates (how many")

    def test_columns_with_the_name_itself_are_not(self):
        said = evaluate(pd.DataFrame({"User": [1, 2], "RANK": [3, 4], "Candidates": [50, 60]})).remarks
        assert not any("taken as" in each for each in said)

    def test_of_judged_lists(self):
        run = {"ann": {"film": 0.9}, "bob": {"film": 0.9}}
        grades = pd.DataFrame({"qid": ["ann", "bob"], "docno": "film", "rating": 2})
        said = evaluate(run, relevance=grades, metrics="map").remarks
        assert "The columns qid, docno and rating are taken as user, item and relevance." in said
        assert not any("score" in each for each in said)

    def test_errors_call_a_column_as_the_table_does(self):
        with pytest.raises(DataError, match=r"user 2: place 60 \(ties included\) is above the last rank from 0, 58"):
            evaluate(
                pd.DataFrame({"user": [1, 2], "place": [4, 60]}), candidates=59, rank_column="place", zero_based=True
            )


class TestColumnsOfRecommenders:
    @pytest.mark.parametrize(
        ("ranks", "given", "says"),
        [
            (LONG, {"by": "modle"}, "ranks: lacks the column modle (the columns are"),
            (LONG.assign(model=["a", "", "a", "a", "b", "b"]), {"by": "model"}, "model is empty"),
            (LONG, {"by": "model", "rank_column": ["rank", "user"]}, "by is for one column of ranks"),
            (BOTH, {"by": "model"}, "are for one table that has the ranks of all recommenders"),
            ({" ": [1, 2]}, {"candidates": 9}, "the name of a recommender is empty"),
            (WIDE.assign(mlp=[4, None, 30]), {"rank_column": ["gmf", "mlp"]}, "user 2: mlp must be"),
            (WIDE, {}, "name the column of ranks, or several of a single table, by rank_column (--rank-column)"),
            (rank_table(FRAME), {"by": "model"}, "is ExactRanks already, which is not read again"),
            (rank_table(FRAME), {"zero_based": True}, "is ExactRanks already, which is not read again"),
        ],
    )
    def test_that_cannot_be_used_are_refused(self, ranks, given, says):
        with pytest.raises(DataError) as caught:
            exact_ranks(ranks, **given)
        assert says in str(caught.value)


@pytest.mark.parametrize("user", [[1], {}, np.arange(2)], ids=["list", "dict", "array"])
def test_a_user_is_not_a_list(user) -> None:
    users = pd.Series([user, user], dtype=object)
    with pytest.raises(DataError, match=r"ranks.*: user must be text or a number"):
        exact_ranks(pd.DataFrame({"user": users, "rank": [1, 2]}), candidates=10)


def test_a_rank_is_not_an_array() -> None:
    cells = pd.DataFrame({"rank": pd.Series([np.arange(2), np.arange(3)], dtype=object)})
    with pytest.raises(DataError, match="row 1: rank must be a whole number"):
        exact_ranks(cells, candidates=10)


def test_a_table_with_a_column_twice_is_refused(tmp_path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_arrays([pyarrow.array([1, 2])] * 2, names=["rank", "rank"])
    with pytest.raises(DataError, match=r"ranks: is not a table: .*rank"):
        exact_ranks(table, candidates=10)
    pq.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(DataError, match=r"twice\.parquet: there is more than one column 'rank'"):
        exact_ranks(tmp_path / "twice.parquet", candidates=10)


@pytest.mark.parametrize("as_csv", [False, True])
def test_scores_that_float64_rounds_are_refused(tmp_path, as_csv) -> None:
    scores = pd.DataFrame({"user": [0, 0], "item": [1, 2], "score": [2**53, 2**53 + 1]})
    scores.to_csv(tmp_path / "run.csv", index=False)
    run = tmp_path / "run.csv" if as_csv else scores
    with pytest.raises(DataError, match="score is kept as float64, which would round 9007199254740993"):
        ranked_lists(run, relevance=pd.DataFrame({"user": [0], "item": [2]}))


@pytest.mark.parametrize("name", ["movieId", "corpus-id", "docid"])
def test_usual_names_of_items(name) -> None:
    run = pd.DataFrame({"user": [0, 0, 1, 1], name: [1, 2, 1, 2], "score": [2, 1, 2, 1]})
    lists = ranked_lists(run, relevance=pd.DataFrame({"user": [0, 1], name: [1, 2]}))
    assert sampled_metrics.evaluate(lists, metrics="recall@1")["value"].tolist() == [0.5]


@pytest.mark.parametrize("column", ["user", "item"])
def test_ids_of_lists_are_not_lists(column) -> None:
    run = pd.DataFrame({"user": [1, 2], "item": [0, 1], "score": [0.1, 0.2]})
    judged = pd.DataFrame({"user": [1, 2], "item": [0, 1]})
    run[column] = pd.Series([[1], [2]], dtype=object)
    with pytest.raises(DataError, match=rf"{column} must be text or a number"):
        ranked_lists(run, relevance=judged)


def test_numbers_that_no_float_holds_are_refused() -> None:
    run = pd.DataFrame({"user": [1, 1], "item": [0, 1], "score": pd.Series([10**400, 1], dtype=object)})
    with pytest.raises(DataError, match="score"):
        ranked_lists(run, relevance=pd.DataFrame({"user": [1], "item": [0]}))
    with pytest.raises(DataError, match="row 1: rank must be a whole number"):
        exact_ranks([Decimal("sNaN"), Decimal(1)], candidates=10)


def test_one_part_is_given_as_a_list() -> None:
    with pytest.raises(DataError, match="concat takes staged ranks"):
        sampled_metrics.StagedRanks.concat(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("candidates", [[], 10**30])
def test_published_numbers_of_impossible_candidates_are_refused(candidates) -> None:
    with pytest.raises(DataError, match="candidates"):
        sampled_metrics.published({"A": {"hr@10": 0.5}}, negatives=99, candidates=candidates, users=100)
