"""No correction: the metric of the sampled rank, as if the m + 1 sampled items were all there are (section 4)."""

from dataclasses import dataclass

from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.metrics import Metric
from sampled_metrics.sampling import Design


@dataclass(frozen=True)
class Uncorrected:
    """w_x = f(x + 1), with n = m + 1 for the metrics that need n."""

    def fit(self, design: Design, candidates: int, metric: Metric) -> LinearEstimate:
        """Ignore the number of candidates, as a sampled evaluation does."""
        return LinearEstimate(metric.values(design.negatives + 1))
