"""Least squares under a uniform prior of ranks, in the singular vectors of P(x | rank).

With D = 1/n and the marginal c = AᵀD1, let D^½ A C^-½ = U S Vᵀ. Weights w = B y, with B = C^-½ V, have the mean S y at
the ranks, in the coordinates U, and the variance-like penalty Σ_x c_x w_x² = ‖y‖². So every fit is a problem in y of
the size m + 1, whatever n is.

Without replacement the singular vectors are known: U and V hold the discrete Chebyshev polynomials on n and m + 1
points, because the mean of the k-th falling factorial of x is a multiple of that of r - 1. With M = m + 1,
S_k² = Π_{j=1}^k (M-j)(n+j) / ((M+j)(n-j)), and c is uniform. With replacement they are computed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import eigh_tridiagonal, svd

from sampled_metrics._validation import Floats, Ints, check_memory_limit, require_sum_of_one
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf
from sampled_metrics.sampling.rank_nodes import RankNodes, rank_nodes

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
    """Return (n's, metrics, m + 1) weights, solved for several n at once where these share their singular vectors.

    `precise` asks for coordinates that keep their digits where S is small.
    """
    if not design.replacement and not precise:
        return solve(reduced(tuple(map(int, candidates)), design, metrics))
    return np.concatenate([solve(reduced((int(n),), design, metrics, precise)) for n in candidates])


@lru_cache(maxsize=64)
def reduced(
    candidates: tuple[int, ...], design: SamplingDesign, metrics: tuple[Metric, ...], precise: bool = False
) -> Reduction:
    """Reduce eq. 21 under the uniform prior; several n only without replacement and without `precise`.

    Raises:
        DataError: m is too large for the allowed memory.
    """
    columns = design.negatives + 1
    instead = "take an estimator that solves no equations, such as rank-estimate or uncorrected"
    check_memory_limit((2 * columns, columns), f"the equations for {design}", instead)
    parts = _computed(candidates[0], design, metrics) if design.replacement or precise else None
    if parts is None:
        basis = np.sqrt(columns) * _chebyshev(design.negatives)
        k, n = np.arange(1, columns), np.array(candidates, dtype=np.float64)[:, np.newaxis]
        factors = (columns - k) / (columns + k) * (n + k) / (n - k)
        squares = np.cumprod(np.hstack((np.ones_like(n), factors)), axis=1)
        parts = basis, np.full(columns, 1 / columns), np.sqrt(squares), basis.T @ _joint(candidates, design, metrics)
    for part in parts:
        part.flags.writeable = False
    return Reduction(*parts)


@lru_cache(maxsize=8)
def _chebyshev(degree: int) -> Floats:
    """Return the orthonormal discrete Chebyshev polynomials on 0 … m, in columns by degree.

    They are the eigenvectors of a second-order difference operator with the eigenvalues k (k + 1), which are well
    separated, so that all digits are kept at every degree.
    """
    x = np.arange(degree)
    between = (x + 1.0) * (degree - x)
    diagonal = np.concatenate((between, [0.0])) + np.concatenate(([0.0], between))
    return np.asarray(eigh_tridiagonal(diagonal, -between)[1])


def _joint(candidates: tuple[int, ...], design: SamplingDesign, metrics: tuple[Metric, ...]) -> Floats:
    """Return AᵀD f, (n's, m + 1, metrics)."""
    grids = [_nodes(n, design, metrics) for n in candidates]
    lengths = np.array([len(grid.ranks) for grid in grids])
    sums = np.zeros((len(candidates), design.negatives + 1, len(metrics)))
    block = np.cumsum(lengths) * (design.negatives + 1) // _BLOCK
    for number in np.unique(block):
        chosen = np.flatnonzero(block == number)
        n = np.repeat(np.array(candidates)[chosen], lengths[chosen])
        ranks = np.concatenate([grids[index].ranks for index in chosen])
        shares = np.concatenate([grids[index].weights for index in chosen]) / n
        probabilities = pmf(ranks - 1, n - 1, design)
        require_sum_of_one(probabilities, f"P(x | rank) of {design}")
        values = np.stack([metric.of_rank(ranks, n) * shares for metric in metrics], axis=1)
        ends = np.cumsum(lengths[chosen])
        for index, first, last in zip(chosen, ends - lengths[chosen], ends, strict=True):
            sums[index] = probabilities[first:last].T @ values[first:last]
    return sums


def _nodes(candidates: int, design: SamplingDesign, metrics: tuple[Metric, ...]) -> RankNodes:
    """Return nodes for sums of P(x | rank) f(rank); ranks beyond the cut-offs of all metrics are left out."""
    cutoffs = [metric.cutoff for metric in metrics]
    last = max((_FEW + 1 if k is None else k for k in cutoffs), default=1)
    if last <= _FEW:
        ranks = np.arange(1.0, min(max(last, 1), candidates) + 1)
        return RankNodes(ranks, np.ones_like(ranks))
    return rank_nodes(candidates, design, tuple(k for k in cutoffs if k is not None))


def _computed(
    candidates: int, design: SamplingDesign, metrics: tuple[Metric, ...]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the parts of a reduction for one n by a singular value decomposition."""
    grid = rank_nodes(candidates, design, tuple(metric.cutoff for metric in metrics if metric.cutoff is not None))
    what = f"P(x | rank) of n = {candidates} candidates and {design}"
    check_memory_limit((3 * len(grid.ranks), design.negatives + 1), what, "take fewer negatives")
    probabilities = pmf(grid.ranks - 1, candidates - 1, design)
    require_sum_of_one(probabilities, what)
    share = grid.weights / candidates
    marginal = share @ probabilities
    seen = marginal > 0  # an x that no rank can give has weight 0
    scale, root = np.sqrt(marginal[seen]), np.sqrt(share)[:, np.newaxis]
    left, singular, right = svd(root * probabilities[:, seen] / scale, full_matrices=False, check_finite=False)
    basis = np.zeros((len(marginal), len(singular)))
    basis[seen] = right.T / scale[:, np.newaxis]
    values = np.stack([metric.of_rank(grid.ranks, candidates) for metric in metrics], axis=1)
    projected = singular[:, np.newaxis] * (left.T @ (root * values))
    return basis, marginal, singular[np.newaxis], projected[np.newaxis]
