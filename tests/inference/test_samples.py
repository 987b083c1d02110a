"""Sampled ranks by user: folds, and pseudo-values against loops, weights and the delta method."""

import numpy as np
import pytest

from sampled_metrics.estimators import estimator
from sampled_metrics.estimators.protocol import Estimate
from sampled_metrics.inference import strict
from sampled_metrics.inference.strict import FOLDS, MOST_LEFT_OUT, Sample, pseudo_values
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks

M, N = 9, 100


class Ratio(Estimate):
    """A smooth function of the sample: the ratio of two means over users, and a mean itself."""

    TOP, BOTTOM = np.linspace(1, 0, M + 1) ** 2, 1 + np.arange(M + 1) / M

    def __init__(self, sample):
        x = sample.outcomes.x
        self.top, self.bottom = self.TOP[x], self.BOTTOM[x]

    def estimate(self, counts):
        top, bottom, users = counts @ self.top, counts @ self.bottom, counts.sum(axis=-1)
        return np.stack((top / bottom, top / users), axis=-1)

    def influence(self, sample):
        """The first-order change of both by user."""
        top, bottom = sample.of_users(np.stack((self.top, self.bottom)))
        return np.stack(((top - top.mean() / bottom.mean() * bottom) / bottom.mean(), top - top.mean()))


def sample_of(users, rows=1, seed=0):
    """A sample of users with as many rows each, or with one to so many."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), rows if np.ndim(rows) else np.full(users, rows))
    x = rng.binomial(M, rng.beta(0.5, 1, users)[user])
    return Sample.from_ranks(SampledRanks(x, np.full(len(x), M), np.full(len(x), N)), user)


SAMPLES = {
    "single rows": lambda: sample_of(400),
    "two rows": lambda: sample_of(400, 2),
    "one to three rows": lambda: sample_of(400, np.arange(400) % 3 + 1),
    "blocks": lambda: sample_of(5 * MOST_LEFT_OUT, np.arange(5 * MOST_LEFT_OUT) % 3 + 1),
}


class TestPseudoValues:
    @pytest.mark.parametrize("kind", SAMPLES)
    def test_have_the_mean_and_the_spread_of_the_delta_method(self, kind):
        sample = SAMPLES[kind]()
        estimate = Ratio(sample)
        values, influence = pseudo_values(estimate, sample), estimate.influence(sample)
        assert values.mean(axis=1) == pytest.approx(estimate.estimate(sample.counts))
        assert values.std(axis=1) == pytest.approx(influence.std(axis=1), rel=0.06 if kind == "blocks" else 0.02)
        if kind != "blocks":
            gaps = values - values.mean(axis=1, keepdims=True)
            np.testing.assert_allclose(gaps, influence, atol=0.03 * influence.std())

    @pytest.mark.parametrize("rows", [1, 2])
    def test_are_those_of_a_loop_over_users_moved_to_the_estimate(self, rows):
        sample = sample_of(12, rows)
        estimate = Ratio(sample)
        whole = estimate.estimate(sample.counts)
        without = [estimate.estimate(sample.counts - own) for own in sample.shares.toarray()]
        plain = np.transpose([12 * whole - 11 * one for one in without])
        expected = plain - plain.mean(axis=1, keepdims=True) + whole[:, np.newaxis]
        np.testing.assert_allclose(pseudo_values(estimate, sample), expected, atol=1e-12)

    @pytest.mark.parametrize("rows", [1, 3])
    def test_of_a_linear_estimator_are_its_weights(self, rows):
        sample = sample_of(60, rows)
        estimate = estimator("bv-0.1").fit(sample.outcomes, [metric("recall@10"), metric("ap")])
        np.testing.assert_allclose(pseudo_values(estimate, sample), sample.of_users(estimate.weights), atol=1e-9)

    def test_of_users_with_the_same_outcome_are_the_same(self):
        sample = sample_of(300)
        [values] = pseudo_values(estimator("mle").fit(sample.outcomes, [metric("ap")]), sample)
        assert len(np.unique(values)) == len(sample.outcomes)

    def test_do_not_depend_on_how_many_are_computed_at_once(self, monkeypatch):
        sample = sample_of(50, 2)
        at_once = pseudo_values(Ratio(sample), sample)
        monkeypatch.setattr(strict, "_NUMBERS", 1)
        np.testing.assert_allclose(pseudo_values(Ratio(sample), sample), at_once, atol=1e-12)


class TestSample:
    def test_a_user_counts_once_however_many_rows_there_are(self):
        sample = sample_of(40, np.arange(40) % 3 + 1)
        assert len(sample) == 40
        assert sample.counts.sum() == pytest.approx(40)
        assert sample.shares.sum(axis=1) == pytest.approx(1)

    @pytest.mark.parametrize("users", [2, 63])
    def test_folds_have_the_same_size_up_to_one_and_do_not_depend_on_ranks(self, users):
        one, other = (sample_of(users, seed=seed).fold for seed in (0, 1))
        np.testing.assert_array_equal(one, other)
        sizes = np.bincount(one)
        assert len(sizes) == min(FOLDS, users)
        assert np.ptp(sizes) <= 1
