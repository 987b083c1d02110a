"""Random scores have the metrics that chance has, and are a function of key, user and item alone."""

import numpy as np
import pytest
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.metrics.metric import metric
from sampled_metrics.recommenders.simple import RandomScores

USERS, ITEMS, TRAINED = 5000, 120, 20
CANDIDATES = ITEMS - TRAINED


@pytest.fixture(scope="module")
def split() -> Split:
    """Every user trains on the first 20 items; the held-out one is anywhere among the others."""
    dense = np.zeros((USERS, ITEMS))
    dense[:, :TRAINED] = 1
    held_out = np.random.default_rng(5).integers(TRAINED, ITEMS, size=USERS)
    return Split(csr_array(dense), one_each(held_out, ITEMS), np.arange(USERS), np.arange(ITEMS))


@pytest.mark.parametrize(
    ("label", "expected", "deviation"),
    [  # the rank is uniform on 1 … n: AUC on n points that 0 and 1 enclose, Recall@10 is a coin of 10/n
        ("auc", 0.5, np.sqrt((CANDIDATES + 1) / (12 * (CANDIDATES - 1)))),
        ("recall@10", 10 / CANDIDATES, np.sqrt(10 / CANDIDATES * (1 - 10 / CANDIDATES))),
    ],
)
def test_metrics_are_those_of_chance(split: Split, label: str, expected: float, deviation: float) -> None:
    """Within 4 standard errors of the mean of 5000 users: 0.016 for AUC, 0.017 for Recall@10."""
    table = RandomScores().fit(split.training, np.random.default_rng(11)).rank(split)
    assert table.tied.max() == 0
    assert abs(table.values(metric(label)).mean() - expected) < 4 * deviation / np.sqrt(USERS)
