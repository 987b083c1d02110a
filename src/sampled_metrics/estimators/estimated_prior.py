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
from sampled_metrics.estimators.rank_prior import ClassDistribution, RankPrior, rank_distributions
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.outcomes import Outcomes

Matrix = Callable[[Floats, int], Floats]
"""(prior (nodes,), number of events) → the (m + 1, m + 1) matrix S; the weights w solve S w = AᵀD f."""


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

    def matrix(self, distribution: Banded, ranks: Floats) -> Matrix:
        """Return the matrix of eq. 25 by prior; `ranks` are the (nodes,) numbers of ranks of the nodes."""

        def from_prior(prior: Floats, events: int) -> Floats:
            variance = np.diag(distribution.to_outcomes(prior))
            return (1 - self.gamma) * distribution.gram(prior) + self.gamma * variance

        return from_prior


@dataclass(frozen=True)
class Multinomial:
    """MN: AᵀDA - AᵀA/M + diag(Aᵀ1)/M, which minimises bias² plus the variance of the counts of M events."""

    def __str__(self) -> str:
        return "mn"

    def matrix(self, distribution: Banded, ranks: Floats) -> Matrix:
        """Return the matrix by prior and number of events; `ranks` are the (nodes,) numbers of ranks of the nodes."""
        spread = np.diag(distribution.to_outcomes(ranks)) - distribution.gram(ranks)

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
        totals = np.zeros((len(samples), len(self.metrics)))
        for each in rank_distributions(self.correction.prior, self.outcomes, self.metrics, samples):
            for negatives in np.unique(each.users.negatives):
                totals += self._of_class(each, int(negatives), samples)
        return (totals / samples.sum(axis=1, keepdims=True)).reshape(*counts.shape[:-1], len(self.metrics))

    def _of_class(self, estimated: ClassDistribution, negatives: int, samples: np.ndarray) -> Floats:
        """Sum of the weights of the events of a class with m negatives, (samples, metrics)."""
        users = estimated.users
        chances = users.chances(estimated.ranks, negatives, self.correction.prior.replacement)
        distribution, values = Banded.of(chances), users.values(self.metrics, estimated.ranks)
        matrix = self.correction.tradeoff.matrix(distribution, users.nodes(self.metrics).weights)
        m, x, _ = users.columns
        counts = users.counts(samples)[:, m == negatives]
        sums = np.zeros((len(samples), len(self.metrics)))
        for sample in np.flatnonzero(counts.any(axis=1)):
            prior = estimated.probabilities[sample]
            joint = distribution.to_outcomes(prior * values.T).T
            weights = _solve(matrix(prior, int(samples[sample].sum())), joint, self.correction)
            sums[sample] = counts[sample] @ weights[x[m == negatives]]
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
