"""A named index of pandas is a column of a table, and numbers of users are by their labels.

It is so in memory and in files.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.errors import DataError

TABLE = pd.DataFrame(
    {
        "user": ["c", "c", "a", "b", "b"],
        "rank": [3, 1, 2, 5, 4],
        "candidates": [30, 30, 10, 20, 20],
        "model": ["x", "y", "x", "x", "y"],
    }
)
ROWS = [("c", 3, 30), ("c", 1, 30), ("a", 2, 10), ("b", 5, 20), ("b", 4, 20)]
NUMBERS = TABLE.drop(columns="model")


def rows(table: Any) -> list[tuple[Any, int, int]]:
    """User, rank and candidates of each row."""
    users = table.user.tolist() if table.user is not None else [None] * len(table)
    return list(zip(users, (table.above + 1).tolist(), table.candidates.tolist(), strict=True))


FRAMES = {
    "columns": NUMBERS,
    "index": NUMBERS.set_index("user"),
    "index and column": NUMBERS.set_index("user", drop=False),
    "usual name": NUMBERS.rename(columns={"user": "user_id"}).set_index("user_id"),
    "two levels": NUMBERS.set_index(["user", "candidates"]),
    "other order of levels": NUMBERS.set_index(["candidates", "user"]),
    "ranks": NUMBERS.set_index(["user", "rank"]),
    "unnamed level of numbers": NUMBERS.set_index([NUMBERS["user"], np.arange(5)]).drop(
        columns="user"
    ),
    "categories": NUMBERS.astype({"user": "category"}).set_index("user"),
}


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("form", ["frame", "parquet", "csv"])
def test_a_named_index_is_a_column(name: str, form: str, tmp_path: Any) -> None:
    ranks = FRAMES[name]
    if form == "parquet":
        ranks.to_parquet(tmp_path / "ranks.parquet")
        ranks = tmp_path / "ranks.parquet"
    elif form == "csv":
        if name == "index and column":
            pytest.skip("a csv file with a column twice is refused")
        ranks.to_csv(tmp_path / "ranks.csv")
        ranks = tmp_path / "ranks.csv"
    assert rows(sm.exact_ranks(ranks, exact=True)) == ROWS


def test_users_of_an_index_are_the_unit_of_intervals() -> None:
    """As in issue 69: 120 users of 30 rows each were 3,600."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"user": np.repeat([f"u{user}" for user in range(120)], 30), "candidates": 1000}
    )
    table["rank"] = rng.integers(1, 901, len(table))
    result = sm.evaluate(sm.exact_ranks(table.set_index("user")), metrics="recall@10")
    assert result["users"].tolist() == [120]
    recalls = (table["rank"] <= 10).groupby(table["user"]).mean()
    assert result["value"].item() == pytest.approx(recalls.mean())
    assert result["standard_error"].item() == pytest.approx(recalls.std() / np.sqrt(120))


def test_a_range_of_numbers_with_a_name_is_kept_in_parquet(tmp_path: Any) -> None:
    ranks = pd.DataFrame({"rank": [3, 1, 2], "candidates": 9}).rename_axis("user")
    assert isinstance(ranks.index, pd.RangeIndex)
    ranks.to_parquet(tmp_path / "ranks.parquet")
    for source in (ranks, tmp_path / "ranks.parquet"):
        assert rows(sm.exact_ranks(source)) == [(0, 3, 9), (1, 1, 9), (2, 2, 9)]


def test_the_index_of_a_parquet_file(tmp_path: Any) -> None:
    ranks = pd.DataFrame(
        {"rank": [3, 1, 2, 4, 5], "candidates": 9}, index=pd.RangeIndex(10, 20, 2, name="user")
    )
    ranks.to_parquet(tmp_path / "ranks.parquet")
    assert sm.exact_ranks(tmp_path / "ranks.parquet").user.tolist() == [10, 12, 14, 16, 18]
    ranks.set_axis(pd.Index(list("vwxyz"), name="user"), axis="index").to_parquet(
        tmp_path / "ranks.parquet"
    )
    assert sm.exact_ranks(tmp_path / "ranks.parquet").user.tolist() == list("vwxyz")
    wrong = ranks.assign(user=[10, 12, 14, 17, 18])
    wrong.to_parquet(tmp_path / "ranks.parquet")
    for source, name in ((wrong, "ranks"), (tmp_path / "ranks.parquet", r".*ranks\.parquet")):
        with pytest.raises(
            DataError, match=rf"^{name}: the index user and the column of this name differ"
        ):
            sm.exact_ranks(source)


def test_a_parquet_file_whose_rows_were_left_out_has_no_range(tmp_path: Any) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(
        pd.DataFrame({"rank": [3, 1, 2], "candidates": 9}).rename_axis("user")
    )
    pyarrow.parquet.write_table(table.slice(1), tmp_path / "ranks.parquet")
    assert rows(sm.exact_ranks(tmp_path / "ranks.parquet")) == [(None, 1, 9), (None, 2, 9)]


SERIES = pd.Series([3, 1, 2], index=pd.Index(["c", "a", "b"], name="user"))


@pytest.mark.parametrize(
    ("ranks", "users"),
    [
        (SERIES, ["c", "a", "b"]),
        (SERIES.rename("ncf"), ["c", "a", "b"]),
        (TABLE.groupby("user")["rank"].min(), ["a", "b", "c"]),
        (SERIES.rename_axis("uid"), ["c", "a", "b"]),
        (SERIES.rename_axis(None), ["c", "a", "b"]),
        (SERIES.rename_axis("no").set_axis([7, 9, 8]), [7, 9, 8]),
        (SERIES.set_axis(pd.Index([7, 9, 8], name="no")), None),
        (SERIES.to_frame("rank").rename_axis(None), ["c", "a", "b"]),
        (TABLE["rank"][[2, 0, 4]], [2, 0, 4]),  # rows of a frame: each is a user of its own
        (TABLE[["user", "rank"]].iloc[[0, 2, 3]].set_axis(["v", "w", "v"]), ["c", "a", "b"]),
    ],
)
def test_the_index_of_ranks_without_a_column_of_users(ranks: Any, users: list[Any] | None) -> None:
    table = sm.exact_ranks(ranks, candidates=50)
    assert (table.user if users is None else table.user.tolist()) == users
    assert (
        table.above.tolist()
        == (np.asarray(ranks if ranks.ndim == 1 else ranks["rank"]) - 1).tolist()
    )


def test_an_index_of_text_without_a_name_is_the_users_in_files_too(tmp_path: Any) -> None:
    ranks = pd.DataFrame({"rank": [3, 1], "candidates": 9}, index=["ann", "bob"])
    ranks.to_csv(tmp_path / "ranks.csv")
    ranks.to_parquet(tmp_path / "ranks.parquet")
    for source in (ranks, tmp_path / "ranks.csv", tmp_path / "ranks.parquet"):
        table = sm.exact_ranks(source)
        assert table.user.tolist() == ["ann", "bob"]
        assert table.notes == ("The index is taken as user.",)


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        (SERIES.set_axis(["c", "a", "c"]), "^ranks: the index has no name, and 'c' twice; call "
                                           "it user if"),
        (SERIES.value_counts().rename_axis("rank"), "^ranks: is a Series whose index is called "
                                                    "rank, as"),
        (pd.Series([1, 1, 2], name="rank").value_counts().to_frame(), "^ranks: has the column "
                                                                      "count, as a table"),
        (NUMBERS.set_axis(pd.Index(list("ccabx"), name="user")), "^ranks, row 5: the index user "
                                                                 "has 'x', and"),
        (pd.concat([NUMBERS, NUMBERS], keys=["x", "y"]), "^ranks: has an index of several "
                                                         "levels, .* without a name h"),
        (
            TABLE.loc[[0, 1, 3, 4]].set_index(["model", "user"]),
            r"^ranks: has 2 rows for each user, one for each value of the column model \(x, y\)",
        ),
        (TABLE.set_index("user")["model"], "^ranks, user 'c': rank must be a whole number, 1 or "
                                           "more, not 'x'"),
        ({"rank": SERIES, "candidates": SERIES[::-1] * 9, "n": [1, 2, 3]}, "^ranks: the columns "
                                                                           "rank and candidates"),
    ],
)  # fmt: skip
def test_an_index_that_contradicts_is_refused(ranks: Any, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        sm.exact_ranks(ranks, candidates=None if "candidates" in ranks else 50)
    assert "\n" not in str(caught.value)


def test_series_of_one_dict_are_joined_by_their_labels() -> None:
    ranks = {
        "rank": SERIES,
        "candidates": pd.Series({"a": 10, "b": 20, "c": 30}).rename_axis("user"),
    }
    assert sorted(rows(sm.exact_ranks(ranks))) == [("a", 1, 10), ("b", 2, 20), ("c", 3, 30)]


def test_recommenders_of_an_index_are_told_apart_by_it() -> None:
    for ranks in (
        TABLE.set_index("user"),
        TABLE.set_index(["model", "user"]),
        TABLE.set_index("model"),
    ):
        tables = sm.exact_ranks(ranks, by="model")
        assert {name: rows(table) for name, table in tables.items()} == {
            "x": [("c", 3, 30), ("a", 2, 10), ("b", 5, 20)],
            "y": [("c", 1, 30), ("b", 4, 20)],
        }


def test_groups_of_a_file_may_be_by_an_index(tmp_path: Any) -> None:
    from sampled_metrics.core.ranks.groups import read_groups

    pd.DataFrame({"age": [1, 2]}, index=pd.Index(["ann", "bob"], name="user")).to_parquet(
        tmp_path / "groups.parquet"
    )
    assert read_groups(str(tmp_path / "groups.parquet"), "age") == {"ann": "1", "bob": "2"}


BY_USER = pd.Series({"a": 10, "b": 20, "c": 30, "d": 40})
RANKS = TABLE[["user", "rank"]]


@pytest.mark.parametrize(
    ("ranks", "candidates"),
    [
        (RANKS, BY_USER),
        (RANKS, BY_USER.rename_axis("user")),
        (RANKS.set_index("user"), BY_USER[::-1]),
        (RANKS.set_index("user")["rank"], BY_USER),
        (RANKS, TABLE.set_index("user")["candidates"]),
        (RANKS, TABLE["candidates"]),
        (RANKS, pd.Series([30, 30, 10, 20, 20])),
        (RANKS.set_axis([9, 8, 7, 6, 5]), TABLE["candidates"].set_axis([9, 8, 7, 6, 5])),
        (RANKS.set_axis([9, 8, 7, 6, 5]), TABLE["candidates"].set_axis([9, 8, 7, 6, 5])[::-1]),
        (RANKS.set_axis([9, 8, 7, 6, 5]), TABLE["candidates"].to_numpy()),
    ],
)
def test_numbers_of_users_are_taken_by_their_labels(ranks: Any, candidates: Any) -> None:
    assert rows(sm.exact_ranks(ranks, candidates=candidates, exact=True)) == ROWS
    sampled = sm.sampled_ranks(ranks, candidates=100, negatives=candidates)
    assert list(zip(sampled.user.tolist(), sampled.negatives.tolist(), strict=True)) == [
        (u, n) for u, _, n in ROWS
    ]


def test_numbers_by_user_are_for_recommenders_in_other_orders() -> None:
    tables = sm.exact_ranks({"one": SERIES, "other": SERIES.sort_index()}, candidates=BY_USER)
    assert rows(tables["one"]) == [("c", 3, 30), ("a", 1, 10), ("b", 2, 20)]
    assert rows(tables["other"]) == [("a", 1, 10), ("b", 2, 20), ("c", 3, 30)]


@pytest.mark.parametrize(
    ("ranks", "candidates", "says"),
    [
        (RANKS, BY_USER[["a", "b"]], "^ranks, user 'c': candidates has no number for this user; "
                                     "its index"),
        (RANKS[["rank"]], BY_USER, "^ranks: candidates has labels, such as 'a', and the ranks "
                                   "have no column user"),
        (RANKS, pd.Series([10, 20, 30, 11], index=list("abca")), "^ranks: candidates has the "
                                                                 "user 'a' twice, with"),
        (
            pd.DataFrame({"user": [2, 0, 1], "rank": [3, 1, 2]}),
            pd.Series([10, 20, 30], index=[1, 0, 2]),
            "^ranks: the index of candidates may name rows or users; call it user, or give "
            "candidates",
        ),
        (RANKS, pd.concat([BY_USER], keys=["x"]), "^ranks: candidates has an index of several "
                                                  "levels"),
    ],
)  # fmt: skip
def test_numbers_whose_labels_contradict_are_refused(
    ranks: Any, candidates: Any, says: str
) -> None:
    with pytest.raises(DataError, match=says):
        sm.exact_ranks(ranks, candidates=candidates)


def test_series_of_a_table_have_the_same_labels() -> None:
    columns = {
        "candidates": TABLE["candidates"],
        "above": TABLE["rank"] - 1,
        "tied": TABLE["rank"] * 0,
    }
    assert rows(sm.ExactRanks(user=TABLE["user"], **columns)) == ROWS
    with pytest.raises(
        DataError, match=r"^exact ranks: user and candidates are Series with other labels"
    ):
        sm.ExactRanks(user=TABLE["user"][::-1], **columns)
    with pytest.raises(
        DataError, match=r"^sampled ranks: x and negatives are Series with other labels"
    ):
        sm.SampledRanks(TABLE["rank"], TABLE["candidates"][::-1], TABLE["candidates"] * 9, False)


def test_groups_of_users_by_a_series_of_any_order() -> None:
    """The ranks of c are 3 and 1, that of a is 2, and those of b are 5 and 4."""
    both = pd.concat([RANKS, RANKS.assign(user=RANKS["user"] + "2")])
    groups = pd.Series(
        [2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0], index=["b", "c", "a", "d", "b2", "a2", "c2"]
    )
    table = sm.exact_ranks(both, candidates=30, exact=True)
    result = sm.evaluate(table, metrics="mrr", groups=groups)
    expected = {"all": (2 / 3 + 1 / 2 + 9 / 40) / 3, "1": (2 / 3 + 1 / 2) / 2, "2": 9 / 40}
    assert dict(zip(result["group"], result["value"], strict=True)) == pytest.approx(expected)
    with pytest.raises(
        DataError, match=r"^groups: 2 users of the ranks have none, for instance b$"
    ):
        sm.evaluate(table, groups=groups.where(groups < 2))


def test_series_of_two_recommenders_with_numbers_as_index_are_paired_by_it():
    ranks = pd.Series({12: 3, 7: 1, 5: 40, 9: 2, 30: 80})
    tables = sm.exact_ranks({"A": ranks, "B": ranks.sort_index()}, candidates=90)
    assert tables["A"].user.tolist() == [12, 7, 5, 9, 30]
    result = sm.compare(tables, metrics="ap")
    assert (
        sm.compare({"A": tables["A"], "B": tables["A"]}, metrics="ap")["low"].tolist()
        == result["low"].tolist()
    )
