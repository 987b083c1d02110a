"""Corrections under an estimated prior: BV γ and MN with a distribution of true ranks estimated from the sample.

Li, Jin, Liu, Ren, Gao, Liu: Towards Reliable Item Sampling for Recommendation Evaluation, AAAI 2023, arXiv 2211.15743.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from sampled_metrics._arrays import Floats
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.banded import Banded
from sampled_metrics.estimators.rank_prior import ClassDistribution, RankPrior, rank_distributions
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.outcomes import Outcomes


@dataclass(frozen=True)
class EstimatedPriorCorrection:
    """A linear correction under a prior that is estimated from the same sample. The weights w solve S w = AᵀD f.

    - BV γ: S = (1-γ) AᵀDA + γ diag(AᵀD1), eq. 25 of Krichene and Rendle.
    - MN: S = AᵀDA - AᵀA/M + diag(Aᵀ1)/M, which minimises bias² plus the variance of the counts of M events.

    Attributes:
        gamma: γ, above 0 and at most 1; 0.01 in the source. None is MN.
        prior: the estimator of the prior, D = diag(prior).
    """

    gamma: float | None
    prior: RankPrior

    def __post_init__(self) -> None:
        if self.gamma is not None and not 0 < self.gamma <= 1:
            raise ConfigError(f"γ of a correction under an estimated prior must lie in (0, 1], not {self.gamma:g}")

    def __str__(self) -> str:
        return f"mn-{self.prior}" if self.gamma is None else f"bv-{self.gamma:g}-{self.prior}"

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
        gamma, ranks = self.correction.gamma, users.nodes(self.metrics).weights
        spread = np.diag(distribution.to_outcomes(ranks)) - distribution.gram(ranks)
        m, x, _ = users.columns
        counts = users.counts(samples)[:, m == negatives]
        sums = np.zeros((len(samples), len(self.metrics)))
        for sample in np.flatnonzero(counts.any(axis=1)):
            prior = estimated.probabilities[sample]
            joint = distribution.to_outcomes(prior * values.T).T
            matrix = distribution.gram(prior)
            if gamma is None:
                matrix = matrix + spread / int(samples[sample].sum())
            else:
                matrix = (1 - gamma) * matrix + gamma * np.diag(distribution.to_outcomes(prior))
            weights = _solve(matrix, joint, self.correction)
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
