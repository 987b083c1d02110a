"""Corrections of samples from strata."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import hypergeom

from sampled_metrics import metric
from sampled_metrics.estimators import stratified
from sampled_metrics.estimators.smooth import Smooth
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks
from sampled_metrics.sampling.strata import StratifiedOutcomes, StratifiedRanks

METRICS = tuple(metric(label) for label in ("recall@10", "ndcg@10", "ap"))


def drawn_sample(rng, above, sizes, drawn):
    """A sample of users with these numbers above by stratum."""
    x = rng.hypergeometric(above, sizes - above, drawn)
    columns = (np.broadcast_to(each, x.shape) for each in (drawn, sizes))
    return StratifiedOutcomes.observed(StratifiedRanks(("top", "rest"), x, *columns))[0]


def population(rng, users, sizes, share):
    """Numbers above of ranks near a power law, of which a share is in the first stratum."""
    n = sizes.sum() + 1
    chances = 1 / (np.arange(1, n + 1) + 5.0)
    rank = rng.choice(n, users, p=chances / chances.sum()) + 1
    top = np.minimum(rng.binomial(rank - 1, share * (1 - (rank - 1) / n) + sizes[0] / n * (rank - 1) / n), sizes[0])
    return np.stack((np.maximum(top, rank - 1 - sizes[1]), rank - 1 - np.maximum(top, rank - 1 - sizes[1])), axis=1)


class TestRankEstimate:
    def test_rank_has_no_bias(self):
        sizes, drawn, above = np.array([6, 15]), np.array([2, 5]), np.array([4, 9])
        x = np.array(list(product(range(3), range(6))))
        columns = (np.broadcast_to(each, x.shape) for each in (drawn, sizes))
        outcomes, which = StratifiedOutcomes.observed(StratifiedRanks(("a", "b"), x, *columns))
        weights = stratified.rank_estimate(outcomes, [metric("auc")]).weights[0][which]
        chances = np.prod(hypergeom.pmf(x, sizes, above, drawn), axis=1)
        assert chances @ weights == pytest.approx((22 - 14) / 21)

    def test_metrics_are_those_of_the_rank_rounded_down(self):
        outcomes, _ = StratifiedOutcomes.observed(
            StratifiedRanks(("a", "b"), np.array([[1, 2]]), np.array([[2, 5]]), np.array([[7, 16]]))
        )
        [[value]] = stratified.rank_estimate(outcomes, [metric("ap")]).weights
        assert value == 1 / np.floor(1 + 7 / 2 + 2 * 16 / 5)


class TestMaximumLikelihood:
    def test_weights_are_the_derivatives_by_counts(self):
        rng, sizes = np.random.default_rng(0), np.array([30, 200])
        outcomes = drawn_sample(rng, population(rng, 200, sizes, 0.6), sizes, np.array([10, 10]))
        found = stratified.maximum_likelihood(outcomes, METRICS)
        value = found.estimate(outcomes.events)
        for row in (0, len(outcomes) // 2):
            more = outcomes.events.astype(np.float64)
            more[row] += 1e-4
            other = StratifiedOutcomes(outcomes.x, outcomes.drawn, outcomes.sizes, more)
            moved = stratified.maximum_likelihood(other, METRICS).estimate(more)
            slope = (moved - value) * outcomes.events.sum() / 1e-4
            assert found.weights[:, row] - value == pytest.approx(slope, abs=2e-3)

    def test_everything_drawn_gives_the_exact_metric(self):
        rng, sizes = np.random.default_rng(1), np.array([4, 5])  # ranges of ranks are single up to 10
        above = population(rng, 500, sizes, 0.5)
        outcomes = drawn_sample(rng, above, sizes, sizes)
        found = stratified.maximum_likelihood(outcomes, METRICS).estimate(outcomes.events)
        exact = [each.of_rank(1 + above.sum(axis=1), 10).mean() for each in METRICS]
        assert found == pytest.approx(exact, abs=1e-9)


class TestSmooth:
    @pytest.mark.parametrize("sizes", [[40, 700], [10, 60, 300]])
    def test_everything_drawn_gives_the_exact_metric(self, sizes):
        rng, sizes = np.random.default_rng(4), np.array(sizes)
        law = 1 / np.arange(2.0, 100)
        rank = rng.choice(len(law), 500, p=law / law.sum())
        above = rng.multivariate_hypergeometric(sizes, 90, size=500) * rank[:, np.newaxis] // 100
        outcomes = drawn_sample(rng, above, sizes, sizes)
        found = stratified.smooth(outcomes, METRICS).estimate(outcomes.events)
        exact = [each.of_rank(1 + above.sum(axis=1), 1 + sizes.sum()).mean() for each in METRICS]
        assert found == pytest.approx(exact, rel=0.01)

    def test_error_is_smaller_than_of_uniform_negatives(self):
        rng, sizes, errors = np.random.default_rng(2), np.array([200, 1800]), []
        above = population(rng, 6000, sizes, 0.8)
        rank = 1 + above.sum(axis=1)
        exact = np.array([each.of_rank(rank, 2001).mean() for each in METRICS])
        for _ in range(6):
            outcomes = drawn_sample(rng, above, sizes, np.array([60, 40]))
            by_strata = stratified.smooth(outcomes, METRICS).estimate(outcomes.events)
            x = rng.hypergeometric(rank - 1, 2001 - rank, 100)
            seen, which = Outcomes.observed(SampledRanks(x, np.full_like(x, 100), np.full_like(x, 2001)))
            uniform = Smooth().fit(seen, METRICS).estimate(np.bincount(which))
            errors.append((by_strata - exact, uniform - exact))
        by_strata, uniform = np.sqrt(np.mean(np.square(errors), axis=0))
        assert (by_strata < 0.8 * uniform).all()

    def test_standard_error_is_that_of_repeated_samples(self):
        rng, sizes, found, errors = np.random.default_rng(3), np.array([100, 900]), [], []
        for _ in range(25):
            outcomes = drawn_sample(rng, population(rng, 400, sizes, 0.7), sizes, np.array([20, 20]))
            fitted = stratified.smooth(outcomes, METRICS)
            value = fitted.estimate(outcomes.events)
            found.append(value)
            shares = outcomes.events / outcomes.events.sum()
            errors.append(np.sqrt((fitted.weights.T - value).T ** 2 @ shares / outcomes.events.sum()))
        ratio = np.std(found, axis=0, ddof=1) / np.mean(errors, axis=0)
        assert ratio == pytest.approx(np.ones(3), abs=0.45)  # three standard errors of a deviation of 25
