"""Pandas objects whose labels are in any order have the values of arrays in the order of the
ids.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import EXACT, HELD_OUT, ITEMS, SCORES, TRAINING, USERS, by_user, drawn_case

import sampled_metrics as sm
from sampled_metrics.errors import DataError

FRAME = pd.DataFrame(SCORES, index=USERS, columns=ITEMS)


@given(st.data())
def test_ranks_of_an_epoch_do_not_depend_on_the_order_of_labels(data: Any) -> None:
    scores, training, held_out, _ = drawn_case(data.draw)
    validate = sm.validator(training, held_out, metrics="mrr", user_ids=USERS, item_ids=ITEMS)
    result = validate(scores)
    assert by_user(result.ranks, result.ranks.above) == EXACT
    assert result.value == pytest.approx(np.mean([1 / (1 + count) for count in EXACT.values()]))


def test_labels_are_the_ids_where_none_are_given() -> None:
    frame = pd.DataFrame(
        [[0.1, 0.9, 0.5], [0.2, 0.1, 0.3]], index=["ben", "ada"], columns=["x", "y", "z"]
    )
    wide_training = pd.DataFrame(
        [[1, 0, 0], [0, 1, 0]], index=["ben", "ada"], columns=["x", "y", "z"]
    )
    validate = sm.validator(wide_training, pd.Series({"ada": "z", "ben": "y"}), metrics="mrr")
    assert validate(frame[["z", "x", "y"]].sort_index()).value == 1.0


def test_epochs_whose_labels_contradict_are_refused_and_not_counted() -> None:
    validate = sm.validator(TRAINING, HELD_OUT, metrics="mrr", user_ids=USERS, item_ids=ITEMS)
    for scores in (FRAME.rename({"u9": "x"}), lambda block: FRAME[block].rename(columns={5: 6})):
        with pytest.raises(DataError, match=r"user 'x'|item 6"):
            validate(scores)
    assert validate(FRAME).epoch == 1
    with pytest.raises(DataError, match=r"user_ids"):
        sm.validator(TRAINING, HELD_OUT)(FRAME)


def test_scores_without_labels_beside_labelled_training_are_refused() -> None:
    """Columns that are sorted as text are in another order than numbers."""
    numbers = [str(number) for number in sorted(range(12), key=str)]
    training = pd.DataFrame(np.zeros((2, 12)), columns=numbers)
    held_out = pd.DataFrame({"user": [0, 1], "item": [5, 6]})
    validate = sm.validator(training, held_out, metrics="mrr")
    scores = np.arange(24.0).reshape(2, 12)
    for unlabelled in (scores, (scores, np.eye(12)), lambda block: scores[block]):
        with pytest.raises(DataError, match="labels"):
            validate(unlabelled)
    labelled = pd.DataFrame(scores).rename(columns=str)[numbers]
    assert validate(labelled).ranks.above.tolist() == [6, 5]
