"""Maximal entropy with minimal distribution bias (MES): the flattest distribution of true ranks that fits the sample.

Jin, Li, Gao, Liu, Zhang: On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021, arXiv 2103.01474.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve
from scipy.special import xlogy

from sampled_metrics._arrays import Floats
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.rank_prior import PlugIn, RankPrior
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.rank_classes import RankClass
from sampled_metrics.sampling.rank_nodes import RankNodes

GAP = 1e-8
"""Largest duality gap of a solution."""

_MOST_STEPS = 200  # of Newton's method


@dataclass(frozen=True)
class MaximumEntropy(RankPrior):
    """min over the simplex of (m + 1) Σ_x h_x ((Aᵀπ)_x - h_x)² - η H(π).

    The dual, which is smooth and unconstrained, is solved for each class of users with similar n. If n or m differ in a
    class, x is compared over all of its events together, with the means of A and of m + 1.

    Attributes:
        eta: η, the weight of entropy; 0.01 in the source.
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    eta: float = 0.01
    replacement: bool | None = None

    def __post_init__(self) -> None:
        if not self.eta > 0:
            raise ConfigError(f"η of mes must be more than 0, not {self.eta}")

    def __str__(self) -> str:
        return "mes" if self.eta == 0.01 else f"mes-{self.eta:g}"

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> PlugIn:
        """Keep the outcomes; raise DataError if m depends on the sample, as no design then gives P(x | r)."""
        if outcomes.adaptive:
            raise DataError(f"{self} is not valid on an adaptive sample; mle is valid")
        return super().fit(outcomes, metrics)

    def solve(self, users: RankClass, nodes: RankNodes, counts: Floats) -> Floats:
        """Return (samples, nodes) probabilities of the true ranks."""
        negatives, x, _ = users.columns
        weight = counts.sum(axis=0)
        likelihood = np.zeros((len(nodes.ranks), int(negatives.max()) + 1))
        for m in np.unique(negatives):
            share = weight[negatives == m].sum() / weight.sum()
            likelihood[:, : m + 1] += share * users.chances(nodes.ranks, int(m), self.replacement)
        merged = np.zeros((len(counts), likelihood.shape[1]))
        np.add.at(merged.T, x, counts.T)
        scales = counts @ (negatives + 1) / counts.sum(axis=1)
        seen = merged.any(axis=0)
        found, start = [], np.zeros(int(seen.sum()))
        for sample, scale in zip(merged[:, seen], scales, strict=True):
            probabilities, _, start = maximum_entropy(
                likelihood[:, seen], sample, scale, self.eta, nodes.weights, start
            )
            found.append(probabilities)
        return np.stack(found)


def maximum_entropy(
    likelihood: Floats, counts: np.ndarray, scale: float, eta: float, weights: Floats, start: Floats
) -> tuple[Floats, float, Floats]:
    """Minimise scale Σ_x h_x ((Aᵀπ)_x - h_x)² - η H(π) over distributions π.

    With v_x = scale h_x the dual is to minimise η log Σ_r exp(-(Aλ)_r / η) + Σ_x λ_x² / (4 v_x) + λᵀh, and
    π ∝ exp(-Aλ/η). In μ = λ / √(2v) its Hessian is at least the identity, and Newton's method takes about ten steps.

    Args:
        likelihood: A, (nodes, outcomes).
        counts: (outcomes,) events, not all 0.
        scale: m + 1.
        eta: η.
        weights: (nodes,) numbers of ranks that the nodes stand for.
        start: (outcomes,) μ to start from.

    Returns:
        The (nodes,) probabilities, the duality gap, and μ.

    Raises:
        DataError: the gap does not fall below 10⁻⁸, relative to the objective where that is above 1.
    """
    frequencies = counts / counts.sum()
    unit = np.sqrt(2 * scale * frequencies)
    scaled, base = likelihood * unit, np.log(weights)

    def dual(mu: Floats) -> tuple[float, Floats, Floats]:
        exponents = base - scaled @ mu / eta
        highest = exponents.max()
        probabilities = np.exp(exponents - highest)
        total = probabilities.sum()
        probabilities /= total
        value = eta * (highest + np.log(total)) + 0.5 * mu @ mu + (unit * mu) @ frequencies
        return float(value), mu + unit * frequencies - probabilities @ scaled, probabilities

    mu = start
    value, slope, probabilities = dual(mu)
    for _ in range(_MOST_STEPS):
        mean = probabilities @ scaled
        curvature = np.eye(len(mu)) + ((scaled.T * probabilities) @ scaled - np.outer(mean, mean)) / eta
        step = -solve(curvature, slope, assume_a="pos", check_finite=False)
        decrement = -float(slope @ step)
        if not decrement > 1e-3 * GAP * max(1.0, abs(value)):
            break
        size = 1.0
        while size > 1e-12:
            ahead = dual(mu + size * step)
            if ahead[0] <= value - 1e-4 * size * decrement:
                break
            size /= 2
        else:
            break  # rounding hides what is left to gain
        mu = mu + size * step
        value, slope, probabilities = ahead
    off = probabilities @ likelihood - frequencies
    gap = float(scale * frequencies @ off**2 + eta * (xlogy(probabilities, probabilities / weights)).sum() + value)
    if not gap <= GAP * max(1.0, abs(value)):
        raise DataError(f"mes: the duality gap is {gap:.1e}, not below {GAP:.0e}; is η = {eta:g} too small?")
    return probabilities, gap, mu
