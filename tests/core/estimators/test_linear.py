"""Linear estimators: weights by hand, in 50 digits, and by the conditions of an optimum."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact_probabilities import dense, exact

from sampled_metrics.core.estimators import estimator
from sampled_metrics.core.estimators.linear import BiasVariance, LinearEstimate
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.errors import ConfigError, DataError

LABELS = ["ap", "ndcg", "recall@3", "auc"]
METRICS = tuple(map(metric, LABELS))


def weights_of(label, n, m, metrics=METRICS, replacement=False):
    """The (metrics, m + 1) weights for a design."""
    return (
        estimator(label)
        .fit(Outcomes.from_design(SamplingDesign(m, replacement), n), metrics)
        .weights
    )


def values_of(n):
    """The (n, metrics) values of all ranks."""
    return np.stack([metric.values(n) for metric in METRICS], axis=1)


def test_an_estimate_is_the_mean_of_the_weights_of_events():
    estimate = LinearEstimate(
        weights=np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 1.0]]),
        of_groups=(
            np.array([[3.0, 0.5, 0.0], [1.0, 1.0, 1.0]]),
            np.array([[0.25, -1.0], [2.0, 1.0]]),
        ),
    )
    estimates = estimate.estimate(np.array([[2, 1, 1], [0, 4, 0]]))
    np.testing.assert_allclose(estimates, [[2.5 / 4, 3 / 4], [0.5, 2]])
    # of every x, seen or not
    smallest, largest = estimate.bounds
    assert smallest.tolist() == [-1, 1]
    assert largest.tolist() == [3, 2]


BY_HAND = {
    ("uncorrected", "auc", 3): [1, 2 / 3, 1 / 3, 0],  # as if m + 1 = 4 items were all
    ("uncorrected", "recall@2", 3): [1, 1, 0, 0],
    ("uncorrected", "ndcg@3", 3): [1, 0.63092975, 0.5, 0],
    # ranks 1 + floor(10 x / 4), and 1 + floor(10 x / 5)
    ("rank-estimate", "ap", 4): [1, 1 / 3, 1 / 6, 1 / 8, 1 / 11],
    ("rank-estimate", "auc", 4): [1, 0.8, 0.5, 0.3, 0],
    ("rank-estimate-as-printed", "ap", 4): [1, 1 / 3, 1 / 5, 1 / 7, 1 / 9],
    ("rank-estimate-as-printed", "recall@5", 4): [1, 1, 1, 0, 0],
    # division by 10 is exact, and must not lose 1
    ("rank-estimate", "recall@5", 10): [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    # 1 - x / m has no bias, and meets the constraints
    ("cls", "auc", 10): np.arange(10, -1, -1) / 10,
}


@pytest.mark.parametrize("case", BY_HAND, ids=str)
def test_weights_by_hand_of_11_candidates(case):
    label, name, m = case
    np.testing.assert_allclose(
        weights_of(label, 11, m, [metric(name)]), [BY_HAND[case]], rtol=1e-8, atol=1e-15
    )


def eq_25(n, m, gamma, replacement):
    """The weights of eq. 25 as written, with p(r) = 1/n, in 50 digits."""
    with mpmath.workdps(50):
        rows = [
            [mpmath.mpf(p.numerator) / p.denominator for p in row]
            for row in exact(n, m, replacement)
        ]
        A = np.array(rows)
        price = mpmath.mpf(gamma)
        matrix = (1 - price) * (A.T @ A) + price * np.diag(A.sum(axis=0))
        inverse = np.array(mpmath.inverse(mpmath.matrix(matrix)).tolist())
        return (inverse @ (A.T @ values_of(n))).T.astype(float)


def require_close(weights, expected, error):
    """Weights differ at most by an error relative to the largest weight of the metric."""
    assert (np.abs(weights - expected).max(axis=1) <= error * np.abs(expected).max(axis=1)).all()


@pytest.mark.parametrize(
    ("n", "m", "replacement", "gamma", "error"),
    [
        (8, 4, True, 0.0, 1e-9),
        (8, 4, True, 0.1, 1e-9),
        (8, 4, False, 0.0, 1e-9),
        (8, 4, False, 0.1, 1e-9),
        (8, 4, False, 1.0, 1e-9),
        (30, 20, True, 0.0, 1e-6),  # badly conditioned
        (30, 20, True, 1e-4, 1e-6),
        (40, 18, False, 1e-8, 1e-10),
    ],
)
def test_bias_variance_is_eq_25_in_50_digits(n, m, replacement, gamma, error):
    expected = eq_25(n, m, gamma, replacement)
    weights = weights_of(f"bv-{gamma:g}", n, m, METRICS, replacement)
    require_close(weights, expected, error)


@pytest.mark.parametrize(("gamma", "replacement"), [(0.01, True), (0.5, False)])
def test_bias_variance_of_many_candidates_is_the_dense_solution(gamma, replacement):
    n = 20_000
    m = 50
    A = dense(n, m, replacement)
    f = values_of(n)
    equations = (1 - gamma) * (A.T @ A) / n + gamma * np.diag(A.mean(axis=0))
    expected = np.linalg.solve(equations, A.T @ f / n).T
    weights = weights_of(f"bv-{gamma}", n, m, METRICS, replacement)
    require_close(weights, expected, 1e-6)


def test_without_a_price_of_variance_bv_is_refused_from_a_condition_number_of_1e10():
    """Without replacement the squared singular values are known products.

    They are of (M-j)(n+j) / ((M+j)(n-j)), with M = m + 1.
    """
    n = 3541
    refused = []
    for m in (5, 30, 38, 41):
        factors = (Fraction((m + 1 - j) * (n + j), (m + 1 + j) * (n - j)) for j in range(1, m + 1))
        expected = float(np.prod([*factors])) ** -0.5
        if expected < 1e10:
            number = BiasVariance(0, None).condition_number(SamplingDesign(m), n, METRICS[:1])
            assert number == pytest.approx(expected, rel=1e-4)
            weights_of("bv-0", n, m)
        else:
            refused.append(m)
            with pytest.raises(DataError, match=rf"bv-0 .*m = {m} "):
                weights_of("bv-0", n, m)
    assert refused
    assert np.isfinite(weights_of("bv-1e-8", n, 100)).all()
    few_and_many, _ = Outcomes.observed(SampledRanks([0, 1], 50, [51, 5000]))
    with pytest.raises(DataError, match="for 5000 candidates"):
        estimator("bv-0").fit(few_and_many, METRICS)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan")])
def test_bias_variance_refuses_a_gamma_out_of_range(gamma):
    with pytest.raises(ConfigError, match="γ"):
        BiasVariance(gamma, True)


@pytest.mark.parametrize(
    ("n", "m", "replacement"),
    [
        (4, 3, True),
        (4, 3, False),
        (30, 5, False),
        (3541, 100, True),
        (10_000, 20, True),  # in several blocks
    ],
)
@pytest.mark.parametrize("label", ["recall@3", "ndcg@10", "ap"])
def test_constrained_least_squares_meet_the_conditions_of_an_optimum(n, m, label, replacement):
    A = dense(n, m, replacement)
    f = metric(label).values(n)
    [weights] = weights_of("cls", n, m, [metric(label)], replacement)
    steps = weights - np.append(weights[1:], 0)
    assert (steps >= -1e-15).all()
    # the loss must not fall along any step that may be taken, and be flat along those that are
    slope = np.cumsum(A.T @ (A @ weights - f))
    scale = np.cumsum(A.T @ f).max()
    assert (slope >= -1e-10 * scale).all()
    assert np.abs(slope * steps).max() <= 1e-10 * scale
