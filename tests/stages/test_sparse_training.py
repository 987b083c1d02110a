"""Sparse training items with wrong stored places are refused."""

import pytest
from wrong_matrices import HELD_OUT, WRONG

import sampled_metrics as sm


@pytest.mark.parametrize("fault", WRONG)
def test_a_place_outside_of_a_matrix_is_refused(fault):
    with pytest.raises(sm.DataError, match="sparse"):
        sm.staged_ranks(lambda users, items: users * 0.0, WRONG[fault], HELD_OUT)
