"""Items that a model does not score, or masks: they tie below all others."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.adapters._unscored import tied_below

SCORES = [[0.5, None, -3.0, None], [2.0, 1.0, None, None], [-np.inf, None, 0.25, -7.0], [None] * 4]


@pytest.mark.filterwarnings("ignore:.* held-out items score -inf")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_unscored_items_tie_below_all_others(kind):
    table = sm.rank(tied_below(np.array(SCORES, dtype=kind)), np.zeros((4, 4)), [1] * 4)
    assert (table.above.tolist(), table.tied.tolist()) == ([2, 1, 2, 0], [1, 0, 1, 3])
