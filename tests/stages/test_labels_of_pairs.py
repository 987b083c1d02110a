"""Pandas objects whose labels are in any order have the staged ranks of arrays in the order of the
ids.
"""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from labelled import (
    EXACT,
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


@given(st.data())
def test_staged_ranks_do_not_depend_on_the_order_of_labels(data):
    _, training, held_out, _ = drawn_case(data.draw, WITH_IDS)
    order = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    row_of_user = {user: row for row, user in enumerate(USERS)}
    column_of_item = {item: column for column, item in enumerate(ITEMS)}

    def score(users, items):
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


def test_an_order_by_labels_decides_which_candidates_are_scored_first():
    scored_items = []

    def score(users, items):
        scored_items.extend(np.asarray(items).tolist())
        return np.zeros(len(users))

    order = pd.Series({9: 5.0, 1: 4.0, 3: 3.0, 40: 2.0, 20: 1.0, 5: 0.0, 12: -1.0, 111: -2.0})
    sm.staged_ranks(
        score, np.zeros((1, 8)), [4], order=order, depth=None, user_ids=["u"], item_ids=ITEMS
    )
    # the held-out item, and then the candidates
    assert scored_items == [111, 9, 1, 3, 40, 20, 5, 12]
