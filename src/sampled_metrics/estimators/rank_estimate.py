"""The metric of an unbiased estimate of the rank (section 5.1)."""

from dataclasses import dataclass

import numpy as np

from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.metrics import Metric
from sampled_metrics.sampling import Design


@dataclass(frozen=True)
class RankEstimate:
    """w_x = f(1 + floor((n - 1) x / m)), eq. 20, floored as in the paper's experiments.

    Attributes:
        extra_divisor: added to m. The paper's printed numbers fit 1, its eq. 20 says 0.
    """

    extra_divisor: int = 0

    def fit(self, design: Design, candidates: int, metric: Metric) -> LinearEstimate:
        """Scale every sampled rank up to the n candidates."""
        x = np.arange(design.negatives + 1)
        rank = 1 + (candidates - 1) * x // (design.negatives + self.extra_divisor)
        return LinearEstimate(metric.of_rank(rank, candidates))
