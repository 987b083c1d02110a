"""Items that a model does not score, or masks."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.adapters._unscored import tied_below


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_tie_below_all_others(kind: type) -> None:
    scores = np.array([[0.5, np.nan, -3.0, np.nan], [np.nan, 2.0, np.nan, 1.0]], dtype=kind)
    table = sm.rank(tied_below(scores), np.zeros((2, 4)), [1, 3])
    assert (table.above.tolist(), table.tied.tolist()) == ([2, 1], [1, 0])


def test_tie_with_masked_ones() -> None:
    table = sm.rank(tied_below([[-np.inf, np.nan, 0.25, -7.0]]), np.zeros((1, 4)), [1])
    assert (table.above.tolist(), table.tied.tolist()) == ([2], [1])


def test_tie_where_nothing_is_scored() -> None:
    table = sm.rank(tied_below([[np.nan] * 3]), np.zeros((1, 3)), [1])
    assert (table.above.tolist(), table.tied.tolist()) == ([0], [2])
