"""P(x | rank), and P(x) with ties: by lists of samples of small pools, and in fractions."""

from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest
from exact_probabilities import enumerated, over_ties
from scipy import stats

from sampled_metrics.core.ranks.sampled import impossible_with_replacement
from sampled_metrics.core.sampling.distributions import (
    SamplingDesign,
    distribution_over_ties,
    pmf,
    rank_distribution,
    sparse_pmf,
)
from sampled_metrics.errors import ConfigError, DataError

WITH = True
WITHOUT = False


@pytest.mark.parametrize(
    ("pool", "draws", "replacement"),
    [
        (1, 1, WITH),
        (5, 3, WITH),
        (3, 5, WITH),
        (7, 5, WITHOUT),
        (5, 5, WITHOUT),
    ],
)
def test_small_pools_are_every_sample_counted(pool, draws, replacement):
    wanted = np.array([enumerated(better, pool, draws, replacement) for better in range(pool + 1)])
    ours = pmf(np.arange(pool + 1), pool, SamplingDesign(draws, replacement))
    np.testing.assert_allclose(ours, wanted, rtol=1e-12)
    np.testing.assert_array_equal(
        rank_distribution(pool + 1, SamplingDesign(draws, replacement)), ours
    )


@pytest.mark.parametrize("replacement", [WITH, WITHOUT])
@pytest.mark.parametrize(("pool", "draws"), [(1000, 1000), (99_999, 1), (10_000_000, 300)])
def test_large_pools_in_fractions_to_12_digits(pool, draws, replacement):
    better = [0, 1, 2, pool // 50, pool // 2, pool - pool // 20, pool - 1, pool]
    x = np.unique(np.linspace(0, draws, 25).astype(int))
    if replacement:
        ways = [
            [comb(draws, k) * b**k * (pool - b) ** (draws - k) for k in map(int, x)] for b in better
        ]
    else:
        ways = [[comb(b, k) * comb(pool - b, draws - k) for k in map(int, x)] for b in better]
    samples = pool**draws if replacement else comb(pool, draws)
    wanted = [[float(Fraction(number, samples)) for number in row] for row in ways]
    ours = pmf(better, pool, SamplingDesign(draws, replacement), x)
    # below, doubles themselves lose digits
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-290)


def test_blocks_do_not_matter():
    """3000 events of 101 columns are computed in ten blocks."""
    better = np.arange(0, 30_000, 10)
    design = SamplingDesign(100)
    whole = pmf(better, 29_999, design)
    for event in (0, 324, 325, 2999):
        np.testing.assert_allclose(pmf(better[event], 29_999, design)[0], whole[event], rtol=1e-14)


@pytest.mark.parametrize("replacement", [WITH, WITHOUT])
@pytest.mark.parametrize("draws", [30, 1000, 3540])
def test_only_a_negligible_part_is_left_out(draws, replacement):
    better = np.arange(0, 3541, 20)
    design = SamplingDesign(draws, replacement)
    x = np.array([0, 7, draws // 2])
    whole = pmf(better, 3540, design)
    sparse = sparse_pmf(better, 3540, design)
    np.testing.assert_allclose(sparse, whole, rtol=1e-12, atol=1e-20)
    np.testing.assert_allclose(
        sparse_pmf(better, 3540, design, x), whole[:, x], rtol=1e-12, atol=1e-20
    )
    assert draws < 1000 or (sparse == 0).mean() > 0.5


@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 7), (3, 900), (3, 1100), (4, 3000), (50, 5000)])
def test_what_no_rank_gives_is_what_has_no_chance_at_any(n, m):
    chances = pmf(np.arange(n), n - 1, SamplingDesign(m, WITH)).max(axis=0)
    x = np.arange(m + 1)
    is_impossible = impossible_with_replacement(x, np.full_like(x, m), np.full_like(x, n))
    assert is_impossible.tolist() == (chances < np.finfo(float).tiny).tolist()
    assert is_impossible.any() == ((n, m) in {(2, 7), (3, 1100), (4, 3000)})


@pytest.mark.parametrize("rule", ["random", "beats-one"])
@pytest.mark.parametrize("replacement", [WITH, WITHOUT])
@pytest.mark.parametrize(
    ("m", "events"),  # above, tied, candidates
    [
        (1, [(0, 1, 2)]),
        (2, [(0, 4, 5)]),
        (4, [(1, 3, 6), (3, 1, 5)]),
        (3, [(1, 1, 4), (0, 0, 6), (0, 5, 6), (5, 0, 6), (2, 2, 6), (0, 2, 5), (4, 1, 6)]),
    ],
)
def test_few_ties_are_every_sample_and_every_order_listed(m, events, replacement, rule):
    ours = distribution_over_ties(*np.array(events).T, SamplingDesign(m, replacement), rule)
    wanted = [
        [float(chance) for chance in over_ties(*event, m, replacement, rule)] for event in events
    ]
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-15)


AROUND_THE_SWITCH = [
    (3, 8, 200),
    (190, 8, 200),
    (3, 9, 200),
    (190, 9, 200),
    (0, 199, 200),
    (7, 300, 1000),
]


@pytest.mark.parametrize("rule", ["random", "beats-one"])
@pytest.mark.parametrize("replacement", [WITH, WITHOUT])
@pytest.mark.parametrize(("above", "tied", "candidates"), AROUND_THE_SWITCH)
def test_many_ties_are_the_sum_over_what_is_drawn(above, tied, candidates, replacement, rule):
    m = 12
    pool = candidates - 1
    shares = [above, tied, pool - above - tied]
    wanted = np.zeros(m + 1)
    for better in range(m + 1):
        for equal in range(m + 1 - better):
            drawn = [better, equal, m - better - equal]
            if replacement:
                chance = stats.multinomial.pmf(drawn, m, np.array(shares) / pool)
            else:
                chance = Fraction(prod(map(comb, shares, drawn)), comb(pool, m))
            places = equal + 1 if rule == "random" else max(equal, 1)
            wanted[better : better + places] += float(chance) / places
    design = SamplingDesign(m, replacement)
    [ours] = distribution_over_ties([above], [tied], [candidates], design, rule)
    np.testing.assert_allclose(ours, wanted, atol=1e-12)


@pytest.mark.parametrize("negatives", [0, 5.5, True, "5", None, [3, 4, 5]])
def test_a_design_needs_a_whole_number_of_negatives(negatives):
    with pytest.raises(ConfigError, match=r"negatives"):
        SamplingDesign(negatives)


@pytest.mark.parametrize(
    ("candidates", "design", "rule", "error", "word"),
    [
        ([50, 10], SamplingDesign(10), "random", DataError, "candidates"),
        ([1, 1], SamplingDesign(2, WITH), "random", DataError, "negative"),
        ([9, 9], SamplingDesign(3), "loses-one", ConfigError, "loses-one"),
    ],
)
def test_distributions_refuse(candidates, design, rule, error, word):
    with pytest.raises(error, match=word):
        distribution_over_ties([0, 0], [0, 0], candidates, design, rule)
