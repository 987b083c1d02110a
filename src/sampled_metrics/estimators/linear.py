"""What an estimator is: it learns, before any sample is seen, what to make of one (section 5).

Every estimator of the paper is a vector of weights: an event whose sampled rank is x + 1 counts w_x, and the estimate
is the mean over events. That is linear in the histogram of x, which is therefore all that a sample is reduced to.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sampled_metrics.arrays import Floats
from sampled_metrics.metrics import Metric
from sampled_metrics.sampling import Design


class Estimator(Protocol):
    """A rule for estimating the true metric from sampled ranks."""

    def fit(self, design: Design, candidates: int, metric: Metric) -> "LinearEstimate":
        """Prepare to estimate a metric over n candidates from samples of a design; depends on no sample."""
        ...


@dataclass(frozen=True)
class LinearEstimate:
    """A fitted estimator that is linear in the histogram of x.

    Attributes:
        weights: (m + 1,) what an event with x = 0 … m better negatives in its sample counts.
    """

    weights: Floats

    def estimate(self, histogram: np.ndarray) -> Floats:
        """Return the estimate of the mean metric.

        Args:
            histogram: (…, m + 1) how many events had x = 0 … m; leading axes, such as repetitions, are kept.
        """
        return np.asarray(histogram @ self.weights / np.sum(histogram, axis=-1))
