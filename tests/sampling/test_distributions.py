"""P(x | rank), of small pools by enumeration, and of large ones against fractions, mpmath and scipy."""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from exact_probabilities import enumerated
from scipy import stats

from sampled_metrics.ranks.sampled import impossible_with_replacement
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import (
    pmf,
    rank_distribution,
    sparse_pmf,
)

SMALLEST = 1e-290  # below, doubles themselves lose digits


def digits(ours, wanted, tolerance=1e-12):
    """Assert 12 digits of each probability that is a normal double."""
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(np.asarray(ours), wanted, rtol=tolerance, atol=SMALLEST)
    assert (wanted > SMALLEST).any()


class TestSmall:
    @pytest.mark.parametrize(("pool", "draws"), [(1, 1), (3, 1), (4, 2), (5, 3), (4, 4), (3, 5)])
    def test_with_replacement_is_every_tuple_counted(self, pool, draws):
        ours = pmf(np.arange(pool + 1), pool, SamplingDesign(draws, True))
        wanted = [enumerated(better, pool, draws, True) for better in range(pool + 1)]
        np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-15)

    @pytest.mark.parametrize(("pool", "draws"), [(1, 1), (3, 1), (4, 2), (6, 3), (7, 5), (5, 5)])
    def test_without_replacement_is_every_subset_counted(self, pool, draws):
        ours = pmf(np.arange(pool + 1), pool, SamplingDesign(draws))
        wanted = [enumerated(better, pool, draws, False) for better in range(pool + 1)]
        np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-15)

    def test_of_the_papers_size_is_scipys(self):
        better, x = np.array([0, 1, 35, 1000, 3539, 3540]), np.arange(101)
        np.testing.assert_allclose(
            pmf(better, 3540, SamplingDesign(100, True)),
            stats.binom.pmf(x, 100, better[:, np.newaxis] / 3540),
            rtol=1e-9,
            atol=1e-300,
        )
        np.testing.assert_allclose(
            pmf(better, 3540, SamplingDesign(100)),
            stats.hypergeom.pmf(x, 3540, better[:, np.newaxis], 100),
            rtol=1e-9,
            atol=1e-290,
        )

    def test_each_event_may_have_its_own_pool(self):
        ours = pmf([2, 2], [4, 6], SamplingDesign(3))
        np.testing.assert_allclose(ours, [enumerated(2, 4, 3, False), enumerated(2, 6, 3, False)], atol=1e-14)
        ours = pmf([2, 2], [4, 6], SamplingDesign(3, True))
        np.testing.assert_allclose(ours, [enumerated(2, 4, 3, True), enumerated(2, 6, 3, True)], atol=1e-14)

    @pytest.mark.parametrize("replacement", [True, False])
    def test_of_all_ranks_has_a_row_for_each(self, replacement):
        rows = rank_distribution(6, SamplingDesign(3, replacement))
        np.testing.assert_allclose(rows, [enumerated(r - 1, 5, 3, replacement) for r in range(1, 7)], atol=1e-14)

    def test_of_all_ranks_cannot_be_changed_by_who_asked(self):
        with pytest.raises(ValueError, match="read-only"):
            rank_distribution(6, SamplingDesign(3))[0, 0] = 1


@pytest.mark.parametrize("draws", [1, 7, 100, 1000])
@pytest.mark.parametrize("pool", [1000, 3540, 99_999, 1_234_567, 10_000_000])
def test_without_replacement_to_12_digits(pool, draws):
    better = [0, 1, 2, pool // 1000, pool // 50, pool // 3, pool // 2, pool - pool // 20, pool - 1, pool]
    x = np.unique(np.linspace(0, draws, 25).astype(int))
    ways = comb(pool, draws)
    wanted = [[float(Fraction(comb(b, int(k)) * comb(pool - b, draws - int(k)), ways)) for k in x] for b in better]
    digits(pmf(better, pool, SamplingDesign(draws), x), wanted)


@pytest.mark.parametrize("draws", [1, 7, 100, 1000])
@pytest.mark.parametrize("pool", [1000, 3540, 99_999, 1_234_567, 10_000_000])
def test_with_replacement_to_12_digits(pool, draws):
    better = [0, 1, 2, pool // 1000, pool // 50, pool // 3, pool // 2, pool - pool // 20, pool - 1, pool]
    x = np.unique(np.linspace(0, draws, 25).astype(int))
    with mpmath.workdps(50):
        wanted = [
            [float(comb(draws, int(k)) * mpmath.mpf(b) ** int(k) * mpmath.mpf(pool - b) ** (draws - int(k))
                   / mpmath.mpf(pool) ** draws) for k in x]
            for b in better
        ]  # fmt: skip
    digits(pmf(better, pool, SamplingDesign(draws, True), x), wanted)


@pytest.mark.parametrize("draws", [100_000, 5_000_000, 9_999_000])
def test_a_large_part_of_ten_million_without_replacement(draws):
    # with millions of draws the roundings of as many logarithms add up: 11.5 digits are left
    pool, better = 10_000_000, 1_000_003
    expected = better * draws / pool
    x = np.array([int(expected + step * np.sqrt(expected)) for step in (-2, -1, -0.1, 0, 0.1, 1)])
    x = x[(x <= better) & (draws - x <= pool - better)]
    with mpmath.workdps(50):

        def log_comb(of, some):
            return mpmath.loggamma(of + 1) - mpmath.loggamma(some + 1) - mpmath.loggamma(of - some + 1)

        wanted = [
            float(
                mpmath.exp(log_comb(better, int(k)) + log_comb(pool - better, draws - int(k)) - log_comb(pool, draws))
            )
            for k in x
        ]
    digits(pmf(better, pool, SamplingDesign(draws), x)[0], wanted, 1e-12 if draws < 1_000_000 else 1e-11)


class TestEdges:
    @pytest.mark.parametrize("pool", [5, 3540, 10_000_000])
    @pytest.mark.parametrize("replacement", [True, False])
    def test_none_or_all_are_better(self, pool, replacement):
        none, every = pmf([0, pool], pool, SamplingDesign(5, replacement))
        assert none.tolist() == [1, 0, 0, 0, 0, 0]
        assert every.tolist() == [0, 0, 0, 0, 0, 1]

    @pytest.mark.parametrize("pool", [1, 2, 50, 3540])
    def test_all_negatives_without_replacement_show_the_rank(self, pool):
        np.testing.assert_allclose(
            pmf(np.arange(pool + 1), pool, SamplingDesign(pool)), np.eye(pool + 1), rtol=0, atol=1e-12
        )

    def test_all_but_one(self):
        # the one that is left out is one of the better ones with chance b / pool
        pool = 1000
        ours = pmf(np.arange(pool + 1), pool, SamplingDesign(pool - 1))
        for b in (0, 1, 400, 999, 1000):
            wanted = np.zeros(pool)
            wanted[max(b - 1, 0)] += b / pool
            wanted[min(b, pool - 1)] += 1 - b / pool
            np.testing.assert_allclose(ours[b], wanted, rtol=1e-12, atol=0)

    def test_more_draws_than_the_pool_with_replacement(self):
        ours = pmf([1], 2, SamplingDesign(4, True))[0]
        np.testing.assert_allclose(ours, np.array([1, 4, 6, 4, 1]) / 16, rtol=1e-14)

    def test_impossible_numbers_have_no_chance_at_all(self):
        # 3 of 5 are better and 4 are drawn: at least 2, at most 3
        assert pmf([3], 5, SamplingDesign(4))[0].tolist() == pytest.approx([0, 0, 3 / 5, 2 / 5, 0], rel=1e-14)
        assert (pmf([3], 5, SamplingDesign(4))[0][[0, 1, 4]] == 0).all()


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("pool", "draws"), [(40_000, 100), (3_540, 1000), (10_000_000, 400)])
def test_sums_to_1_with_the_right_mean(pool, draws, replacement):
    better = np.linspace(0, pool, 200).astype(int)
    rows = pmf(better, pool, SamplingDesign(draws, replacement))
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(rows @ np.arange(draws + 1), draws * better / pool, rtol=1e-12)


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


def test_what_no_rank_gives_is_told_by_event():
    x, m, n = np.array([0, 1, 2, 1, 1]), np.array([2, 2, 2, 2, 1]), np.array([2, 2, 2, 3, 2])
    assert impossible_with_replacement(x, m, n).tolist() == [False, True, False, False, False]


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("draws", [1, 30, 1000, 3540])
def test_only_a_negligible_part_is_left_out(draws, replacement):
    better, design = np.arange(0, 3541, 20), SamplingDesign(draws, replacement)
    whole, sparse = pmf(better, 3540, design), sparse_pmf(better, 3540, design)
    np.testing.assert_allclose(sparse, whole, rtol=1e-12, atol=1e-20)
    assert draws < 1000 or (sparse == 0).mean() > 0.5
