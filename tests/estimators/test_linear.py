"""Linear estimates: a mean of weights over events, whatever their order, and without a correction."""

import numpy as np
import pytest

from sampled_metrics.estimators import estimator
from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

LABELS = ["uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.01"]


class TestEstimate:
    def test_by_hand(self):
        # 2 events count 1, 1 counts 0.5, 1 counts 0
        weights = np.array([[1, 0.5, 0]])
        assert LinearEstimate(weights, (weights,)).estimate(np.array([2, 1, 1])) == pytest.approx(2.5 / 4)

    def test_repetitions_are_rows(self):
        weights = np.array([[1.0, 0.0], [0.0, 2.0]])
        estimates = LinearEstimate(weights, (weights,)).estimate(np.array([[3, 1], [0, 4], [2, 2]]))
        np.testing.assert_allclose(estimates, [[0.75, 0.5], [0, 2], [0.5, 1]], rtol=1e-15)


class TestWeightsOfGroups:
    @pytest.mark.parametrize("label", LABELS)
    def test_are_those_of_each_n_and_m_alone(self, label):
        x, m, n = np.array([[2, 4, 9], [0, 4, 9], [3, 4, 12], [1, 2, 9], [2, 2, 30]]).T
        outcomes, which = Outcomes.observed(SampledRanks(x, m, n))
        metrics = [metric("ap"), metric("recall@3")]
        fitted = estimator(label).fit(outcomes, metrics)
        assert len(fitted.of_groups) == len(outcomes.groups) == 4
        for group, weights in zip(outcomes.groups, fitted.of_groups, strict=True):
            design = SamplingDesign(group.negatives)
            alone = estimator(label).fit(Outcomes.from_design(design, group.candidates), metrics).weights
            np.testing.assert_allclose(weights, alone, rtol=1e-12, atol=1e-14)
            assert (fitted.weights[:, group.outcomes] == weights[:, group.x]).all()
        np.testing.assert_allclose(fitted.estimate(np.bincount(which)), fitted.weights.mean(axis=1), rtol=1e-12)

    def test_bounds_are_over_every_x_seen_or_not(self):
        weights = np.array([[0.5, 0.25], [1.0, 1.0]])
        of_groups = np.array([[3.0, 0.5, 0.0], [1.0, 1.0, 1.0]]), np.array([[0.25, -1.0], [2.0, 1.0]])
        least, most = LinearEstimate(weights, of_groups).bounds
        assert least.tolist() == [-1.0, 1.0]
        assert most.tolist() == [3.0, 2.0]


UNCORRECTED = {
    "auc": [1, 2 / 3, 1 / 3, 0],  # as if m + 1 = 4 items were all
    "ap": [1, 1 / 2, 1 / 3, 1 / 4],
    "recall@2": [1, 1, 0, 0],
    "recall@10": [1, 1, 1, 1],
    "ndcg@3": [1, 0.63092975, 0.5, 0],
}


@pytest.mark.parametrize("candidates", [4, 1000])
def test_uncorrected_is_the_metric_of_the_sampled_rank(candidates):
    outcomes = Outcomes.from_design(SamplingDesign(3), candidates)
    fitted = estimator("uncorrected", assume_replacement=True).fit(outcomes, [*map(metric, UNCORRECTED)])
    np.testing.assert_allclose(fitted.weights, [*UNCORRECTED.values()], rtol=1e-8)
