"""The contract of inputs, labelled or in order: every form that it has gives the ranks of plain
Python, and what it does not have is refused.
"""

from typing import Any

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
from ranked_by_argsort import by_definition
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.errors import DataError


@pytest.mark.parametrize("case", CASES)
@given(st.data())
def test_every_form_has_the_ranks_of_the_definition(case: str, data: Any) -> None:
    scores, training, held_out, ids = drawn_case(data.draw, case)
    options = {} if isinstance(scores, tuple) else {"batch_size": data.draw(st.integers(1, 6))}
    table = sm.rank(scores, training, held_out, **ids, **options)
    assert by_user(table, table.above) == expected(case, EXACT_COUNTS)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=settings().max_examples // 2)
@given(st.data())
def test_every_form_of_negatives_has_the_ranks_of_the_definition(case: str, data: Any) -> None:
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
def test_labels_that_others_do_not_have_are_refused(fault: str, argument: str) -> None:
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
        with pytest.raises(DataError) as caught:
            sm.rank(**(right | {argument: frame}), **ids)
        assert "held-out item" not in str(caught.value)
        assert "\n" not in str(caught.value)


WRONG_SHAPES = {
    "a user more": (np.zeros((7, 8)), "user"),
    "a user fewer": (np.zeros((5, 8)), "user"),
    "an item fewer": (np.zeros((6, 7)), "item"),
    "a column of an index, or of padding": (np.insert(SCORES, 0, np.arange(6), axis=1), "padding"),
}


@pytest.mark.parametrize("argument", ["scores", "training", "held_out", "block"])
@pytest.mark.parametrize("fault", WRONG_SHAPES)
def test_shapes_agree_exactly(fault: str, argument: str) -> None:
    array, word = WRONG_SHAPES[fault]
    right = {"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT}
    forms = [array, csr_array(array), pd.DataFrame(array)]
    if argument == "block":
        forms = [lambda block: array]
        right["training"] = TRAINING
    for form in forms:
        for ids in ({}, ids_of_case(WITH_IDS)):
            if argument == "held_out" and fault == "a column of an index, or of padding":
                continue
            name = "scores" if argument == "block" else argument
            with pytest.raises(DataError, match=word):
                sm.rank(**(right | {name: form}), **ids)


NUMBERS = [str(number) for number in sorted(range(12), key=str)]  # 0, 1, 10, 11, 2, …
TWELVE = np.random.default_rng(2).random((3, 12))
TWELVE_PAIRS = pd.DataFrame({"user": [0, 1, 2], "item": [5, 6, 7]})


@pytest.mark.parametrize("form", [np.asarray, csr_array, pd.DataFrame])
def test_labels_beside_a_matrix_without_labels_are_refused(form: Any) -> None:
    """Columns that are sorted as text are in another order than numbers."""
    labelled = pd.DataFrame(np.zeros((3, 12)), columns=NUMBERS)
    with pytest.raises(DataError, match=r"training.* labels"):
        sm.rank(labelled + TWELVE, form(np.zeros((3, 12))), TWELVE_PAIRS)
    with pytest.raises(DataError, match=r"scores.* labels"):
        sm.rank(form(TWELVE), labelled, TWELVE_PAIRS)
    with pytest.raises(DataError, match=r"held_out.* labels"):
        sm.rank(labelled + TWELVE, labelled, [5, 6, 7])
    with pytest.raises(DataError, match=r"scores.* labels"):
        sm.rank(lambda block: TWELVE[block], labelled, TWELVE_PAIRS)
    in_order = sm.rank(TWELVE, np.zeros((3, 12)), TWELVE_PAIRS)
    columns_by_text = pd.DataFrame(TWELVE, columns=range(12)).rename(columns=str)[NUMBERS]
    by_label = sm.rank(columns_by_text, labelled, TWELVE_PAIRS)
    assert by_label.above.tolist() == in_order.above.tolist()


@pytest.mark.parametrize("ids", [[3, 2, 1, 0], ["1", "2", "3", "0"]])
def test_indices_of_an_array_that_may_be_ids_are_refused(ids: list[Any]) -> None:
    """Item 1 is another one by index than by id."""
    scores = np.random.default_rng(1).random((3, 4))
    training = np.zeros((3, 4))
    held_out = [1, 2, 0]
    with pytest.raises(DataError, match=r"held_out"):
        sm.rank(scores, training, held_out, item_ids=ids)
    in_order = sm.rank(scores, training, held_out).above.tolist()
    for other_ids in ([0, 1, 2, 3], list("abcd"), [11, 12, 13, 14]):
        assert sm.rank(scores, training, held_out, item_ids=other_ids).above.tolist() == in_order
    pairs = pd.DataFrame({"user": [0, 1, 2], "item": [ids[item] for item in held_out]})
    assert sm.rank(scores, training, pairs, item_ids=ids).above.tolist() == in_order
    negatives = [[3, 0], [3, 0], [3, 2]]
    with pytest.raises(DataError, match=r"negatives"):
        sm.rank_among_negatives(scores, training, pairs, negatives=negatives, item_ids=ids)


def test_numbers_as_labels_are_looked_up_in_ids_that_have_them() -> None:
    """Without a default index, they may be ids in another order."""
    ids = [*range(1, 8), 0]
    labelled = pd.DataFrame(SCORES, columns=pd.Index(ids)).sort_index(axis="columns")
    pairs = pd.DataFrame({"user": range(6), "item": np.array(ids)[HELD_OUT]})
    table = sm.rank(labelled, TRAINING, pairs, item_ids=ids)
    assert table.above.tolist() == EXACT_COUNTS


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"scores": [*map(pd.Series, SCORES)]}, "DataFrame"),
        ({"scores": lambda block: [*map(pd.Series, SCORES[block])]}, "DataFrame"),
        ({"training": [*map(pd.Series, TRAINING)]}, "DataFrame"),
        ({"training": pd.Series([5, 9], index=[3, 1])}, "training"),
        ({"held_out": pd.Series(HELD_OUT, pd.Index(range(6), name="item"))}, "table"),
        ({"user_ids": pd.Series(USERS, index=[3, 1, 0, 2, 4, 5])}, "to_numpy"),
        ({"scores": lambda block: 0.5}, "single number"),
        ({"training": pd.DataFrame({"u": [1], "i": [2]})}, "labels"),
        ({"scores": (pd.DataFrame(FACTORS[0], columns=list("abc")), FACTORS[1])}, None),
        (
            {
                "scores": (
                    pd.DataFrame(FACTORS[0], columns=list("abc")),
                    pd.DataFrame(FACTORS[1], columns=list("acb")),
                )
            },
            "columns",
        ),
    ],
)
def test_what_the_contract_does_not_have_is_refused(changes: Any, word: str | None) -> None:
    arguments = {"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT} | changes
    if word is None:
        assert sm.rank(**arguments).above.tolist() == EXACT_COUNTS
        return
    with pytest.raises(DataError, match=word):
        sm.rank(**arguments)


@pytest.mark.parametrize("column", ["label", "Rating", "relevance", "click", "weight"])
@pytest.mark.parametrize("values", [[1, 0], [2.5, -1], ["1", "0"], [True, False]])
def test_rows_of_pairs_that_are_no_events_are_refused(column: str, values: list[Any]) -> None:
    pairs = pd.DataFrame({"user": [0, 1], "item": [2, 3], column: values})
    for name in ("training", "held_out"):
        arguments = {"training": np.zeros((2, 4)), "held_out": [1, 1]} | {name: pairs}
        with pytest.raises(DataError, match=f"{name}, row 2: {column} is"):
            sm.rank(np.zeros((2, 4)), **arguments)
    events = pairs.assign(**{column: 1})
    assert sm.rank(np.zeros((2, 4)), events, [1, 1]).candidates.tolist() == [3, 3]
    negatives = pairs.assign(item=0)
    sm.rank_among_negatives(np.zeros((2, 4)), np.zeros((2, 4)), [1, 1], negatives=negatives)


@pytest.mark.parametrize(
    ("negatives", "word"),
    [
        (pd.DataFrame([[0, 2]] * 6, index=USERS), "item"),
        (pd.Series([[0, 2]] * 6), "negatives"),
        (np.zeros((5, 2), int), "negatives"),
        ({user: [5] for user in USERS[:5]}, "negatives"),
        ({"x": [5]}, "'x'"),
        (csr_array((6, 8)), "negatives"),
        (2.5, "number"),
    ],
)
def test_negatives_in_another_form_are_refused(negatives: Any, word: str) -> None:
    with pytest.raises(DataError, match=word):
        sm.rank_among_negatives(
            SCORES, TRAINING, HELD_OUT, negatives=negatives, **ids_of_case(WITH_IDS)
        )


def test_held_out_items_of_users_may_be_missing_or_several() -> None:
    held_out = pd.Series(["y", None, "x", "z"], index=["ben", "cem", "ada", "ada"])
    names = {"index": ["ada", "ben", "cem"], "columns": ["x", "y", "z"]}
    scores = pd.DataFrame(np.arange(9.0).reshape(3, 3), **names)
    with pytest.warns(UserWarning, match="1 of 3"):
        table = sm.rank(scores, scores * 0, held_out)
    assert (table.user.tolist(), table.above.tolist()) == (["ada", "ada", "ben"], [1, 0, 1])
    with pytest.warns(UserWarning, match="1 of 3"):
        table = sm.rank(scores.to_numpy(), np.zeros((3, 3)), pd.Series([2, -1, 0], index=[2, 1, 0]))
    assert (table.user.tolist(), table.above.tolist()) == ([0, 2], [2, 0])


# --- legal matrices ---


def legal_scores(users: int, items: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Scores that a model may give, and that look like something else."""
    normal = rng.normal(size=(users, items))
    return {
        "unit vectors": np.eye(users, items),
        "the first user has 0, 1, 2, …": np.vstack([np.arange(items), normal[1:]]),
        "the first item has 0, 1, 2, …": np.column_stack([np.arange(users), normal[:, 1:]]),
        "the last item has 1, 2, 3, …": np.column_stack([normal[:, 1:], 1 + np.arange(users)]),
        "the first item has times": np.column_stack(
            [1.7e9 + 1000 * rng.permutation(users), normal[:, 1:]]
        ),
        "the first item has prices": np.column_stack(
            [rng.permutation(10 * users)[:users], normal[:, 1:]]
        ),
        "a cold first user": np.vstack([rng.permutation(items), normal[1:]]),
        "whole numbers": rng.integers(0, 2 * items, (users, items)).astype(float),
        "star ratings": rng.integers(1, 6, (users, items)).astype(float),
    }


@pytest.mark.parametrize("shape", [(1, 2), (2, 2), (2, 6), (3, 5), (12, 8)])
def test_legal_matrices_are_taken(shape: tuple[int, int]) -> None:
    """The last item of the catalogue is in no event."""
    users, items = shape
    rng = np.random.default_rng(shape)
    held_out = rng.integers(max(items - 1, 1), size=users)
    is_held_out = np.arange(items) == held_out[:, np.newaxis]
    training = (rng.random(shape) < 0.3) & ~is_held_out
    training[:, -1] = False
    user, item = np.nonzero(training)
    pair_tables = [
        pd.DataFrame({"user": user, "item": item}),
        pd.DataFrame({"user": range(users), "item": held_out}),
    ]
    for name, scores in legal_scores(users, items, rng).items():
        counts = by_definition(scores, training, is_held_out)
        forms = {
            "array": (scores, {}),
            "frame": (pd.DataFrame(scores), {}),
            "sparse": (csr_array(scores), {}),
            "factors": ((scores, np.eye(items)), {}),
            "blocks of two users": (lambda block, scores=scores: scores[block], {"batch_size": 2}),
        }
        for form, (given_scores, options) in forms.items():
            pairs = [training, held_out]
            if form != "blocks of two users" and len(user):
                pairs = pair_tables
            table = sm.rank(given_scores, *pairs, **options)
            ranks = [(row.candidates, row.above, row.tied) for row in table.to_frame().itertuples()]
            assert ranks == [row[1:] for row in counts], (name, form)
