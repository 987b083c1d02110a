"""Readers of ranked lists and judged items: forms, names of columns, seeds, groups, refusals."""

import pandas as pd
import pytest
from no_numbers import NO_NUMBERS

import sampled_metrics as sm
from sampled_metrics.errors import DataError

RELEVANCE = {"ann": {"x": 1}, "bob": {"z": 2}}
"""The first seed has x first for ann, and z second for bob; the second the other way round."""


def lists(run=None, relevance=None):
    run = {"ann": {"film": 0.9}} if run is None else run
    return sm.ranked_lists(run, relevance={"ann": {"film": 1}} if relevance is None else relevance)


# --- forms and names ---


SCORED = pd.DataFrame({"user": list("aabb"), "item": [1, 2, 1, 2], "score": [0.1, 0.2, 0.3, 0.1]})
SECOND = pd.DataFrame({"user": list("ab"), "item": [1, 2], "relevance": [1, 2]})


@pytest.mark.parametrize(
    ("lists", "relevance"),
    [
        (SCORED.set_index("user"), SECOND.set_index("user")["item"]),
        (SCORED.set_index(["item", "user"])["score"].rename("ncf"), SECOND.set_index("user")),
    ],
)
def test_lists_and_judged_items_by_an_index(lists, relevance):
    """Of each user, the judged item has the second place."""
    table = sm.ranked_lists(lists, relevance=relevance)
    assert sm.evaluate(table, metrics="mrr")["value"].tolist() == [0.5]


ONE = pd.DataFrame({"user": ["ann"], "item": [1]})
REFUSED_LISTS = [
    ({"ann": ["film"]}, None, "ann: lacks the column user"),
    (None, {"ann": ["film"], "bob": []}, "relevance: is not a table"),
    (None, {"ann": {"film": 10**400}}, "relevance"),
    (ONE.assign(item=[[1]], score=2), None, "several values in a cell"),
    ({"0.0": {"film": 0.9}}, {"0": {"film": 1}}, "'0.0'"),
]


@pytest.mark.parametrize(("run", "relevance", "says"), REFUSED_LISTS)
def test_lists_are_refused_with_their_place(run, relevance, says):
    with pytest.raises(sm.DataError, match=says):
        lists(run, relevance)


def test_lists_and_judged_items_are_refused_with_the_line(tmp_path):
    judged = tmp_path / "judged"
    run = tmp_path / "run"
    judged.write_text("q1 0 d3 1\n")
    run.write_text("q1 Q0 d1 1 x bm25\n")
    with pytest.raises(DataError, match="run, line 1"):
        sm.ranked_lists(run, relevance=judged)
    run.write_text("q1 Q0 d1 1 9.5 bm25\n")
    for line in ("q1 0 d1 x", "q1 0 d2 1 5"):
        judged.write_text(f"q1 0 d3 1\n{line}\n")
        with pytest.raises(DataError, match="judged, line 2"):
            sm.ranked_lists(run, relevance=judged)


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


def test_the_caller_names_the_columns_and_some_are_usual():
    run = pd.DataFrame({"who": "ann", "what": ["x", "y"], "how": [1, 2]})
    names = {"user_column": "who", "item_column": "what", "score_column": "how"}
    for user, item in (("who", "what"), ("user", "movieId")):
        judged = pd.DataFrame({user: ["ann"], item: ["x"]})
        read = sm.ranked_lists(run, relevance=judged, **names)
        assert read.grades.toarray().tolist() == [[0, 1]]


# --- seeds, groups and orders ---


@pytest.mark.parametrize("reader", ["by", "seeds"])
def test_a_trec_file_of_two_runs_is_read_by_their_names(tmp_path, reader):
    path = tmp_path / "both.run"
    path.write_text(
        "ann Q0 x 1 2 bm25\nann Q0 y 2 1 bm25\nann Q0 y 1 2 dense\nann Q0 x 2 1 dense\n"
    )
    with pytest.raises(sm.DataError, match="line 3"):
        sm.ranked_lists(path, relevance=RELEVANCE)
    read = sm.ranked_lists(path, relevance=RELEVANCE, **{reader: "run"})
    tables = read.values() if reader == "by" else read
    values = [table.outcome_values([sm.metric("mrr")]).values[0].tolist() for table in tables]
    assert values == [[1.0, 0.0], [0.5, 0.0]]


def test_ranks_and_scores_of_other_orders_are_refused_unless_one_is_named():
    lists = pd.DataFrame({"user": "ann", "item": ["x", "y"], "score": [2, 1], "rank": [2, 1]})
    with pytest.raises(sm.DataError, match="score_column"):
        sm.ranked_lists(lists, relevance=RELEVANCE)
    by_score = sm.ranked_lists(lists, relevance={"ann": {"x": 1}}, score_column="score")
    by_rank = sm.ranked_lists(lists, relevance={"ann": {"y": 1}}, rank_column="rank")
    assert by_score.grades.toarray().tolist() == by_rank.grades.toarray().tolist() == [[1]]


def test_groups_are_those_of_the_judged_users():
    ages = ["young", "young", "old", "old"]
    judged = pd.DataFrame({"user": list("abcd"), "item": "i", "age": ages})
    run = {"a": {"j": 2, "i": 1}, "b": {"j": 2, "i": 1}, "c": {"i": 1}, "d": {"i": 1}}
    lists = sm.ranked_lists(run, relevance=judged, groups="age")
    table = sm.evaluate(lists, groups=True, metrics="mrr")
    assert table.set_index("group")["value"].to_dict() == {"all": 0.75, "young": 0.5, "old": 1}
    other_group = judged[:1].assign(item="j", age="old")
    with pytest.raises((sm.ConfigError, DataError), match="group"):
        sm.ranked_lists(run, relevance=pd.concat([judged, other_group]), groups="age")


# --- ids ---


def test_floats_that_may_stand_for_several_ids_are_refused():
    """float64 has no 2^53 + 1."""
    items = {1: {3: 1.0}, 2: {3: 1.0}}
    rounded = {1: {2.0**53: 1.0}, 2: {3.0: 1.0}}
    with pytest.raises(DataError, match=r"9007199254740992\.0"):
        lists(rounded, items)
    with pytest.raises(DataError, match=r"9007199254740992\.0"):
        lists(items, rounded)
