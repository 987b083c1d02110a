"""Pandas objects whose labels are in any order have the staged ranks of arrays in the order of the
ids.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import EXACT, HELD_OUT, ITEMS, SCORES, TRAINING, USERS, by_user, drawn_case, shuffled

import sampled_metrics as sm
from sampled_metrics.errors import DataError


@given(st.data())
def test_staged_ranks_do_not_depend_on_the_order_of_labels(data: Any) -> None:
    _, training, held_out, _ = drawn_case(data.draw)
    order = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    row_of_user = {user: row for row, user in enumerate(USERS)}
    column_of_item = {item: column for column, item in enumerate(ITEMS)}
    kind = data.draw(st.sampled_from(["pairs", "users", "items", "numbers"]))

    def score(users: Any, items: Any) -> pd.Series:
        rows = [row_of_user[user] for user in users]
        columns = [column_of_item[item] for item in items]
        indices = {
            "pairs": pd.MultiIndex.from_arrays([users, items]),
            "users": pd.Index(users),
            "items": pd.Index(items),
            "numbers": pd.RangeIndex(len(users)),
        }
        scores = pd.Series(SCORES[rows, columns], index=indices[kind])
        can_be_shuffled = kind in ("pairs", "numbers")  # a user, or an item, has several scores
        return scores.iloc[order.permutation(len(users))] if can_be_shuffled else scores

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


def test_scores_of_pairs_by_other_labels_are_refused() -> None:

    def by_unknown_users(users: Any, items: Any) -> pd.Series:
        return pd.Series(1.0, index=users + 1000)

    def by_pairs_of_users(users: Any, items: Any) -> pd.Series:
        return pd.Series(1.0, index=pd.MultiIndex.from_arrays([users, users]))

    for score in (by_unknown_users, by_pairs_of_users):
        with pytest.raises(
            DataError, match=r"^scores of pairs: the Series has labels, such as .* asked for; give"
        ):
            sm.staged_ranks(score, TRAINING, HELD_OUT)
