"""Sparse scores of an epoch with wrong stored places are refused."""

import numpy as np
import pytest
from wrong_matrices import HELD_OUT, SHAPE, WRONG

import sampled_metrics as sm


@pytest.mark.parametrize("fault", WRONG)
def test_a_place_outside_of_a_matrix_is_refused(fault):
    with pytest.raises(sm.DataError, match="sparse"):
        sm.validator(np.zeros(SHAPE), HELD_OUT, metrics="auc")(WRONG[fault])
