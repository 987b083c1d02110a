"""Pandas objects whose labels are in any order have the values of arrays in the order of the
ids.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import (
    EXACT_COUNTS,
    ITEMS,
    SCORES,
    USERS,
    WITH_IDS,
    by_user,
    drawn_case,
    expected,
    ids_of_case,
)

import sampled_metrics as sm
from sampled_metrics.errors import DataError

FRAME = pd.DataFrame(SCORES, index=USERS, columns=ITEMS)


@settings(max_examples=8)
@given(st.data())
def test_values_of_every_form_are_those_of_the_definition(data):
    scores, training, held_out, _ = drawn_case(data.draw, WITH_IDS)
    result = sm.validator(training, held_out, metrics="mrr", **ids_of_case(WITH_IDS))(scores)
    assert by_user(result.ranks, result.ranks.above) == expected(WITH_IDS, EXACT_COUNTS)
    assert result.value == pytest.approx(np.mean([1 / (1 + count) for count in EXACT_COUNTS]))


def test_epochs_whose_labels_contradict_are_refused_and_not_counted():
    """Scores without labels may have their items in another order."""
    validate = sm.validator(FRAME * 0, pd.Series(ITEMS[: len(USERS)], index=USERS), metrics="mrr")
    with pytest.raises(DataError, match="user 'x'"):
        validate(FRAME.rename({"u9": "x"}))
    with pytest.raises(DataError, match="labels"):
        validate(lambda block: SCORES[block])
    assert validate(FRAME).epoch == 1
