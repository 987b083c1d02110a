"""No correction: the metric of the sampled rank, as if the m + 1 sampled items were all there are (section 4)."""

from dataclasses import dataclass

import numpy as np

from sampled_metrics.arrays import Floats
from sampled_metrics.design import Design
from sampled_metrics.estimators.linear import LinearEstimator
from sampled_metrics.metrics import RankMetric


@dataclass(frozen=True)
class Uncorrected(LinearEstimator):
    """w_x = f(x + 1), with n = m + 1 for the metrics that need n."""

    def __str__(self) -> str:
        return "uncorrected"

    def weights(self, design: Design, candidates: int, metrics: tuple[RankMetric, ...]) -> Floats:
        """Ignore the number of candidates, as a sampled evaluation does."""
        return np.stack([metric.values(design.negatives + 1) for metric in metrics])
