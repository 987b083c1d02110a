"""The bias-variance trade-off: against rational arithmetic, long doubles, and the definition of what it minimises."""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from exact_probabilities import dense
from scipy import stats

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.linear import BiasVariance
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

METRICS = ["ap", "ndcg", "recall@3", "auc"]


def binomial(n, m):
    return stats.binom.pmf(np.arange(m + 1), m, np.arange(n)[:, np.newaxis] / (n - 1))


def solved(matrix, right):
    """Gaussian elimination, in whatever numbers the rows hold."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next(index for index in range(column, size) if rows[index][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for index in range(column + 1, size):
            factor = rows[index][column] / rows[column][column]
            rows[index] = [a - factor * b for a, b in zip(rows[index], rows[column], strict=True)]
    solution = [0] * size
    for index in reversed(range(size)):
        known = sum(rows[index][other] * solution[other] for other in range(index + 1, size))
        solution[index] = (rows[index][size] - known) / rows[index][index]
    return solution


def exactly(n, m, gamma, f, replacement=True):
    """Eq. 25 as written, p(r) = 1/n, in fractions."""
    if replacement:
        theta = [Fraction(r - 1, n - 1) for r in range(1, n + 1)]
        A = [[comb(m, x) * t**x * (1 - t) ** (m - x) for x in range(m + 1)] for t in theta]
    else:
        A = [
            [Fraction(comb(r - 1, x) * comb(n - r, m - x), comb(n - 1, m)) for x in range(m + 1)]
            for r in range(1, n + 1)
        ]
    prior, places = Fraction(1, n), range(m + 1)
    gamma = Fraction(gamma)
    matrix = [[(1 - gamma) * prior * sum(row[x] * row[y] for row in A) for y in places] for x in places]
    for x in places:
        matrix[x][x] += gamma * prior * sum(row[x] for row in A)
    right = [prior * sum(row[x] * value for row, value in zip(A, f, strict=True)) for x in places]
    return [float(weight) for weight in solved(matrix, right)]


@pytest.mark.parametrize("gamma", [0.0, 1e-8, 0.1, 0.5, 1.0])
@pytest.mark.parametrize(
    ("label", "f"),
    [
        ("ap", [Fraction(1, r) for r in range(1, 9)]),
        ("recall@3", [Fraction(r <= 3) for r in range(1, 9)]),
        ("auc", [Fraction(8 - r, 7) for r in range(1, 9)]),
    ],
)
@pytest.mark.parametrize("replacement", [True, False])
def test_is_eq_25_in_exact_arithmetic(gamma, label, f, replacement):
    weights = (
        BiasVariance(gamma, replacement).fit(Outcomes.from_design(SamplingDesign(4), 8), [metric(label)]).weights[0]
    )
    np.testing.assert_allclose(weights, exactly(8, 4, gamma, f, replacement), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("gamma", [0.0, 1e-8, 1e-4])
def test_keeps_its_digits_where_the_equations_are_badly_conditioned(gamma):
    n, m = 40, 22
    wanted = exactly(n, m, gamma, [Fraction(1, r) for r in range(1, n + 1)])
    assert np.linalg.cond(binomial(n, m).T @ binomial(n, m)) > 1e10
    weights = BiasVariance(gamma, True).fit(Outcomes.from_design(SamplingDesign(m), n), [metric("ap")]).weights[0]
    np.testing.assert_allclose(weights, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan"), float("inf")])
def test_refuses_a_gamma_out_of_range(gamma):
    with pytest.raises(ConfigError, match=r"must lie in \[0, 1\]"):
        BiasVariance(gamma, True)


def test_assumes_what_it_is_told_whatever_the_design():
    designs = SamplingDesign(5, True), SamplingDesign(5, False)
    for gamma in (0.1, 1):
        for assumed in (True, False):
            one, other = (
                BiasVariance(gamma, assumed).fit(Outcomes.from_design(design, 12), [metric("ap")]).weights[0]
                for design in designs
            )
            assert one.tolist() == other.tolist()


# --- against mpmath ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m"), [(300, 30), pytest.param(1000, 60, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("gamma", "error"), [(1e-4, 1e-12), (0.1, 1e-13), (1e-8, 1e-10)])
def test_without_replacement_is_eq_25_in_50_digits(n, m, gamma, error):
    labels = ["recall@10", "ndcg@10", "ap", "auc"]
    # A times the number of samples: whole numbers
    A = np.array([[comb(b, x) * comb(n - 1 - b, m - x) for x in range(m + 1)] for b in range(n)], dtype=object)
    samples, metrics = comb(n - 1, m), [metric(label) for label in labels]
    with mpmath.workdps(50):
        price = mpmath.mpf(gamma)
        marginal = [mpmath.mpf(int(each)) / samples for each in A.sum(axis=0)]
        squares = mpmath.matrix([[mpmath.mpf(int(each)) / samples**2 for each in row] for row in A.T @ A])
        matrix = (1 - price) * squares + price * mpmath.diag(marginal)
        fs = [[mpmath.mpf(float(value)) for value in each.values(n)] for each in metrics]
        right = [mpmath.matrix([mpmath.fdot(column, f) / samples for column in A.T]) for f in fs]
        wanted = np.array([[float(weight) for weight in mpmath.lu_solve(matrix, each)] for each in right])
    ours = BiasVariance(gamma, False).fit(Outcomes.from_design(SamplingDesign(m), n), metrics).weights
    assert (np.abs(ours - wanted).max(axis=1) <= error * np.abs(wanted).max(axis=1)).all()


# --- special cases ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0, 0.1, 1])
def test_outcomes_that_no_rank_can_give_count_nothing(gamma):
    # two candidates, the one negative drawn three times: it is better each time, or never
    weights = BiasVariance(gamma, True).fit(Outcomes.from_design(SamplingDesign(3, True), 2), [metric("ap")]).weights[0]
    np.testing.assert_allclose(weights, [1, 0, 0, 0.5], atol=1e-14)


@pytest.mark.parametrize(("gamma", "replacement"), [(0.01, True), (0.5, False)])
def test_of_many_candidates_is_the_dense_solution(gamma, replacement):
    n, m = 100_000, 100
    A, r = dense(n, m, replacement), np.arange(1, n + 1)
    f = np.column_stack((1 / r, 1 / np.log2(r + 1), r <= 3, (n - r) / (n - 1)))
    marginal = A.mean(axis=0)
    matrix = (1 - gamma) * (A.T @ A) / n + gamma * np.diag(marginal)
    wanted = np.linalg.solve(matrix, A.T @ f / n).T
    ours = BiasVariance(gamma, None).fit(
        Outcomes.from_design(SamplingDesign(m, replacement), n), [*map(metric, METRICS)]
    )
    for weights, of_metric in zip(ours.weights, wanted, strict=True):
        np.testing.assert_allclose(weights, of_metric, rtol=0, atol=1e-6 * np.abs(of_metric).max())


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
        with pytest.raises(DataError) as caught:
            BiasVariance(0, None).fit(outcomes, [metric("ap")])
        message = str(caught.value)
        assert message.startswith("bv-0 cannot be solved in double precision for 3541 candidates and m = 100 negatives")
        assert message.endswith("; take a γ above 0, such as bv-0.01")
        assert "\n" not in message
        BiasVariance(1e-8, None).fit(outcomes, [metric("ap")])

    def test_is_refused_where_one_of_several_n_is(self):
        x, n = [0, 1], [51, 5000]
        fitted = Outcomes.observed(SampledRanks(x[:1], 50, n[:1]))[0]
        BiasVariance(0, None).fit(fitted, [metric("ap")])
        with pytest.raises(DataError, match="for 5000 candidates"):
            BiasVariance(0, None).fit(Outcomes.observed(SampledRanks(x, 50, n))[0], [metric("ap")])

    def test_is_refused_from_a_condition_number_of_1e10(self):
        # without replacement the squared singular values are products of (M-j)(n+j) / ((M+j)(n-j)), M = m + 1
        n, numbers = 3541, {}
        for m in (5, 20, *range(30, 42)):
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
