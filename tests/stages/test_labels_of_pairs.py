"""Pandas objects whose labels are in any order have the staged ranks of arrays in the order of the
ids.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import (
    EXACT,
    HELD_OUT,
    ITEMS,
    SCORES,
    TRAINING,
    USERS,
    WITH_IDS,
    by_user,
    drawn_case,
    shuffled,
)

import sampled_metrics as sm
from sampled_metrics.errors import DataError


@given(st.data())
def test_staged_ranks_do_not_depend_on_the_order_of_labels(data: Any) -> None:
    _, training, held_out, _ = drawn_case(data.draw, WITH_IDS)
    order = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    row_of_user = {user: row for row, user in enumerate(USERS)}
    column_of_item = {item: column for column, item in enumerate(ITEMS)}

    def score(users: Any, items: Any) -> Any:
        rows = [row_of_user[user] for user in users]
        columns = [column_of_item[item] for item in items]
        return SCORES[rows, columns]

    popularity = pd.Series(TRAINING.sum(axis=0), index=ITEMS)
    orders = ["popularity", shuffled(popularity, order), lambda user: shuffled(popularity, order)]
    table = sm.staged_ranks(
        score,
        training,
        held_out,
        k=len(ITEMS),
        depth=None,
        order=orders[data.draw(st.integers(0, 2))],
        user_ids=USERS,
        item_ids=ITEMS,
    )
    assert by_user(table, table.above) == EXACT


def test_an_order_by_labels_decides_which_candidates_are_scored_first() -> None:
    scored_items = []

    def score(users: Any, items: Any) -> Any:
        scored_items.extend(np.asarray(items).tolist())
        return np.zeros(len(users))

    order = pd.Series({9: 5.0, 1: 4.0, 3: 3.0, 40: 2.0, 20: 1.0, 5: 0.0, 12: -1.0, 111: -2.0})
    sm.staged_ranks(
        score, np.zeros((1, 8)), [4], order=order, depth=None, user_ids=["u"], item_ids=ITEMS
    )
    # the held-out item, and then the candidates
    assert scored_items == [111, 9, 1, 3, 40, 20, 5, 12]


@pytest.mark.parametrize("index", ["pairs", "users", "items", "rows of a table"])
def test_a_function_that_returns_a_labelled_series_is_refused(index: str) -> None:
    """Its scores may be in another order than the pairs."""

    def score(users: Any, items: Any) -> pd.Series:
        labels = {
            "pairs": pd.MultiIndex.from_arrays([users, items]),
            "users": pd.Index(users),
            "items": pd.Index(items),
            "rows of a table": pd.RangeIndex(1, 1 + len(users)),
        }
        return pd.Series(1.0, index=labels[index])

    with pytest.raises(DataError, match=r"labels.*\.to_numpy"):
        sm.staged_ranks(score, TRAINING, HELD_OUT)


def test_a_series_without_labels_is_an_array() -> None:
    def score(users: Any, items: Any) -> pd.Series:
        return pd.Series(SCORES[users, items])

    ranks = sm.staged_ranks(score, TRAINING, HELD_OUT, k=len(ITEMS), depth=None)
    assert ranks.above.tolist() == sm.rank(SCORES, TRAINING, HELD_OUT).above.tolist()
