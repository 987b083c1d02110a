"""Sums over all ranks as weighted sums over a few: Gauss quadrature for sums.

The ranks 1 … n are cut into panels, and the sum over a panel of N ranks is a Gauss rule of 16 nodes. Its nodes are the
zeros of the discrete Chebyshev polynomials on N points, so the rule is exact for sums of polynomials of degree up to
31. Panels of 16 ranks or fewer are summed rank by rank.

P(x | rank) changes over a distance of about 1/√m in φ = 2 arcsin √(rank/n), so panels are no wider than that. A metric
changes relative to the rank, so a panel is no wider than the ranks before it. The number of nodes grows as √m + log n.

Without replacement P(x | rank) is a polynomial in the rank only where x is possible. So ranks near both ends are also
summed one by one: those at which samples of all items above the rank, or of all items below it, are not negligible.
"""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.sampling.design import SamplingDesign

_NODES = 16  # of a panel
_WIDTH = 1.75  # widest panel, in φ √m; at 2.5, P(x | rank) is exact to 8 digits, and here to 12
_ALL = 512  # up to this n, every rank is a node


@dataclass(frozen=True)
class RankNodes:
    """Nodes and weights of sums over ranks: Σ_{r=1}^n g(r) = Σ_i weights_i g(ranks_i).

    Attributes:
        ranks: (nodes,) increasing ranks, not all of them whole.
        weights: (nodes,) numbers of ranks that the nodes stand for; their sum is n.
    """

    ranks: Floats
    weights: Floats


def rank_nodes(candidates: int, design: SamplingDesign, cutoffs: tuple[int, ...] = ()) -> RankNodes:
    """Return the nodes for sums over the ranks 1 … n of products of P(x | rank), x of m, with metrics.

    A cut-off k is the end of a panel, so the node before it is at most k and the next one at least k + 1.
    """
    n = candidates
    ends = _NODES if design.replacement else _one_by_one(design.negatives / max(n - 1, 1))
    if n <= max(_ALL, 4 * ends):
        return RankNodes(np.arange(1.0, n + 1), np.ones(n))
    edges = _edges(n, ends, _WIDTH / np.sqrt(design.negatives), sorted(k for k in cutoffs if k < n))
    before, size = edges[:-1], np.diff(edges)
    wide = size > _NODES
    nodes, weights = _gauss(size[wide])
    one_by_one = [np.arange(1.0, ends + 1), np.arange(n - ends + 1.0, n + 1)]
    one_by_one += [first + np.arange(1.0, count + 1) for first, count in zip(before[~wide], size[~wide], strict=True)]
    whole = np.concatenate(one_by_one)
    ranks = np.concatenate((whole, (before[wide, np.newaxis] + nodes).ravel()))
    order = np.argsort(ranks)
    return RankNodes(ranks[order], np.concatenate((np.ones_like(whole), weights.ravel()))[order])


def _one_by_one(share: float) -> int:
    """Return a number of ranks such that P(x >= rank | rank) is below 10⁻¹³ beyond it (Chernoff); share is m/(n-1)."""
    exponent = -np.log(share) - 1 + share if share < 1 else 0.0
    return int(min(np.ceil(30 / max(exponent, 1e-9)), 2**53)) + _NODES


def _edges(candidates: int, ends: int, width: float, cutoffs: list[int]) -> Ints:
    """Return the last ranks of panels between the first and the last ranks, which are summed one by one."""
    edges = [ends]
    while edges[-1] < candidates - ends:
        last = edges[-1]
        angle = 2 * np.arcsin(np.sqrt(last / candidates)) + width
        reached = candidates if angle >= np.pi else int(candidates * np.sin(angle / 2) ** 2)
        following = min(max(last + _NODES, min(2 * last, reached)), candidates - ends)
        edges.append(next((k for k in cutoffs if last < k < following), following))
    return np.array(edges)


def _gauss(sizes: Ints) -> tuple[Floats, Floats]:
    """Return (panels, 16) nodes from 1 to N and weights with the sum N, from the Jacobi matrices (Golub and Welsch)."""
    k, count = np.arange(1, _NODES), sizes[:, np.newaxis].astype(np.float64)
    matrices = np.zeros((len(sizes), _NODES, _NODES))
    matrices[:, k, k - 1] = np.sqrt(k**2 * (count**2 - k**2) / (4 * (4 * k**2 - 1.0)))
    zeros, vectors = np.linalg.eigh(matrices)
    return (count + 1) / 2 + zeros, count * vectors[:, 0] ** 2
