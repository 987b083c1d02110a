"""Smooth: a distribution of true ranks near a power law, whose smoothness follows from the sample.

The model is π_r ∝ exp(-Σ_j s_j S_j(t)), a cubic B-spline of t = log(r + 1) with a knot at each
doubling of r + 1. S_j is a sum of B-splines such that s_j > 0 is the exponent of the local power
law, so π does not increase. For a given λ, the estimate maximises

    Σ_x c_x log (Aᵀπ)_x - λ/2 Σ_j (s_{j+1} - s_j)² / (h u_j) + μ Σ_j (log s_j - s_j),

where c_x are the counts, A is P(x | r), h is the distance of knots in t, u_j is (r + 1) / (n + 1)
between s_j and s_{j+1}, and μ = 0.01. The second term penalises the second derivative of log π in t
(P-splines, Eilers and Marx 1996). A large λ gives a power law. The penalty is smaller at larger
ranks, as a cut-off exp(-r / a) of a power law adds r / a to its exponent. The third term is a weak
prior with its mode at Zipf's law, and makes the optimum finite.

The estimate is the mean over a grid of λ, weighted by the marginal likelihood in Laplace's
approximation (Tierney and Kadane 1986). The prior of log λ is uniform.

Eilers, Marx: Flexible smoothing with B-splines and penalties, Statistical Science 11, 1996.
Tierney, Kadane: Accurate approximations for posterior moments and marginal densities, JASA 81,
1986.
"""

from dataclasses import dataclass

import numpy as np

from sampled_metrics.checks import Floats
from sampled_metrics.core.estimators.rank_distribution import RankPrior, Solver
from sampled_metrics.core.sampling.outcomes import RankClass, RankNodes

STRENGTHS = 10.0 ** np.arange(3, -3, -1)
"""The grid of λ. The largest comes first, as a power law is the easiest start."""

PRIOR = 0.01
"""μ, the weight of the prior of each exponent."""

_DEGREE = 3
_MOST_STEPS = 200  # of Fisher scoring
_GAIN = 1e-5  # in log-likelihood; a step that promises less is not taken
_LEAST_SIZE = 1e-9  # of a halved step; below, rounding hides what is left to gain
_ENTRIES = 2**18  # of an array, about; more samples are solved in parts


@dataclass(frozen=True)
class Smooth(RankPrior):
    """A smooth and non-increasing distribution of true ranks, by penalised maximum likelihood.

    Users with similar n share a distribution, whatever their m.

    Attributes:
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    replacement: bool | None = None

    def __str__(self) -> str:
        return "smooth"

    def solver(self, users: RankClass, nodes: RankNodes) -> Solver:
        """Return the function that estimates the distributions of true ranks from samples."""
        if users.candidates == 1:
            return lambda counts: np.ones((len(counts), 1))
        likelihood = users.likelihood(nodes.ranks, self.replacement)
        basis, penalty = spline(nodes.ranks, users.candidates)
        _, m_indices = np.unique(users.columns[0], return_inverse=True)
        size = max(1, _ENTRIES // (basis.shape[1] * len(basis)))

        def solve(counts: Floats) -> Floats:
            batches = [counts[start : start + size] for start in range(0, len(counts), size)]
            means = [
                _Posterior(batch, m_indices, likelihood, nodes.weights, basis, penalty).mean()
                for batch in batches
            ]
            return np.concatenate(means)

        return solve


def spline(ranks: Floats, candidates: int) -> tuple[Floats, Floats]:
    """Return the S_j(t), and the matrix of the penalty for λ = 1.

    The shapes are (ranks, exponents) and (exponents, exponents).
    """
    from scipy.interpolate import BSpline  # slow to import, and used only here

    length = np.log((candidates + 1) / 2)  # of the range of t
    intervals = int(np.ceil(length / np.log(2)))
    width = length / intervals
    knots = np.arange(-_DEGREE, intervals + _DEGREE + 1.0)
    knot_units = np.clip(np.log((ranks + 1) / 2) / width, 0, intervals)
    splines = BSpline.design_matrix(knot_units, knots, _DEGREE).toarray()
    sums = np.cumsum(splines[:, ::-1], axis=1)[:, -2::-1]  # of the splines j + 1 and later
    differences = np.diff(np.eye(sums.shape[1]), axis=0)
    between = (np.arange(len(differences)) + 0.5) / len(differences)
    shares = np.exp(length * (between - 1))  # u_j
    return width * sums, differences.T / (width * shares) @ differences


class _Posterior:
    """The posterior of the exponents of several independent samples."""

    def __init__(
        self,
        counts: Floats,
        m_indices: np.ndarray,
        likelihood: Floats,
        weights: Floats,
        basis: Floats,
        penalty: Floats,
    ) -> None:
        self.counts = counts  # (samples, outcomes)
        # (samples, outcomes) events with the m of the outcome
        self.events = (counts @ np.eye(m_indices.max() + 1)[m_indices])[:, m_indices]
        self.likelihood = likelihood
        self.log_weights = np.log(weights)
        self.basis = basis
        self.penalty = penalty

    def mean(self) -> Floats:
        """Return the (samples, nodes) mean of π over λ."""
        exponents = np.ones((len(self.counts), self.basis.shape[1]))
        evidence = []
        models = []
        for strength in STRENGTHS:
            exponents = self._mode(exponents, strength)
            evidence.append(self._log_evidence(exponents, strength))
            models.append(self._model(exponents)[0])
        shares = np.exp(np.array(evidence) - np.max(evidence, axis=0))
        return np.einsum("ls,lsr->sr", shares / shares.sum(axis=0), np.array(models))

    def _mode(self, exponents: Floats, strength: float) -> Floats:
        """Return the most likely (samples, exponents), by Fisher scoring with step halving."""
        modes = exponents.copy()
        rows = np.arange(len(modes))  # the samples that are not solved yet
        for _ in range(_MOST_STEPS):
            if not len(rows):
                break
            current = modes[rows]
            slope, curvature = self._derivatives(rows, current, strength, observed=False)
            step = np.linalg.solve(curvature, slope[:, :, np.newaxis])[:, :, 0]
            gain = (slope * step).sum(axis=1)
            is_worthwhile = gain > _GAIN
            rows = rows[is_worthwhile]
            current = current[is_worthwhile]
            step = step[is_worthwhile]
            gain = gain[is_worthwhile]
            # keeps the exponents above 0
            size = np.minimum(1, 0.9 / np.maximum((-step / current).max(axis=1), 0.9))
            value = self._value(rows, current, strength)
            too_long = np.ones(len(rows), dtype=bool)  # the steps that gain too little
            while too_long.any():
                ahead = current[too_long] + size[too_long, np.newaxis] * step[too_long]
                value_ahead = self._value(rows[too_long], ahead, strength)
                wanted = value[too_long] + 1e-4 * size[too_long] * gain[too_long]
                too_long[too_long] = value_ahead < wanted
                size[too_long] /= 2
                too_long &= size > _LEAST_SIZE
            modes[rows] += size[:, np.newaxis] * step
            rows = rows[size > _LEAST_SIZE]
        return modes

    def _log_evidence(self, exponents: Floats, strength: float) -> Floats:
        """Return Laplace's (samples,) log marginal likelihoods at the mode, up to a constant."""
        rows = np.arange(len(exponents))
        _, curvature = self._derivatives(rows, exponents, strength, observed=True)
        penalised = len(self.penalty) - 1  # the rank of the penalty
        normalising = penalised * np.log(strength) - np.linalg.slogdet(curvature)[1]
        return self._value(rows, exponents, strength) + normalising / 2

    def _model(self, exponents: Floats) -> tuple[Floats, Floats]:
        """Return the (samples, nodes) π and the (samples, outcomes) Aᵀπ."""
        logs = self.log_weights - exponents @ self.basis.T
        distributions = np.exp(logs - logs.max(axis=1, keepdims=True))
        distributions /= distributions.sum(axis=1, keepdims=True)
        return distributions, np.maximum(distributions @ self.likelihood, np.finfo(np.float64).tiny)

    def _value(self, rows: np.ndarray, exponents: Floats, strength: float) -> Floats:
        """Return the (samples,) objective, less the log-likelihood of a perfect fit."""
        counts = self.counts[rows]
        expected = self._model(exponents)[1]
        perfect = np.where(counts > 0, counts / np.maximum(self.events[rows], 1), expected)
        rough = ((exponents @ self.penalty) * exponents).sum(axis=1)
        prior = (np.log(exponents) - exponents).sum(axis=1)
        log_likelihood = (counts * np.log(expected / perfect)).sum(axis=1)
        return log_likelihood - strength / 2 * rough + PRIOR * prior

    def _derivatives(
        self, rows: np.ndarray, exponents: Floats, strength: float, *, observed: bool
    ) -> tuple[Floats, Floats]:
        """Return the (samples, exponents) gradient and the information.

        The information is that of the counts if they are observed, or else of their expectations.
        """
        counts = self.counts[rows]
        distribution, expected = self._model(exponents)
        weighted = (distribution[:, np.newaxis, :] * self.basis.T).reshape(-1, len(self.basis))
        joint = (weighted @ self.likelihood).reshape(*exponents.shape, -1)
        # the derivatives of log (Aᵀπ)_x
        scores = (distribution @ self.basis)[:, :, np.newaxis] - joint / expected[:, np.newaxis, :]
        slope = (scores @ counts[:, :, np.newaxis])[:, :, 0] - strength * exponents @ self.penalty
        weights = counts if observed else self.events[rows] * expected
        products = (scores * weights[:, np.newaxis, :]) @ scores.transpose(0, 2, 1)
        curvature = products + strength * self.penalty
        diagonal = np.arange(len(self.penalty))
        curvature[:, diagonal, diagonal] += PRIOR / exponents**2
        return slope + PRIOR * (1 / exponents - 1), curvature
