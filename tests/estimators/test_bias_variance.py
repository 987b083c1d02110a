"""The bias-variance trade-off: against 50 digits, dense solutions, and the condition numbers of its equations."""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from exact_probabilities import dense

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.linear import BiasVariance
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

METRICS = ["ap", "ndcg", "recall@3", "auc"]


def eq_25(n, m, gamma, replacement):
    """The weights of eq. 25 as written, p(r) = 1/n; A times the number of samples is in whole numbers."""
    if replacement:
        samples = (n - 1) ** m
        rows = [[comb(m, x) * b**x * (n - 1 - b) ** (m - x) for x in range(m + 1)] for b in range(n)]
    else:
        samples = comb(n - 1, m)
        rows = [[comb(b, x) * comb(n - 1 - b, m - x) for x in range(m + 1)] for b in range(n)]
    A = np.array(rows, dtype=object)
    with mpmath.workdps(50):
        price = mpmath.mpf(gamma)
        marginal = [mpmath.mpf(int(each)) / samples for each in A.sum(axis=0)]
        squares = mpmath.matrix([[mpmath.mpf(int(each)) / samples**2 for each in row] for row in A.T @ A])
        matrix = (1 - price) * squares + price * mpmath.diag(marginal)
        fs = [[mpmath.mpf(float(value)) for value in metric(label).values(n)] for label in METRICS]
        right = [mpmath.matrix([mpmath.fdot(column, f) / samples for column in A.T]) for f in fs]
        return np.array([[float(weight) for weight in mpmath.lu_solve(matrix, each)] for each in right])


@pytest.mark.parametrize(
    ("n", "m", "replacement", "gamma", "error"),
    [
        *((8, 4, replacement, gamma, 1e-9) for replacement in (True, False) for gamma in (0.0, 1e-8, 0.1, 0.5, 1.0)),
        *((40, 22, True, gamma, 1e-6) for gamma in (0.0, 1e-8, 1e-4)),  # badly conditioned
        *((200, 24, False, *each) for each in ((1e-4, 1e-12), (0.1, 1e-13), (1e-8, 1e-10))),
        pytest.param(1000, 60, False, 1e-8, 1e-10, marks=pytest.mark.slow),
    ],
)
def test_is_eq_25_in_50_digits(n, m, replacement, gamma, error):
    wanted, outcomes = eq_25(n, m, gamma, replacement), Outcomes.from_design(SamplingDesign(m), n)
    ours = BiasVariance(gamma, replacement).fit(outcomes, [*map(metric, METRICS)]).weights
    assert (np.abs(ours - wanted).max(axis=1) <= error * np.abs(wanted).max(axis=1)).all()


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan"), float("inf")])
def test_refuses_a_gamma_out_of_range(gamma):
    with pytest.raises(ConfigError, match=r"must lie in \[0, 1\]"):
        BiasVariance(gamma, True)


# --- special cases ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0, 0.1, 1])
def test_outcomes_that_no_rank_can_give_count_nothing(gamma):
    # two candidates, the one negative drawn three times: it is better each time, or never
    weights = BiasVariance(gamma, True).fit(Outcomes.from_design(SamplingDesign(3, True), 2), [metric("ap")]).weights[0]
    np.testing.assert_allclose(weights, [1, 0, 0, 0.5], atol=1e-14)


@pytest.mark.parametrize(("gamma", "replacement"), [(0.01, True), (0.5, False)])
def test_of_many_candidates_is_the_dense_solution(gamma, replacement):
    n, m = 20_000, 100
    A, r = dense(n, m, replacement), np.arange(1, n + 1)
    f = np.column_stack((1 / r, 1 / np.log2(r + 1), r <= 3, (n - r) / (n - 1)))
    marginal = A.mean(axis=0)
    matrix = (1 - gamma) * (A.T @ A) / n + gamma * np.diag(marginal)
    wanted = np.linalg.solve(matrix, A.T @ f / n).T
    outcomes = Outcomes.from_design(SamplingDesign(m, replacement), n)
    ours = BiasVariance(gamma, None).fit(outcomes, [*map(metric, METRICS)]).weights
    assert (np.abs(ours - wanted).max(axis=1) <= 1e-6 * np.abs(wanted).max(axis=1)).all()


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("gamma", [0, 1e-8, 0.1, 1])
def test_many_n_at_once_are_what_each_is_alone(gamma, replacement):
    candidates = np.array([31, 11, 600, 35, 2000, 10_001])
    metrics, design = tuple(map(metric, METRICS)), SamplingDesign(6, replacement)
    together = BiasVariance(gamma, None).weights(design, candidates, metrics)
    assert together.shape == (6, len(METRICS), 7)
    for n, weights in zip(candidates, together, strict=True):
        alone = BiasVariance(gamma, None).weights(design, np.array([n]), metrics)[0]
        np.testing.assert_allclose(weights, alone, rtol=0, atol=1e-12 * np.abs(alone).max())


class TestGamma0:
    @pytest.mark.parametrize("replacement", [True, False])
    def test_is_refused_where_double_precision_cannot_solve_it(self, replacement):
        outcomes = Outcomes.from_design(SamplingDesign(100, replacement), 3541)
        with pytest.raises(DataError, match=r"^bv-0 cannot be solved .* for 3541 candidates and m = 100 .* bv-0.01$"):
            BiasVariance(0, None).fit(outcomes, [metric("ap")])
        BiasVariance(1e-8, None).fit(outcomes, [metric("ap")])

    def test_is_refused_where_one_of_several_n_is(self):
        with pytest.raises(DataError, match="for 5000 candidates"):
            BiasVariance(0, None).fit(Outcomes.observed(SampledRanks([0, 1], 50, [51, 5000]))[0], [metric("ap")])

    def test_is_refused_from_a_condition_number_of_1e10(self):
        # without replacement the squared singular values are products of (M-j)(n+j) / ((M+j)(n-j)), M = m + 1
        n, numbers = 3541, {}
        for m in (5, 30, *range(35, 42)):
            square = Fraction(1)
            for j in range(1, m + 1):
                square *= Fraction((m + 1 - j) * (n + j), (m + 1 + j) * (n - j))
            numbers[m] = float(square) ** -0.5
        assert numbers[30] < 1e10 < numbers[41]
        for m, number in numbers.items():
            outcomes = Outcomes.from_design(SamplingDesign(m), n)
            if number < 1e10:
                ours = BiasVariance(0, None).condition_number(SamplingDesign(m), n, (metric("ap"),))
                assert ours == pytest.approx(number, rel=1e-4)
                BiasVariance(0, None).fit(outcomes, [metric("ap")])
            else:
                with pytest.raises(DataError, match="condition number"):
                    BiasVariance(0, None).fit(outcomes, [metric("ap")])
