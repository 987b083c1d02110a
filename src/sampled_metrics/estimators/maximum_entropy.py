"""Maximal entropy with minimal distribution bias (MES): the flattest distribution of true ranks that fits the sample.

Jin, Li, Gao, Liu, Zhang: On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021, arXiv 2103.01474.
"""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve
from scipy.special import xlogy

from sampled_metrics._validation import Floats
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.rank_prior import RankPrior, Solver
from sampled_metrics.sampling.rank_classes import RankClass
from sampled_metrics.sampling.rank_nodes import RankNodes

GAP = 1e-8
"""Largest duality gap of a solution."""

_MOST_STEPS = 200  # of Newton's method
_MANY = 200  # outcomes beyond which quasi-Newton steps, which need no matrix of this size, come first


@dataclass(frozen=True)
class MaximumEntropy(RankPrior):
    """The flattest distribution of true ranks that fits the sample.

    It minimises (m + 1) Σ_x h_x ((Aᵀπ)_x - h_x)² - η H(π) over the simplex. The dual, which is smooth and
    unconstrained, is solved for each class of users with similar n. If n or m differ within a class, the x of all its
    events are compared together, with the mean of A and the mean of m + 1.

    Attributes:
        eta: η, the weight of entropy; 0.01 in the source.
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    underestimates_auc: ClassVar[bool] = True

    eta: float = 0.01
    replacement: bool | None = None

    def __post_init__(self) -> None:
        if not self.eta > 0:
            raise ConfigError(f"η of mes must be more than 0, not {self.eta}")

    def __str__(self) -> str:
        return "mes" if self.eta == 0.01 else f"mes-{self.eta:g}"

    def solver(self, users: RankClass, nodes: RankNodes) -> Solver:
        """Return the function that estimates the distributions of true ranks from samples."""
        negatives, x, _ = users.columns
        by_m = {int(m): users.probabilities(nodes.ranks, int(m), self.replacement) for m in np.unique(negatives)}
        seen = np.unique(x)

        def solve_one(sample: Floats) -> Floats:
            likelihood = np.zeros((len(nodes.ranks), int(negatives.max()) + 1))
            for m, probabilities in by_m.items():
                likelihood[:, : m + 1] += sample[negatives == m].sum() * probabilities
            # the sum is 0 at a rank that no user's n allows
            likelihood /= np.maximum(likelihood.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
            merged = np.bincount(x, weights=sample, minlength=likelihood.shape[1])
            scale = float(sample @ (negatives + 1) / sample.sum())
            return maximum_entropy(likelihood[:, seen], merged[seen], scale, self.eta, nodes.weights)[0]

        return lambda counts: np.stack([solve_one(sample) for sample in counts])


def maximum_entropy(
    likelihood: Floats, counts: np.ndarray, scale: float, eta: float, weights: Floats
) -> tuple[Floats, float]:
    """Minimise scale Σ_x h_x ((Aᵀπ)_x - h_x)² - η H(π) over distributions π.

    With v_x = scale h_x the dual is to minimise η log Σ_r exp(-(Aλ)_r / η) + Σ_x λ_x² / (4 v_x) + λᵀh, and
    π ∝ exp(-Aλ/η). In μ = λ / √(2v) its Hessian is at least the identity, and Newton's method takes about ten steps.

    Args:
        likelihood: A, (nodes, outcomes).
        counts: (outcomes,) events, not all 0.
        scale: m + 1.
        eta: η.
        weights: (nodes,) numbers of ranks that the nodes stand for.

    Returns:
        The (nodes,) probabilities and the duality gap.

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

    mu = np.zeros(len(unit))
    if len(mu) > _MANY:
        from scipy.optimize import minimize  # slow to import, and used only here

        options = {"ftol": 0, "gtol": 1e-8, "maxcor": 30, "maxiter": 1000}
        mu = minimize(lambda point: dual(point)[:2], mu, jac=True, method="L-BFGS-B", options=options).x
    value, slope, probabilities = dual(mu)
    for _ in range(_MOST_STEPS):
        if not 0.5 * slope @ slope > 1e-6 * GAP * max(1.0, abs(value)):  # the duality gap
            break
        mean = probabilities @ scaled
        curvature = np.eye(len(mu)) + ((scaled.T * probabilities) @ scaled - np.outer(mean, mean)) / eta
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", LinAlgWarning)
                step = -solve(curvature, slope, assume_a="pos", check_finite=False)
        except (LinAlgError, LinAlgWarning):
            break  # beyond double precision; the gap says whether that matters
        decrement = -float(slope @ step)
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
    errors = probabilities @ likelihood - frequencies
    gap = float(scale * frequencies @ errors**2 + eta * (xlogy(probabilities, probabilities / weights)).sum() + value)
    if not gap <= GAP * max(1.0, abs(value)):
        raise DataError(f"mes: the duality gap is {gap:.1e}, not below {GAP:.0e}; is η = {eta:g} too small?")
    return probabilities, gap
