"""P(x | rank), of small pools by enumeration, and of large ones against fractions."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from exact_probabilities import enumerated

from sampled_metrics.ranks.sampled import impossible_with_replacement
from sampled_metrics.sampling.distributions import (
    SamplingDesign,
    pmf,
    rank_distribution,
    sparse_pmf,
)


@pytest.mark.parametrize(
    ("pool", "draws", "replacement"),
    [
        *((*size, True) for size in [(1, 1), (3, 1), (4, 2), (5, 3), (4, 4), (3, 5)]),
        *((*size, False) for size in [(1, 1), (3, 1), (4, 2), (6, 3), (7, 5), (5, 5)]),
    ],
)
def test_small_ones_are_every_sample_counted(pool, draws, replacement):
    wanted = [enumerated(better, pool, draws, replacement) for better in range(pool + 1)]
    ours = pmf(np.arange(pool + 1), pool, SamplingDesign(draws, replacement))
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-15)
    of_ranks = rank_distribution(pool + 1, SamplingDesign(draws, replacement))
    np.testing.assert_allclose(of_ranks, wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("draws", [1, 7, 1000])
@pytest.mark.parametrize("pool", [1000, 99_999, 10_000_000])
def test_12_digits(pool, draws, replacement):
    better = [0, 1, 2, pool // 1000, pool // 50, pool // 3, pool // 2, pool - pool // 20, pool - 1, pool]
    x = [int(each) for each in np.unique(np.linspace(0, draws, 25).astype(int))]
    if replacement:
        ways = [[comb(draws, k) * b**k * (pool - b) ** (draws - k) for k in x] for b in better]
    else:
        ways = [[comb(b, k) * comb(pool - b, draws - k) for k in x] for b in better]
    samples = pool**draws if replacement else comb(pool, draws)
    wanted = np.array([[float(Fraction(each, samples)) for each in row] for row in ways])
    ours = pmf(better, pool, SamplingDesign(draws, replacement), np.array(x))
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-290)  # below, doubles themselves lose digits


@pytest.mark.parametrize("pool", [5, 3540, 10_000_000])
@pytest.mark.parametrize("replacement", [True, False])
def test_none_or_all_are_better(pool, replacement):
    assert pmf([0, pool], pool, SamplingDesign(5, replacement)).tolist() == [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]


def test_impossible_numbers_have_no_chance_at_all():
    """3 of 5 are better and 4 are drawn: at least 2, at most 3."""
    assert pmf([3], 5, SamplingDesign(4))[0][[0, 1, 4]].tolist() == [0, 0, 0]


def test_columns_and_blocks_do_not_matter():
    # 3000 events of 101 columns are computed in ten blocks
    better, x = np.arange(0, 30_000, 10), np.array([100, 0, 3])
    for replacement in (True, False):
        design = SamplingDesign(100, replacement)
        whole = pmf(better, 29_999, design)
        np.testing.assert_allclose(pmf(better, 29_999, design, x), whole[:, x], rtol=1e-14)
        for event in (0, 324, 325, 2999):
            np.testing.assert_allclose(pmf(better[event], 29_999, design)[0], whole[event], rtol=1e-14)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 7), (3, 900), (3, 1100), (4, 3000), (9, 30), (50, 5000)])
def test_what_no_rank_gives_is_what_has_no_chance_at_any(n, m):
    chances = pmf(np.arange(n), n - 1, SamplingDesign(m, True)).max(axis=0)
    x = np.arange(m + 1)
    found = impossible_with_replacement(x, np.full_like(x, m), np.full_like(x, n))
    assert found.tolist() == (chances < np.finfo(float).tiny).tolist()
    assert found.any() == ((n, m) in {(2, 7), (3, 1100), (4, 3000)})


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("draws", [1, 30, 1000, 3540])
def test_only_a_negligible_part_is_left_out(draws, replacement):
    better, design = np.arange(0, 3541, 20), SamplingDesign(draws, replacement)
    whole, sparse = pmf(better, 3540, design), sparse_pmf(better, 3540, design)
    np.testing.assert_allclose(sparse, whole, rtol=1e-12, atol=1e-20)
    assert draws < 1000 or (sparse == 0).mean() > 0.5
