"""The metric of an unbiased estimate of the rank (section 5.1)."""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.linear import LinearEstimator
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.design import SamplingDesign


@dataclass(frozen=True)
class RankEstimate(LinearEstimator):
    """The metric of the estimated rank: w_x = f(1 + floor((n - 1) x / m)), eq. 20, floored as in the experiments.

    Attributes:
        extra_divisor: the number added to m. The paper's printed numbers fit 1; its eq. 20 has 0.
    """

    extra_divisor: int = 0

    def __str__(self) -> str:
        labels = {0: "rank-estimate", 1: "rank-estimate-as-printed"}
        return labels.get(self.extra_divisor, repr(self))

    def weights(self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]) -> Floats:
        """Return the metrics of the sampled ranks, scaled to the n candidates."""
        x, n = np.arange(design.negatives + 1), candidates[:, np.newaxis]
        whole, rest = np.divmod(n - 1, design.negatives + self.extra_divisor)  # (n - 1) x may overflow
        rank = 1 + whole * x + rest * x // (design.negatives + self.extra_divisor)
        return np.stack([metric.of_rank(rank, n) for metric in metrics], axis=1)
