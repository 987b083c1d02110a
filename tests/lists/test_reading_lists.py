"""Readers of ranked lists and judged items: forms, names of columns, seeds, groups, refusals."""

import numpy as np
import pandas as pd
import pytest
from no_numbers import NO_NUMBERS

import sampled_metrics as sm
from sampled_metrics.errors import DataError

RELEVANCE = {"ann": {"x": 1}, "bob": {"z": 2}}
LISTS = pd.DataFrame(
    {
        "user": ["ann", "ann", "bob", "bob"] * 2,
        "item": ["x", "y", "y", "z"] * 2,
        "score": [2, 1, 2, 1, 1, 2, 1, 2],
        "seed": ["first"] * 4 + ["second"] * 4,
    }
)
"""The first seed has x first for ann, and z second for bob; the second the other way round."""


def lists(run=None, relevance=None):
    run = {"ann": {"film": 0.9}} if run is None else run
    return sm.ranked_lists(run, relevance={"ann": {"film": 1}} if relevance is None else relevance)


def cells(*values):
    return pd.Series(values, dtype=object)


# --- forms and names ---

SCORED = pd.DataFrame({"user": list("aabb"), "item": [1, 2, 1, 2], "score": [0.1, 0.2, 0.3, 0.1]})
SECOND = pd.DataFrame({"user": list("ab"), "item": [1, 2], "relevance": [1, 2]})


@pytest.mark.parametrize(
    "lists",
    [
        SCORED.set_index("user"),
        SCORED.set_index(["item", "user"]),
        SCORED.set_index(["user", "item"])["score"],
        SCORED.set_index(["user", "item"])["score"].rename("ncf"),
        SCORED.assign(rank=[2, 1, 1, 2]).set_index(["user", "item"])["rank"],
    ],
)
@pytest.mark.parametrize(
    "relevance",
    [
        SECOND.set_index("user"),
        SECOND.set_index(["user", "item"])["relevance"],
        SECOND.set_index(["user", "item"])["relevance"].rename(None),
        SECOND.set_index("user")["item"],
    ],
)
def test_lists_and_judged_items_by_an_index(lists, relevance):
    """Of each user, the judged item has the second place."""
    assert sm.evaluate(sm.ranked_lists(lists, relevance=relevance), metrics="mrr")[
        "value"
    ].tolist() == [0.5]


def test_columns_may_have_usual_names():
    for name in ("movieId", "item-id", "docid"):
        judged = pd.DataFrame({"user": ["ann"], name: [1]})
        assert lists(judged.assign(score=2), judged).grades.toarray().tolist() == [[1]]
    run = {"user": ["ann", "ann"], "item": ["song", "film"], "score": [0.5, 0.9]}
    assert lists(run).grades.toarray().tolist() == [[1]]


ONE = pd.DataFrame({"user": ["ann"], "item": [1]})
REFUSED_LISTS = [
    ({"ann": ["film"]}, None, r"ann: lacks the column user, item .*; ranked lists.*\{user: \{item"),
    (None, {"ann": ["film"], "bob": []}, r"relevance: is not a table: .*\{user: \{item"),
    (None, {"ann": {"film": 10**400}}, "relevance"),
    (ONE.assign(item=cells([1]), score=2), None, "several values in a cell"),
    ({"0.0": {"film": 0.9}}, {"0": {"film": 1}}, "such as '0.0', .* such as '0'"),
]


@pytest.mark.parametrize(("run", "relevance", "says"), REFUSED_LISTS)
def test_lists_are_refused_with_their_place(run, relevance, says):
    with pytest.raises(sm.DataError, match=says):
        lists(run, relevance)


@pytest.mark.parametrize(
    ("run", "judged", "says"),
    [
        (
            b"q1 Q0 d1 1 x bm25\nq1 Q0 d2 2 8.25 bm25\n",
            b"",
            "run, line 1: score must be a number, not 'x'",
        ),
        (b"q1 Q0 d1 1 9.5 bm25\n", b"q1 0 d1 x\n", "judged, line 2: relevance must be"),
        (b"q1 Q0 d1 1 9.5 bm25\n", b"q1 0 d2 1 5\n", "judged, line 2: has 5 fields"),
    ],
)
def test_lists_and_judged_items_are_refused_with_the_line(tmp_path, run, judged, says):
    (tmp_path / "run").write_bytes(run)
    (tmp_path / "judged").write_bytes(b"q1 0 d3 1\n" + judged)
    with pytest.raises(DataError, match=says):
        sm.ranked_lists(tmp_path / "run", relevance=tmp_path / "judged")


def scores(values):
    lists(
        pd.DataFrame({"user": "ann", "item": [1, 2, 3], "score": values}),
        pd.DataFrame({"user": ["ann"], "item": 1}),
    )


def grades(values):
    run = pd.DataFrame({"user": "ann", "item": [1, 2], "score": [1, 2]})
    lists(run, pd.DataFrame({"user": "ann", "item": [1, 2, 3], "rel": values}))


@pytest.mark.parametrize("kind", [kind for kind in NO_NUMBERS if "periods" not in kind])
@pytest.mark.parametrize("read", [scores, grades])
def test_values_with_an_order_that_are_no_numbers_are_refused(read, kind):
    with pytest.raises(DataError, match=r"must be (a|whole|integers)"):
        read(NO_NUMBERS[kind])


# --- seeds ---


def test_lists_have_seeds():
    tables = sm.ranked_lists(LISTS, relevance=RELEVANCE, seeds="seed")
    reciprocal_ranks = {
        table.seed_name: table.outcome_values([sm.metric("mrr")]).values[0].tolist()
        for table in tables
    }
    assert reciprocal_ranks == {"first": [1.0, 0.5], "second": [0.5, 1.0]}


@pytest.mark.parametrize("reader", ["by", "seeds"])
def test_a_trec_file_of_two_runs_is_read_by_their_names(tmp_path, reader):
    runs = {
        "bm25": "ann Q0 x 1 2 bm25\nann Q0 y 2 1 bm25\n",
        "dense": "ann Q0 y 1 2 dense\nann Q0 x 2 1 dense\n",
    }
    path = tmp_path / "both.run"
    path.write_text("".join(runs.values()))
    with pytest.raises(
        sm.DataError,
        match=r"both.run, line 3: item 'y'",
    ):
        sm.ranked_lists(path, relevance=RELEVANCE)
    read = sm.ranked_lists(path, relevance=RELEVANCE, **{reader: "run"})
    tables = list(read.values()) if reader == "by" else read
    values = [table.outcome_values([sm.metric("mrr")]).values[0].tolist() for table in tables]
    assert values == [[1.0, 0.0], [0.5, 0.0]]
    path.write_text(runs["dense"])
    alone = sm.ranked_lists(path, relevance=RELEVANCE)
    assert alone.grades.toarray().tolist() == [[0, 1], [0, 0]]


def test_ranks_and_scores_of_other_orders_are_refused_unless_one_is_named():
    lists = LISTS.drop(columns="seed")[:4].assign(place=[2, 1, 1, 2])
    lists = lists.rename(columns={"place": "rank"})
    with pytest.raises(sm.DataError, match="score_column"):
        sm.ranked_lists(lists, relevance=RELEVANCE)
    orders = {"score_column": ["x", "y"], "rank_column": ["y", "x"]}
    for option, order in orders.items():
        column = option.removesuffix("_column")
        read = sm.ranked_lists(lists, relevance={"ann": {order[0]: 1}}, **{option: column})
        assert read.grades.toarray().tolist() == [[1]]
    agreeing = lists.assign(rank=[1, 2, 1, 2])
    assert sm.ranked_lists(agreeing, relevance={"ann": {"x": 1}}).grades.toarray().tolist() == [[1]]


def test_the_caller_names_the_columns_of_lists_and_of_judged_items():
    lists = LISTS.drop(columns="seed")[:4].set_axis(["who", "what", "how"], axis="columns")
    names = {"user_column": "who", "item_column": "what", "score_column": "how"}
    for judged in (
        pd.DataFrame({"who": ["ann"], "what": ["y"]}),
        pd.DataFrame({"user": ["ann"], "item": ["y"]}),
    ):
        read = sm.ranked_lists(lists, relevance=judged, **names)
        assert read.grades.toarray().tolist() == [[0, 1]]


# --- groups ---

AGE = {user: "old" if user % 3 else "young" for user in range(100, 250)}


def users_of(users):
    """One list for each user, with its relevant item at a place that grows with the user."""
    users = [*users]
    run = {str(user): {f"i{place}": -place for place in range(5)} for user in users}
    judged = [
        {"user": str(user), "item": f"i{user % 5}", "relevance": 1, "age": AGE[user]}
        for user in users
    ]
    return run, pd.DataFrame(judged)


def test_of_lists_are_those_of_the_judged_users():
    run, judged = users_of(range(100, 250))
    result = sm.evaluate(sm.ranked_lists(run, relevance=judged, groups="age"), groups=True)
    run, judged = users_of(user for user in range(100, 250) if AGE[user] == "young")
    alone = sm.evaluate(sm.ranked_lists(run, relevance=judged))
    young = result[result["group"] == "young"].drop(columns="group").reset_index(drop=True)
    pd.testing.assert_frame_equal(pd.DataFrame(young), pd.DataFrame(alone), check_dtype=False)


def test_a_user_in_two_groups_is_refused():
    judged = pd.DataFrame({"user": ["a", "a", "b"], "item": ["i", "j", "i"], "g": ["1", "2", "1"]})
    with pytest.raises((sm.ConfigError, DataError), match="group"):
        sm.ranked_lists({"a": {"i": 1}}, relevance=judged, groups="g")


# --- ids ---

LARGE = 2**53  # float64 has no 2^53 + 1


@pytest.mark.parametrize("read", ["lists", "run", "judged"])
def test_floats_that_may_stand_for_several_ids_are_refused(read):
    items = np.arange(2, dtype=np.float64) + LARGE
    lists = pd.DataFrame({"user": [1, 2], "item": items, "score": 1.0})
    run = {1: {LARGE + 0.0: 1.0}, 2: {3.0: 1.0}}
    judged = {1: {3: 1}, 2: {3: 1}}
    arguments = {"lists": (lists, judged), "run": (run, judged), "judged": (judged, run)}[read]
    says = (
        "9007199254740992.0, a float that may stand for several whole numbers; give ids as "
        "integers or as text"
    )
    with pytest.raises(DataError) as caught:
        sm.ranked_lists(arguments[0], relevance=arguments[1])
    assert says in str(caught.value).replace("'", "")
