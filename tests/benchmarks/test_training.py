"""benchmarks/training.py: its trainings have the laws that it says, and the library's values."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import values_of


@pytest.fixture
def training(script):
    return script("training")


def test_values_are_those_of_the_library(training):
    recall = np.array([0.1, 0.2])
    values_by_epoch = training.values_by_epoch(
        recall, 500, 0.9, training.LABELS, np.random.default_rng(1)
    )
    ranks_by_epoch = training.ranks_by_epoch(recall, 500, 0.9, np.random.default_rng(1))
    metrics = [sm.metric(label) for label in training.LABELS]
    for values, ranks in zip(values_by_epoch, ranks_by_epoch, strict=True):
        table = sm.exact_ranks(ranks, candidates=training.CANDIDATES)
        expected = values_of(table, np.arange(500), metrics)
        np.testing.assert_allclose(values.low, expected.low, rtol=1e-12)
        np.testing.assert_array_equal(values.bounds, expected.bounds)
        np.testing.assert_array_equal(values.limits, expected.limits)


def test_ranks_have_the_recall_of_the_epoch(training):
    """Also Recall@1 of 2 %, and NDCG@10 as `true_ndcg` says; five standard errors."""
    users = 200_000
    recall = np.array([0.3, training.TWO_PERCENT])
    labels = ("recall@10", "ndcg@10", "recall@1")
    epochs = training.values_by_epoch(recall, users, 0.5, labels, np.random.default_rng(1))
    points = np.array([values.point for values in epochs])
    tolerance = 5 * np.sqrt(recall / users)
    assert (np.abs(points[:, 0] - recall) <= tolerance).all()
    assert (np.abs(points[:, 1] - training.true_ndcg(recall)) <= tolerance).all()
    assert points[1, 2] == pytest.approx(0.02, abs=5 * np.sqrt(0.02 / users))


@pytest.mark.slow
def test_the_interval_of_the_best_epoch_holds(training):
    """Of 50 equal epochs, that of a single epoch misses in a third of the trainings or more."""
    runs = [training.best_of_run(300, 0.1, 0.0, seed) for seed in range(200)]
    excess, plain_misses, known, unknown = np.mean(runs, axis=0)
    assert excess > 1.1
    assert plain_misses > 0.15
    assert max(known, unknown) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
