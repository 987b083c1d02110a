"""Popularity by hand."""

import numpy as np
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.recommenders.popularity import Popularity

TRAINING = csr_array(
    np.array([[1.0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0]])
)  # events of the items: 3, 2, 1, 0, 0


def test_scores_are_events_per_item() -> None:
    model = Popularity().fit(TRAINING, np.random.default_rng(0))
    assert model.scores(slice(1, 3), TRAINING).tolist() == [[3, 2, 1, 0, 0], [3, 2, 1, 0, 0]]


def test_equally_popular_items_tie() -> None:
    split = Split(TRAINING, one_each([2, 1, 4], 5), np.arange(3), np.arange(5))
    table = Popularity().fit(TRAINING, np.random.default_rng(0)).rank(split)
    assert table.candidates.tolist() == [3, 3, 3]
    assert table.above.tolist() == [0, 0, 1]
    assert table.tied.tolist() == [0, 0, 1]
