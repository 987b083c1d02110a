"""Values by user of every kind of ranks: by hand, and what holds for all of their differences and
seeds.
"""

import warnings
from functools import cache

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import mean_of_runs, places_of_runs, values_of
from sampled_metrics.core.inference.means import intervals
from sampled_metrics.core.inference.seeds import SeedSpread, with_seeds
from sampled_metrics.core.ranks.runs import Runs

USERS = 150
ITEMS = 400
N = 60
M = 12
LABELS = ["recall@5", "ndcg@5"]
METRICS = [sm.metric(label) for label in LABELS]
KINDS = ("exact", "staged", "lists", "bv-0.1", "uncorrected", "mle", "free", "decreasing")


@cache
def table_of(kind, seed=0):
    """Ranks of a kind of the same users; an estimator's are sampled."""
    rng = np.random.default_rng(seed)
    if kind == "exact":
        return sm.exact_ranks(rng.geometric(0.1, USERS).clip(max=N), candidates=N)
    if kind == "staged":
        scores = rng.random((USERS, ITEMS))
        scores[:, 7] += 0.9
        given = np.zeros((USERS, ITEMS)), np.full(USERS, 7)
        return sm.staged_ranks(lambda users, items: scores[users, items], *given, k=5, depth=60)
    if kind == "lists":
        run = {
            str(user): {f"i{item}": score for item, score in enumerate(rng.random(20))}
            for user in range(USERS)
        }
        return sm.ranked_lists(
            run, relevance={str(user): {"i0": 1, "i1": 2} for user in range(USERS)}
        )
    ranks = rng.geometric(0.1, USERS).clip(max=N)
    return sm.sampled_ranks(
        1 + rng.hypergeometric(ranks - 1, N - ranks, M), candidates=N, negatives=M
    )


@cache
def values(kind, seed=0):
    table = table_of(kind, seed)
    estimator = sm.estimator(kind) if table.is_sampled else None
    return values_of(table, table.user_numbers, METRICS, estimator, 0.05)


def of(table, estimator=None):
    return values_of(table, table.user_numbers, METRICS, estimator, 0.05)


def test_of_staged_ranks_without_a_completed_user_have_the_bound_of_those_who_were_not_seen():
    """No user of 40 was completed, so each value is 0.

    With a share p of users who have 1 / P, (1 - p)^40 is .025.
    """
    scores = np.random.default_rng(1).random((40, 900))
    given = (np.zeros((40, 900)), np.full(40, 7))
    seeds = (seed for seed in range(99) if not staged_of(scores, given, seed).completed_users)
    ranks = staged_of(scores, given, next(seeds))
    found = of(ranks)
    assert not found.low.any()
    ends = found.interval(0.05, test=True)
    last = 300  # the last boundary below half of 900 candidates
    most = (1 - 0.025 ** (1 / 40)) * (last / 40) ** 0.75
    assert ends.low.tolist() == [0, 0]
    assert ends.high == pytest.approx([most, most])
    assert ends.p_value.tolist() == [1, 1]


def staged_of(scores, given, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sm.staged_ranks(
            lambda users, items: scores[users, items], *given, k=5, depth=40, seed=seed
        )


@pytest.mark.parametrize("kind", KINDS)
def test_have_the_point_as_mean_and_are_within_their_bounds(kind):
    found = values(kind)
    assert found.one_value == (kind not in ("free", "decreasing"))
    if found.one_value:
        assert found.low.mean(axis=1) == pytest.approx(found.point)
    biased = {"bv-0.1", "uncorrected", "mle"}
    assert found.assumes == (
        "bias is zero" if kind in biased else kind if kind == "decreasing" else "none"
    )
    assert np.isinf(found.bounds).all() == (kind == "mle")
    assert (found.limits.tolist() == [[0, 1]] * 2) == (
        kind != "bv-0.1"
    )  # its weights may be below 0
    for side, of_side in enumerate((found.low, found.high)):
        assert (of_side >= found.bounds[:, side, :1] - 1e-12).all()
        assert (of_side <= found.bounds[:, side, 1:] + 1e-12).all()


@pytest.mark.parametrize(
    ("kind", "other"), [*((kind, kind) for kind in KINDS), ("exact", "staged")]
)
def test_a_difference_is_that_of_each_user_with_bounds_of_every_difference(kind, other):
    one = values(kind)
    two = values(other, 1)
    ratio = 1.2
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


@pytest.mark.parametrize("kind", ["exact", "mle"])
def test_of_seeds_are_the_mean_of_each_user_with_the_spread(kind):
    seeds = [values(kind, seed) for seed in range(3)]
    found = mean_of_runs(seeds)
    np.testing.assert_allclose(found.low, np.mean([one.low for one in seeds], axis=0))
    np.testing.assert_allclose(found.point, np.mean([one.point for one in seeds], axis=0))
    assert found.assumes == seeds[0].assumes
    spread = SeedSpread.from_seeds(
        np.stack([one.point for one in seeds]), np.stack([one.low for one in seeds])
    )
    ends = found.interval(0.05, test=True)
    of_users = intervals(found.low, found.low, found.bounds, found.limits, 0.05, test=True)
    np.testing.assert_array_equal(
        ends.low, with_seeds(of_users, found.point, [spread], found.limits, 0.05).low
    )
    assert (ends.low <= of_users.low).all()
    assert (ends.p_value >= of_users.p_value).all()


@pytest.mark.parametrize("kind", ["free", "decreasing"])
def test_of_seeds_by_strict_bounds_are_mean_bounds_without_a_spread(kind):
    seeds = [values(kind, seed) for seed in range(3)]
    found = mean_of_runs(seeds)
    assert not found.one_value
    assert found.spreads == ()
    assert found.assumes == seeds[0].assumes
    for name in ("low", "high", "bounds", "limits", "point"):
        np.testing.assert_allclose(
            getattr(found, name), np.mean([getattr(one, name) for one in seeds], axis=0)
        )


def test_of_these_runs_are_the_same_values_without_the_spread():
    found = mean_of_runs([values("exact", seed) for seed in range(3)])
    these = found.of_these_runs().interval(0.05, test=True)
    of_users = intervals(found.low, found.low, found.bounds, found.limits, 0.05, test=True)
    np.testing.assert_array_equal([these.low, these.high], [of_users.low, of_users.high])


def places(*tables, of):
    users = tuple(table.user_numbers for table in tables)
    return places_of_runs(Runs("A", tables, users), of)


def test_places_are_means_of_ranks_or_the_values_of_lists_or_not_known():
    table = table_of("bv-0.1")
    lists = values("lists")
    np.testing.assert_array_equal(places(table, of=values("bv-0.1")), [table.x])
    np.testing.assert_array_equal(places(table_of("lists"), of=lists), -lists.low)
    assert np.isnan(places(table_of("staged"), of=values("staged"))).all()
    several = sm.exact_ranks(
        {"user": [1, 1, 2], "above": [0, 4, 9], "tied": [2, 0, 0]}, candidates=50
    )
    [[first, second]] = places(several, of=values("exact"))
    assert second - first == pytest.approx(9 - (1 + 4) / 2)
    other = table_of("bv-0.1", 1)
    np.testing.assert_allclose(places(table, other, of=values("bv-0.1")), [(table.x + other.x) / 2])
