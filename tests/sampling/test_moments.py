"""Exact mean and deviation of estimates: against every sample listed, and against repeated sampling of MovieLens 1M."""

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from small_tables import table_of

from sampled_metrics.estimators import estimator
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.exact import ExactRanks, exact_ranks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.draws import draw, expected_distribution, linear_moments, probability_of_order
from sampled_metrics.sampling.outcomes import Outcomes

PUBLISHED = Path(__file__).resolve().parents[2] / "published/ml-1m"
METRICS = ["recall@10", "ndcg@10", "ap", "auc"]


# --- every sample listed ----------------------------------------------------------------------------------------------


def chances_of_event(candidates, above, tied, design, rule):
    """P(x) in fractions, from a list of samples of items and of the places of the held-out item among its ties."""
    items = [2] * above + [1] * tied + [0] * (candidates - 1 - above - tied)
    samples = list(
        product(items, repeat=design.negatives) if design.replacement else combinations(items, design.negatives)
    )
    chances = [Fraction(0)] * (design.negatives + 1)
    for sample in samples:
        places = sample.count(1) + 1 if rule == "random" else max(sample.count(1), 1)
        for place in range(places):
            chances[sample.count(2) + place] += Fraction(1, len(samples) * places)
    return chances


SMALL = [(6, 1, 2), (5, 0, 0), (5, 4, 0), (6, 0, 5)]
WEIGHTS = np.array([[1.0, 0.5, 0.25], [3.0, -2.0, 7.0], [0.0, 0.0, 0.0], [0.125, 0.125, 0.125]])


@pytest.mark.parametrize("rule", ["random", "beats-one"])
@pytest.mark.parametrize("replacement", [True, False])
class TestEverySampleListed:
    def test_distribution_of_an_event_picked_at_random(self, replacement, rule):
        design = SamplingDesign(2, replacement)
        of_events = [chances_of_event(*row, design, rule) for row in SMALL]
        wanted = [float(sum(column) / len(SMALL)) for column in zip(*of_events, strict=True)]
        np.testing.assert_allclose(expected_distribution(table_of(SMALL), design, rule), wanted, rtol=1e-12)

    def test_moments_of_the_estimate_over_the_samples_of_all_events_together(self, replacement, rule):
        design = SamplingDesign(2, replacement)
        of_events = [chances_of_event(*row, design, rule) for row in SMALL]
        for weights, mean, sd in zip(WEIGHTS, *linear_moments(table_of(SMALL), design, WEIGHTS, rule), strict=True):
            exact = [Fraction(float(weight)) for weight in weights]
            first = second = Fraction(0)
            for xs in product(range(3), repeat=len(SMALL)):  # an evaluation: an x for every event
                chance = Fraction(1)
                for x, chances in zip(xs, of_events, strict=True):
                    chance *= chances[x]
                estimate = sum(exact[x] for x in xs) / len(SMALL)
                first += chance * estimate
                second += chance * estimate**2
            assert mean == pytest.approx(float(first), abs=1e-14)
            assert sd**2 == pytest.approx(float(second - first**2), abs=1e-14)


def test_every_negative_without_replacement_has_no_deviation():
    table = table_of([(20, above, 0) for above in (0, 0, 5, 19)])
    f = np.stack([metric(label).values(20) for label in METRICS])
    means, sds = linear_moments(table, SamplingDesign(19), f)
    np.testing.assert_allclose(means, [table.values(metric(label)).mean() for label in METRICS], atol=1e-12)
    np.testing.assert_allclose(sds, 0, atol=1e-7)


def test_users_with_several_rows_count_once():
    """A user with two rows, and one with one: the variance of the mean of two rows is a quarter of their sum."""
    n, weights = np.full(3, 6), WEIGHTS[:2]
    table = ExactRanks(np.array([0, 0, 1]), n, np.array([1, 4, 2]), np.zeros(3, dtype=np.int64))
    alone = [linear_moments(table_of([(6, above, 0)]), SamplingDesign(2), weights) for above in (1, 4, 2)]
    (first, second, third), (one, two, three) = zip(*alone, strict=True)
    means, sds = linear_moments(table, SamplingDesign(2), weights)
    np.testing.assert_allclose(means, ((first + second) / 2 + third) / 2)
    np.testing.assert_allclose(sds**2, ((one**2 + two**2) / 4 + three**2) / 4)


class TestProbabilityOfOrder:
    @pytest.mark.parametrize("z", [-2.5, -1, 0, 0.3, 1.96])
    def test_is_the_normal_distribution_function(self, z):
        assert probability_of_order(z * 0.02, 0.02) == pytest.approx((1 + erf(z / sqrt(2))) / 2)

    @pytest.mark.parametrize(("gap", "deviation"), [(np.nan, 0.0), (np.nan, 1.0), (np.nan, np.nan), (0.1, np.nan)])
    def test_what_is_not_known_gives_nothing(self, gap, deviation):
        assert np.isnan(probability_of_order(gap, deviation))

    def test_of_whole_numbers_is_that_of_one_or_more(self):
        """400 fair coins, less 190: P(X > 190) = .8290; without the correction it would be .8413."""
        above = stats.binom.sf(190, 400, 0.5)
        assert probability_of_order(10, 10, 1.0) == pytest.approx(above, abs=5e-4)
        assert probability_of_order(10, 10) > above + 0.01


# --- repeated sampling of MovieLens 1M --------------------------------------------------------------------------------

REPETITIONS = [400, pytest.param(10_000, marks=pytest.mark.slow)]
M = 100
ESTIMATORS = [
    "uncorrected",
    "rank-estimate",
    "rank-estimate-as-printed",
    "cls",
    "bv-1",
    "bv-0.1",
    "bv-0.01",
    "bv-0.001",
]
RULE = {"default": "random", "as-printed": "beats-one"}


CELLS = [(name, label) for name in ESTIMATORS for label in METRICS]


@cache
def published(recommender):
    return exact_ranks(PUBLISHED / f"{recommender}.csv.gz")


@cache
def histograms(recommender, number):
    """Counts of x = 0 … 100 in so many repetitions, under both tie rules, of the same draws."""
    table, rng = published(recommender), np.random.default_rng(["X", "Y", "Z"].index(recommender))
    counts = {rule: np.zeros((number, M + 1)) for rule in RULE.values()}
    for repetition in range(number):
        draws = draw(table.above, table.tied, table.candidates, SamplingDesign(M), rng)
        for rule, of_rule in counts.items():
            of_rule[repetition] = np.bincount(draws.ranked_above(rule), minlength=M + 1)
    return counts


@cache
def weights(name, label):
    outcomes = Outcomes.from_design(SamplingDesign(M), 3541)
    return estimator(name, assume_replacement=True).fit(outcomes, [metric(label)]).weights[0]


def estimates(recommender, reading, number):
    """(cells, repetitions) by applying the weights to every repetition."""
    stacked = np.stack([weights(*cell) for cell in CELLS])
    return stacked @ histograms(recommender, number)[RULE[reading]].T / 6040


@cache
def exact_moments(recommender, reading):
    stacked = np.stack([weights(*cell) for cell in CELLS])
    return linear_moments(published(recommender), SamplingDesign(M), stacked, RULE[reading])


@pytest.mark.parametrize("number", REPETITIONS)
@pytest.mark.parametrize("reading", ["default", "as-printed"])
@pytest.mark.parametrize("recommender", ["X", "Y", "Z"])
def test_mean_and_deviation_are_within_four_standard_errors(recommender, reading, number):
    observed, (means, deviations) = estimates(recommender, reading, number), exact_moments(recommender, reading)
    off = (observed.mean(axis=1) - means) / (observed.std(axis=1, ddof=1) / sqrt(number))
    assert {cell: z for cell, z in zip(CELLS, off, strict=True) if abs(z) > 4} == {}
    centred = observed - observed.mean(axis=1, keepdims=True)
    variance, fourth = (centred**2).mean(axis=1), (centred**4).mean(axis=1)
    error = np.sqrt((fourth / variance**2 - 1) / (4 * number))  # of a deviation, relative to it
    off = (np.sqrt(variance) / deviations - 1) / error
    assert error.max() < 1 / sqrt(number)
    assert {cell: z for cell, z in zip(CELLS, off, strict=True) if abs(z) > 4} == {}
