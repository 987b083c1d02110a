"""Mapping functions: Recall@k of the sample estimates Recall@f(k).

Li, Jin, Gao, Liu: On Sampling Top-K Recommendation Evaluation, KDD 2020. The mapping fixes the share of events up to
each rank f(k), k = 1 … m + 1. Between these ranks the share is assumed to grow linearly. So an event with the sampled
rank k counts the mean of the metric over the true ranks from f(k-1) to f(k), with f(0) = 0. This is a linear estimator
of any metric. For Recall at the ranks f(k) it equals the estimator of the source.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import check_memory_limit
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.linear import LinearEstimator
from sampled_metrics.metrics.held_out import RankMetric
from sampled_metrics.sampling.design import SamplingDesign


@dataclass(frozen=True)
class Mapping(LinearEstimator):
    """The mean metric over the true ranks that a sampled rank maps to: mapping-linear, mapping-bound, mapping-beta-a.

    Attributes:
        kind: linear, bound or beta.
        shape: a of beta, above 0.
    """

    kind: str
    shape: float = 1.0

    def __post_init__(self) -> None:
        if not self.shape > 0:
            raise ConfigError(f"a of mapping-beta-a must be more than 0, not {self.shape:g}")

    def __str__(self) -> str:
        return f"mapping-beta-{self.shape:g}" if self.kind == "beta" else f"mapping-{self.kind}"

    def function(self, k: Floats, candidates: int, negatives: int) -> Floats:
        """Return f(k) for k = 1 … m + 1, with f(m + 1) = n.

        It is 1 + (k - 1)(n - 1)/m for linear, 1 + (k - ½)(n - 1)/m, at most n, for bound, and 1 + (n - 1)
        [Γ(k + a) Γ(m + 1) / (Γ(k) Γ(m + 1 + a))]^(1/a) for beta, which assumes that rank quantiles are Beta(a, 1).
        """
        if self.kind == "linear":
            return 1 + (k - 1) * (candidates - 1) / negatives
        if self.kind == "bound":
            return np.minimum(1 + (k - 0.5) * (candidates - 1) / negatives, candidates)
        log = gammaln(k + self.shape) + gammaln(negatives + 1) - gammaln(k) - gammaln(negatives + 1 + self.shape)
        return 1 + (candidates - 1) * np.exp(log / self.shape)

    def weights(self, design: SamplingDesign, candidates: Ints, metrics: tuple[RankMetric, ...]) -> Floats:
        """Average each metric between the mapped ranks.

        Raises:
            DataError: the cut-off of a metric is below f(1), so no sampled rank maps to it; or n is too large for the
                allowed memory.
        """
        return np.stack([self._weights(design, int(n), metrics) for n in candidates])

    def _weights(self, design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> Floats:
        check_memory_limit(
            (len(metrics) + 3, candidates),
            f"the metrics at every rank of {candidates} candidates",
            "take an estimator that does not hold them, such as rank-estimate or uncorrected",
        )
        ranks = self.function(np.arange(1.0, design.negatives + 2), candidates, design.negatives)
        values = [metric.values(candidates) for metric in metrics]
        for metric, of_rank in zip(metrics, values, strict=True):
            worth = np.flatnonzero(of_rank)
            if not metric.linear_in_rank and len(worth) and worth[-1] + 1 < ranks[0] * (1 - 1e-12):
                raise DataError(
                    f"{self} is not valid for {metric.label} with {design.negatives} negatives of {candidates} "
                    f"candidates: sampled rank 1 stands for all ranks up to {ranks[0]:.1f}; draw more negatives"
                )
        ends = np.concatenate(([0.0], ranks))
        return np.stack([_means(of_rank, ends) for of_rank in values])


def _means(values: Floats, ends: Floats) -> Floats:
    """Return the means of a metric between ends, where rank r fills the interval from r - 1 to r."""
    integral = np.interp(ends, np.arange(len(values) + 1), np.concatenate(([0.0], np.cumsum(values))))
    with np.errstate(invalid="ignore", divide="ignore"):  # equal ends have no finite mean, which is refused later
        return np.diff(integral) / np.diff(ends)
