"""The bias-variance trade-off (BV γ): bias² plus γ times variance, least over a uniform prior (section 5.3)."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import lstsq

from sampled_metrics.arrays import Floats
from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.metrics import Metric
from sampled_metrics.sampling import Design, rank_distribution


@lru_cache(maxsize=8)
def _orthogonal_triangular(candidates: int, design: Design) -> tuple[Floats, Floats]:
    """Q (n, m + 1) and R (m + 1, m + 1) of D^½ A, under the uniform prior D = 1/n."""
    q, r = np.linalg.qr(rank_distribution(candidates, design) / np.sqrt(candidates))
    return q, r


def triangular(candidates: int, design: Design, metric: Metric) -> tuple[Floats, Floats]:
    """Reduce the n equations of eq. 21 to the min(n, m + 1) that matter, with a uniform prior.

    ‖D^½ (A w - f)‖² and ‖R w - Qᵀ D^½ f‖² differ by a constant, where D^½ A = QR; no digits are lost to AᵀDA.

    Returns:
        R, (min(n, m + 1), m + 1), and Qᵀ D^½ f, (min(n, m + 1),).
    """
    q, r = _orthogonal_triangular(candidates, design)
    return r, q.T @ (metric.values(candidates) / np.sqrt(candidates))


@dataclass(frozen=True)
class BiasVariance:
    """Eq. 25: w = ((1-γ) AᵀDA + γ diag(c))⁻¹ AᵀD f, with D the uniform prior and c = AᵀD 1.

    Solved as a least-squares problem whose normal equations these are. γ = 1 is the posterior mean of f (eq. 26).

    Attributes:
        gamma: γ, 0 to 1: the price of variance.
        replacement: whether P(x | r) is taken as if negatives were drawn with replacement.
    """

    gamma: float
    replacement: bool

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ConfigError(f"γ of a bias-variance estimator must lie in [0, 1], not {self.gamma}")

    def fit(self, design: Design, candidates: int, metric: Metric) -> LinearEstimate:
        """Solve the problem for one metric."""
        assumed = Design(design.negatives, self.replacement)
        distribution = rank_distribution(candidates, assumed)
        marginal = distribution.mean(axis=0)
        if self.gamma == 1:
            joint = metric.values(candidates) @ distribution / candidates
            # an x that no rank can give counts nothing, as for any other γ
            return LinearEstimate(np.divide(joint, marginal, out=np.zeros_like(joint), where=marginal > 0))
        factor, target = triangular(candidates, assumed, metric)
        bias = np.sqrt(1 - self.gamma)
        equations = np.vstack((bias * factor, np.diag(np.sqrt(self.gamma * marginal))))
        wanted = np.concatenate((target / bias, np.zeros(len(marginal))))
        weights, *_ = lstsq(equations, wanted, lapack_driver="gelsy", check_finite=False)
        return LinearEstimate(weights)
