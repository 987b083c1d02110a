"""Sums over nodes against sums over all ranks."""

import numpy as np
import pytest

from sampled_metrics.sampling.distributions import SamplingDesign, pmf
from sampled_metrics.sampling.outcomes import rank_nodes

SIZES = [(600, 1), (600, 100), (3541, 10), (3541, 1000), (20_000, 100), (20_000, 1), (100_000, 10), (100_000, 1000)]
CUTOFFS = (1, 7, 50, 599, 3000, 12_345)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_sums_of_metrics(n, m, replacement):
    grid, r = rank_nodes(n, SamplingDesign(m, replacement), CUTOFFS), np.arange(1.0, n + 1)
    for f in (np.ones_like, lambda rank: 1 / rank, lambda rank: 1 / np.log2(rank + 1), lambda rank: n - rank):
        assert grid.weights @ f(grid.ranks) == pytest.approx(f(r).sum(), rel=1e-12)
    for k in CUTOFFS:
        assert grid.weights @ (grid.ranks <= k) == pytest.approx(min(k, n), rel=1e-12)
        cut = grid.weights @ ((grid.ranks <= k) / np.log2(grid.ranks + 1))
        assert cut == pytest.approx((1 / np.log2(r[:k] + 1)).sum(), rel=1e-12)


LARGEST = pytest.param(100_000, 1000, marks=pytest.mark.slow)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("n", "m"), [*SIZES[:-1], LARGEST])
def test_sums_of_probabilities_and_of_their_products(n, m, replacement):
    design = SamplingDesign(m, replacement)
    grid, x = rank_nodes(n, design, (50,)), np.unique(np.linspace(0, m, 9).astype(int))

    def sums(ranks, weights):
        chances = pmf(ranks - 1, n - 1, design, x)
        f = np.stack([1 / ranks, 1 / np.log2(ranks + 1), (n - ranks) / n, ranks <= 50], axis=1)
        weighted = weights[:, np.newaxis] * chances
        return [weights @ chances, weighted.T @ chances, *(weighted.T @ f).T]

    for ours, wanted in zip(sums(grid.ranks, grid.weights), sums(np.arange(1.0, n + 1), np.ones(n)), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_nodes_increase_and_stand_for_ranks(n, m):
    grid = rank_nodes(n, SamplingDesign(m), CUTOFFS)
    assert (grid.ranks[0], grid.ranks[-1]) == (1, n)
    assert (np.diff(grid.ranks) > 0).all()
    assert (grid.weights > 0).all()
