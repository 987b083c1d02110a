"""What samples show: exact moments by every sample listed, and draws by a sampler of items."""

from fractions import Fraction
from itertools import product
from math import erf, sqrt

import numpy as np
import pytest
from exact_probabilities import enumerated, over_ties
from scipy import stats
from small_tables import table_of

from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign, distribution_over_ties
from sampled_metrics.core.sampling.draws import (
    draw,
    expected_distribution,
    expected_metric,
    linear_moments,
    probability_of_order,
)

WITH = True
WITHOUT = False


@pytest.mark.parametrize("replacement", [WITH, WITHOUT])
@pytest.mark.parametrize("label", ["auc", "ap", "ndcg@3", "recall@1", "precision@2"])
def test_an_expected_metric_is_the_mean_over_every_sample(label, replacement):
    n = 6
    m = 3
    f = metric(label).of_rank(np.arange(1, m + 2), m + 1)
    wanted = [np.dot(enumerated(r - 1, n - 1, m, replacement), f) for r in range(1, n + 1)]
    ours = expected_metric(np.arange(1, n + 1), n, SamplingDesign(m, replacement), metric(label))
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("rule", ["random", "beats-one"])
@pytest.mark.parametrize(
    ("above", "tied", "m", "replacement"),
    [
        (12, 0, 9, WITH),
        (3, 9, 9, WITH),
        (3, 9, 1, WITHOUT),
        (0, 29, 9, WITHOUT),
        (6, 10, 29, WITHOUT),
    ],
)
def test_draws_have_the_distribution_over_ties(above, tied, m, replacement, rule):
    """By a chi-square test, with what is rare taken together."""
    design = SamplingDesign(m, replacement)
    repetitions = 50_000
    columns = (np.full(repetitions, number) for number in (above, tied, 30))
    x = draw(*columns, design, np.random.default_rng(3)).ranked_above(rule)
    observed = np.bincount(x, minlength=m + 1)
    expected = repetitions * distribution_over_ties([above], [tied], [30], design, rule)[0]
    often = expected > 20
    assert observed[expected < 1e-6].sum() == 0
    observed, expected = (
        [*column[often], column[~often].sum() + 1e-9] for column in (observed, expected)
    )
    assert stats.chisquare(observed, expected).pvalue > 0.001


SMALL = [(6, 1, 2), (5, 0, 0), (5, 4, 0), (6, 0, 5)]  # candidates, above, tied
WEIGHTS = np.array([[1.0, 0.5, 0.25], [3.0, -2.0, 7.0], [0.125, 0.125, 0.125]])


@pytest.mark.parametrize("replacement", [WITH, WITHOUT])
def test_the_expected_distribution_is_the_mean_of_those_of_the_events(replacement):
    laws = [over_ties(above, tied, n, 2, replacement, "random") for n, above, tied in SMALL]
    mean_law = [float(sum(column) / len(SMALL)) for column in zip(*laws, strict=True)]
    expected = expected_distribution(table_of(SMALL), SamplingDesign(2, replacement))
    np.testing.assert_allclose(expected, mean_law, rtol=1e-12)


@pytest.mark.parametrize("rule", ["random", "beats-one"])
@pytest.mark.parametrize("replacement", [WITH, WITHOUT])
def test_moments_are_those_of_every_sample_of_all_events_listed(replacement, rule):
    design = SamplingDesign(2, replacement)
    laws = [over_ties(above, tied, n, 2, replacement, rule) for n, above, tied in SMALL]
    for weights, mean, sd in zip(
        WEIGHTS, *linear_moments(table_of(SMALL), design, WEIGHTS, rule), strict=True
    ):
        exact = [Fraction(float(weight)) for weight in weights]
        exact_mean = exact_square = Fraction(0)
        for xs in product(range(3), repeat=len(SMALL)):  # an evaluation: an x for every event
            chance = Fraction(1)
            for x, law in zip(xs, laws, strict=True):
                chance *= law[x]
            estimate = sum(exact[x] for x in xs) / len(SMALL)
            exact_mean += chance * estimate
            exact_square += chance * estimate**2
        assert mean == pytest.approx(float(exact_mean), abs=1e-14)
        assert sd**2 == pytest.approx(float(exact_square - exact_mean**2), abs=1e-14)


def test_users_with_several_rows_count_once():
    """A user with two rows, and one with one.

    The variance of the mean of two rows is a quarter of their sum.
    """
    table = ExactRanks(
        np.array([0, 0, 1]), np.full(3, 6), np.array([1, 4, 2]), np.zeros(3, dtype=np.int64)
    )
    alone = [
        linear_moments(table_of([(6, above, 0)]), SamplingDesign(2), WEIGHTS) for above in (1, 4, 2)
    ]
    (mean_1, sd_1), (mean_2, sd_2), (mean_3, sd_3) = alone
    means, sds = linear_moments(table, SamplingDesign(2), WEIGHTS)
    np.testing.assert_allclose(means, ((mean_1 + mean_2) / 2 + mean_3) / 2)
    np.testing.assert_allclose(sds**2, ((sd_1**2 + sd_2**2) / 4 + sd_3**2) / 4)


def test_probability_of_order_is_the_normal_distribution_function():
    for z in (-2.5, 0, 0.3, 1.96):
        assert probability_of_order(z * 0.02, 0.02) == pytest.approx((1 + erf(z / sqrt(2))) / 2)
    assert [probability_of_order(gap, 0.0) for gap in (-0.1, 0.0, 0.1)] == [0, 0, 1]
    assert np.isnan([probability_of_order(np.nan, 0.0), probability_of_order(0.1, np.nan)]).all()
