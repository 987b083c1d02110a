"""Strict bounds of stratified samples: by linear programming, as uniform samples, and in simulations."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import hypergeom

from sampled_metrics.errors import DataError
from sampled_metrics.estimators import estimator, interior_point, stratified_bounds
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.strata_boxes import Boxes
from sampled_metrics.estimators.stratified_bounds import StratifiedShapeEstimate
from sampled_metrics.evaluation.intervals import IntervalOptions
from sampled_metrics.evaluation.strict_intervals import strict_interval
from sampled_metrics.evaluation.units import counted_units
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.strata import StratifiedOutcomes

METRICS = tuple(metric(label) for label in ("recall@3", "ndcg@4", "ap", "auc"))
SIZES, DRAWN = (5, 9), (3, 4)


def every(sizes):
    return np.array(list(product(*(range(size + 1) for size in sizes))))


def estimate_of(shape, sizes, drawn, x, events, metrics=METRICS):
    rows = np.ones((len(x), 1), dtype=np.int64)
    outcomes = StratifiedOutcomes(x, rows * drawn, rows * sizes, events)
    return StratifiedShapeEstimate(estimator(shape), metrics, outcomes)


def lists(users, sizes, rng, exponent=0.8, popular=0.6):
    """(users, 2) how many rank above: a power law of ranks, popular items first."""
    law = np.arange(1.0, sum(sizes) + 2) ** -exponent
    above = rng.choice(len(law), users, p=law / law.sum())
    first = np.maximum(np.minimum(rng.binomial(above, popular), sizes[0]), above - sizes[1])
    return np.stack((first, above - first), axis=1)


def sampled(above, sizes, drawn, rng):
    return rng.hypergeometric(above, sizes - above, np.broadcast_to(drawn, above.shape))


def counted(x):
    distinct, counts = np.unique(x, axis=0, return_counts=True)
    return distinct, counts


def end(fit, weights, side, z):
    return fit.fitted @ weights + side * z * np.linalg.norm((weights - fit.fitted @ weights) / fit.scale)


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(2)
    x, counts = counted(sampled(lists(1500, SIZES, rng), np.array(SIZES), DRAWN, rng))
    return x, counts


def chances(a, x):
    """P(x | a) by scipy."""
    each = [hypergeom.pmf(x[:, s], SIZES[s], a[:, s, np.newaxis], DRAWN[s]) for s in range(2)]
    return each[0] * each[1]


def inequalities(shape, a):
    """The rows of a shape for single a, from its definition."""
    rank, rows = 1 + a.sum(axis=1), []
    if shape == "free":
        return np.zeros((0, len(a)))
    half = (1 + sum(SIZES)) // 2
    rows += [1.0 * (rank == k) - (rank == k + 1) for k in range(1, half)]
    for own, other in ((0, 1), (1, 0)):
        for most in (0, 3, 15):
            few = a[:, other] <= most
            rows += [1.0 * (few & (a[:, own] == j)) - (few & (a[:, own] == j + 1)) for j in range(SIZES[own] // 2 - 1)]
    if shape == "convex":
        rows += [1.0 * (rank == k) - 2.0 * (rank == k + 1) + (rank == k + 2) for k in range(1, half - 1)]
    return np.array(rows)


@pytest.mark.parametrize("shape", SHAPES)
class TestSmallCaseByLinearProgramming:
    def test_boxes_are_single_numbers_with_exact_chances(self, shape, small):
        x, counts = small
        ones, a = np.ones_like(x), every(SIZES)
        boxes = Boxes.of(StratifiedOutcomes(x, ones * DRAWN, ones * SIZES, counts), METRICS)
        cells = every(DRAWN)
        np.testing.assert_allclose(boxes.chances, chances(a, cells), atol=1e-12)
        assert (cells[boxes.cells] == x).all()
        for at, each in enumerate(METRICS):
            exact = each.of_rank(1 + a.sum(axis=1), 15)
            np.testing.assert_allclose(boxes.values[:, at], exact)
        # the same cone: no row of one is below 0 on the other
        mine, theirs = boxes.rows[shape], inequalities(shape, a)
        for rows, others in ((mine, theirs), (theirs, mine)):
            for row in rows:
                lowest = linprog(row, A_ub=-others, b_ub=np.zeros(len(others)), A_eq=np.ones((1, len(a))), b_eq=[1])
                assert lowest.fun > -1e-9

    @pytest.mark.parametrize("side", [-1, 1])
    def test_weights_are_valid_and_best(self, shape, side, small, monkeypatch):
        monkeypatch.setattr(interior_point, "GAP", 1e-8)
        monkeypatch.setattr(interior_point, "_CLOSE", 1e-5)
        monkeypatch.setattr(stratified_bounds, "_NEGLIGIBLE", 1e-6)
        x, counts = small
        estimate = estimate_of(shape, SIZES, DRAWN, x, counts)
        [(_, fit)] = estimate.fits(counts.astype(float))
        a, cells, z = every(SIZES), every(DRAWN), 1.96
        shown, rows = chances(a, cells), inequalities(shape, a)
        for at, each in enumerate(METRICS):
            value = side * each.of_rank(1 + a.sum(axis=1), 15)
            weights, there = fit.bound(at, side, z)
            over = linprog(
                -(value - side * shown @ weights),
                A_ub=-rows,
                b_ub=np.zeros(len(rows)),
                A_eq=np.ones((1, len(a))),
                b_eq=[1],
            )
            assert -over.fun < 1e-9  # no proportions have a metric beyond the mean weight
            reach = min(1.0, z / np.linalg.norm((there - fit.fitted) * fit.scale))
            shares = fit.fitted + reach * (there - fit.fitted)
            best = linprog(
                -value,
                A_ub=np.vstack((-rows, shown.T, -shown.T)),
                b_ub=np.concatenate((np.zeros(len(rows)), shares + 1e-9, 1e-9 - shares)),
                A_eq=np.ones((1, len(a))),
                b_eq=[1],
            )
            assert best.status == 0
            # proportions within z have a metric so large, and the limit of the mean weight is no larger
            assert side * end(fit, weights, side, z) == pytest.approx(-best.fun, abs=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_stratum_has_the_bounds_of_uniform_samples(shape):
    rng, n, m = np.random.default_rng(3), 60, 10
    law = np.arange(1.0, n + 1) ** -0.7
    above = rng.choice(n, 3000, p=law / law.sum())
    counts = np.bincount(rng.hypergeometric(above, n - 1 - above, m), minlength=m + 1).astype(float)
    uniform = estimator(shape).fit(Outcomes.of(SamplingDesign(m), n), METRICS)
    x = np.arange(m + 1)[:, np.newaxis]
    mine = estimate_of(shape, [n - 1], [m], x, counts.astype(int))
    [(_, one)], [(_, other)] = uniform.fits(counts), mine.fits(counts)
    for at, side in product(range(len(METRICS)), (-1, 1)):
        ends = [end(fit, fit.bound(at, side, 1.96)[0], side, 1.96) for fit in (one, other)]
        assert ends[0] == pytest.approx(ends[1], abs=1e-3)


def test_strata_that_are_scored_whole_give_the_interval_of_the_exact_metric():
    rng, sizes = np.random.default_rng(4), np.array([6, 12])
    x, counts = counted(lists(2000, sizes, rng))
    estimate = estimate_of("free", sizes, sizes, x, counts, METRICS[:1])
    [(_, fit)] = estimate.fits(counts.astype(float))
    share = counts @ (x.sum(axis=1) < 3) / 2000
    for side in (-1, 1):
        found = end(fit, fit.bound(0, side, 1.96)[0], side, 1.96)
        assert found == pytest.approx(share + side * 1.96 * np.sqrt(share * (1 - share) / 2000), abs=2e-3)


def test_intervals_hold_the_truth_and_are_narrower_than_without_the_strata():
    sizes, drawn, users, metrics = np.array([10, 60]), np.array([5, 5]), 500, METRICS[:3]
    limits, missed, widths = (np.zeros(3), np.ones(3)), 0, np.zeros((2, 3))
    population = lists(20_000, sizes, np.random.default_rng(5), exponent=0.9)
    truth = [each.of_rank(1 + population.sum(axis=1), 71).mean() for each in metrics]
    for seed in range(8):
        rng = np.random.default_rng(seed)
        above = population[rng.integers(0, len(population), users)]
        x, counts = counted(sampled(above, sizes, drawn, rng))
        of_strata = estimate_of("decreasing", sizes, drawn, x, counts, metrics)
        uniform = estimator("decreasing").fit(Outcomes.of(SamplingDesign(10), 71), metrics)
        all_above = above.sum(axis=1)
        shown = np.bincount(rng.hypergeometric(all_above, 70 - all_above, 10), minlength=11)
        for at, (estimate, each) in enumerate(((of_strata, counts), (uniform, shown))):
            found = strict_interval([estimate], counted_units(each), IntervalOptions(), limits)
            widths[at] += found.high - found.low
            if at == 0:
                missed += np.sum((found.low > truth) | (found.high < truth))
    assert missed <= 2  # of 24
    assert (widths[0] < 0.85 * widths[1]).all()


def test_users_with_few_items_in_a_stratum_are_a_class_of_their_own():
    sizes = np.repeat([[100, 900], [95, 905], [30, 970], [20, 980]], [600, 300, 200, 20], axis=0)
    x = np.zeros_like(sizes)
    events = np.ones(len(x), dtype=np.int64)
    estimate = StratifiedShapeEstimate(
        estimator("decreasing"), METRICS[:1], StratifiedOutcomes(x, x + 5, sizes, events)
    )
    assert [len(each.outcomes) for each in estimate.classes] == [900, 220]


def test_the_shape_is_tested():
    sizes, drawn, rng = np.array([10, 40]), np.array([5, 10]), np.random.default_rng(6)
    far = np.stack((rng.integers(2, 4, 2000), rng.integers(10, 14, 2000)), axis=1)  # nobody at the top
    for above, contradicted in ((far, True), (lists(2000, sizes, rng), False)):
        x, counts = counted(sampled(above, sizes, drawn, rng))
        estimate = estimate_of("decreasing", sizes, drawn, x, counts, METRICS[:1])
        p_value = estimate.p_value(counts, counted_units(counts).shares[0], estimate.fits(counts.astype(float)), 0)
        assert (p_value < 0.05) is contradicted


@pytest.mark.parametrize("sizes", [[60, 940], [5, 100]])
@pytest.mark.parametrize("shape", SHAPES[:2])
def test_a_cut_off_within_a_box_is_covered(shape, sizes):
    x = np.stack((np.arange(12).clip(max=sizes[0]), np.arange(12) - np.arange(12).clip(max=sizes[0])), axis=1)
    counts, metrics = np.full(12, 100), (metric("recall@12"), metric("recall@11"))
    estimate = estimate_of(shape, sizes, sizes, x, counts, metrics)
    fits = estimate.fits(counts.astype(float))
    low, high = (each @ counts / 1200 for each in estimate.bounds(fits, 1.96, [0, 1]).weights)
    assert (low <= [1, 11 / 12]).all()
    assert (high >= np.array([1, 11 / 12]) - 1e-9).all()


def test_refuses_what_it_cannot_do():
    four = np.ones((1, 4), dtype=np.int64)
    with pytest.raises(DataError, match="up to 3 strata, not 4"):
        estimate_of("free", [1] * 4, [1] * 4, four, np.ones(1, dtype=np.int64))
