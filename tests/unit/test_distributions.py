"""P(x | rank) of large pools and samples, against fractions and mpmath."""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest

from sampled_metrics.design import Design
from sampled_metrics.distributions import binomial_pmf, hypergeometric_pmf, pmf

SMALLEST = 1e-290  # below, doubles themselves lose digits


def digits(ours, wanted, tolerance=1e-12):
    """Assert 12 digits of each probability that is a normal double."""
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(np.asarray(ours), wanted, rtol=tolerance, atol=SMALLEST)
    assert (wanted > SMALLEST).any()


@pytest.mark.parametrize("draws", [1, 7, 100, 1000])
@pytest.mark.parametrize("pool", [1000, 3540, 99_999, 1_234_567, 10_000_000])
def test_without_replacement_to_12_digits(pool, draws):
    better = [0, 1, 2, pool // 1000, pool // 50, pool // 3, pool // 2, pool - pool // 20, pool - 1, pool]
    x = np.unique(np.linspace(0, draws, 25).astype(int))
    ways = comb(pool, draws)
    wanted = [[float(Fraction(comb(b, int(k)) * comb(pool - b, draws - int(k)), ways)) for k in x] for b in better]
    digits(hypergeometric_pmf(better, pool, draws, x), wanted)


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
    digits(binomial_pmf(better, pool, draws, x), wanted)


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
    digits(hypergeometric_pmf(better, pool, draws, x)[0], wanted, 1e-12 if draws < 1_000_000 else 1e-11)


class TestEdges:
    @pytest.mark.parametrize("pool", [5, 3540, 10_000_000])
    @pytest.mark.parametrize("replacement", [True, False])
    def test_none_or_all_are_better(self, pool, replacement):
        none, every = pmf([0, pool], pool, Design(5, replacement))
        assert none.tolist() == [1, 0, 0, 0, 0, 0]
        assert every.tolist() == [0, 0, 0, 0, 0, 1]

    @pytest.mark.parametrize("pool", [1, 2, 50, 3540])
    def test_all_negatives_without_replacement_show_the_rank(self, pool):
        np.testing.assert_allclose(
            hypergeometric_pmf(np.arange(pool + 1), pool, pool), np.eye(pool + 1), rtol=0, atol=1e-12
        )

    def test_all_but_one(self):
        # the one that is left out is one of the better ones with chance b / pool
        pool = 1000
        ours = hypergeometric_pmf(np.arange(pool + 1), pool, pool - 1)
        for b in (0, 1, 400, 999, 1000):
            wanted = np.zeros(pool)
            wanted[max(b - 1, 0)] += b / pool
            wanted[min(b, pool - 1)] += 1 - b / pool
            np.testing.assert_allclose(ours[b], wanted, rtol=1e-12, atol=0)

    def test_more_draws_than_the_pool_with_replacement(self):
        ours = binomial_pmf([1], 2, 4)[0]
        np.testing.assert_allclose(ours, np.array([1, 4, 6, 4, 1]) / 16, rtol=1e-14)

    def test_impossible_numbers_have_no_chance_at_all(self):
        # 3 of 5 are better and 4 are drawn: at least 2, at most 3
        assert hypergeometric_pmf([3], 5, 4)[0].tolist() == pytest.approx([0, 0, 3 / 5, 2 / 5, 0], rel=1e-14)
        assert (hypergeometric_pmf([3], 5, 4)[0][[0, 1, 4]] == 0).all()


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("pool", "draws"), [(40_000, 100), (3_540, 1000), (10_000_000, 400)])
def test_sums_to_1_with_the_right_mean(pool, draws, replacement):
    better = np.linspace(0, pool, 200).astype(int)
    rows = pmf(better, pool, Design(draws, replacement))
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(rows @ np.arange(draws + 1), draws * better / pool, rtol=1e-12)


def test_columns_and_blocks_do_not_matter():
    # 3000 events of 101 columns are computed in ten blocks
    better, x = np.arange(0, 30_000, 10), np.array([100, 0, 3])
    for replacement in (True, False):
        design = Design(100, replacement)
        whole = pmf(better, 29_999, design)
        np.testing.assert_allclose(pmf(better, 29_999, design, x), whole[:, x], rtol=1e-14)
        for event in (0, 324, 325, 2999):
            np.testing.assert_allclose(pmf(better[event], 29_999, design)[0], whole[event], rtol=1e-14)
