"""Constrained least squares against every active set, a general solver, and the conditions of an optimum."""

from itertools import combinations

import numpy as np
import pytest
from exact_probabilities import chances, dense

from sampled_metrics.estimators.linear import ConstrainedLeastSquares
from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

METRICS = ["ap", "ndcg", "recall@1", "recall@3", "auc"]


def loss(A, weights, f):
    return ((A @ weights - f) ** 2).mean()


def best_of_every_active_set(A, f):
    """Minimise ‖A w - f‖² over w non-increasing and ≥ 0, by trying every set of places where w may step down."""
    size = A.shape[1]
    best = (np.inf, None)
    for count in range(size + 1):
        for places in combinations(range(size), count):
            # w is a sum of steps: δ_j on x = 0 … j
            steps = np.array([np.arange(size) <= place for place in places], dtype=float).T.reshape(size, count)
            height = np.linalg.lstsq(A @ steps, f, rcond=None)[0]
            if (height >= -1e-12).all():
                best = min(best, (loss(A, steps @ height, f), (steps @ height).tolist()))
    return best


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("label", METRICS)
@pytest.mark.parametrize(("n", "m"), [(4, 3), (30, 5)])
def test_is_the_best_of_every_active_set(n, m, label, replacement):
    A, f = chances(n, m, replacement), metric(label).values(n)
    outcomes = Outcomes.from_design(SamplingDesign(m), n)
    ours = ConstrainedLeastSquares(replacement).fit(outcomes, [metric(label)]).weights[0]
    least, weights = best_of_every_active_set(A, f)
    assert loss(A, ours, f) == pytest.approx(least, rel=1e-9, abs=1e-18)
    np.testing.assert_allclose(ours, weights, atol=1e-7)


@pytest.mark.parametrize(("n", "m"), [(3541, 100), (10_000, 20)])  # the second one has several blocks of ranks
@pytest.mark.parametrize("label", ["recall@10", "ndcg@10", "ap", "auc"])
def test_meets_the_conditions_of_an_optimum(n, m, label):
    A, f = dense(n, m, True), metric(label).values(n)
    weights = ConstrainedLeastSquares(True).fit(Outcomes.from_design(SamplingDesign(m), n), [metric(label)]).weights[0]
    steps = weights - np.append(weights[1:], 0)
    assert (steps >= -1e-15).all()
    # the loss must not fall along any step that may be taken, and be flat along those that are
    slope = np.cumsum(A.T @ (A @ weights - f))
    scale = np.cumsum(A.T @ f).max()
    assert (slope >= -1e-10 * scale).all()
    assert np.abs(slope * steps).max() <= 1e-10 * scale


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("n", "m"), [(50, 6), (3541, 100), (10**6, 1000), (10, 9)])
def test_auc_is_already_unbiased(n, m, replacement):
    # x has mean m (r-1)/(n-1), so 1 - x/m is AUC in expectation, falls, and is not negative
    outcomes = Outcomes.from_design(SamplingDesign(m, replacement), n)
    weights = ConstrainedLeastSquares(None).fit(outcomes, [metric("auc")]).weights[0]
    np.testing.assert_allclose(weights, 1 - np.arange(m + 1) / m, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("m", "labels"), [(100, METRICS), (15, ["ap", "auc"])])
def test_sixty_n_at_once_are_what_each_is_alone(m, labels):
    # neighbours, whose active set is often the same, and others far from all
    candidates = np.concatenate((np.arange(1000, 1040), np.geomspace(101, 50_000, 20).astype(int)))
    metrics, design = tuple(map(metric, labels)), SamplingDesign(m)
    together = ConstrainedLeastSquares(None).weights(design, candidates, metrics)
    assert together.shape == (60, len(labels), m + 1)
    for n, weights in zip(candidates, together, strict=True):
        alone = ConstrainedLeastSquares(None).weights(design, np.array([n]), metrics)[0]
        np.testing.assert_allclose(weights, alone, rtol=0, atol=1e-9)
