"""Maximum likelihood (MLE): the distribution of true ranks that makes the sample most likely, by EM.

Jin, Li, Gao, Liu, Zhang: On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021, arXiv 2103.01474.
"""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._validation import Floats
from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators.banded import Banded
from sampled_metrics.estimators.rank_prior import RankPrior, Solver
from sampled_metrics.sampling.rank_classes import RankClass
from sampled_metrics.sampling.rank_nodes import RankNodes


@dataclass(frozen=True)
class MaximumLikelihood(RankPrior):
    """The most likely distribution of true ranks, by EM from the uniform distribution.

    An iteration is π_r ← π_r Σ_x h_x A[r, x] / (Aᵀπ)_x. The optimum is not unique, so the number of iterations
    regularises and is part of the estimator. Users with similar n share a distribution, whatever their m.

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

    def solver(self, users: RankClass, nodes: RankNodes) -> Solver:
        """Return the function that estimates the distributions of true ranks from samples."""
        likelihood = users.likelihood(nodes.ranks, self.replacement)
        return lambda counts: expectation_maximisation(likelihood, counts, self.iterations, nodes.weights)


def expectation_maximisation(likelihood: Floats, counts: np.ndarray, iterations: int, weights: Floats) -> Floats:
    """Return (samples, nodes) probabilities of the true ranks from (samples, outcomes) counts, by EM.

    `likelihood` is the (nodes, outcomes) P(outcome | rank), up to a factor for each outcome; `weights` are the (nodes,)
    numbers of ranks that the nodes stand for.
    """
    seen = counts.any(axis=0)
    columns, counts = likelihood[:, seen], counts[:, seen]
    columns /= columns.max(axis=0)  # entries outside the band are negligible relative to the largest
    bands = Banded.from_matrix(columns)
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    distribution = np.tile(weights / weights.sum(), (len(counts), 1))
    for _ in range(iterations):
        expected = bands.to_outcomes(distribution)
        ratio = np.divide(frequencies, expected, out=np.zeros_like(expected), where=frequencies > 0)
        distribution *= bands.to_ranks(ratio)
    return distribution
