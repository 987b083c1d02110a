"""Corrections under an estimated prior: BV γ and MN with a distribution of true ranks estimated from the sample.

Li, Jin, Liu, Ren, Gao, Liu: Towards Reliable Item Sampling for Recommendation Evaluation, AAAI 2023, arXiv 2211.15743.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from sampled_metrics._arrays import Floats
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.banded import Banded
from sampled_metrics.estimators.rank_prior import RankPrior, distribution_of_ranks
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.outcomes import Group, Outcomes

Matrix = Callable[[Floats, int], Floats]
"""(prior (n,), number of events) → the (m + 1, m + 1) matrix S; the weights w solve S w = AᵀD f."""


@dataclass(frozen=True)
class BiasVarianceTradeoff:
    """BV γ: (1-γ) AᵀDA + γ diag(AᵀD1), eq. 25 of Krichene and Rendle.

    Attributes:
        gamma: γ, above 0 and at most 1; 0.01 in the source.
    """

    gamma: float

    def __post_init__(self) -> None:
        if not 0 < self.gamma <= 1:
            raise ConfigError(f"γ of a correction under an estimated prior must lie in (0, 1], not {self.gamma:g}")

    def __str__(self) -> str:
        return f"bv-{self.gamma:g}"

    def matrix(self, distribution: Banded) -> Matrix:
        """Return the matrix of eq. 25 by prior."""

        def from_prior(prior: Floats, events: int) -> Floats:
            variance = np.diag(distribution.to_outcomes(prior))
            return (1 - self.gamma) * distribution.gram(prior) + self.gamma * variance

        return from_prior


@dataclass(frozen=True)
class Multinomial:
    """MN: AᵀDA - AᵀA/M + diag(Aᵀ1)/M, which minimises bias² plus the variance of the counts of M events."""

    def __str__(self) -> str:
        return "mn"

    def matrix(self, distribution: Banded) -> Matrix:
        """Return the matrix by prior and number of events."""
        ones = np.ones(distribution.shape[0])
        spread = np.diag(distribution.to_outcomes(ones)) - distribution.gram(ones)

        def from_prior(prior: Floats, events: int) -> Floats:
            return distribution.gram(prior) + spread / events

        return from_prior


@dataclass(frozen=True)
class EstimatedPriorCorrection:
    """A linear correction under a prior that is estimated from the same sample."""

    tradeoff: BiasVarianceTradeoff | Multinomial
    prior: RankPrior

    def __str__(self) -> str:
        return f"{self.tradeoff}-{self.prior}"

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> "EstimatedPriorEstimate":
        """Keep the outcomes; prior and weights need the sample.

        Raises:
            DataError: m depends on the sample, or an event has no sampled negatives.
        """
        if outcomes.adaptive:
            raise DataError(f"{self} is not valid on an adaptive sample; mle is valid")
        if (outcomes.negatives == 0).any():
            raise DataError(f"{self} has no weights for an event without sampled negatives; mle is valid")
        return EstimatedPriorEstimate(self, outcomes, tuple(metrics))


@dataclass(frozen=True)
class EstimatedPriorEstimate:
    """A fitted correction under an estimated prior."""

    correction: EstimatedPriorCorrection
    outcomes: Outcomes
    metrics: tuple[Metric, ...]

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates from (…, outcomes) counts."""
        samples = counts.reshape(-1, counts.shape[-1])
        priors = distribution_of_ranks(self.correction.prior, self.outcomes, samples)
        totals = np.zeros((len(samples), len(self.metrics)))
        for group in self.outcomes.groups:
            totals += self._of_group(group, priors[:, : group.candidates], samples)
        return (totals / samples.sum(axis=1, keepdims=True)).reshape(*counts.shape[:-1], len(self.metrics))

    def _of_group(self, group: Group, priors: Floats, samples: np.ndarray) -> Floats:
        """Sum of the weights of a group's events, (samples, metrics)."""
        distribution = Banded.of(group.distribution(self.correction.prior.replacement))
        values = np.stack([group.target(metric).values(group.candidates) for metric in self.metrics], axis=1)
        matrix = self.correction.tradeoff.matrix(distribution)
        sums = np.zeros((len(samples), len(self.metrics)))
        for sample, prior in enumerate(priors):
            counts, events = samples[sample, group.outcomes], int(samples[sample].sum())
            if not counts.any():
                continue
            prior = prior / prior.sum()
            joint = distribution.to_outcomes(prior * values.T).T
            weights = _solve(matrix(prior, events), joint, self.correction)
            sums[sample] = counts @ weights[group.x]
        return sums


def _solve(matrix: Floats, joint: Floats, correction: EstimatedPriorCorrection) -> Floats:
    """Solve for the weights, with the matrix scaled to a unit diagonal; an x that the prior excludes has weight 0."""
    seen = np.diag(matrix) > np.finfo(np.float64).tiny
    scale = 1 / np.sqrt(np.diag(matrix)[seen])
    weights = np.zeros_like(joint)
    try:
        factor = cho_factor(matrix[np.ix_(seen, seen)] * np.outer(scale, scale), check_finite=False)
    except LinAlgError:
        raise DataError(f"{correction}: its equations cannot be solved in double precision; take a larger γ") from None
    weights[seen] = scale[:, np.newaxis] * cho_solve(factor, scale[:, np.newaxis] * joint[seen], check_finite=False)
    return weights
