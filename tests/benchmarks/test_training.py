"""The simulated trainings of benchmarks/training.py have the laws that it says, and the values of
the library.
"""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import values_of

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def training():
    """The simulation, imported as a script imports it; the path is as before afterwards."""
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("training")
    sys.path.remove(str(FOLDER))
    del sys.modules["training"]


def test_values_are_those_of_the_library(training):
    recall = np.array([0.1, 0.2])
    [first, second] = training.values_by_epoch(
        recall, 500, 0.9, training.LABELS, np.random.default_rng(1)
    )
    ranks = list(training.ranks_by_epoch(recall, 500, 0.9, np.random.default_rng(1)))
    metrics = [sm.metric(label) for label in training.LABELS]
    for values, of_epoch in ((first, ranks[0]), (second, ranks[1])):
        expected = values_of(
            sm.exact_ranks(of_epoch, candidates=training.CANDIDATES), np.arange(500), metrics
        )
        np.testing.assert_allclose(values.low, expected.low, rtol=1e-12)
        np.testing.assert_array_equal(values.bounds, expected.bounds)
        np.testing.assert_array_equal(values.limits, expected.limits)


def test_ranks_have_the_recall_of_the_epoch(training):
    """Also Recall@1 of 2 %, and NDCG@10 as `true_ndcg` says; five standard errors."""
    users = 200_000
    recall = np.array([0.3, training.TWO_PERCENT])
    last = [
        *training.values_by_epoch(
            recall, users, 0.5, ("recall@10", "recall@1", "ndcg@10"), np.random.default_rng(1)
        )
    ]
    for values, expected, ndcg in zip(last, recall, training.true_ndcg(recall), strict=True):
        assert values.point[0] == pytest.approx(expected, abs=5 * np.sqrt(expected / users))
        assert values.point[2] == pytest.approx(ndcg, abs=5 * np.sqrt(expected / users))
    assert last[1].point[1] == pytest.approx(0.02, abs=5 * np.sqrt(0.02 / users))


def test_patience_stops_at_the_first_flat_part(training):
    values = np.array([1.0, 3, 2, 2, 2, 4, *[0.0] * 44])
    assert training.stopped_by_value(3, values, []) == 1
    assert training.stopped_by_value(5, values, []) == 5
    said = ["first", "yes", *["undecided"] * 48]
    assert training.stopped_by_yes(3, values, said) == 1
    assert training.stopped_by_yes(5, values, said) == 5
