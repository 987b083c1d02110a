"""Constrained least squares (CLS): the least biased weights that never reward a worse sampled rank (section 5.2)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from sampled_metrics.estimators.bias_variance import triangular
from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.metrics import Metric
from sampled_metrics.sampling import Design


@dataclass(frozen=True)
class ConstrainedLeastSquares:
    """Minimises eq. 21 under a uniform prior, over weights that are non-increasing in x and not negative.

    With w_x = Σ_{j ≥ x} δ_j and δ ≥ 0 it is a non-negative least-squares problem. The paper states only that weights do
    not increase; its printed numbers also need w ≥ 0.

    Attributes:
        replacement: whether P(x | r) is taken as if negatives were drawn with replacement.
    """

    replacement: bool

    def fit(self, design: Design, candidates: int, metric: Metric) -> LinearEstimate:
        """Solve the problem for one metric."""
        factor, target = triangular(candidates, Design(design.negatives, self.replacement), metric)
        steps = np.cumsum(factor, axis=1)  # what δ_j adds: A summed over x ≤ j
        delta, _ = nnls(steps, target)
        return LinearEstimate(np.cumsum(delta[::-1])[::-1])
