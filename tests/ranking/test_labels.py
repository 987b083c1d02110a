"""Pandas objects whose labels are in any order have the ranks of arrays in the order of the ids.

Others are refused. The expected ranks are counted from the definition, in plain Python.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import (
    EXACT,
    FACTORS,
    HELD_OUT,
    ITEMS,
    NEGATIVES,
    SAMPLED,
    SCORES,
    TRAINING,
    USERS,
    by_user,
    drawn_case,
    shuffled,
    wide,
)
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.errors import DataError


@given(st.data())
def test_ranks_by_user_do_not_depend_on_the_order_of_labels(data: Any) -> None:
    scores, training, held_out, ids = drawn_case(data.draw)
    table = sm.rank(scores, training, held_out, **ids)
    assert by_user(table, table.above) == EXACT


@given(st.data())
def test_ranks_among_negatives_do_not_depend_on_the_order_of_labels(data: Any) -> None:
    scores, training, held_out, ids = drawn_case(data.draw)
    order = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    named = np.array(ITEMS)[NEGATIVES]
    lists = pd.Series(named.tolist(), index=USERS)
    forms = {
        "dict": lists.to_dict(),
        "lists": shuffled(lists, order),
        "Series": shuffled(lists, order).explode(),
        "wide": shuffled(pd.DataFrame(named, index=USERS), order),
        "wide with names": shuffled(
            pd.DataFrame(named, index=USERS, columns=["a", "b"]).rename_axis("user"), order
        ),
        "table": shuffled(lists, order).explode().rename("item").rename_axis("user").reset_index(),
        "table by user": shuffled(lists, order)
        .explode()
        .rename("item")
        .rename_axis("user")
        .to_frame(),
    }
    if ids:
        forms |= {
            "array": NEGATIVES,
            "frame by default": pd.DataFrame(NEGATIVES),
            "Series": pd.Series(NEGATIVES),
        }
    negatives = forms[data.draw(st.sampled_from(sorted(forms)))]
    table = sm.rank_among_negatives(scores, training, held_out, negatives=negatives, **ids)
    assert by_user(table, table.x) == SAMPLED


def test_labels_are_the_ids_where_none_are_given() -> None:
    frame = pd.DataFrame(
        [[0.1, 0.9, 0.5], [0.2, 0.1, 0.3]], index=["ben", "ada"], columns=["x", "y", "z"]
    )
    table = sm.rank(frame, np.zeros((2, 3)), pd.Series({"ada": "z", "ben": "x"}))
    assert (table.user.tolist(), table.above.tolist()) == (["ben", "ada"], [2, 0])


def test_held_out_items_of_users_by_label_may_be_missing_or_several() -> None:
    held_out = pd.Series(["y", None, "x", "z"], index=["ben", "cem", "ada", "ada"])
    scores = pd.DataFrame(
        np.arange(9.0).reshape(3, 3), index=["ada", "ben", "cem"], columns=["x", "y", "z"]
    )
    with pytest.warns(UserWarning, match="1 of 3 users have no held-out item"):
        table = sm.rank(scores, np.zeros((3, 3)), held_out)
    assert (table.user.tolist(), table.above.tolist()) == (["ada", "ada", "ben"], [1, 0, 1])
    with pytest.warns(UserWarning, match="1 of 3 users have no held-out item"):
        table = sm.rank(scores.to_numpy(), np.zeros((3, 3)), pd.Series([2, -1, 0], index=[2, 1, 0]))
    assert (table.user.tolist(), table.above.tolist()) == ([0, 2], [2, 0])


def test_a_block_of_a_frame_by_default_is_in_its_order() -> None:
    frame = pd.DataFrame(SCORES)
    table = sm.rank(
        lambda block: frame[block], TRAINING, HELD_OUT, user_ids=USERS, item_ids=ITEMS, batch_size=2
    )
    assert by_user(table, table.above) == EXACT


def test_columns_of_factors_are_paired_by_their_labels() -> None:
    users, items = (pd.DataFrame(factors, columns=["a", "b", "c"]) for factors in FACTORS)
    table = sm.rank((users, items[["c", "a", "b"]]), TRAINING, HELD_OUT, user_ids=USERS)
    assert by_user(table, table.above) == EXACT
    table = sm.rank(
        (users, items.set_axis(["x", "y", "z"], axis="columns")), TRAINING, HELD_OUT, user_ids=USERS
    )
    assert by_user(table, table.above) == EXACT


FRAME = pd.DataFrame(SCORES, index=USERS, columns=ITEMS)
GIVEN = {
    "scores": FRAME,
    "training": TRAINING,
    "held_out": HELD_OUT,
    "user_ids": USERS,
    "item_ids": ITEMS,
}
WITHOUT = GIVEN | {"user_ids": None, "item_ids": None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            GIVEN | {"scores": FRAME.rename({"u9": "x"})},
            "^the index of scores: user 'x' is not in user_ids, such as",
        ),
        (
            GIVEN | {"scores": FRAME.rename(columns={12: 13})},
            "^the columns of scores: item 13 is not in item_ids",
        ),
        (
            GIVEN | {"scores": FRAME.drop(index="u9")},
            r"^the index of scores: lacks the user "
            r"'u9'; give \.to_numpy\(\)",
        ),
        (GIVEN | {"scores": FRAME[[*ITEMS, 5]]}, "^the columns of scores: has the item 5 twice"),
        (WITHOUT | {"scores": FRAME[[*ITEMS, 5]]}, "^the columns of scores: 5 is there twice"),
        (
            WITHOUT | {"training": FRAME.rename({"u9": "x"}) > 9},
            "^the index of training: user 'x' is not in the in",
        ),
        (
            WITHOUT | {"held_out": FRAME.drop(columns=5) > 9},
            "^the columns of held_out: lacks the item 5",
        ),
        (
            WITHOUT | {"held_out": pd.Series({"u9": 5, "x": 12})},
            "^held_out, user 'x': user 'x' is not in",
        ),
        (WITHOUT | {"held_out": pd.Series({"u9": 6})}, "^held_out, user 'u9': item 6 is not in"),
        (
            WITHOUT | {"scores": FRAME.reset_index(names="user_id")},
            "^the columns of scores: has 'user_id' among",
        ),
        (
            WITHOUT | {"scores": FRAME.set_index([np.arange(6), USERS])},
            "^the index of scores: has several levels",
        ),
        (
            GIVEN | {"scores": lambda block: FRAME[block].drop(columns=5)},
            "^the columns of scores: lacks the item 5",
        ),
        (
            GIVEN | {"scores": lambda block: FRAME[block][::-1].rename({"u9": 3})},
            "^the index of scores: user 3 is not",
        ),
        (
            WITHOUT | {"scores": lambda block: FRAME[block]},
            r"user 'u10' is not an index from 0 "
            r"to 5.*; give user_ids",
        ),
        (
            GIVEN | {"item_ids": pd.Series(ITEMS).sort_values()},
            "^item_ids: is a Series with labels, such as 7 of 1; ",
        ),
        (
            GIVEN | {"user_ids": pd.Series(USERS, index=ITEMS[:6])},
            "^user_ids: is a Series with labels, such as 5",
        ),
        (
            GIVEN
            | {
                "scores": pd.DataFrame(SCORES, columns=np.arange(8).tolist()),
                "item_ids": [*range(1, 8), 0],
            },
            "^the columns of scores: 0 to 7 may be places, or items in another order",
        ),
        (
            GIVEN | {"training": pd.DataFrame({"u": [1], "i": [2]})},
            "^the columns of training: item 'u' is not in item",
        ),
        (
            WITHOUT | {"scores": SCORES, "training": pd.DataFrame({"u": [1], "i": [2]})},
            "has the columns user and",
        ),
        (
            GIVEN | {"held_out": pd.Series(USERS, index=pd.Index(ITEMS[:6], name="item"))},
            "^held_out: the index of",
        ),
        (
            GIVEN | {"training": pd.Series([5, 9], index=[3, 1])},
            "^training must be numbers, a row of them for each",
        ),
        (
            GIVEN | {"training": FRAME.mul(0).rename_axis(index="user", columns="item").stack()},
            "^training: has pairs",
        ),
    ],
)
def test_labels_that_contradict_are_refused_in_one_line(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        sm.rank(**arguments)
    assert "\n" not in str(caught.value)
    if callable(arguments["scores"]):
        return
    with pytest.raises(DataError, match=message):
        sm.rank_among_negatives(**arguments, negatives=2)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ((["a", "b", "c"], ["a", "b", "d"]), "^factors: 'c' is not a column of both frames"),
        (
            (["user_id", "b", "c"], ["a", "b", "c"]),
            "^factors of users: the column user_id is no factor",
        ),
        (
            (["a", "b", "c"], ["a", "b", "itemId"]),
            "^factors of items: the column itemId is no factor",
        ),
    ],
)
def test_columns_of_factors_that_contradict_are_refused(factors: Any, message: str) -> None:
    users, items = (
        pd.DataFrame(part, columns=names) for part, names in zip(FACTORS, factors, strict=True)
    )
    with pytest.raises(DataError, match=message):
        sm.rank((users, items), TRAINING, HELD_OUT)


@pytest.mark.parametrize(
    ("negatives", "message"),
    [
        (
            pd.Series(NEGATIVES, index=[*USERS[:5], "u10"]),
            "^negatives: the index has the user 'u10' twice",
        ),
        (pd.DataFrame(NEGATIVES, index=[*USERS[:5], "x"]), "user 'x' is not in user_ids"),
        (
            pd.DataFrame(np.array(ITEMS)[NEGATIVES], index=USERS)[:5],
            "^negatives, user 'u7': has no negatives",
        ),
    ],
)
def test_negatives_whose_labels_contradict_are_refused(negatives: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        sm.rank_among_negatives(**GIVEN, negatives=negatives)


def test_a_parquet_file_of_scores_has_its_labels(tmp_path: Any) -> None:
    from sampled_metrics.ranking.inputs import read_array

    order = np.random.default_rng(1)
    for name, frame in {
        "ids": wide(SCORES, order).rename(columns=str),
        "names": wide(SCORES, order).rename_axis(index="user", columns="item"),
        "default": pd.DataFrame(SCORES),
    }.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
        scores = read_array(str(tmp_path / f"{name}.parquet"))
        table = sm.rank(scores, TRAINING, HELD_OUT, user_ids=USERS, item_ids=ITEMS)
        assert by_user(table, table.above) == EXACT


@pytest.mark.parametrize("ids", [[3, 2, 1, 0], ["1", "2", "3", "0"]])
def test_numbers_that_may_be_indices_or_ids_are_refused(ids: list[Any]) -> None:
    """Item 1 is another one by index than by id.

    Without ids, or with ids that are no indices, it is an index.
    """
    scores = np.random.default_rng(1).random((3, 4))
    training = np.zeros((3, 4))
    held_out = [1, 2, 0]
    arguments = scores, training, held_out
    with pytest.raises(
        DataError, match=r"held_out: 1 may be an index or an id of items \(item_ids\)"
    ):
        sm.rank(*arguments, item_ids=ids)
    with pytest.raises(DataError, match="held_out: 1 may be an index or an id of items"):
        sm.rank(pd.DataFrame(scores, columns=ids), pd.DataFrame(training, columns=ids), held_out)
    expected = sm.rank(*arguments).above.tolist()
    assert sm.rank(*arguments, item_ids=[0, 1, 2, 3]).above.tolist() == expected
    assert sm.rank(*arguments, item_ids=["a", "b", "c", "d"]).above.tolist() == expected
    assert sm.rank(*arguments, item_ids=[11, 12, 13, 14]).above.tolist() == expected
    pairs = pd.DataFrame({"user": [0, 1, 2], "item": [ids[item] for item in held_out]})
    assert sm.rank(scores, training, pairs, item_ids=ids).above.tolist() == expected
    with pytest.raises(DataError, match="negatives: 3 may be an index or an id of items"):
        sm.rank_among_negatives(
            scores, training, pairs, negatives=[[3, 0], [3, 0], [3, 2]], item_ids=ids
        )


@pytest.mark.parametrize(
    "matrix", [np.zeros((3, 12)), csr_array(np.zeros((3, 12))), pd.DataFrame(np.zeros((3, 12)))]
)
def test_a_matrix_without_labels_beside_numbers_in_another_order_is_refused(matrix: Any) -> None:
    """The columns are sorted as text.

    They are 0, 1, 10, 11, 2, … The matrix may be in this order, or in that of the numbers.
    """
    numbers = np.random.default_rng(2).random((3, 12))
    scores = pd.DataFrame(numbers, columns=sorted(range(12), key=str))
    held_out = pd.DataFrame({"user": [0, 1, 2], "item": [5, 6, 7]})
    with pytest.raises(
        DataError, match="training: its items may be in the order of the columns of scores"
    ):
        sm.rank(scores, matrix, held_out)
    labelled = pd.DataFrame(np.zeros((3, 12)), columns=scores.columns)
    in_order = scores.sort_index(axis="columns").to_numpy()
    table = sm.rank(scores, labelled, held_out)
    table_in_order = sm.rank(in_order, matrix, held_out)
    assert table.above.tolist() == table_in_order.above.tolist()
