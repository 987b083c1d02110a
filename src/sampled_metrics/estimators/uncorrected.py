"""No correction: the metric of the sampled rank, as if there were only the m + 1 sampled items (section 4)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.linear import LinearEstimator
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.design import SamplingDesign


@dataclass(frozen=True)
class Uncorrected(LinearEstimator):
    """The metric of the sampled rank: w_x = f(x + 1), with n = m + 1 for the metrics that need n."""

    is_uncorrected: ClassVar[bool] = True

    def __str__(self) -> str:
        return "uncorrected"

    def weights(self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]) -> Floats:
        """Return the weights, which are the same for each n."""
        weights = np.stack([metric.values(design.negatives + 1) for metric in metrics])
        return np.broadcast_to(weights, (len(candidates), *weights.shape))
