"""Items that a model does not score, or masks: they tie below all others."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.adapters._unscored import tied_below

NAN = np.nan


@pytest.mark.parametrize(
    ("scores", "above", "tied"),
    [
        ([0.5, NAN, -3.0, NAN], 2, 1),
        ([2.0, 1.0, NAN, NAN], 1, 0),
        ([-np.inf, NAN, 0.25, -7.0], 2, 1),
        ([NAN, NAN, NAN, NAN], 0, 3),
    ],
)
@pytest.mark.filterwarnings("ignore:.* held-out items score -inf")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_unscored_items_tie_below_all_others(scores: list[float], above: int, tied: int, kind: type) -> None:
    table = sm.rank(tied_below(np.array([scores], dtype=kind)), np.zeros((1, 4)), [1])
    assert (table.above.tolist(), table.tied.tolist()) == ([above], [tied])
