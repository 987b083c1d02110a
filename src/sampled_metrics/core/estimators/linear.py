"""Linear estimators: every estimator of the paper is a vector of weights (section 5).

An event with the sampled rank x + 1 counts w_x. The estimate is the mean over events.

CLS and BV are least squares under a uniform prior of ranks, in the singular vectors of P(x | rank).
With D = 1/n and the marginal c = AᵀD1, let D^½ A C^-½ = U S Vᵀ. Weights w = B y, with B = C^-½ V,
have the mean S y at the ranks, in the coordinates U, and the variance-like penalty Σ_x c_x w_x² =
‖y‖². So every fit is a problem in y of the size m + 1, whatever n is.

Without replacement the singular vectors are known: U and V hold the discrete Chebyshev polynomials
on n and m + 1 points, because the mean of the k-th falling factorial of x is a multiple of that of
r - 1. With M = m + 1, S_k² = Π_{j=1}^k (M-j)(n+j) / ((M+j)(n-j)), and c is uniform. With
replacement they are computed.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh_tridiagonal, svd

from sampled_metrics.checks import (
    Floats,
    Ints,
    check_memory_limit,
    require_finite,
    require_sum_of_one,
)
from sampled_metrics.core.estimators.protocol import Estimate, Estimator
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.sampling.distributions import SamplingDesign, pmf
from sampled_metrics.core.sampling.outcomes import Group, Outcomes, RankNodes, rank_nodes
from sampled_metrics.errors import ConfigError, DataError


@dataclass(frozen=True)
class LinearEstimate(Estimate):
    """A fitted estimator that is linear in the counts of outcomes.

    Attributes:
        weights: (metrics, outcomes) weights.
        of_groups: for each group of the outcomes, the (metrics, m + 1) weights of every x, seen or
            not.
    """

    weights: Floats = field()  # required, unlike in `Estimate`
    of_groups: tuple[Floats, ...] = field()

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Return the (metrics,) smallest and largest weights of any x."""
        return (
            np.min([weights.min(axis=1) for weights in self.of_groups], axis=0),
            np.max([weights.max(axis=1) for weights in self.of_groups], axis=0),
        )

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates from (…, outcomes) counts."""
        return np.asarray(counts @ self.weights.T / np.sum(counts, axis=-1, keepdims=True))


class LinearEstimator(Estimator):
    """An estimator that is given by its weights for a design, an n and a metric."""

    is_linear: ClassVar[bool] = True

    @abstractmethod
    def weights(
        self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]
    ) -> Floats:
        """Return the (n's, metrics, m + 1) weights of x = 0 … m, for each n by itself.

        Args:
            design: how negatives are drawn.
            candidates: (n's,) numbers of candidates.
            metrics: the metrics.

        Raises:
            DataError: an n or m is too large for the allowed memory, or the equations are too badly
                conditioned.
        """

    def condition_number(
        self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]
    ) -> float:
        """Return the condition number of the solved equations, 1 if there are none."""
        return 1.0

    def checked_weights(
        self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]
    ) -> Floats:
        """Return `weights`; raise NumericError if one is not finite."""
        weights = self.weights(design, candidates, metrics)
        require_finite(
            weights, f"weights of {self} for {design} from up to {candidates.max()} candidates"
        )
        return weights

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> LinearEstimate:
        """Return the weights of all outcomes, fitted separately for each n and m.

        Raises:
            DataError: an event has no sampled negatives, or n or m is too large for the allowed
                memory.
        """
        without = int(outcomes.events[outcomes.negatives == 0].sum())
        if without:
            raise DataError(
                f"{self} has no weights for the {without} of {outcomes.events.sum()} rows without "
                "a uniformly sampled negative, and the mean of the others may be another one; "
                "take decreasing, or draw more negatives or with weights that differ less"
            )
        weights = np.empty((len(metrics), len(outcomes)))
        weights_by_group: dict[int, Floats] = {}  # by the index of the group
        groups_by_negatives: dict[int, list[tuple[int, Group]]] = {}
        for index, group in enumerate(outcomes.groups):
            groups_by_negatives.setdefault(group.negatives, []).append((index, group))
        for negatives, groups in groups_by_negatives.items():
            design = SamplingDesign(negatives, outcomes.replacement)
            shape = (len(groups), len(metrics), negatives + 1)
            check_memory_limit(shape, f"weights of {self} for {design}", "take fewer")
            candidates = np.array([group.candidates for _, group in groups])
            fitted = self.checked_weights(design, candidates, tuple(metrics))
            for (index, group), group_weights in zip(groups, fitted, strict=True):
                weights[:, group.outcomes] = group_weights[:, group.x]
                weights_by_group[index] = group_weights
        in_order = tuple(weights_by_group[index] for index in sorted(weights_by_group))
        return LinearEstimate(weights, in_order)


_SLOPE = 1e-5  # largest slope at an optimum, relative to that at 0


def nonnegative_least_squares(matrix: Floats, target: Floats) -> Floats:
    """Return the (columns,) x >= 0 for which ‖matrix x - target‖ is least.

    The active-set method of `scipy.optimize.nnls` may end before the optimum where columns are
    almost equal. The slower method of `scipy.optimize.lsq_linear` takes its place then.
    """
    from scipy.optimize import lsq_linear, nnls  # slow to import

    solution: Floats = nnls(matrix, target, maxiter=30 * matrix.shape[1])[0]
    slope = matrix.T @ (matrix @ solution - target)
    tolerance = _SLOPE * np.abs(matrix.T @ target).max()
    # at the optimum, the slope is 0 along every x > 0, and nowhere negative
    is_steep = np.abs(slope[solution > 0]).max(initial=0.0) > tolerance
    if is_steep or slope.min() < -tolerance:
        solution = lsq_linear(matrix, target, bounds=(0, np.inf), method="bvls", tol=1e-14).x
    return solution


_BLOCK = 2**22  # probabilities held at once
_FEW = 1024  # up to this cut-off, a metric is summed rank by rank


@dataclass(frozen=True)
class Reduction:
    """The least-squares problems of one design, some n and some metrics; K singular vectors.

    Attributes:
        basis: B, (m + 1, K).
        marginal: c, (m + 1,): P(x) under uniform ranks; the same for all n.
        singular: S, (n's, K), decreasing.
        projected: S Uᵀ D^½ f = Bᵀ AᵀD f, (n's, K, metrics).
    """

    basis: Floats
    marginal: Floats
    singular: Floats
    projected: Floats

    def weights(self, coefficients: Floats) -> Floats:
        """Return the (n's, metrics, m + 1) weights w = B y of (n's, K, metrics) coefficients y."""
        count, kept, metrics = coefficients.shape
        weights = np.swapaxes(coefficients, 1, 2).reshape(-1, kept) @ self.basis.T
        return weights.reshape(count, metrics, -1)


def solved(
    solve: Callable[[Reduction], Floats],
    candidates: Ints,
    design: SamplingDesign,
    metrics: tuple[Metric, ...],
    precise: bool = False,
) -> Floats:
    """Return (n's, metrics, m + 1) weights.

    Several n are solved at once where they share their singular vectors. `precise` asks for
    coordinates that keep their digits where S is small.
    """
    if not design.replacement and not precise:
        return solve(reduced(tuple(map(int, candidates)), design, metrics))
    return np.concatenate([solve(reduced((int(n),), design, metrics, precise)) for n in candidates])


@lru_cache(maxsize=64)
def reduced(
    candidates: tuple[int, ...],
    design: SamplingDesign,
    metrics: tuple[Metric, ...],
    precise: bool = False,
) -> Reduction:
    """Reduce eq. 21 under the uniform prior.

    Several n are allowed only without replacement and without `precise`.

    Raises:
        DataError: m is too large for the allowed memory.
    """
    columns = design.negatives + 1
    instead = "take an estimator that solves no equations, such as rank-estimate or uncorrected"
    check_memory_limit((2 * columns, columns), f"the equations for {design}", instead)
    if design.replacement or precise:
        reduction = _computed(candidates[0], design, metrics)
    else:
        reduction = _in_closed_form(candidates, design, metrics)
    for array in vars(reduction).values():  # the cache shares them among callers
        array.flags.writeable = False
    return reduction


def _in_closed_form(
    candidates: tuple[int, ...], design: SamplingDesign, metrics: tuple[Metric, ...]
) -> Reduction:
    """Return the reduction of several n without replacement, from the known singular vectors."""
    columns = design.negatives + 1
    basis = np.sqrt(columns) * _chebyshev(design.negatives)
    k = np.arange(1, columns)
    n = np.array(candidates, dtype=np.float64)[:, np.newaxis]
    factors = (columns - k) / (columns + k) * (n + k) / (n - k)
    squares = np.cumprod(np.hstack((np.ones_like(n), factors)), axis=1)
    return Reduction(
        basis=basis,
        marginal=np.full(columns, 1 / columns),
        singular=np.sqrt(squares),
        projected=basis.T @ _joint(candidates, design, metrics),
    )


@lru_cache(maxsize=8)
def _chebyshev(degree: int) -> Floats:
    """Return the orthonormal discrete Chebyshev polynomials on 0 … m, in columns by degree.

    The polynomials are the eigenvectors of a second-order difference operator with the eigenvalues
    k (k + 1), which are well separated, so that all digits are kept at every degree.
    """
    x = np.arange(degree)
    between = (x + 1.0) * (degree - x)
    diagonal = np.concatenate((between, [0.0])) + np.concatenate(([0.0], between))
    return np.asarray(eigh_tridiagonal(diagonal, -between)[1])


def _joint(
    candidates: tuple[int, ...], design: SamplingDesign, metrics: tuple[Metric, ...]
) -> Floats:
    """Return AᵀD f, (n's, m + 1, metrics), in blocks of n that fit into memory."""
    grids = [_nodes(n, design, metrics) for n in candidates]
    lengths = np.array([len(grid.ranks) for grid in grids])
    sums = np.zeros((len(candidates), design.negatives + 1, len(metrics)))
    blocks = np.cumsum(lengths) * (design.negatives + 1) // _BLOCK
    for block in np.unique(blocks):
        chosen = np.flatnonzero(blocks == block)
        n = np.repeat(np.array(candidates)[chosen], lengths[chosen])
        ranks = np.concatenate([grids[index].ranks for index in chosen])
        shares = np.concatenate([grids[index].weights for index in chosen]) / n
        probabilities = pmf(ranks - 1, n - 1, design)
        require_sum_of_one(probabilities, f"P(x | rank) of {design}")
        values = np.stack([metric.of_rank(ranks, n) * shares for metric in metrics], axis=1)
        ends = np.cumsum(lengths[chosen])
        starts = ends - lengths[chosen]
        for index, start, end in zip(chosen, starts, ends, strict=True):
            sums[index] = probabilities[start:end].T @ values[start:end]
    return sums


def _nodes(candidates: int, design: SamplingDesign, metrics: tuple[Metric, ...]) -> RankNodes:
    """Return nodes for sums of P(x | rank) f(rank).

    Ranks beyond the cut-offs of all metrics are left out.
    """
    cutoffs = [metric.cutoff for metric in metrics]
    # a metric without a cut-off needs all ranks
    last_rank = max((_FEW + 1 if k is None else k for k in cutoffs), default=1)
    if last_rank <= _FEW:
        ranks = np.arange(1.0, min(max(last_rank, 1), candidates) + 1)
        return RankNodes(ranks, np.ones_like(ranks))
    return rank_nodes(candidates, design, tuple(k for k in cutoffs if k is not None))


def _computed(candidates: int, design: SamplingDesign, metrics: tuple[Metric, ...]) -> Reduction:
    """Return the reduction of one n, by a singular value decomposition."""
    cutoffs = tuple(metric.cutoff for metric in metrics if metric.cutoff is not None)
    grid = rank_nodes(candidates, design, cutoffs)
    what = f"P(x | rank) of n = {candidates} candidates and {design}"
    check_memory_limit((3 * len(grid.ranks), design.negatives + 1), what, "take fewer negatives")
    probabilities = pmf(grid.ranks - 1, candidates - 1, design)
    require_sum_of_one(probabilities, what)
    share = grid.weights / candidates
    marginal = share @ probabilities
    seen = marginal > 0  # an x that no rank can give has weight 0
    scale = np.sqrt(marginal[seen])
    root = np.sqrt(share)[:, np.newaxis]
    matrix = root * probabilities[:, seen] / scale  # D^½ A C^-½
    left, singular, right = svd(matrix, full_matrices=False, check_finite=False)
    basis = np.zeros((len(marginal), len(singular)))
    basis[seen] = right.T / scale[:, np.newaxis]
    values = np.stack([metric.of_rank(grid.ranks, candidates) for metric in metrics], axis=1)
    projected = singular[:, np.newaxis] * (left.T @ (root * values))
    return Reduction(basis, marginal, singular[np.newaxis], projected[np.newaxis])


@dataclass(frozen=True)
class Uncorrected(LinearEstimator):
    """The metric of the sampled rank: w_x = f(x + 1).

    Metrics that need n take n = m + 1.
    """

    is_uncorrected: ClassVar[bool] = True

    def __str__(self) -> str:
        return "uncorrected"

    def weights(
        self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]
    ) -> Floats:
        """Return the weights, which are the same for each n."""
        weights = np.stack([metric.values(design.negatives + 1) for metric in metrics])
        return np.broadcast_to(weights, (len(candidates), *weights.shape))


@dataclass(frozen=True)
class RankEstimate(LinearEstimator):
    """The metric of the estimated rank: w_x = f(1 + floor((n - 1) x / m)).

    This is eq. 20, floored as in the experiments.

    Attributes:
        extra_divisor: the number added to m. The paper's printed numbers fit 1; its eq. 20 has 0.
    """

    extra_divisor: int = 0

    def __str__(self) -> str:
        labels = {0: "rank-estimate", 1: "rank-estimate-as-printed"}
        return labels.get(self.extra_divisor, repr(self))

    def weights(
        self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]
    ) -> Floats:
        """Return the metrics of the sampled ranks, scaled to the n candidates."""
        x = np.arange(design.negatives + 1)
        n = candidates[:, np.newaxis]
        # (n - 1) x may overflow
        whole, remainder = np.divmod(n - 1, design.negatives + self.extra_divisor)
        rank = 1 + whole * x + remainder * x // (design.negatives + self.extra_divisor)
        return np.stack([metric.of_rank(rank, n) for metric in metrics], axis=1)


_NEGLIGIBLE = 1e-10  # singular values that have no effect on weights from 0 to 1
_SHARED = 8  # largest active set that is tried for other n
_TOLERANCE = 1e-11  # slope of the loss that counts as none, relative to the largest


@dataclass(frozen=True)
class ConstrainedLeastSquares(LinearEstimator):
    """Non-negative and non-increasing weights that minimise eq. 21 under a uniform prior.

    With w_x = Σ_{j ≥ x} δ_j and δ ≥ 0 this is a non-negative least-squares problem. The paper
    states only that weights do not increase; its printed numbers also need w ≥ 0.

    Attributes:
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    replacement: bool | None

    def __str__(self) -> str:
        return "cls"

    def weights(
        self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]
    ) -> Floats:
        """Return the weights, solved by least squares for each n and metric.

        A metric that is linear in the rank has the weights f(1 + (n-1) x/m), which meet the
        constraints without bias.
        """
        n = candidates[:, np.newaxis]
        share = np.arange(design.negatives + 1) / design.negatives
        weights = np.empty((len(candidates), len(metrics), len(share)))
        not_linear = tuple(metric for metric in metrics if not metric.linear_in_rank)
        if not_linear:
            weights[:, [not metric.linear_in_rank for metric in metrics]] = solved(
                _solve, candidates, design.assumed(self.replacement), not_linear
            )
        for column, metric in enumerate(metrics):
            if metric.linear_in_rank:
                weights[:, column] = metric.of_rank(1 + (n - 1) * share, n)
        return weights

    def condition_number(
        self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]
    ) -> float:
        """Return the largest condition number over metrics, of the columns whose δ is not 0."""
        not_linear = tuple(metric for metric in metrics if not metric.linear_in_rank)
        if not not_linear:
            return 1.0
        problem = reduced((candidates,), design.assumed(self.replacement), not_linear)
        steps, _ = _steps(problem)
        weights = _solve(problem)[0]
        next_weights = np.column_stack((weights[:, 1:], np.zeros(len(weights))))
        is_active = weights > next_weights  # δ_x is the fall of the weights after x
        scaled = problem.singular.T * steps
        conditions = [
            float(np.linalg.cond(scaled[:, columns])) for columns in is_active if columns.any()
        ]
        return max(conditions, default=1.0)


def _steps(problem: Reduction) -> tuple[Floats, Floats]:
    """Return the effects of δ_j on S, (K, m + 1), and the targets Uᵀ D^½ f, (n's, K, metrics)."""
    steps = np.cumsum(problem.basis.T * problem.marginal, axis=1)
    singular = problem.singular[:, :, np.newaxis]
    negligible = singular <= _NEGLIGIBLE
    return steps, np.where(negligible, 0.0, problem.projected / np.where(negligible, 1.0, singular))


def _solve(problem: Reduction) -> Floats:
    """Return the (n's, metrics, m + 1) weights."""
    steps, targets = _steps(problem)
    targets_by_metric = np.moveaxis(targets, 2, 0)
    deltas = np.stack(
        [_deltas(steps, problem.singular, metric_targets) for metric_targets in targets_by_metric],
        axis=1,
    )
    return np.cumsum(deltas[:, :, ::-1], axis=2)[:, :, ::-1]


def _deltas(steps: Floats, singular: Floats, targets: Floats) -> Floats:
    """Return δ of one metric, (n's, m + 1).

    The δ above 0 are often the same ones for neighbouring n. So one n is solved by the active-set
    method. The active set found is tried for all other n, and taken where the conditions of an
    optimum (Karush, Kuhn and Tucker) hold. Large active sets differ from n to n, and are not tried.
    """
    deltas = np.zeros((len(targets), steps.shape[1]))
    unsolved = np.arange(len(targets))  # indices of n
    while len(unsolved):
        middle = unsolved[len(unsolved) // 2]
        unsolved = np.delete(unsolved, len(unsolved) // 2)
        deltas[middle] = nonnegative_least_squares(
            singular[middle][:, np.newaxis] * steps, targets[middle]
        )
        active = deltas[middle] > 0
        if not len(unsolved) or not 0 < active.sum() <= _SHARED:
            continue
        # least squares with this active set, for all other n
        factor, upper = np.linalg.qr(singular[unsolved][:, :, np.newaxis] * steps[:, active])
        projected = np.swapaxes(factor, 1, 2) @ targets[unsolved][:, :, np.newaxis]
        solutions = np.linalg.solve(upper, projected)[:, :, 0]
        # the conditions of an optimum
        residuals = targets[unsolved] - singular[unsolved] * (solutions @ steps[:, active].T)
        slope = (singular[unsolved] * residuals) @ steps
        slope_at_zero = (singular[unsolved] * targets[unsolved]) @ steps
        steepest = np.abs(slope_at_zero).max(axis=1, keepdims=True)
        is_flat = (slope <= _TOLERANCE * steepest).all(axis=1)
        is_optimal = (solutions > 0).all(axis=1) & is_flat
        deltas[np.ix_(unsolved[is_optimal], active)] = solutions[is_optimal]
        unsolved = unsolved[~is_optimal]
    return deltas


WORST_CONDITION = 1e10
"""Largest condition number of the equations of γ = 0.

Beyond it, the weights are made of rounding errors.
"""

_SMALL = 1e-4  # up to this γ, the digits of small singular values matter


@dataclass(frozen=True)
class BiasVariance(LinearEstimator):
    """Weights that minimise bias² plus γ times variance (eq. 25).

    The weights are w = ((1-γ) AᵀDA + γ diag(c))⁻¹ AᵀD f, with D the uniform prior and c = AᵀD 1. In
    the singular vectors of P(x | r) the equations are diagonal (`reduction`). γ = 1 gives the
    posterior mean of f (eq. 26).

    Attributes:
        gamma: γ, the weight of variance, 0 to 1.
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    gamma: float
    replacement: bool | None

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ConfigError(
                f"γ of a bias-variance estimator must be from 0 to 1, not {self.gamma}"
            )

    def __str__(self) -> str:
        return f"bv-{self.gamma:g}"

    def weights(
        self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]
    ) -> Floats:
        """Return the weights, solved for every n and every metric.

        Raises:
            DataError: γ is 0 and the equations are too badly conditioned for double precision, or m
                is too large.
        """
        assumed = design.assumed(self.replacement)
        if self.gamma == 0:
            for n in candidates:
                self._require_condition(design, int(n), metrics)
        return solved(self._solve, candidates, assumed, metrics, self._precise)

    def condition_number(
        self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]
    ) -> float:
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
        denominators = self._denominators(problem.singular)[:, :, np.newaxis]
        return problem.weights(problem.projected / denominators)

    def _require_condition(
        self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]
    ) -> None:
        condition = self.condition_number(design, candidates, metrics)
        if condition > WORST_CONDITION:
            raise DataError(
                f"{self} cannot be solved in double precision for {candidates} candidates and "
                f"{design}: the condition number of its equations is {condition:.1g}; take a γ "
                "above 0, such as bv-0.01"
            )
