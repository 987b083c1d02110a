"""Constrained least squares (CLS): the least biased weights that do not increase with the rank (section 5.2)."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sampled_metrics._arrays import Floats
from sampled_metrics.estimators.linear import LinearEstimator, Solved
from sampled_metrics.estimators.reduction import reduced
from sampled_metrics.metrics.held_out import RankMetric
from sampled_metrics.sampling.design import SamplingDesign


@dataclass(frozen=True)
class ConstrainedLeastSquares(LinearEstimator):
    """Minimise eq. 21 under a uniform prior, over weights that are non-negative and non-increasing in x.

    With w_x = Σ_{j ≥ x} δ_j and δ ≥ 0 this is a non-negative least-squares problem. The paper states only that weights
    do not increase; its printed numbers also need w ≥ 0.

    Attributes:
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    replacement: bool | None

    def __str__(self) -> str:
        return "cls"

    def weights(self, design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> Floats:
        """Solve the least-squares problem of each metric."""
        return _solved(design.assumed(self.replacement), candidates, metrics).weights

    def condition_number(self, design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> float:
        """Return the largest condition number over metrics, of the columns whose δ is not 0."""
        return _solved(design.assumed(self.replacement), candidates, metrics).condition_number


@lru_cache(maxsize=128)
def _solved(design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> Solved:
    from scipy.optimize import nnls  # slow to import, and used only here

    problem = reduced(candidates, design, metrics)
    steps = np.cumsum(problem.factor, axis=1)  # effect of δ_j: A summed over x ≤ j
    deltas = np.stack([nnls(steps, target)[0] for target in problem.targets.T])
    taken = [steps[:, each > 0] for each in deltas if each.any()]
    condition_number = max((float(np.linalg.cond(each)) for each in taken), default=1.0)
    return Solved(np.cumsum(deltas[:, ::-1], axis=1)[:, ::-1], condition_number)
