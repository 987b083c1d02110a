"""Strict bounds: the best fit and their ends by general solvers, and what makes them bounds."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from sampled_metrics.core.estimators.shapes import SHAPES, mixtures
from sampled_metrics.core.estimators.strict_bounds import (
    Fit,
    ShapeTest,
    StrictBounds,
    p_value_of,
)
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign, pmf
from sampled_metrics.core.sampling.outcomes import Outcomes, rank_classes

METRICS = tuple(metric(label) for label in ("recall@2", "ndcg@3", "ap", "auc"))


def fit_of(shape, n, m, users, seed=1, finer=1, exponent=0.7):
    """The fit to a random sample of a power law, with counts as if there were so many users.

    The mixture may be finer than the one whose members have the power law.
    """
    mixture = mixtures_of(n, m, finer)[shape]
    sampled = mixtures_of(n, m)[shape]
    law = np.arange(1.0, len(sampled.probabilities) + 1) ** -exponent
    sample = np.random.default_rng(seed).multinomial(2000, law / law.sum() @ sampled.probabilities)
    return Fit.from_counts(mixture, sample * users / 2000)


def mixtures_of(n, m, finer=1):
    (users,) = rank_classes(Outcomes.from_design(SamplingDesign(m), n))
    return mixtures(users.sizes, METRICS, finer=finer)


def end(fit, weights, side, z):
    """The limit of the mean weight, for the best level of the weights.

    The errors are those that the fit assumes.
    """
    variance = 1 / fit.scale**2
    spread = weights - variance @ weights / variance.sum()
    return fit.fitted @ weights + side * z * np.sqrt(variance @ spread**2)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "m", "users"), [(12, 8, 20_000), (60, 10, 2000)])
def test_a_fit_has_the_largest_likelihood(shape, n, m, users):
    fit = fit_of(shape, n, m, users)
    # the log-likelihood is concave, so that none is larger by more than this
    slopes = fit.mixture.probabilities @ (fit.observed / fit.fitted)
    assert users * (slopes.max() - 1) < 0.02


def end_by_slsqp(fit, column, side, z):
    """The largest (side 1) or smallest (side -1) metric of proportions near the fit.

    Their sample is within z of the fitted one.
    """
    chances = (fit.mixture.probabilities - fit.fitted) * fit.scale
    value = side * fit.mixture.values[:, column]
    near = {"type": "ineq", "fun": lambda v: z**2 - np.sum((v @ chances) ** 2)}
    near["jac"] = lambda v: -2 * chances @ (v @ chances)
    sum_of_one = {"type": "eq", "fun": lambda v: v.sum() - 1, "jac": np.ones_like}
    ends = []
    for share in (0.0, 0.1, 0.5):  # of an even start
        best = minimize(
            lambda v: -value @ v,
            (1 - share) * fit.proportions + share / len(value),
            jac=lambda v: -value,
            bounds=[(0, 1)] * len(value),
            constraints=[sum_of_one, near],
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 1000},
        )
        if np.linalg.norm(best.x @ chances) <= z + 1e-6 and abs(best.x.sum() - 1) < 1e-8:
            ends.append(value @ best.x)
    return side * max(ends)


def smallest_margin(mixture, weights, column, side):
    """How far the mean weights of all members are beyond their metric, on the side of the bound."""
    means = mixture.probabilities @ weights
    return (side * (means - mixture.values[:, column])).min()


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "m", "users", "z"), [(12, 5, 300, 1.96), (12, 8, 1e5, 0.98)])
def test_weights_have_the_end_that_a_general_solver_finds(shape, side, n, m, users, z):
    """Weights that bound the metric of every member prove that no proportions have more."""
    fit = fit_of(shape, n, m, users)
    for column in range(len(METRICS)):
        weights = fit.weights(column, side, z)
        assert smallest_margin(fit.mixture, weights, column, side) >= -1e-9
        limit = end(fit, weights, side, z)
        assert limit == pytest.approx(end_by_slsqp(fit, column, side, z), abs=1e-6)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_weights_bound_the_metric_of_every_member_also_between_those_of_the_grid(shape, side):
    coarse = fit_of(shape, 3541, 50, 1000)
    fine = fit_of(shape, 3541, 50, 1000, finer=4)
    assert len(fine.mixture.probabilities) > 2 * len(coarse.mixture.probabilities)
    for column in range(len(METRICS)):
        weights = coarse.weights(column, side, 1.96)
        assert smallest_margin(coarse.mixture, weights, column, side) >= -1e-9
        # within the ranks from one k to the next
        assert smallest_margin(fine.mixture, weights, column, side) >= -5e-3
        fine_weights = fine.weights(column, side, 1.96)
        fine_end = end(fine, fine_weights, side, 1.96)
        assert end(coarse, weights, side, 1.96) == pytest.approx(fine_end, abs=1e-4)


def nearest_of_hull(points):
    """The squared distance of the hull of (points, 2) points from 0, edge by edge.

    All coordinates of the points are positive.
    """
    ends = [(a, b) for a in points for b in points]
    shares = [np.clip(a @ (a - b) / max((a - b) @ (a - b), 1e-300), 0, 1) for a, b in ends]
    return min(
        float(np.sum((a + share * (b - a)) ** 2))
        for (a, b), share in zip(ends, shares, strict=True)
    )


def test_a_statistic_is_beyond_a_limit_as_its_value_says_whatever_the_step_that_decides():
    rng = np.random.default_rng(7)
    for _ in range(20):
        points = rng.uniform(0.1, 3.0, (12, 2))
        place = rng.uniform(-2.0, 0.0, 2)
        fit = SimpleNamespace(proportions=np.eye(12)[rng.integers(12)])
        test = ShapeTest(fit, directions=None, members=points.T, observed=None)
        distance = nearest_of_hull(points - place)
        limits = distance * np.array([0.01, 0.5, 0.9, 1.1, 2.0, 100.0])
        assert [test.is_beyond(place, limit) for limit in limits] == [True] * 3 + [False] * 3
        statistic = test.statistic(place)
        assert statistic == pytest.approx(distance, rel=0.05)
        assert test.is_beyond(place, statistic)


class DrawnByHand:
    """A test of a shape whose statistic is the place itself."""

    def __init__(self, observed, drawn):
        self.observed = observed
        self.places = iter(drawn)

    def draw(self, rng):
        return next(self.places)

    def statistic(self, place):
        return place

    def is_beyond(self, place, limit):
        return place >= limit


@pytest.mark.parametrize(
    ("drawn", "p_value"),
    [
        pytest.param([1.0] * 199, 1 / 200, id="the observed one is one of 200"),
        pytest.param([1.0] * 97 + [3.0, 2.0] + [1.0] * 100, 3 / 200, id="two are as far"),
        pytest.param([3.0] * 10, 1.0, id="eleven are as far, and no more are drawn"),
        pytest.param([1.0, 3.0] * 10, 11 / 21, id="every second one is as far"),
    ],
)
def test_the_observed_sample_is_one_of_those_that_are_as_far(drawn, p_value):
    assert p_value_of([DrawnByHand(2.0, drawn)], 0, 0.05) == p_value


def test_bounds_of_classes_are_the_bounds_of_their_users():
    """Users have 20 or 200 candidates. Each weight is that of the fit of the user's class."""
    n = np.repeat([20, 200], [100, 300])
    x = np.random.default_rng(2).binomial(5, 0.2, 400)
    outcomes, which = Outcomes.observed(SampledRanks(x, np.full(400, 5), n, False))
    estimate = StrictBounds("decreasing").fit(outcomes, METRICS)
    fits = estimate.fits(np.bincount(which).astype(float))
    bounds = estimate.bounding_weights(fits, 1.96)
    assert [fit.users for _, fit in fits] == [300, 100]
    expected = 0
    for (users, fit), share in zip(fits, (0.75, 0.25), strict=True):
        z = 1.96 * np.sqrt(share)
        lower = [fit.weights(column, -1, z) for column in range(len(METRICS))]
        upper = [fit.weights(column, 1, z) for column in range(len(METRICS))]
        weights = np.array([lower, upper])
        np.testing.assert_array_equal(bounds.weights[:, :, users.outcomes], weights[:, :, users.x])
        assert (bounds.least <= weights.min(axis=2)).all()
        assert (bounds.most >= weights.max(axis=2)).all()
        expected = expected + share * (weights @ fit.fitted)
    np.testing.assert_allclose(bounds.fitted, expected)


def test_bounds_of_a_class_without_users_are_the_extremes_of_the_metrics():
    outcomes, which = Outcomes.observed(
        SampledRanks(np.arange(40) % 7, 10, np.repeat([50, 80], 20))
    )
    estimate = StrictBounds("decreasing").fit(outcomes, METRICS)
    counts = np.bincount(which).astype(float)
    part = np.where(outcomes.candidates == 80, counts, 0.0)
    fits = estimate.fits_of_part("decreasing", part)
    _, (users, fit) = fits
    assert fit is None
    bounds = estimate.bounding_weights(fits, 1.96)
    lower, upper = bounds.weights[:, :, users.outcomes]
    smallest = [[metric.of_rank(50, 50)] * len(users.outcomes) for metric in METRICS]
    largest = [[metric.of_rank(1, 50)] * len(users.outcomes) for metric in METRICS]
    np.testing.assert_allclose(lower, smallest, atol=1e-9)
    np.testing.assert_allclose(upper, largest)


def test_mean_weights_bound_the_metrics_where_ranks_depend_on_n_within_a_class():
    """The expected sample of users with 900 and with 1100 candidates, who are a class."""
    m = 250
    offsets = {900: 20, 1100: 40}
    laws = {n: 1 / (np.arange(1.0, n + 1) + offset) for n, offset in offsets.items()}
    laws = {n: law / law.sum() for n, law in laws.items()}
    shares = [law @ pmf(np.arange(n), n - 1, SamplingDesign(m)) for n, law in laws.items()]
    counts = np.round(20_000 * np.concatenate(shares)).astype(np.int64)
    x = np.tile(np.arange(m + 1), 2)
    outcomes = Outcomes(x, np.full_like(x, m), np.repeat([*laws], m + 1), False, counts)
    estimate = StrictBounds("decreasing").fit(outcomes, METRICS)
    fits = estimate.fits(counts.astype(float))
    assert len(fits) == 1
    each_alone = csr_array(np.eye(len(outcomes)))
    assert estimate.p_value(counts, each_alone, fits, seed=0, significance=0.05) > 0.05
    bounds = estimate.bounding_weights(fits, 1.96)
    low, high = bounds.weights @ counts / counts.sum()
    truth = [np.mean([f.values(n) @ law for n, law in laws.items()]) for f in METRICS]
    assert (low - 1e-4 <= truth).all()
    assert (truth <= high + 1e-4).all()
