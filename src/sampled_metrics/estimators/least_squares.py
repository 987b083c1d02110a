"""Constrained least squares (CLS): the least biased weights that do not increase with the rank (section 5.2)."""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.linear import LinearEstimator
from sampled_metrics.estimators.nonnegative import nonnegative_least_squares
from sampled_metrics.estimators.reduction import Reduction, reduced, solved
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.design import SamplingDesign

_NEGLIGIBLE = 1e-10  # singular values that have no effect on weights from 0 to 1
_SHARED = 8  # largest active set that is tried for other n
_TOLERANCE = 1e-11  # slope of the loss that counts as none, relative to the largest


@dataclass(frozen=True)
class ConstrainedLeastSquares(LinearEstimator):
    """Weights that minimise eq. 21 under a uniform prior, and are non-negative and non-increasing in x.

    With w_x = Σ_{j ≥ x} δ_j and δ ≥ 0 this is a non-negative least-squares problem. The paper states only that weights
    do not increase; its printed numbers also need w ≥ 0.

    Attributes:
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    replacement: bool | None

    def __str__(self) -> str:
        return "cls"

    def weights(self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]) -> Floats:
        """Return the weights, solved by least squares for each n and metric.

        A metric that is linear in the rank has the weights f(1 + (n-1) x/m), which meet the constraints without bias.
        """
        n, share = candidates[:, np.newaxis], np.arange(design.negatives + 1) / design.negatives
        weights = np.empty((len(candidates), len(metrics), len(share)))
        not_linear = tuple(metric for metric in metrics if not metric.linear_in_rank)
        if not_linear:
            weights[:, [not metric.linear_in_rank for metric in metrics]] = solved(
                _solve, candidates, design.assumed(self.replacement), not_linear
            )
        for column, metric in enumerate(metrics):
            if metric.linear_in_rank:
                weights[:, column] = metric.of_rank(1 + (n - 1) * share, n)
        return weights

    def condition_number(self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]) -> float:
        """Return the largest condition number over metrics, of the columns whose δ is not 0."""
        not_linear = tuple(metric for metric in metrics if not metric.linear_in_rank)
        if not not_linear:
            return 1.0
        problem = reduced((candidates,), design.assumed(self.replacement), not_linear)
        steps, _ = _steps(problem)
        weights = _solve(problem)[0]
        taken = [weights_x > following for weights_x, following in zip(weights, np.roll(weights, -1, 1), strict=True)]
        for columns, last in zip(taken, weights[:, -1], strict=True):
            columns[-1] = last > 0
        scaled = problem.singular.T * steps
        return max((float(np.linalg.cond(scaled[:, columns])) for columns in taken if columns.any()), default=1.0)


def _steps(problem: Reduction) -> tuple[Floats, Floats]:
    """Return the (K, m + 1) effects of δ_j relative to S, and the (n's, K, metrics) targets Uᵀ D^½ f."""
    steps = np.cumsum(problem.basis.T * problem.marginal, axis=1)
    singular = problem.singular[:, :, np.newaxis]
    negligible = singular <= _NEGLIGIBLE
    return steps, np.where(negligible, 0.0, problem.projected / np.where(negligible, 1.0, singular))


def _solve(problem: Reduction) -> Floats:
    """Return the (n's, metrics, m + 1) weights."""
    steps, targets = _steps(problem)
    deltas = np.stack([_deltas(steps, problem.singular, of_metric) for of_metric in np.moveaxis(targets, 2, 0)], axis=1)
    return np.cumsum(deltas[:, :, ::-1], axis=2)[:, :, ::-1]


def _deltas(steps: Floats, singular: Floats, targets: Floats) -> Floats:
    """Return δ of one metric, (n's, m + 1).

    The δ above 0 are often the same ones for neighbouring n. So one n is solved by the active-set method. Its active
    set is tried for all other n, and taken where the conditions of an optimum (Karush, Kuhn and Tucker) hold. Large
    active sets differ from n to n, and are not tried.
    """
    deltas = np.zeros((len(targets), steps.shape[1]))
    left = np.arange(len(targets))
    while len(left):
        first, left = left[len(left) // 2], np.delete(left, len(left) // 2)
        deltas[first] = nonnegative_least_squares(singular[first][:, np.newaxis] * steps, targets[first])
        active = deltas[first] > 0
        if not len(left) or not 0 < active.sum() <= _SHARED:
            continue
        factor, upper = np.linalg.qr(singular[left][:, :, np.newaxis] * steps[:, active])
        solutions = np.linalg.solve(upper, np.swapaxes(factor, 1, 2) @ targets[left][:, :, np.newaxis])[:, :, 0]
        rest = targets[left] - singular[left] * (solutions @ steps[:, active].T)
        slope = (singular[left] * rest) @ steps
        most = np.abs((singular[left] * targets[left]) @ steps).max(axis=1, keepdims=True)
        best = (solutions > 0).all(axis=1) & (slope <= _TOLERANCE * most).all(axis=1)
        deltas[np.ix_(left[best], active)] = solutions[best]
        left = left[~best]
    return deltas
