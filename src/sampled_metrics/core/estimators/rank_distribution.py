"""Estimators of the distribution of true ranks behind a sample (MLE, MES), and its metrics.

Maximum likelihood and maximum entropy estimate the distribution of true ranks, for each class of
users with similar n (`sampled_metrics.core.sampling.outcomes`). The estimate of a metric is its
mean under these distributions.

P(outcome | rank) is a band matrix: at each rank, x is likely only near m times the quantile of the
rank. Relative to m, the band narrows as m grows. At m = 1000, a product with the band costs a fifth
of the full product.

References:
    R. Jin, D. Li, B. Mudrak, J. Gao and Z. Liu, On Estimating Recommendation Evaluation Metrics
    under Sampling, AAAI 2021, arXiv 2103.01474.
"""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve
from scipy.special import xlogy

from sampled_metrics.checks import Floats, require_sum_of_one
from sampled_metrics.core.estimators.protocol import Estimate, Estimator
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.sampling.outcomes import Outcomes, RankClass, RankNodes, rank_classes
from sampled_metrics.errors import ConfigError, DataError

Solver = Callable[[Floats], Floats]
"""A function from counts of outcomes to probabilities of true ranks.

The counts are (samples, distinct (m, x)), and not all 0 in any sample. The probabilities are
(samples, nodes).
"""


class RankPrior(Estimator):
    """An estimator of the distribution of true ranks."""

    replacement: bool | None  # whether P(x | r) is taken as binomial; None follows the design

    @abstractmethod
    def solver(self, users: RankClass, nodes: RankNodes) -> Solver:
        """Return the function that estimates the distributions of true ranks from samples.

        Args:
            users: the class of users that the distributions describe.
            nodes: the ranks that have probabilities.
        """

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> "PlugIn":
        """Return the estimate, which computes the distribution of true ranks from each sample."""
        return PlugIn(self, outcomes, tuple(metrics))


@dataclass(frozen=True)
class ClassDistribution:
    """The estimated distribution of true ranks of a class of users.

    Attributes:
        users: the class.
        ranks: (nodes,) ranks.
        probabilities: (samples, nodes) the probability of the ranks that a node stands for; 0 in a
            sample without any of these users.
        events: (samples,) numbers of events of the class.
    """

    users: RankClass
    ranks: Floats
    probabilities: Floats
    events: Floats


@dataclass(frozen=True)
class PlugIn(Estimate):
    """Metrics of the estimated distributions of true ranks: the mean over users of Σ_r π_r f(r).

    Attributes:
        prior: the estimator of the distributions.
        outcomes: the outcomes of the samples.
        metrics: the metrics of one relevant item.
    """

    prior: RankPrior
    outcomes: Outcomes
    metrics: tuple[Metric, ...]

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates from (…, outcomes) counts."""
        samples = counts.reshape(-1, counts.shape[-1])
        means = self._moment(self.distributions(samples), samples, 1)
        return means.reshape(*counts.shape[:-1], len(self.metrics))

    def moments(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return the (metrics,) means and variances over users, from (outcomes,) counts."""
        samples = counts[np.newaxis]
        distributions = self.distributions(samples)
        mean, square = (self._moment(distributions, samples, power)[0] for power in (1, 2))
        return mean, np.maximum(square - mean**2, 0.0)

    def distributions(self, samples: np.ndarray) -> tuple[ClassDistribution, ...]:
        """Return the distribution of true ranks of each class of users.

        The samples are (samples, outcomes) counts. The nodes are right for sums of the metrics.
        """
        return tuple(
            self._distribution(users, nodes, solve, samples)
            for users, nodes, solve in self._classes
        )

    @cached_property
    def _classes(self) -> tuple[tuple[RankClass, RankNodes, Solver], ...]:
        """Return the classes of users with their nodes and solvers, which all samples share."""
        classes = [(users, users.nodes(self.metrics)) for users in rank_classes(self.outcomes)]
        return tuple((users, nodes, self.prior.solver(users, nodes)) for users, nodes in classes)

    def _distribution(
        self, users: RankClass, nodes: RankNodes, solve: Solver, samples: Floats
    ) -> ClassDistribution:
        """Return the distribution of a class; equal samples are solved once."""
        counts = users.counts(samples)
        events = counts.sum(axis=1)
        distinct, which = np.unique(counts[events > 0], axis=0, return_inverse=True)
        probabilities = np.zeros((len(counts), len(nodes.ranks)))
        if len(distinct):
            solved = solve(distinct)
            # rounding errors add up over iterations
            require_sum_of_one(solved, f"ranks behind the sample, by {self.prior}", tolerance=1e-6)
            probabilities[events > 0] = solved[np.asarray(which).ravel()]
        return ClassDistribution(users, nodes.ranks, probabilities, events)

    def _moment(
        self, distributions: Sequence[ClassDistribution], samples: np.ndarray, power: int
    ) -> Floats:
        """Return the (samples, metrics) means over users of a power of the metrics."""
        total = np.zeros((len(samples), len(self.metrics)))
        for distribution in distributions:
            values = distribution.users.values(self.metrics, distribution.ranks)
            means = distribution.probabilities @ values**power
            total += distribution.events[:, np.newaxis] * means
        return total / samples.sum(axis=1, keepdims=True)


NEGLIGIBLE = 1e-25
"""Probabilities up to this are taken as 0.

A sum over all ranks does not change: it is rounded at 10⁻¹⁶.
"""

_ROWS = 32  # smallest number of rows of a block


@dataclass(frozen=True)
class Banded:
    """A (ranks, outcomes) matrix, in blocks of rows with the columns that are not 0."""

    shape: tuple[int, int]
    blocks: tuple[tuple[slice, slice, Floats], ...]  # rows, columns, and the entries there

    @classmethod
    def from_matrix(cls, matrix: Floats) -> "Banded":
        """Cut a matrix into blocks; they are narrow if the columns are sorted by x."""
        ranks, outcomes = matrix.shape
        step = max(_ROWS, ranks // 32)
        blocks = []
        for start in range(0, ranks, step):
            rows = slice(start, min(start + step, ranks))
            columns = np.flatnonzero((matrix[rows] > NEGLIGIBLE).any(axis=0))
            if len(columns):
                band = slice(int(columns[0]), int(columns[-1]) + 1)
                blocks.append((rows, band, matrix[rows, band]))
        return cls((ranks, outcomes), tuple(blocks))

    def to_outcomes(self, distribution: Floats) -> Floats:
        """π A: (…, outcomes) probabilities of the outcomes for (…, ranks) distributions."""
        product = np.zeros((*distribution.shape[:-1], self.shape[1]))
        for rows, band, block in self.blocks:
            product[..., band] += distribution[..., rows] @ block
        return product

    def to_ranks(self, values: Floats) -> Floats:
        """V Aᵀ: (…, ranks) means of (…, outcomes) values given the rank."""
        product = np.zeros((*values.shape[:-1], self.shape[0]))
        for rows, band, block in self.blocks:
            product[..., rows] = values[..., band] @ block.T
        return product


@dataclass(frozen=True)
class MaximumLikelihood(RankPrior):
    """The most likely distribution of true ranks, by EM from the uniform distribution.

    An iteration is π_r ← π_r Σ_x h_x A[r, x] / (Aᵀπ)_x. The optimum is not unique, so the number of
    iterations regularises and is part of the estimator. Users with similar n share a distribution,
    whatever their m.

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
        return lambda counts: expectation_maximisation(
            likelihood, counts, self.iterations, nodes.weights
        )


def expectation_maximisation(
    likelihood: Floats, counts: np.ndarray, iterations: int, weights: Floats
) -> Floats:
    """Return (samples, nodes) probabilities of the true ranks, by EM.

    Args:
        likelihood: (nodes, outcomes) P(outcome | rank), up to a factor for each outcome.
        counts: (samples, outcomes) events.
        iterations: the number of updates.
        weights: (nodes,) numbers of ranks that the nodes stand for.
    """
    seen = counts.any(axis=0)
    columns = likelihood[:, seen]
    counts = counts[:, seen]
    # entries outside the band are negligible relative to the largest
    columns /= columns.max(axis=0)
    bands = Banded.from_matrix(columns)
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    distribution = np.tile(weights / weights.sum(), (len(counts), 1))
    for _ in range(iterations):
        expected = bands.to_outcomes(distribution)
        ratio = np.divide(frequencies, expected, out=np.zeros_like(expected), where=frequencies > 0)
        distribution *= bands.to_ranks(ratio)
    return distribution


GAP = 1e-8
"""Largest duality gap of a solution."""

_MOST_STEPS = 200  # of Newton's method
# outcomes beyond which quasi-Newton steps, which need no matrix of this size, come first
_MANY = 200


@dataclass(frozen=True)
class MaximumEntropy(RankPrior):
    """The flattest distribution of true ranks that fits the sample.

    The distribution π minimises (m + 1) Σ_x h_x ((Aᵀπ)_x - h_x)² - η H(π) over the simplex. The
    dual, which is smooth and unconstrained, is solved for each class of users with similar n. If n
    or m differ within a class, the x of all its events are compared together, with the mean of A
    and the mean of m + 1.

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

    def solver(self, users: RankClass, nodes: RankNodes) -> Solver:
        """Return the function that estimates the distributions of true ranks from samples."""
        negatives, x, _ = users.columns
        probabilities_by_m = {
            int(m): users.probabilities(nodes.ranks, int(m), self.replacement)
            for m in np.unique(negatives)
        }
        seen = np.unique(x)

        def solve_sample(sample: Floats) -> Floats:
            likelihood = np.zeros((len(nodes.ranks), int(negatives.max()) + 1))
            for m, probabilities in probabilities_by_m.items():
                likelihood[:, : m + 1] += sample[negatives == m].sum() * probabilities
            # the total is 0 at a rank that no user's n allows
            totals = likelihood.sum(axis=1, keepdims=True)
            likelihood /= np.maximum(totals, np.finfo(np.float64).tiny)
            merged = np.bincount(x, weights=sample, minlength=likelihood.shape[1])
            scale = float(sample @ (negatives + 1) / sample.sum())
            distribution, _ = maximum_entropy(
                likelihood[:, seen], merged[seen], scale, self.eta, nodes.weights
            )
            return distribution

        return lambda counts: np.stack([solve_sample(sample) for sample in counts])


def maximum_entropy(
    likelihood: Floats, counts: np.ndarray, scale: float, eta: float, weights: Floats
) -> tuple[Floats, float]:
    """Minimise scale Σ_x h_x ((Aᵀπ)_x - h_x)² - η H(π) over distributions π.

    With v_x = scale h_x the dual is to minimise η log Σ_r exp(-(Aλ)_r / η) + Σ_x λ_x² / (4 v_x) +
    λᵀh, and π ∝ exp(-Aλ/η). In μ = λ / √(2v) its Hessian is at least the identity, and Newton's
    method takes about ten steps.

    Args:
        likelihood: A, (nodes, outcomes).
        counts: (outcomes,) events, not all 0.
        scale: m + 1.
        eta: η.
        weights: (nodes,) numbers of ranks that the nodes stand for.

    Returns:
        The (nodes,) probabilities and the duality gap.

    Raises:
        DataError: the gap does not fall below 10⁻⁸, relative to the objective where that is above
            1.
    """
    frequencies = counts / counts.sum()
    unit = np.sqrt(2 * scale * frequencies)
    scaled = likelihood * unit
    base = np.log(weights)

    def dual(mu: Floats) -> tuple[float, Floats, Floats]:
        """Return the value of the dual at μ, its gradient and π."""
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
        mu = minimize(
            lambda point: dual(point)[:2], mu, jac=True, method="L-BFGS-B", options=options
        ).x
    # Newton's method, with steps that are halved until the dual falls enough
    value, slope, probabilities = dual(mu)
    for _ in range(_MOST_STEPS):
        if not 0.5 * slope @ slope > 1e-6 * GAP * max(1.0, abs(value)):  # the duality gap
            break
        mean = probabilities @ scaled
        curvature = (
            np.eye(len(mu)) + ((scaled.T * probabilities) @ scaled - np.outer(mean, mean)) / eta
        )
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
    # the primal objective plus the dual one, which is 0 at the optimum
    errors = probabilities @ likelihood - frequencies
    gap = float(
        scale * frequencies @ errors**2
        + eta * (xlogy(probabilities, probabilities / weights)).sum()
        + value
    )
    if not gap <= GAP * max(1.0, abs(value)):
        raise DataError(
            f"mes: the duality gap is {gap:.1e}, not below {GAP:.0e}; is η = {eta:g} too small?"
        )
    return probabilities, gap
