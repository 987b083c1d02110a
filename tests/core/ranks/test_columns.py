"""Columns of ranks from arrays, tables and mappings: what is taken, and what is refused where."""

import functools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from no_numbers import NO_NUMBERS, require_a_flag

import sampled_metrics as sm
from sampled_metrics.core.ranks.frames import Columns
from sampled_metrics.core.ranks.reading import UNNAMED, columns_by_recommender

RANKS = [3, 1, 10]
EXACT = sm.exact_ranks(RANKS, candidates=10)


def frame(**columns):
    return pd.DataFrame(columns)


def cells(*values):
    return pd.Series(values, dtype=object)


FRAME = frame(user=["ann", "bob", "eve"], candidates=[50, 60, 70], rank=[1, 12, 5])
RANKED = FRAME[["user", "rank"]]
FORMS = {
    "small integers": np.array(RANKS, dtype=np.uint8),
    "text": [str(rank) for rank in RANKS],
    "series with an index by default": pd.Series(RANKS),
    "nullable integers": pd.Series(RANKS, dtype="Int64"),
    "frame with another index": frame(rank=RANKS, note=["a", "b", "c"]).set_index(
        "note", drop=False
    ),
    "dict": {"rank": RANKS},
    "polars": pl.DataFrame({"rank": RANKS}),
    "polars, lazy": pl.LazyFrame({"rank": RANKS}),
    "pyarrow": pa.table({"rank": RANKS}),
    **{kind: np.array(RANKS, dtype=kind) for kind in ("float16", "float32")},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_ranks_is_taken(form):
    table = sm.exact_ranks(FORMS[form], candidates=10)
    assert (table.above.tolist(), table.tied.tolist()) == ([2, 0, 9], [0, 0, 0])
    assert (table.candidates.tolist(), table.user) == ([10, 10, 10], None)


def test_columns_may_have_usual_names():
    for names in ("user_id n_candidates rank", "query_id n_items position", "UID Candidates Ranks"):
        table = sm.exact_ranks(FRAME.set_axis(names.split(), axis="columns"))
        assert (table.user.tolist(), table.above.tolist()) == (["ann", "bob", "eve"], [0, 11, 4])
        assert table.candidates.tolist() == [50, 60, 70]


@pytest.mark.parametrize(
    ("column", "users"),
    [
        pytest.param(["7", "8", "9"], [7, 8, 9], id="texts of numbers"),
        pytest.param([7.0, 8, 9], [7, 8, 9], id="floats"),
        pytest.param(["7", "08", "x"], ["7", "08", "x"], id="texts"),
    ],
)
def test_users_are_integers_if_all_are_whole_numbers(column, users):
    table = sm.exact_ranks(frame(rank=RANKS, user=column), candidates=10)
    assert table.user.tolist() == users


def test_columns_that_are_taken_or_not_used_are_named():
    table = frame(userId=range(40), position=3, rank=1, n_items=50, age=7)
    table.insert(0, "", 0)  # the index that to_csv writes has no name, and no remark
    # which comes before one with a usual name
    ranks = sm.exact_ranks(table, rank_column="position")
    taken, unused = ranks.notes
    assert taken.startswith(
        "The columns userId and n_items are taken as user and candidates (how many"
    )
    assert unused == "The columns rank, age are not used."
    assert ranks.above.tolist() == [2] * 40
    assert (
        sm.exact_ranks(FRAME.set_axis(["User", "Candidates", "RANK"], axis="columns")).notes == ()
    )


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"user": range(40), "age": 7}, ""),
        (
            {"user": range(40), "model": "gmf"},
            " Intervals take users as the unit. If a column names recommenders",
        ),
        (
            {"user": [*range(20), *range(20)], "depth": 7},
            " Intervals take users as the unit. If a column names",
        ),
        ({"age": 7}, " Each row is taken to be a user. If a column names recommenders"),
    ],
)
def test_columns_that_are_not_used_may_name_recommenders_unless_they_are_numbers_of_users(
    more, says
):
    [unused] = sm.exact_ranks(frame(rank=range(1, 41), candidates=50, **more)).notes
    column = list(more)[-1]
    sentence = f"The column {column} is not used."
    assert unused == sentence if not says else unused.startswith(sentence + says)


LONG = frame(
    user=[1, 2, 3] * 2, model=["gmf"] * 3 + ["mlp"] * 3, rank=[1, 12, 5, 4, 2, 30], candidates=50
)
WIDE = frame(user=[1, 2, 3], gmf=[1, 12, 5], mlp=[4, 2, 30], candidates=50)
BOTH = {name: LONG[LONG["model"] == name].drop(columns="model") for name in ("gmf", "mlp")}


@pytest.mark.parametrize(
    ("ranks", "options"),
    [(LONG, {"by": "model"}), (WIDE, {"rank_column": ["gmf", "mlp"]}), (BOTH, {})],
    ids=["by", "wide", "mapping"],
)
def test_several_recommenders_are_a_long_or_a_wide_table_or_a_mapping(ranks, options):
    tables = sm.exact_ranks(ranks, **options)
    assert {name: table.above.tolist() for name, table in tables.items()} == {
        "gmf": [0, 11, 4],
        "mlp": [3, 1, 29],
    }
    assert all(table.notes == () and table.user.tolist() == [1, 2, 3] for table in tables.values())


@pytest.mark.parametrize(
    ("mapping", "names"),
    [
        pytest.param(
            {"user_id": ["a", "b"], "position": np.array([3, 4])}, [UNNAMED], id="usual names"
        ),
        pytest.param({"above": [2, 3], "tied": (0, 0)}, [UNNAMED], id="above and tied"),
        pytest.param({"ann": {"film": 0.9}, "bob": {}}, [UNNAMED], id="lists of users"),
        pytest.param({"old": [1, 2], "new": [3, 4]}, ["old", "new"], id="recommenders"),
        pytest.param(
            {"rank": frame(rank=[1]), "new": [2]}, ["rank", "new"], id="a recommender called rank"
        ),
        pytest.param(
            {"user": [1, 2], "item": [3, 4]}, ["user", "item"], id="k nearest users, and items"
        ),
    ],
)
def test_a_mapping_has_columns_or_recommenders(mapping, names):
    columns = columns_by_recommender(mapping)
    assert ([UNNAMED] if isinstance(columns, Columns) else list(columns)) == names


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ([3, 0, 1], "row 2: rank must be .* not 0; zero_based"),
        ([1.0, 2.5], "row 2: .* not 2.5"),
        ([1, None], "row 2: .* not None"),
        (pd.Series([1, pd.NA], dtype="Int64"), "row 2: .* not nan"),
        ([1, 10**400], "row 2: rank must be"),
        (["one"], "row 1: .* not 'one'"),
        ([True, False], "row 1: .* not True"),
        (pd.to_datetime(["2020-01-01"]).to_numpy(), "row 1: rank"),
        (frame(rank=cells(np.arange(2), np.arange(3))), "row 1: rank"),
        ([], "has no rows"),
        ([[1, 2], [3]], "one dimension"),
        (object(), "one dimension"),
        ({"rank": [1, 2], "user": [1]}, "is not a table"),
        (
            pa.Table.from_arrays([pa.array([1, 2])] * 2, names=["rank", "rank"]),
            "is not a table: .*rank",
        ),
        (pd.DataFrame([[1, 2]], columns=["rank", "rank"]), "'rank' more than once"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("rank", "a")])), "several levels"),
        (
            frame(user_id=[1], pos=[2]),
            r"lacks the column rank .the columns are 'user_id', 'pos'.; .*rank_column",
        ),
        (frame(above=[1]), "lacks the column tied"),
        (frame(rank=[1], above=[0]), "both rank and above"),
        (frame(above=[-1], tied=[0]), "row 1: above must be .* not -1"),
        (
            frame(rank=[1, 2], user_id=["a", "b"], uid=[1, 2]),
            "several columns for user, 'user_id', 'uid'",
        ),
        (frame(rank=[1, 2], user=["a", None]), "user is empty"),
        (frame(rank=[1, 2], user=cells([1], [1])), "user must be text or a number"),
        (
            frame(rank=[1, 2], user=cells(np.arange(2), np.arange(2))),
            "user must be text or a number",
        ),
        (frame(rank=[1], negatives=9), "a column negatives"),
        (frame(rank=[1, 2], count=[30, 40]), "the column count, as a table of counts"),
        (EXACT, "is ExactRanks already"),
        ({}, "no ranks"),
        ({" ": [1]}, "name of a recommender is empty"),
        ({1: [1], "1": [1]}, "two recommenders are called '1'"),
    ],
)
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
        ([[10, 20], [30]], "candidates must have one dimension"),
        (np.ma.masked_array([10, 10, 10], [0, 0, 1]), "candidates: has 1 masked"),
        (9, r"row 3: rank 10 \(ties included\) is above the number of candidates, 9$"),
    ],
)
def test_numbers_for_all_rows_or_for_each_are_checked(numbers, says):
    with pytest.raises(sm.DataError, match=says):
        sm.exact_ranks(RANKS, candidates=numbers)


SPLIT = {"a": RANKED, "b": RANKED[::-1]}
REFUSED = [
    (LONG, {"by": "modle"}, r"lacks the column modle \(the columns are 'user', 'model', 'rank'"),
    (LONG.assign(model=["a", ""] * 3), {"by": "model"}, "user 2: model is empty"),
    (frame(m=cells("a", pd.NA), rank=1), {"by": "m"}, "row 2: m is empty"),
    (LONG, {"by": "model", "rank_column": ["rank", "user"]}, "by is for one column"),
    (BOTH, {"by": "model"}, "are for one table"),
    (WIDE.assign(mlp=[4, None, 3]), {"rank_column": ["gmf", "mlp"]}, "user 2: mlp must be"),
    (pd.concat([LONG, LONG["model"]], axis=1), {"by": "model"}, "'model' more than once"),
    (FRAME.assign(g=["a", "", "b"]), {"groups": "g"}, "user 'bob': g is empty"),
    (SPLIT, {"candidates": [50] * 3}, "users in different orders"),
    (
        RANKED,
        {"candidates": 12, "rank_column": "rank", "zero_based": True},
        r"'bob': rank 12 .* last rank from 0, 11",
    ),
]


@pytest.mark.parametrize(("ranks", "options", "says"), REFUSED)
def test_options_are_refused_with_their_place(ranks, options, says):
    with pytest.raises(sm.DataError, match=says):
        sm.exact_ranks(ranks, **options)


ROWS = frame(
    user=np.repeat(np.arange(30), 2), model=["a", "b"] * 30, rank=np.tile(np.arange(1, 31), 2)
)


def test_rows_of_several_recommenders_are_refused_where_a_text_tells_them_apart():
    for read in (
        lambda: sm.exact_ranks(ROWS, candidates=40),
        lambda: sm.sampled_ranks(ROWS, negatives=39, candidates=400),
        lambda: sm.exact_ranks(pd.concat([ROWS, ROWS["model"]], axis=1), candidates=40),
    ):
        with pytest.raises(
            sm.DataError, match=r"has 2 rows for each user, .* model \(a, b\).*--by model"
        ):
            read()
    items = [f"item {number}" for number in range(60)]
    # numbers, as of items; no pairs
    for model in ([1, 2] * 30, items, ["a", "a"] * 30, ["a", "b"] * 29 + ["a", "a"]):
        assert len(sm.exact_ranks(ROWS.assign(model=model), candidates=40)) == 60
    assert len(sm.exact_ranks(ROWS, candidates=40, groups="model")) == 60


PAIR = {
    "x": sm.exact_ranks([1, 3, 40], candidates=100),
    "y": sm.exact_ranks([2, 5, 6], candidates=100),
}
FLAGS = {
    "replacement": lambda flag: sm.SampledRanks(np.array([0]), 5, 9, replacement=flag),
    "replacement of expect": lambda flag: sm.expect(PAIR, negatives=9, replacement=flag),
    "exact": lambda flag: sm.exact_ranks(RANKS, candidates=1000, exact=flag),
    "zero_based": lambda flag: sm.sampled_ranks(
        RANKS, negatives=50, candidates=99, zero_based=flag
    ),
}


@pytest.mark.parametrize("name", FLAGS)
def test_flags_are_true_or_false(name):
    require_a_flag(FLAGS[name], name.split()[0])


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize(
    "read",
    [
        lambda values: sm.exact_ranks(frame(rank=values), candidates=9000),
        lambda values: sm.exact_ranks([1, 2, 3], candidates=values),
        lambda values: sm.sampled_ranks([1, 2, 3], candidates=9000, negatives=values),
    ],
    ids=["rank", "candidates", "negatives"],
)
def test_values_with_an_order_that_are_no_numbers_are_refused(read, kind):
    with pytest.raises(sm.DataError, match=r"must be (a|whole|integers)"):
        read(NO_NUMBERS[kind])


def test_numbers_of_any_type_are_numbers():
    for values in (
        [Decimal(1), Fraction(2), np.int8(3)],
        pd.Categorical([1, 2, 3]),
        pd.array([1, 2, 3], "Int64"),
    ):
        assert sm.exact_ranks(frame(rank=values), candidates=9000).above.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "reader", [sm.exact_ranks, functools.partial(sm.sampled_ranks, negatives=4)]
)
def test_an_argument_wins_over_a_column_of_candidates_and_a_remark_says_so(reader):
    ranks = pd.DataFrame({"n_items": [50, 60, 70], "rank": [1, 3, 5]})
    table = reader(ranks, candidates=[80, 90, 100])
    assert table.candidates.tolist() == [80, 90, 100]
    assert [note for note in table.notes if "n_items" in note] == [
        "The column n_items is not used: the candidates are those of the argument."
    ]
    assert reader(ranks).candidates.tolist() == [50, 60, 70]


@pytest.mark.parametrize(
    ("name", "option"), [("candidates", "--candidates"), ("negatives", "--negatives")]
)
def test_what_is_lacking_is_named_as_an_argument_and_as_an_option(name, option):
    known = {"negatives": 4, "candidates": 50}
    del known[name]
    with pytest.raises(sm.DataError, match=rf"lacks the column {name}, .*: {name}= \({option}\)$"):
        sm.sampled_ranks([1, 3, 5], **known)
