"""Maximum likelihood (MLE): the distribution of true ranks that makes the sample most likely, by EM.

Jin, Li, Gao, Liu, Zhang: On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021, arXiv 2103.01474.
"""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._arrays import Floats
from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators.banded import Banded
from sampled_metrics.estimators.rank_prior import RankPrior
from sampled_metrics.sampling.outcomes import Outcomes


@dataclass(frozen=True)
class MaximumLikelihood(RankPrior):
    """π_r ← π_r Σ_x h_x A[r, x] / (Aᵀπ)_x, from the uniform distribution.

    The optimum is not unique, so the number of iterations regularises and is part of the estimator. Each outcome uses
    the likelihood of its own n and m, so EM is valid if these differ between events. Adaptive samples are included: a
    stopping rule that depends only on the sample does not change the likelihood.

    Attributes:
        iterations: number of updates of π; 100 in the source.
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    iterations: int = 100
    replacement: bool | None = None

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ConfigError(f"the iterations of mle must be 1 or more, not {self.iterations}")

    def __str__(self) -> str:
        return "mle" if self.iterations == 100 else f"mle-{self.iterations}"

    def solve(self, outcomes: Outcomes, counts: np.ndarray) -> Floats:
        """Return (samples, largest n) distributions of true ranks."""
        return expectation_maximisation(outcomes.likelihood(replacement=self.replacement), counts, self.iterations)


def expectation_maximisation(likelihood: Floats, counts: np.ndarray, iterations: int) -> Floats:
    """Return (samples, n) distributions of true ranks from (samples, outcomes) counts, by EM.

    `likelihood` is the (n, outcomes) P(outcome | rank), up to a factor for each outcome.
    """
    seen = counts.any(axis=0)
    ranks, columns, counts = len(likelihood), likelihood[:, seen], counts[:, seen]
    columns /= columns.max(axis=0)  # entries outside the band are negligible relative to the largest
    bands = Banded.of(columns)
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    distribution = np.full((len(counts), ranks), 1.0 / ranks)
    for _ in range(iterations):
        expected = bands.to_outcomes(distribution)
        ratio = np.divide(frequencies, expected, out=np.zeros_like(expected), where=frequencies > 0)
        distribution *= bands.to_ranks(ratio)
    return distribution
