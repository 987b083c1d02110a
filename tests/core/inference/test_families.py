"""Families of comparisons: Holm's method, critical values, and groups.

benchmarks/promises.py counts their false alarms.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.core.inference.families import groups, holm, max_t_rate, pairs_of


def test_holm_by_hand_and_by_his_steps():
    """Four hypotheses: 4 · .005, 3 · .01, 2 · .03, then no less than before.

    His steps end at the first p > α / (those that are left).
    """
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    for p_values in np.random.default_rng(3).beta(0.2, 2, size=(50, 8)):
        order = np.argsort(p_values)
        kept = p_values[order] >= 0.05 / np.arange(8, 0, -1)
        rejected = order[: np.argmax(kept) if kept.any() else 8]
        assert np.flatnonzero(holm(p_values) < 0.05).tolist() == sorted(rejected)


def alike(recommenders, users):
    """Values without correlation, and with the same spread."""
    random = np.random.default_rng(1).normal(size=(users, recommenders))
    values, _ = np.linalg.qr(random - random.mean(axis=0))
    return values.T


@pytest.mark.parametrize(
    ("recommenders", "users", "alpha"), [(3, 12, 0.05), (10, 300, 0.2), (10, 12, 0.05)]
)
def test_the_rate_of_independent_recommenders_is_that_of_tukey(recommenders, users, alpha):
    """The critical value of the largest |t| is that of the studentised range, over √2.

    It is within four standard errors of a share of 50,000 draws.
    """
    law = stats.studentized_range(recommenders, users - 1)
    largest = law.isf(alpha)
    assert law.sf(largest) == pytest.approx(alpha, rel=1e-6)
    expected = 2 * stats.t.sf(largest / np.sqrt(2), users - 1)
    error = np.sqrt((1 - alpha) / alpha / 50_000)
    rate = max_t_rate(alike(recommenders, users), alpha)
    assert rate == pytest.approx(expected, rel=4 * error)


@pytest.mark.parametrize("last", ["alike", "a copy of the first"])
def test_rounding_of_the_values_does_not_change_the_rate(last):
    """Recommenders of the same spread have equal eigenvalues, whose directions are arbitrary."""
    values = alike(4, 30)
    if last == "a copy of the first":
        values[-1] = values[0]
    rounding = 1e-15 * np.random.default_rng(2).normal(size=values.shape)
    assert max_t_rate(values + rounding, 0.05) == pytest.approx(max_t_rate(values, 0.05), rel=1e-9)


X, Y = np.random.default_rng(2).normal(size=(2, 300))


@pytest.mark.parametrize(
    ("values", "alpha", "smallest", "largest"),
    [
        pytest.param([X, Y], 0.05, 0.05, 0.05, id="one pair"),
        # X, X has no t, and the others the same
        pytest.param([X, X, Y], 0.05, 0.97 * 0.05, 0.05, id="two alike"),
        # the quantile of 50 000 draws is uncertain: five of them are beyond it at α = .0001
        pytest.param(
            np.linalg.qr(np.random.default_rng(1).normal(size=(300, 7)))[0].T,
            1e-4,
            1e-4 / 21,
            1e-4,
            id="a small rate",
        ),
        pytest.param(np.full((4, 50), 0.0), 0.06, 0.01, 0.01, id="all 0"),
        pytest.param(np.full((4, 50), np.nan), 0.06, 0.01, 0.01, id="all missing"),
        pytest.param(
            0.3 + 1e-14 * np.tile(np.arange(50), (4, 1)), 0.06, 0.01, 0.01, id="rounding alone"
        ),
    ],
)
def test_the_rate_is_from_that_of_bonferroni_to_that_of_one_pair(values, alpha, smallest, largest):
    assert smallest * (1 - 1e-9) <= max_t_rate(np.stack(values), alpha) <= largest * (1 + 1e-9)


def test_groups_are_the_largest_sets_of_all_subsets():
    assert groups([(0, 2)], range(3)) == [(0, 2), (1,)]
    rng = np.random.default_rng(5)
    for chance in (0.0, 1.0, *[0.6] * 18):
        undecided = [pair for pair in pairs_of(7) if rng.random() < chance]
        subsets = [subset for size in range(1, 8) for subset in combinations(range(7), size)]
        alike = [
            subset
            for subset in subsets
            if all(pair in undecided for pair in combinations(subset, 2))
        ]
        largest = [
            subset for subset in alike if not any({*subset} < {*superset} for superset in alike)
        ]
        assert groups(undecided, range(7)) == sorted(largest)
