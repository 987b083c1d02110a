"""The bias-variance trade-off (BV γ): minimise bias² + γ variance under a uniform prior (section 5.3)."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import lstsq, solve_triangular

from sampled_metrics._arrays import Floats
from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators.linear import LinearEstimator, Solved
from sampled_metrics.estimators.reduction import reduced
from sampled_metrics.metrics.held_out import RankMetric
from sampled_metrics.sampling.design import SamplingDesign


@dataclass(frozen=True)
class BiasVariance(LinearEstimator):
    """Eq. 25: w = ((1-γ) AᵀDA + γ diag(c))⁻¹ AᵀD f, with D the uniform prior and c = AᵀD 1.

    These are the normal equations of the solved least-squares problem. γ = 1 gives the posterior mean of f (eq. 26).

    Attributes:
        gamma: γ, the weight of variance, 0 to 1.
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    gamma: float
    replacement: bool | None

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ConfigError(f"γ of a bias-variance estimator must lie in [0, 1], not {self.gamma}")

    def __str__(self) -> str:
        return f"bv-{self.gamma:g}"

    def weights(self, design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> Floats:
        """Solve the problem for every metric at once."""
        return _solved(self.gamma, design.assumed(self.replacement), candidates, metrics).weights

    def condition_number(self, design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> float:
        """Return the condition number of the solved equations, at most γ^-½ for γ > 0."""
        return _solved(self.gamma, design.assumed(self.replacement), candidates, metrics).condition_number


@lru_cache(maxsize=128)
def _solved(gamma: float, design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> Solved:
    problem = reduced(candidates, design, metrics)
    seen = problem.marginal > 0  # an x that no rank can give has weight 0
    weights = np.zeros((len(metrics), design.negatives + 1))
    condition_number = 1.0
    if gamma == 1:
        weights[:, seen] = (problem.joint[seen] / problem.marginal[seen, np.newaxis]).T
    elif gamma == 0:
        weights[:] = lstsq(problem.factor, problem.targets, lapack_driver="gelsy", check_finite=False)[0].T
        condition_number = float(np.linalg.cond(problem.factor))
    else:
        # with u = c^½ w the penalty is γ ‖u‖², and all singular values of the system are at least γ^½
        scale = np.sqrt(problem.marginal[seen])
        bias = np.sqrt(1 - gamma)
        equations = np.vstack((bias * problem.factor[:, seen] / scale, np.sqrt(gamma) * np.eye(len(scale))))
        wanted = np.vstack((problem.targets / bias, np.zeros((len(scale), len(metrics)))))
        system = np.asarray(np.linalg.qr(np.hstack((equations, wanted)), mode="r"))
        solved = solve_triangular(system[: len(scale), : len(scale)], system[: len(scale), len(scale) :])
        weights[:, seen] = solved.T / scale
        condition_number = float(np.linalg.cond(system[: len(scale), : len(scale)]))
    return Solved(weights, condition_number)
