"""The contract of tables: every form of the same ranks is read as plain Python reads it."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sampled_metrics as sm

USERS = ["c", "a", "d", "b", "e"]
ROWS = [("c", 3, 30), ("a", 2, 10), ("d", 9, 40), ("b", 5, 20), ("e", 1, 50)]
"""Users, ranks and numbers of candidates."""

FRAME = pd.DataFrame(ROWS, columns=["user", "rank", "candidates"])
BY_USER = {user: candidates for user, _, candidates in ROWS}


def rows_of(table):
    """Users, ranks and candidates of a table; numbers in place of users that are not known."""
    return list(
        zip(
            table.users.tolist(), (table.above + 1).tolist(), table.candidates.tolist(), strict=True
        )
    )


def in_file(frame, path, index=False):
    """Write a frame by the ending of a path."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=index)
    else:
        frame.to_csv(path, index=index)
    return path


def in_parts(frame, folder):
    """Write a frame as two parquet files."""
    folder.mkdir()
    in_file(frame[:2], folder / "1.parquet")
    in_file(frame[2:], folder / "2.parquet")
    return folder


FORMS = {
    "frame": lambda frame, folder: frame,
    "labels in another order": lambda frame, folder: frame.set_axis([4, 1, 0, 3, 2]),
    "columns": lambda frame, folder: frame.to_dict("list"),
    "named index": lambda frame, folder: frame.set_index("user"),
    "two levels": lambda frame, folder: frame.set_index(["candidates", "user"]),
    "index and column": lambda frame, folder: frame.set_index("user", drop=False),
    "floats": lambda frame, folder: frame.astype({"rank": np.float32}),
    "text": lambda frame, folder: frame.astype({"rank": str}),
    "usual names": lambda frame, folder: frame.set_axis(
        ["user_id", "position", "nItems"], axis="columns"
    ),
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "polars, lazy": lambda frame, folder: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame, folder: pa.Table.from_pandas(frame, preserve_index=False),
    "csv": lambda frame, folder: in_file(frame, folder / "r.csv"),
    "csv with an index": lambda frame, folder: in_file(frame, folder / "r.csv", index=True),
    "parquet": lambda frame, folder: in_file(frame, folder / "r.parquet"),
    "index in parquet": lambda frame, folder: in_file(
        frame.set_index("user"), folder / "r.parquet", index=True
    ),
    "folder of parts": lambda frame, folder: in_parts(frame, folder / "parts"),
    "pattern of parts": lambda frame, folder: in_parts(frame, folder / "parts") / "*.parquet",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_has_its_rows(form, tmp_path):
    assert rows_of(sm.exact_ranks(FORMS[form](FRAME, tmp_path))) == ROWS


NUMBERS = {
    "column": lambda frame: ("n", None),
    "array by row": lambda frame: (None, frame["candidates"].to_numpy()),
    "series by row": lambda frame: (None, frame["candidates"]),
    "mapping": lambda frame: (None, BY_USER),
    "mapping of more users": lambda frame: (None, BY_USER | {"z": 7}),
    "series by user": lambda frame: (None, pd.Series(BY_USER)),
    "named series by user": lambda frame: (None, pd.Series(BY_USER)[::-1].rename_axis("user")),
}


@pytest.mark.parametrize("form", NUMBERS)
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_numbers_of_users_are_a_column_by_row_or_by_user(form, is_shuffled):
    frame = FRAME.iloc[[4, 1, 0, 3, 2]] if is_shuffled else FRAME
    column, numbers = NUMBERS[form](frame)
    table = sm.exact_ranks(
        frame.rename(columns={"candidates": "n"}), candidates=numbers, candidates_column=column
    )
    assert rows_of(table) == [tuple(row) for row in frame.to_numpy().tolist()]
    sampled = sm.sampled_ranks(
        frame.rename(columns={"candidates": "n"}),
        candidates=100,
        negatives=numbers,
        negatives_column=column,
    )
    assert sampled.negatives.tolist() == frame["candidates"].tolist()


def test_ranks_alone_are_an_array_a_list_or_a_file_of_one_per_line(tmp_path):
    (tmp_path / "r.csv").write_text("\ufeff3\r\n1\r\n10")
    with gzip.open(tmp_path / "r.csv.gz", "wt") as file:
        file.write("3\n1\n10\n")
    for ranks in ([3, 1, 10], np.array([3.0, 1, 10]), tmp_path / "r.csv", tmp_path / "r.csv.gz"):
        table = sm.exact_ranks(ranks, candidates=10)
        assert table.user is None
        assert table.above.tolist() == [2, 0, 9]


MODELS = pd.concat(
    [FRAME.assign(model=name, rank=FRAME["rank"] + shift) for name, shift in (("x", 0), ("y", 1))]
)
OF_MODEL = {name: part.drop(columns="model") for name, part in MODELS.groupby("model")}
WIDE = OF_MODEL["x"].rename(columns={"rank": "x"}).assign(y=OF_MODEL["y"]["rank"])


@pytest.mark.parametrize(
    ("ranks", "options"),
    [
        pytest.param(MODELS, {"by": "model"}, id="by"),
        pytest.param(MODELS.sample(frac=1, random_state=0), {"by": "model"}, id="shuffled"),
        pytest.param(MODELS.set_index(["model", "user"]), {"by": "model"}, id="index"),
        pytest.param(WIDE, {"rank_column": ["x", "y"]}, id="wide"),
        pytest.param(OF_MODEL, {}, id="mapping"),
    ],
)
def test_recommenders_are_a_column_columns_of_ranks_or_a_mapping(ranks, options):
    tables = sm.exact_ranks(ranks, **options)
    shifts = {"x": 0, "y": 1}
    assert {name: sorted(rows_of(table)) for name, table in tables.items()} == {
        name: sorted((user, rank + shift, n) for user, rank, n in ROWS)
        for name, shift in shifts.items()
    }


def test_seeds_are_in_the_order_of_their_numbers_or_texts():
    for labels, ordered in (
        ([10, 9, 1], ["1", "9", "10"]),
        (["10", "9", "b"], ["10", "9", "b"]),
        ([0.5, 2.0, 1.0], ["0.5", "1", "2"]),
    ):
        frame = pd.concat([FRAME.assign(seed=label) for label in labels])
        tables = sm.exact_ranks(frame, seeds="seed")
        assert [table.seed_name for table in tables] == ordered
        assert all(rows_of(table) == ROWS for table in tables)
    assert rows_of(sm.exact_ranks(FRAME.assign(seed=3), seeds="seed")) == ROWS


def test_the_caller_names_the_columns_of_a_table():
    frame = FRAME.set_axis(["who", "place", "size"], axis="columns").assign(m=60)
    names = {"user_column": "who", "rank_column": "place", "candidates_column": "size"}
    assert rows_of(sm.exact_ranks(frame, **names)) == ROWS
    sampled = sm.sampled_ranks(frame, candidates=99, negatives_column="m", **names)
    assert sampled.negatives.tolist() == [60] * len(ROWS)
    assert sampled.user.tolist() == USERS
    with pytest.raises(sm.DataError, match="whom"):
        sm.exact_ranks(frame, **names | {"user_column": "whom"})


@pytest.mark.parametrize("values", [[1, 2], ["x", "y"], [0.5, True]])
def test_an_unused_column_that_distinguishes_rows_of_each_user_is_refused(values):
    twice = pd.concat([FRAME.assign(fold=value) for value in values])
    for reader, options in ((sm.exact_ranks, {}), (sm.sampled_ranks, {"negatives": 9})):
        with pytest.raises(sm.DataError, match="fold"):
            reader(twice, **options)
    assert len(sm.exact_ranks(twice, groups="fold")) == 2 * len(FRAME)
    assert len(sm.exact_ranks(twice[1:])) == 2 * len(FRAME) - 1


SHALLOW = np.arange(1, 101)


@pytest.mark.parametrize(
    ("ranks", "options", "is_refused"),
    [
        pytest.param(SHALLOW, {"candidates": 1000}, True, id="all in the best tenth"),
        pytest.param(SHALLOW, {"candidates": 999}, False, id="one beyond it"),
        pytest.param(SHALLOW[:99], {"candidates": 1000}, False, id="99 users"),
        pytest.param(SHALLOW, {"candidates": 1000, "exact": True}, False, id="said to be exact"),
        pytest.param(
            {"above": SHALLOW - 1, "tied": SHALLOW * 0}, {"candidates": 1000}, False, id="counts"
        ),
        pytest.param(
            {"user": np.repeat(np.arange(50), 2), "rank": SHALLOW},
            {"candidates": 1000},
            False,
            id="50 users",
        ),
    ],
)
def test_exact_ranks_of_many_users_reach_beyond_the_best_tenth(ranks, options, is_refused):
    if is_refused:
        with pytest.raises(sm.DataError, match="exact=True"):
            sm.exact_ranks(ranks, **options)
    else:
        assert sm.exact_ranks(ranks, **options).cautions == ()


def test_ties_among_negatives_are_broken_uniformly():
    """Of 3 above and 2 tied, x is 3, 4 or 5; 6,000 rows have a standard error of 0.0061 each."""
    counts = {"above": [3] * 6000, "tied": [2] * 6000}
    table = sm.sampled_ranks(counts, negatives=9, candidates=100)
    x, shares = np.unique(table.x, return_counts=True)
    assert x.tolist() == [3, 4, 5]
    assert shares / 6000 == pytest.approx([1 / 3] * 3, abs=4 * 0.0061)
    again = sm.sampled_ranks(counts, negatives=9, candidates=100)
    assert again.x.tolist() == table.x.tolist()


EXACT = sm.exact_ranks([3, 1, 10], candidates=10)
TWICE = pd.DataFrame([[1, 2]], columns=["rank", "rank"])
REFUSED = {
    "zero": ([3, 0, 1], {}, "zero_based"),
    "hits": ([0, 1, 1], {}, "published"),
    "ties": ([1.0, 3.5], {}, "above and tied"),
    "not found": ([1, None], {}, "ranked_lists"),
    "not found, by infinity": ([1, np.inf], {}, "ranked_lists"),
    "flags": ([True, False], {}, "row 1"),
    "dates": (pd.to_datetime(["2020-01-01"]).to_numpy(), {}, "row 1"),
    "nothing": ([], {}, "no rows"),
    "two dimensions": ([[1, 2], [3]], {}, "dimension"),
    "lengths": ({"rank": [1, 2], "user": [1]}, {}, "table"),
    "a column twice": (TWICE, {}, "'rank'"),
    "two usual names": ({"rank": [1], "uid": [1], "user_id": [1]}, {}, "uid"),
    "ranks and counts": ({"rank": [1], "above": [0], "tied": [0]}, {}, "both"),
    "above alone": ({"above": [1]}, {}, "tied"),
    "sampled": ({"rank": [1], "negatives": [9]}, {}, "negatives"),
    "no user": ({"rank": [1, 2], "user": ["a", None]}, {}, "row 2"),
    "users in a cell": ({"rank": [1], "user": [["a", "b"]]}, {}, "row 1"),
    "rounded users": ({"rank": [1], "user": [1e16]}, {}, "1e"),
    "an object": (object(), {}, "dimension"),
    "a table": (EXACT, {}, "ExactRanks"),
    "an empty mapping": ({}, {}, "no ranks"),
    "an empty name": ({" ": [1]}, {}, "empty"),
    "a name twice": ({1: [1], "1": [1]}, {}, "'1'"),
    "labels twice": (pd.Series([1, 2], index=["a", "a"]), {}, "reset_index"),
    "recommenders in keys": (pd.concat([FRAME, FRAME], keys=["x", "y"]), {}, "level"),
    "above n": ([3, 11], {}, "row 2"),
    "no column of recommenders": (MODELS, {"by": "modle"}, "modle"),
    "by and wide": (WIDE, {"by": "user", "rank_column": ["x", "y"]}, "by"),
    "by of a mapping": (OF_MODEL, {"by": "model"}, "by"),
    "too few numbers": ([1, 2, 3], {"candidates": [10, 20]}, "candidates"),
    "a user without a number": (FRAME, {"candidates": {"a": 3}}, "candidates"),
    "numbers by user without users": ([1, 2], {"candidates": {"a": 3}}, "candidates"),
    "a user with two numbers": (
        FRAME,
        {"candidates": pd.Series([1, 2], index=["a", "a"])},
        "candidates",
    ),
    "labels that may be rows": (
        {"user": [2, 0, 1], "rank": [3, 1, 2]},
        {"candidates": pd.Series([10, 20, 30])},
        "candidates",
    ),
    "arrays for other orders": (
        {"x": FRAME, "y": FRAME[::-1]},
        {"candidates": [50, 60, 70, 80, 90]},
        "order",
    ),
    "lists": (pd.DataFrame({"user": [1], "item": [2], "score": [3]}), {}, "rank"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_in_the_contract_is_refused_in_one_line(name):
    ranks, options, word = REFUSED[name]
    with pytest.raises(sm.DataError, match=word) as caught:
        sm.exact_ranks(ranks, **{"candidates": 10} | options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["rank_column", "by", "groups"])
def test_names_of_columns_are_text(name):
    with pytest.raises(sm.ConfigError, match=name):
        sm.exact_ranks(FRAME, **{name: 3})


def test_columns_with_usual_names_and_columns_without_use_are_named():
    table = sm.exact_ranks(FRAME.set_axis(["uid", "rank", "n_items"], axis="columns").assign(age=7))
    taken, unused = table.findings
    assert taken.values["columns"] == {"user": "uid", "candidates": "n_items"}
    assert "age" in table.notes[1]
    assert unused.values == {"columns": ["age"]}
    [replaced] = sm.exact_ranks(FRAME, candidates=99).findings
    assert replaced.values["columns"] == ["candidates"]
    assert sm.exact_ranks(FRAME).findings == ()
