"""Columns of ranks from arrays, tables and mappings: what is taken, and what is refused with its row and column."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sampled_metrics as sm
from sampled_metrics.ranks.frames import Columns
from sampled_metrics.ranks.reading import UNNAMED, columns_by_recommender

RANKS = [3, 1, 10]
EXACT = sm.exact_ranks(RANKS, candidates=10)


def frame(**columns):
    return pd.DataFrame(columns)


def cells(*values):
    return pd.Series(values, dtype=object)


def lists(run=None, relevance=None, **options):
    run = {"ann": {"film": 0.9}} if run is None else run
    return sm.ranked_lists(run, relevance={"ann": {"film": 1}} if relevance is None else relevance, **options)


FRAME = frame(user=["ann", "bob", "eve"], candidates=[50, 60, 70], rank=[1, 12, 5])
RANKED = FRAME[["user", "rank"]]
FORMS = {
    "list": RANKS,
    "small integers": np.array(RANKS, dtype=np.uint8),
    "text": [str(rank) for rank in RANKS],
    "series with another index": pd.Series(RANKS, index=[9, 0, 4]),
    "nullable integers": pd.Series(RANKS, dtype="Int64"),
    "frame with another index": frame(rank=RANKS, note=["a", "b", "c"]).set_index("note", drop=False),
    "dict": {"rank": RANKS},
    "polars": pl.DataFrame({"rank": RANKS}),
    "polars, lazy": pl.LazyFrame({"rank": RANKS}),
    "pyarrow": pa.table({"rank": RANKS}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_ranks_is_taken(form):
    table = sm.exact_ranks(FORMS[form], candidates=10)
    assert (table.above.tolist(), table.tied.tolist()) == ([2, 0, 9], [0, 0, 0])
    assert (table.candidates.tolist(), table.user) == ([10, 10, 10], None)


def test_floats_of_any_precision_are_read_without_a_warning():
    for kind in (np.float16, np.float32, np.float64):
        table = sm.exact_ranks(np.array([1, 2, 300], dtype=kind), candidates=np.array([500, 500, 2048], dtype=kind))
        assert table.above.tolist() == [0, 1, 299]


@pytest.mark.parametrize(
    ("user", "found"),
    [
        (["7", "8", "9"], [7, 8, 9]),
        ([7.0, 8.0, 9.0], [7, 8, 9]),
        (["7", "08", "x"], ["7", "08", "x"]),
    ],
)
def test_users_are_the_column_user(user, found):
    assert sm.exact_ranks(frame(rank=RANKS, user=user), candidates=10).user.tolist() == found


def test_columns_may_have_usual_names():
    for names in (
        ["user_id", "n_candidates", "rank"],
        ["query_id", "n_items", "position"],
        ["UID", "Candidates", "Ranks"],
    ):
        table = sm.exact_ranks(FRAME.set_axis(names, axis="columns"))
        assert (table.user.tolist(), table.above.tolist()) == (["ann", "bob", "eve"], [0, 11, 4])
        assert table.candidates.tolist() == [50, 60, 70]
    for name in ("movieId", "corpus-id", "docid"):
        one = pd.DataFrame({"user": ["ann"], name: [1]})
        assert lists(one.assign(score=2), one).grades.toarray().tolist() == [[1]]


def test_columns_that_are_taken_or_not_used_are_named():
    table = frame(userId=[1, 2], position=3, n_items=50, age=7)
    table.insert(0, "", [0, 1])  # the index that to_csv writes has no name, and no remark
    taken, unused = sm.exact_ranks(table).notes
    assert taken.startswith("The columns userId, n_items and position are taken as user, candidates (how many")
    assert unused.startswith("The column age is not used. Intervals take users as the unit.")
    assert sm.exact_ranks(FRAME.set_axis(["User", "Candidates", "RANK"], axis="columns")).notes == ()


def test_a_named_column_comes_before_one_with_a_usual_name():
    table = frame(user_id=range(40), rank=1, position=np.arange(40) + 1)
    assert sm.exact_ranks(table, candidates=50, rank_column="position").above.tolist() == list(range(40))


def test_columns_of_lists_are_a_table():
    run = {"user": ["ann", "ann"], "item": ["song", "film"], "score": [0.5, 0.9]}
    assert lists(run).grades.toarray().tolist() == [[1]]


LONG = frame(user=[1, 2, 3] * 2, model=["gmf"] * 3 + ["mlp"] * 3, rank=[1, 12, 5, 4, 2, 30], candidates=50)
WIDE = frame(user=[1, 2, 3], gmf=[1, 12, 5], mlp=[4, 2, 30], candidates=50)
BOTH = {name: LONG[LONG["model"] == name].drop(columns="model") for name in ("gmf", "mlp")}
OF_BOTH = {"by": (LONG, {"by": "model"}), "wide": (WIDE, {"rank_column": ["gmf", "mlp"]}), "mapping": (BOTH, {})}


@pytest.mark.parametrize("form", OF_BOTH)
def test_several_recommenders_are_a_long_or_a_wide_table_or_a_mapping(form):
    ranks, options = OF_BOTH[form]
    tables = sm.exact_ranks(ranks, **options)
    assert {name: table.above.tolist() for name, table in tables.items()} == {"gmf": [0, 11, 4], "mlp": [3, 1, 29]}
    assert all(table.notes == () and table.user.tolist() == [1, 2, 3] for table in tables.values())


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"user": [1, 2], "rank": [3, 4]}, [UNNAMED]),
        ({"user_id": ["a", "b"], "position": np.array([3, 4])}, [UNNAMED]),
        ({"above": [2, 3], "tied": (0, 0)}, [UNNAMED]),
        ({"ann": {"film": 0.9}, "bob": {}}, [UNNAMED]),
        ({"old": [1, 2], "new": [3, 4]}, ["old", "new"]),
        ({"rank": frame(rank=[1]), "new": [2]}, ["rank", "new"]),
        ({"user": [1, 2], "item": [3, 4]}, ["user", "item"]),  # as of k nearest users, or items
    ],
)
def test_a_mapping_has_columns_or_recommenders(given, names):
    columns = columns_by_recommender(given)
    assert ([UNNAMED] if isinstance(columns, Columns) else list(columns)) == names


def test_a_name_with_half_a_pair_of_surrogates_is_shown():
    table = frame(model=cells("a\udcff", "b"), rank=[1, 2])
    assert list(sm.exact_ranks(table, candidates=9, by="model")) == [r"a\udcff", "b"]


REFUSED_RANKS = [
    ([3, 0, 1], "row 2: rank must be .* not 0; zero_based"),
    ([1.0, 2.5], "row 2: .* not 2.5"),
    ([1, None], "row 2: .* not None"),
    (pd.Series([1, pd.NA], dtype="Int64"), "row 2: .* not nan"),
    ([1, 10**400], "row 2: rank must be"),
    ([Decimal("sNaN"), Decimal(1)], "row 1: rank must be"),
    (["one"], "row 1: .* not 'one'"),
    ([True, False], "row 1: .* not True"),
    (pd.to_datetime(["2020-01-01"]).to_numpy(), "row 1: rank"),
    (frame(rank=cells(np.arange(2), np.arange(3))), "row 1: rank"),
    ([], "has no rows"),
    ([[1, 2], [3]], "one dimension"),
    (5, "one dimension"),
    (object(), "one dimension"),
    ({"rank": [1, 2], "user": [1]}, "is not a table"),
    (pa.Table.from_arrays([pa.array([1, 2])] * 2, names=["rank", "rank"]), "is not a table: .*rank"),
    (pd.DataFrame([[1, 2]], columns=["rank", "rank"]), "'rank' more than once"),
    (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("rank", "a")])), "several levels"),
    (frame(user_id=[1], pos=[2]), r"lacks the column rank .the columns are 'user_id', 'pos'.; .*rank_column"),
    (frame(above=[1]), "lacks the column tied"),
    (frame(rank=[1], above=[0]), "both rank and above"),
    (frame(above=[-1], tied=[0]), "row 1: above must be .* not -1"),
    (frame(rank=[1, 2], user_id=["a", "b"], uid=[1, 2]), "several columns for user, 'user_id', 'uid'"),
    (frame(rank=[1, 2], user=["a", None]), "user is empty"),
    *((frame(user=cells(user, user), rank=[1, 2]), "user must be text or a number") for user in ([1], np.arange(2))),
    (frame(rank=[1], negatives=9), "a column negatives"),
    (frame(rank=[1, 2], count=[30, 40]), "the column count, as a table of counts"),
    (EXACT, "is ExactRanks already"),
    ({}, "no ranks"),
    ({" ": [1]}, "name of a recommender is empty"),
    ({1: [1], "1": [1]}, "two recommenders are called '1'"),
]


@pytest.mark.parametrize(("ranks", "says"), REFUSED_RANKS)
def test_ranks_are_refused_with_their_row_or_column(ranks, says):
    with pytest.raises(sm.DataError, match=says) as caught:
        sm.exact_ranks(ranks, candidates=10)
    assert str(caught.value).startswith(("ranks", "there are"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        (None, "lacks the column candidates"),
        ([10, 20], "candidates must be one number, or one for each of the 3 rows, not 2"),
        ([10, 20, np.nan], "row 3: candidates .* not nan"),
        ([10, 20, 10**400], "row 3: candidates must be"),
        ([[10, 20], [30]], "candidates must have one dimension"),
        (frame(n=[1, 2, 3]), "candidates must have one dimension"),
        (np.ma.masked_array([10, 10, 10], [0, 0, 1]), "candidates: has 1 masked"),
        (9, r"row 3: rank 10 \(ties included\) is above the number of candidates, 9$"),
    ],
)
def test_numbers_for_all_rows_or_for_each_are_checked(numbers, says):
    with pytest.raises(sm.DataError, match=says):
        sm.exact_ranks(RANKS, candidates=numbers)


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (lambda: sm.exact_ranks(FRAME, candidates=9), "has a column candidates, so candidates must not"),
        (lambda: sm.exact_ranks(LONG, by="modle"), r"lacks the column modle \(the columns are 'user', 'model', 'rank'"),
        (lambda: sm.exact_ranks(LONG.assign(model=["a", ""] * 3), by="model"), "user 2: model is empty"),
        (lambda: sm.exact_ranks(frame(m=cells("a", pd.NA), rank=1), by="m"), "row 2: m is empty"),
        (lambda: sm.exact_ranks(LONG, by="model", rank_column=["rank", "user"]), "by is for one column"),
        (lambda: sm.exact_ranks(BOTH, by="model"), "are for one table"),
        (lambda: sm.exact_ranks(WIDE.assign(mlp=[4, None, 3]), rank_column=["gmf", "mlp"]), "user 2: mlp must be"),
        (lambda: sm.exact_ranks(pd.concat([LONG, LONG["model"]], axis=1), by="model"), "'model' more than once"),
        (lambda: sm.exact_ranks(FRAME.assign(g=["a", "", "b"]), groups="g"), "user 'bob': g is empty"),
        (lambda: sm.exact_ranks({"a": RANKED, "b": RANKED[::-1]}, candidates=[50] * 3), "users in different orders"),
        (
            lambda: sm.exact_ranks(RANKED, candidates=12, rank_column="rank", zero_based=True),
            r"user 'bob': rank 12 \(ties included\) is above the last rank from 0, 11",
        ),
        (lambda: lists({"ann": ["film"]}), r"ann: lacks the column user, item .*; ranked lists.*\{user: \{item"),
        (lambda: lists(relevance={"ann": ["film"], "bob": []}), r"relevance: is not a table: .*\{user: \{item"),
        (lambda: lists(frame(user=["ann"], item=[1], score=cells(10**400))), "user 'ann': score must be a number"),
        (lambda: lists(relevance={"ann": {"film": 10**400}}), "relevance, user 'ann': relevance must be a number"),
        (lambda: lists(frame(user=["ann"], item=[1], score=[2**53 + 1])), "score .* round 9007199254740993"),
        (lambda: lists(frame(user=["ann"], item=cells([1]), score=[2])), "item must be text or a number"),
        (lambda: lists({"0.0": {"film": 0.9}}, {"0": {"film": 1}}), "such as '0.0', .* such as '0'"),
        (lambda: sm.published({"A": {"hr@10": 0.5}}, negatives=9, candidates=10**30, users=9), "candidates"),
    ],
)
def test_options_and_lists_are_refused_with_their_place(read, says):
    with pytest.raises(sm.DataError, match=says):
        read()


ROWS = frame(user=np.repeat(np.arange(30), 2), model=["a", "b"] * 30, rank=np.tile(np.arange(1, 31), 2))


def test_rows_of_several_recommenders_are_refused_with_the_column_that_tells_them_apart():
    for read in (
        lambda: sm.exact_ranks(ROWS, candidates=40),
        lambda: sm.sampled_ranks(ROWS, negatives=39, candidates=400),
        lambda: sm.exact_ranks(pd.concat([ROWS, ROWS["model"]], axis=1), candidates=40),
    ):
        with pytest.raises(sm.DataError, match=r"has 2 rows for each user, .* model \(a, b\).*--by model"):
            read()


@pytest.mark.parametrize(
    "model",
    [
        [1, 2] * 30,  # numbers, such as those of held-out items
        [f"item {number}" for number in range(60)],  # items of their own
        ["a", "a"] * 30,
        ["a", "b"] * 29 + ["a", "a"],
    ],
)
def test_rows_are_of_several_held_out_items_where_no_text_tells_them_apart(model):
    assert len(sm.exact_ranks(ROWS.assign(model=model), candidates=40)) == 60
    assert len(sm.exact_ranks(ROWS, candidates=40, groups="model")) == 60


PAIR = {"x": sm.exact_ranks([1, 3, 40], candidates=100), "y": sm.exact_ranks([2, 5, 6], candidates=100)}
MATRICES = np.arange(12.0).reshape(3, 4), np.eye(3, 4), np.eye(3, 4, 1)
PUBLISHED = {"negatives": 99, "candidates": 999, "users": 10}
FLAGS = {
    "replacement": lambda flag: sm.SampledRanks(np.array([0]), 5, 9, replacement=flag),
    "replacement of expect": lambda flag: sm.expect(PAIR, negatives=9, replacement=flag),
    "replacement of plan": lambda flag: sm.plan(PAIR, replacement=flag),
    "replacement of report": lambda flag: sm.report(PAIR, replacement=flag),
    "replacement of published": lambda flag: sm.published({"a": {"hr@10": 0.5}}, **PUBLISHED, replacement=flag),
    "replacement of negatives": lambda flag: sm.rank_among_negatives(*MATRICES, negatives=2, replacement=flag),
    "exact": lambda flag: sm.exact_ranks(RANKS, candidates=1000, exact=flag),
    "zero_based": lambda flag: sm.sampled_ranks(RANKS, negatives=50, candidates=99, zero_based=flag),
}


@pytest.mark.parametrize("name", FLAGS)
def test_flags_are_true_or_false(name):
    if not name.endswith(("report", "plan")):  # which take seconds
        FLAGS[name](np.False_)
    for flag in ("no", 0, None, np.array(True))[: 1 if name.endswith("report") else None]:
        with pytest.raises(sm.ConfigError, match=f"^{name.split()[0]}: is True or False, not "):
            FLAGS[name](flag)
