"""The bias-variance trade-off (BV γ): minimise bias² + γ variance under a uniform prior (section 5.3)."""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.linear import LinearEstimator
from sampled_metrics.estimators.reduction import Reduction, reduced, solved
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.design import SamplingDesign

WORST_CONDITION = 1e10
"""Largest condition number of the equations of γ = 0; beyond, the weights are made of rounding errors."""

_SMALL = 1e-4  # up to this γ, the digits of small singular values matter


@dataclass(frozen=True)
class BiasVariance(LinearEstimator):
    """Weights that minimise bias² plus γ times variance (eq. 25).

    They are w = ((1-γ) AᵀDA + γ diag(c))⁻¹ AᵀD f, with D the uniform prior and c = AᵀD 1. In the singular vectors of
    P(x | r) the equations are diagonal (`reduction`). γ = 1 gives the posterior mean of f (eq. 26).

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

    def weights(self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]) -> Floats:
        """Return the weights, solved for every n and every metric.

        Raises:
            DataError: γ is 0 and the equations are too badly conditioned for double precision, or m is too large.
        """
        assumed = design.assumed(self.replacement)
        if self.gamma == 0:
            for n in candidates:
                self._require_condition(design, int(n), metrics)
        return solved(self._solve, candidates, assumed, metrics, self._precise)

    def condition_number(self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]) -> float:
        """Return the condition number of the solved equations, at most γ^-½ for γ > 0."""
        problem = reduced((candidates,), design.assumed(self.replacement), metrics, self._precise)
        squares = self._denominators(problem.singular[0])
        return float(np.sqrt(squares.max() / max(squares.min(), np.finfo(np.float64).tiny)))

    @property
    def _precise(self) -> bool:
        return self.gamma <= _SMALL

    def _denominators(self, singular: Floats) -> Floats:
        return (1 - self.gamma) * singular**2 + self.gamma

    def _solve(self, problem: Reduction) -> Floats:
        """Solve for y = S Uᵀ D^½ f / ((1 - γ) S² + γ)."""
        return problem.weights(problem.projected / self._denominators(problem.singular)[:, :, np.newaxis])

    def _require_condition(self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]) -> None:
        condition = self.condition_number(design, candidates, metrics)
        if condition > WORST_CONDITION:
            raise DataError(
                f"{self} cannot be solved in double precision for {candidates} candidates and {design}: the condition "
                f"number of its equations is {condition:.1g}; take a γ above 0, such as bv-0.01"
            )
