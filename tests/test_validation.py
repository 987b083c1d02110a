"""Checks of numbers on the way to a result, and where they stand."""

import numpy as np
import pytest

from sampled_metrics._validation import require_sum_of_one
from sampled_metrics.errors import NumericError
from sampled_metrics.estimators import linear
from sampled_metrics.estimators.linear import BiasVariance, LinearEstimator
from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling import distributions
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes


class TestSumOfOne:
    @pytest.mark.parametrize("probabilities", [[1.0], [0.25, 0.75], [[0.5, 0.5], [0.0, 1.0]], [1 / 3, 1 / 3, 1 / 3]])
    def test_accepts_distributions(self, probabilities):
        require_sum_of_one(probabilities, "P")

    @pytest.mark.parametrize(
        ("probabilities", "says"),
        [
            ([0.5, 0.4], "P: probabilities sum to 0.9, not to 1"),
            ([[0.5, 0.5], [0.5, 0.50001]], "P: probabilities sum to 1.00001, not to 1"),
            ([0.5, np.nan], "P: probabilities sum to nan, not to 1"),
            ([1.5, -0.5], "P: a probability is -0.5, below 0"),
        ],
    )
    def test_refuses_what_is_none(self, probabilities, says):
        with pytest.raises(NumericError) as refused:
            require_sum_of_one(probabilities, "P")
        assert str(refused.value) == says


class TestWhereTheyStand:
    """A pmf that loses a hundredth, put in the place of the right one, stops everything that is built on it."""

    @pytest.fixture(autouse=True)
    def lossy(self, monkeypatch):
        def loses(compute):
            return lambda *arguments, **options: 0.99 * compute(*arguments, **options)

        for module in (distributions, linear):
            monkeypatch.setattr(module, "pmf", loses(module.pmf))
        distributions.rank_distribution.cache_clear()
        linear.reduced.cache_clear()
        yield
        distributions.rank_distribution.cache_clear()
        linear.reduced.cache_clear()

    @pytest.mark.parametrize(("precise", "of"), [(True, "n = 9 candidates and m = 3 negatives"), (False, "m = 3 nega")])
    def test_equations_of_a_correction(self, precise, of):
        with pytest.raises(NumericError, match=rf"of {of}.* sum to 0\.99"):
            linear.reduced((9,), SamplingDesign(3, replacement=False), (metric("ap"),), precise)


class Diverging(LinearEstimator):
    def __str__(self):
        return "diverging"

    def weights(self, design, candidates, metrics):
        return np.full((len(candidates), len(metrics), design.negatives + 1), np.inf)


def test_weights_of_an_estimator_are_finite():
    with pytest.raises(NumericError, match=r"weights of diverging for m = 3 .* from up to 9 candidates: 4 of 4"):
        Diverging().fit(Outcomes.from_design(SamplingDesign(3, replacement=False), 9), [metric("ap")])


class TestConditionNumbers:
    """Beside those of the normal equations, written down densely."""

    N, DESIGN = 60, SamplingDesign(8, replacement=False)

    def equations(self):
        likelihood = distributions.rank_distribution(self.N, self.DESIGN)
        return likelihood.T @ likelihood / self.N, likelihood.mean(axis=0)

    @pytest.mark.parametrize("gamma", [0.5, 0.1, 0.01])
    def test_of_a_bias_variance_trade_off(self, gamma):
        quadratic, marginal = self.equations()
        scale = 1 / np.sqrt(marginal)
        normal = (1 - gamma) * scale[:, None] * quadratic * scale + gamma * np.eye(9)
        number = BiasVariance(gamma, None).condition_number(self.DESIGN, self.N, (metric("ap"), metric("recall@5")))
        assert number == pytest.approx(np.sqrt(np.linalg.cond(normal)), rel=1e-9)
        assert number <= gamma**-0.5
