"""Values by user of made-up tables, and what holds for the values of every kind of ranks."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import places_of_runs, values_of
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
    return places_of_runs(Runs("A", tables, users), of)


def require_within_bounds(found, kind):
    """The mean of values is the point, and none is beyond the bounds."""
    assert found.one_value == (kind not in ("free", "decreasing"))
    if found.one_value:
        assert found.low.mean(axis=1) == pytest.approx(found.point)
    biased = {"bv-0.1", "uncorrected", "mle"}
    assert found.assumes == (
        "bias is zero" if kind in biased else kind if kind == "decreasing" else "none"
    )
    assert np.isinf(found.bounds).all() == (kind == "mle")
    # its weights may be below 0
    assert (found.limits.tolist() == [[0, 1]] * 2) == (kind != "bv-0.1")
    for side, of_side in enumerate((found.low, found.high)):
        assert (of_side >= found.bounds[:, side, :1] - 1e-12).all()
        assert (of_side <= found.bounds[:, side, 1:] + 1e-12).all()


def require_difference(one, two, ratio=1.2):
    """A difference is that of each user, with the bounds of every difference."""
    gap = one.minus(two, ratio)
    np.testing.assert_allclose(gap.low, one.low - ratio * two.high)
    np.testing.assert_allclose(gap.high, one.high - ratio * two.low)
    np.testing.assert_allclose(gap.point, one.point - ratio * two.point)
    assert gap.one_value == (one.one_value and two.one_value)
    assert gap.findings == (*one.findings, *two.findings)
    for side in (0, 1):
        of_one = one.bounds[:, side]
        of_two = two.bounds[:, 1 - side, ::-1]
        assert gap.bounds[:, side] == pytest.approx(of_one - ratio * of_two)
    assert gap.limits == pytest.approx(one.limits - ratio * two.limits[:, ::-1])
