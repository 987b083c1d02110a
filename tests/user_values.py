"""Values by user of made-up tables, and what holds for the values of every kind of ranks."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import ranks_of_runs, values_of
from sampled_metrics.core.ranks.runs import Runs

USERS = 150
N = 60
M = 12
METRICS = [sm.metric(label) for label in ("recall@5", "ndcg@5")]
KINDS = ("exact", "bv-0.1", "uncorrected", "mle", "free", "decreasing")
"""Exact ranks, and sampled ones by their estimator."""


def table_of(kind, seed=0):
    """Return ranks of a kind, of the same users."""
    rng = np.random.default_rng(seed)
    ranks = rng.geometric(0.1, USERS).clip(max=N)
    if kind == "exact":
        return sm.exact_ranks(ranks, candidates=N)
    return sm.sampled_ranks(
        1 + rng.hypergeometric(ranks - 1, N - ranks, M), candidates=N, negatives=M
    )


def values(table, kind=""):
    """Return the values of a table, of sampled ranks by the estimator of their kind."""
    estimator = sm.estimator(kind) if table.is_sampled else None
    return values_of(table, table.user_numbers, METRICS, estimator, 0.05)


def places(*tables, of):
    """Return the places of users in tables of seeds, with the values of the tables."""
    users = tuple(table.user_numbers for table in tables)
    return ranks_of_runs(Runs("A", tables, users), of)


def require_within_bounds(users_values, kind):
    """The mean of values is the point, and none is beyond the bounds."""
    assert users_values.one_value == (kind not in ("free", "decreasing"))
    if users_values.one_value:
        assert users_values.low.mean(axis=1) == pytest.approx(users_values.point)
    biased = {"bv-0.1", "uncorrected", "mle"}
    assumptions = {"decreasing": "decreasing", "free": "uniform negatives"}
    assumptions |= dict.fromkeys(biased, "bias is zero")
    assert users_values.assumes == assumptions.get(kind, "none")
    assert np.isinf(users_values.bounds).all() == (kind == "mle")
    # its weights may be below 0
    assert (users_values.limits.tolist() == [[0, 1]] * 2) == (kind != "bv-0.1")
    for side, values_of_side in enumerate((users_values.low, users_values.high)):
        assert (values_of_side >= users_values.bounds[:, side, :1] - 1e-12).all()
        assert (values_of_side <= users_values.bounds[:, side, 1:] + 1e-12).all()


def require_difference(minuend, subtrahend, ratio=1.2):
    """A difference is that of each user, with the bounds of every difference."""
    gap = minuend.minus(subtrahend, ratio)
    np.testing.assert_allclose(gap.low, minuend.low - ratio * subtrahend.high)
    np.testing.assert_allclose(gap.high, minuend.high - ratio * subtrahend.low)
    np.testing.assert_allclose(gap.point, minuend.point - ratio * subtrahend.point)
    assert gap.one_value == (minuend.one_value and subtrahend.one_value)
    assert gap.findings == (*minuend.findings, *subtrahend.findings)
    for side in (0, 1):
        bounds_of_minuend = minuend.bounds[:, side]
        bounds_of_subtrahend = subtrahend.bounds[:, 1 - side, ::-1]
        assert gap.bounds[:, side] == pytest.approx(
            bounds_of_minuend - ratio * bounds_of_subtrahend
        )
    assert gap.limits == pytest.approx(minuend.limits - ratio * subtrahend.limits[:, ::-1])
