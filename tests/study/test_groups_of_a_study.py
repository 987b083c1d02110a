"""Metrics by thirds of the held-out items: which rows are in a third, and sentences where the order differs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.study.group_sources import KINDS, by_file, by_thirds, thirds
from sampled_metrics.study.groups import by_groups, draw, sentences

ITEMS = 30


@pytest.fixture(scope="module")
def split():
    """300 users, of whom user u has 1 + u % 3 training items among the first ones, and another one held out."""
    training, held_out = np.zeros((2, 300, ITEMS))
    for user in range(300):
        training[user, : 1 + user % 3] = 1
        held_out[user, user % 7 + 3] = 1
    return Split(*map(csr_array, (training, held_out)), np.arange(300), np.arange(ITEMS))


@pytest.fixture(scope="module")
def tables(split):
    """X hits for users with one training item, and Z for those with three; a miss is the last rank."""
    n, activity = split.candidates, split.user % 3
    miss = np.where(np.arange(300) % 10 == 0, 1, n - 1)
    above = {"X": np.where(activity == 0, 0, miss), "Z": np.where(activity == 2, 0, miss)}
    return {
        name: sm.ExactRanks(split.user_ids[split.user], n, of_one, np.zeros_like(n)) for name, of_one in above.items()
    }


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (range(1, 10), "1 to 3|1 to 3|1 to 3|4 to 6|4 to 6|4 to 6|7 to 9|7 to 9|7 to 9"),
        ([9, 1, 1, 1, 5, 5], "9 to 9|1 to 1|1 to 1|1 to 1|5 to 5|5 to 5"),
        ([2, 2, 2], "2 to 2|2 to 2|2 to 2"),
    ],
)
def test_equal_numbers_are_in_the_same_third(numbers, expected):
    found = thirds(np.array(numbers))
    assert [name.split("(")[1].rstrip(")") for name in found] == expected.split("|")


def test_kinds_count_the_training_events_of_the_user_and_of_the_item(split):
    assert KINDS["activity"](split).tolist() == [1 + user % 3 for user in range(300)]
    popular = replace(split, training=csr_array(np.eye(300, ITEMS)), held_out=csr_array(np.eye(300, ITEMS, 1)))
    assert KINDS["item-popularity"](popular).tolist() == [1] * (ITEMS - 1)


def test_metrics_are_by_group_and_the_order_differs(split, tables):
    values, pairs = by_groups(by_thirds(tables, split, ["activity"]), ["recall@1"])
    hits = values.set_index(["recommender", "group"])["value"]
    assert hits["X", "lower third (1 to 1)"] == hits["Z", "upper third (3 to 3)"] == 1
    assert set(pairs["by"]) == {"activity"}
    assert sentences(pairs) == [
        "By activity: The order by Recall@1 differs between groups: Z is better than X for group upper third (3 to 3), "
        "and X is better than Z for group lower third (1 to 1)."
    ]
    assert len(draw(values, "").axes) == 1


def test_one_recommender_has_no_pairs(split, tables):
    values, pairs = by_groups(by_thirds({"X": tables["X"]}, split, ["activity"]), ["recall@1"])
    assert len(values) == 4
    assert pairs.empty
    assert sentences(pairs) == []


def test_ranks_of_another_split_are_refused(split, tables):
    for other in (tables["X"].rows(np.arange(300)[::-1]), replace(tables["X"], candidates=split.candidates + 1)):
        with pytest.raises(DataError, match="X: its users or their candidates are not those of the split"):
            by_thirds({"X": other}, split, ["activity"])


def test_a_kind_that_divides_nothing_is_left_out(split, tables, caplog):
    assert list(by_thirds(tables, split, ["item-popularity", "activity"])) == ["activity"]
    assert "item-popularity is left out" in caplog.text
    with pytest.raises(DataError, match="no kind divides"):
        by_groups({}, ["recall@1"])


def test_groups_of_a_file_are_by_column(tables, tmp_path):
    path = tmp_path / "users.csv"
    path.write_text("age,user,town\n" + "".join(f"{20 + user % 3},{user},{'ab'[user % 2]}\n" for user in range(400)))
    values, pairs = by_groups(by_file(tables, str(path)), ["recall@1"])
    hits = values.set_index(["by", "recommender", "group"])["value"]
    assert hits["age", "X", "20"] == hits["age", "Z", "22"] == 1
    assert dict(pairs.query("by == 'age'").set_index("group")["conclusion"]) == {
        "all": "undecided",
        "20": "X",
        "21": "undecided",
        "22": "Z",
    }
    assert hits.loc["town"].index.get_level_values("group").unique().tolist() == ["all", "a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user\n1\n", "line 1: has no column of groups beside user"),
        ("person,age\n1,2\n", "line 1: lacks the column user"),
        ("user,activity\n1,2\n", "line 1: the column activity has the name of a kind"),
        ("user,age\n1,2\n1,3\n", "line 3: user 1 is there twice"),
    ],
)
def test_a_file_of_groups_is_refused(tables, tmp_path, text, message):
    path = tmp_path / "users.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        by_file(tables, str(path))


@pytest.mark.parametrize(
    ("town", "fault"),
    [
        (lambda user: "a", "1 group, and there may be from 2 to 100"),
        (lambda user: str(user % 101), "101 groups, and there may be from 2 to 100"),
        (lambda user: str(user) if user < 2 else "", "no group of 2 users, which an interval needs"),
    ],
)
def test_a_column_that_does_not_divide_the_users_is_left_out_or_refused(tables, tmp_path, town, fault, caplog):
    path = tmp_path / "users.csv"
    path.write_text("user,town\n" + "".join(f"{user},{town(user)}\n" for user in range(300)))
    with pytest.raises(DataError, match=f"no column divides the users into groups; town has {fault}"):
        by_file(tables, str(path))
    path.write_text("user,town,age\n" + "".join(f"{user},{town(user)},{user % 2}\n" for user in range(300)))
    assert list(by_file(tables, str(path))) == ["age"]
    assert f"column town is left out: it has {fault}" in caplog.text


def test_a_file_of_other_users_is_refused(tables, tmp_path):
    path = tmp_path / "users.csv"
    path.write_text("user,age\n" + "".join(f"{user}.0,{user % 2}\n" for user in range(300)))
    with pytest.raises(DataError, match=r"users.csv, column age: has a group for none of the 300 users, as 0"):
        by_file(tables, str(path))


def test_users_whom_a_file_lacks_are_a_group(tables, tmp_path, caplog):
    path = tmp_path / "users.csv"
    path.write_text("user,age\n" + "".join(f"{user},{['', 'old', 'young'][user % 3]}\n" for user in range(200)))
    groups = by_file(tables, str(path))["age"]["X"].groups
    stated = {1: "old", 2: "young"}
    assert "column age: 167 of 300 users have no group there" in caplog.text
    assert groups.tolist() == [stated.get(user % 3 if user < 200 else 0, "not stated") for user in range(300)]


def test_groups_that_are_too_small_are_named(tables, tmp_path, caplog):
    path = tmp_path / "users.csv"
    path.write_text(
        "user,town\n" + "".join(f"{user},{'lonely' if user == 7 else 'ab'[user % 2]}\n" for user in range(300))
    )
    by_groups(by_file(tables, str(path)), ["recall@1"])
    assert "town: Left out, as an interval needs 2 users or more: lonely (1 user)." in caplog.text
