"""The contract of inputs, labelled or in order: every form that it has gives the ranks of plain
Python, and what it does not have is refused.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import (
    CASES,
    EXACT_COUNTS,
    FACTORS,
    HELD_OUT,
    ITEMS,
    SAMPLED_COUNTS,
    SCORES,
    TRAINING,
    USERS,
    WITH_IDS,
    by_user,
    drawn_case,
    drawn_form,
    expected,
    ids_of_case,
    negative_forms,
)
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.errors import DataError


@pytest.mark.parametrize("case", CASES)
@given(st.data())
def test_every_form_has_the_ranks_of_the_definition(case, data):
    scores, training, held_out, ids = drawn_case(data.draw, case)
    options = {} if isinstance(scores, tuple) else {"batch_size": data.draw(st.integers(1, 6))}
    table = sm.rank(scores, training, held_out, **ids, **options)
    assert by_user(table, table.above) == expected(case, EXACT_COUNTS)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=settings().max_examples // 2)
@given(st.data())
def test_every_form_of_negatives_has_the_ranks_of_the_definition(case, data):
    scores, training, held_out, ids = drawn_case(data.draw, case)
    negatives = drawn_form(data.draw, negative_forms(case))
    table = sm.rank_among_negatives(scores, training, held_out, negatives=negatives, **ids)
    assert by_user(table, table.x) == expected(case, SAMPLED_COUNTS)


# --- what does not fit ---

FRAME = pd.DataFrame(SCORES, index=USERS, columns=ITEMS)
MORE_USERS = pd.concat([FRAME, FRAME.iloc[:1].set_axis(["u99"])])
WRONG_LABELS = {
    "a user more": MORE_USERS,
    "an item more": FRAME.assign(**{"99": 0.0}),
    "a user fewer": FRAME.iloc[1:],
    "an item fewer": FRAME.iloc[:, 1:],
    "another user": FRAME.rename({"u9": "x"}),
    "another item": FRAME.rename(columns={12: 13}),
    "a user twice": FRAME.iloc[[0, *range(6)]],
    "an item twice": FRAME[[*ITEMS, 5]],
    "an index that is a column": FRAME.reset_index(),
    "several levels": FRAME.set_index([np.arange(6), USERS]),
}
"""Frames that do not fit to the users and items."""


@pytest.mark.parametrize("argument", ["scores", "training", "held_out"])
@pytest.mark.parametrize("fault", WRONG_LABELS)
def test_labels_that_others_do_not_have_are_refused(fault, argument):
    pairs = FRAME.iloc[:, :3].melt(var_name="item", ignore_index=False)
    right = {
        "scores": FRAME,
        "training": FRAME * 0,
        "held_out": pairs.rename_axis("user").drop(columns="value"),
    }
    frame = WRONG_LABELS[fault]
    if argument != "scores":
        frame = frame.where(frame.map(lambda cell: isinstance(cell, str)), 0)
    for ids in ({}, ids_of_case(WITH_IDS)):
        with pytest.raises(DataError):
            sm.rank(**(right | {argument: frame}), **ids)


WRONG_SHAPES = {
    "a user more": (np.zeros((7, 8)), "user"),
    "an item fewer": (np.zeros((6, 7)), "item"),
}


@pytest.mark.parametrize("argument", ["scores", "training", "held_out"])
@pytest.mark.parametrize("fault", WRONG_SHAPES)
def test_shapes_agree_exactly(fault, argument):
    array, word = WRONG_SHAPES[fault]
    right = {"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT}
    for form in (array, csr_array(array), pd.DataFrame(array)):
        for ids in ({}, ids_of_case(WITH_IDS)):
            with pytest.raises(DataError, match=word):
                sm.rank(**(right | {argument: form}), **ids)


@pytest.mark.parametrize("argument", ["scores", "training", "held_out"])
def test_a_matrix_without_labels_beside_labelled_ones_is_refused(argument):
    """Columns that are sorted as text, 0, 1, 10, 11, 2, …, are in another order than numbers."""
    labelled = pd.DataFrame(np.zeros((3, 12)), columns=sorted(range(12), key=str))
    pairs = pd.DataFrame({"user": [0, 1, 2], "item": [5, 6, 7]})
    arguments = {"scores": labelled, "training": labelled, "held_out": pairs}
    places = [5, 6, 7] if argument == "held_out" else np.zeros((3, 12))
    with pytest.raises(DataError, match=f"{argument}.* labels"):
        sm.rank(**(arguments | {argument: places}))


@pytest.mark.parametrize("ids", [[3, 2, 1, 0], ["1", "2", "3", "0"]])
def test_indices_of_an_array_that_may_be_ids_are_refused(ids):
    """Item 1 is another one by index than by id."""
    arrays = {"scores": np.eye(3, 4), "training": np.zeros((3, 4))}
    with pytest.raises(DataError, match=r"held_out"):
        sm.rank(**arrays, held_out=[1, 2, 0], item_ids=ids)
    pairs = pd.DataFrame({"user": [0, 1, 2], "item": ids[:3]})
    assert sm.rank(**arrays, held_out=pairs, item_ids=ids).above.tolist() == [0, 0, 0]
    negatives = [[3, 1], [3, 0], [3, 1]]
    with pytest.raises(DataError, match=r"negatives"):
        sm.rank_among_negatives(**arrays, held_out=pairs, negatives=negatives, item_ids=ids)


def test_numbers_as_labels_are_looked_up_in_ids_that_have_them():
    """Without a default index, they may be ids in another order."""
    ids = [*range(1, 8), 0]
    labelled = pd.DataFrame(SCORES, columns=pd.Index(ids)).sort_index(axis="columns")
    pairs = pd.DataFrame({"user": range(6), "item": np.array(ids)[HELD_OUT]})
    table = sm.rank(labelled, TRAINING, pairs, item_ids=ids)
    assert table.above.tolist() == EXACT_COUNTS


def test_held_out_items_of_users_may_be_missing_or_several():
    held_out = pd.Series(["y", None, "x", "z"], index=["ben", "cem", "ada", "ada"])
    names = {"index": ["ada", "ben", "cem"], "columns": ["x", "y", "z"]}
    scores = pd.DataFrame(np.arange(9.0).reshape(3, 3), **names)
    with pytest.warns(UserWarning, match="1 of 3"):
        table = sm.rank(scores, scores * 0, held_out)
    assert (table.user.tolist(), table.above.tolist()) == (["ada", "ada", "ben"], [1, 0, 1])


FACTOR_COLUMNS = (
    pd.DataFrame(FACTORS[0], columns=list("abc")),
    pd.DataFrame(FACTORS[1], columns=list("acb")),
)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"scores": [*map(pd.Series, SCORES)]}, "DataFrame"),
        ({"scores": lambda block: [*map(pd.Series, SCORES[block])]}, "DataFrame"),
        ({"scores": FACTOR_COLUMNS}, "columns"),
        ({"held_out": pd.Series(HELD_OUT, pd.Index(range(6), name="item"))}, "table"),
        ({"user_ids": pd.Series(USERS, index=[3, 1, 0, 2, 4, 5])}, "to_numpy"),
    ],
)
def test_labels_at_places_that_the_contract_does_not_have_are_refused(changes, word):
    arguments = {"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT} | changes
    with pytest.raises(DataError, match=word):
        sm.rank(**arguments)


@pytest.mark.parametrize(
    ("column", "values"),
    [("label", [1, 0]), ("Rating", [2.5, -1]), ("click", ["1", "0"]), ("weight", [True, False])],
)
@pytest.mark.parametrize("name", ["training", "held_out"])
def test_rows_of_pairs_that_are_no_events_are_refused(name, column, values):
    pairs = pd.DataFrame({"user": [0, 1], "item": [2, 3], column: values})
    arguments = {"training": np.zeros((2, 4)), "held_out": [1, 1]}
    with pytest.raises(DataError, match=f"{name}, row 2: {column}"):
        sm.rank(np.zeros((2, 4)), **(arguments | {name: pairs}))
    negatives = pairs.assign(item=0)
    sm.rank_among_negatives(np.zeros((2, 4)), **arguments, negatives=negatives)


@pytest.mark.parametrize(
    ("negatives", "word"),
    [
        (pd.DataFrame([[0, 2]] * 6, index=USERS), "item"),
        (np.zeros((5, 2), int), "negatives"),
        ({user: [5] for user in USERS[:5]}, "negatives"),
        ({"x": [5]}, "'x'"),
    ],
)
def test_negatives_in_another_form_are_refused(negatives, word):
    with pytest.raises(DataError, match=word):
        sm.rank_among_negatives(
            SCORES, TRAINING, HELD_OUT, negatives=negatives, **ids_of_case(WITH_IDS)
        )
