"""The reduced least-squares problem against the whole one."""

import numpy as np
import pytest
from exact_probabilities import chances
from scipy import stats
from scipy.special import binom

from sampled_metrics.estimators.reduction import reduced
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign

METRICS = tuple(metric(label) for label in ("ap", "ndcg@3", "auc"))


def whole(n, m, replacement):
    """A and f of the whole problem."""
    if n < 100:
        A = chances(n, m, replacement)
    else:
        better, x = np.arange(n)[:, np.newaxis], np.arange(m + 1)
        if replacement:
            A = stats.binom.pmf(x, m, better / (n - 1))
        else:
            A = binom(better, x) * binom(n - 1 - better, m - x) / binom(n - 1, m)
    r = np.arange(1, n + 1)
    return A, np.column_stack((1 / r, (r <= 3) / np.log2(r + 1), (n - r) / (n - 1)))


# 10000 ranks are three blocks, 4096 and 4097 one and two; 5 of 3 negatives only with replacement
SIZES = [(2, 1, True), (3, 5, True), (9, 8, False), (60, 10, False), (60, 10, True)]
SIZES += [(4096, 6, True), (4097, 6, True), (10_000, 6, False)]


@pytest.mark.parametrize(("n", "m", "replacement"), SIZES)
def test_has_the_sums_of_the_whole(n, m, replacement):
    A, f = whole(n, m, replacement)
    problem = reduced(n, SamplingDesign(m, replacement), METRICS)
    rows = min(n, m + 1)
    assert problem.factor.shape == (rows, m + 1)
    assert problem.targets.shape == (rows, 3)
    close = {"rtol": 1e-9, "atol": 1e-13}
    np.testing.assert_allclose(problem.marginal, A.mean(axis=0), **close)
    np.testing.assert_allclose(problem.joint, A.T @ f / n, **close)
    np.testing.assert_allclose(problem.factor.T @ problem.factor, A.T @ A / n, **close)
    np.testing.assert_allclose(problem.factor.T @ problem.targets, A.T @ f / n, **close)
    np.testing.assert_allclose(np.tril(problem.factor, -1), 0)


@pytest.mark.parametrize(("n", "m", "replacement"), SIZES)
def test_the_loss_differs_by_a_constant(n, m, replacement):
    A, f = whole(n, m, replacement)
    problem = reduced(n, SamplingDesign(m, replacement), METRICS)
    rng = np.random.default_rng(1)
    for column in range(3):
        differences = []
        for _ in range(4):
            w = rng.normal(size=m + 1)
            of_whole = ((A @ w - f[:, column]) ** 2).mean()
            differences.append(of_whole - ((problem.factor @ w - problem.targets[:, column]) ** 2).sum())
        assert min(differences) > -1e-12  # what no weights can explain
        assert np.ptp(differences) < 1e-11


def test_a_metric_does_not_depend_on_those_beside_it():
    together = reduced(500, SamplingDesign(10), METRICS)
    for column, each in enumerate(METRICS):
        alone = reduced(500, SamplingDesign(10), (each,))
        np.testing.assert_allclose(alone.joint[:, 0], together.joint[:, column], rtol=1e-13)
        # R is unique up to the signs of its rows
        signs = np.sign(np.diag(alone.factor)) * np.sign(np.diag(together.factor))
        np.testing.assert_allclose(alone.targets[:, 0], signs * together.targets[:, column], rtol=1e-9, atol=1e-14)


def test_cannot_be_changed_by_who_asked():
    problem = reduced(60, SamplingDesign(10), METRICS)
    for part in (problem.factor, problem.targets, problem.marginal, problem.joint):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1
