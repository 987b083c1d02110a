"""Values by user of every kind of ranks: by hand, and what holds for all of their differences and seeds."""

from dataclasses import astuple
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sampled_metrics as sm
from sampled_metrics.errors import DataError
from sampled_metrics.evaluation.values import UserValues, mean_of_seeds, place_of_users, values_of
from sampled_metrics.inference.findings import Finding
from sampled_metrics.inference.means import SeedSpread, intervals, with_seeds
from sampled_metrics.inference.strict import Sample

USERS, ITEMS, N, M = 150, 400, 60, 12
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
        run = {str(user): {f"i{item}": score for item, score in enumerate(rng.random(20))} for user in range(USERS)}
        return sm.ranked_lists(run, relevance={str(user): {"i0": 1, "i1": 2} for user in range(USERS)})
    ranks = rng.geometric(0.1, USERS).clip(max=N)
    return sm.sampled_ranks(1 + rng.hypergeometric(ranks - 1, N - ranks, M), candidates=N, negatives=M)


@cache
def values(kind, seed=0):
    table = table_of(kind, seed)
    estimator = sm.estimator(kind) if table.is_sampled else None
    return values_of(table, table.user_numbers, METRICS, estimator, 0.05)


class TestOfEachKind:
    def test_exact_ranks_have_the_metric_of_the_user(self):
        table = table_of("exact")
        found, rank = values("exact"), np.asarray(table.above) + 1
        np.testing.assert_allclose(found.low, [rank <= 5, np.where(rank <= 5, 1 / np.log2(rank + 1), 0)])
        assert found.bounds.tolist() == [[[0, 1]] * 2] * 2
        assert found.limits.tolist() == [[0, 1]] * 2

    def test_of_several_rows_are_means_by_user(self):
        ranks = pd.DataFrame({"user": ["b", "a", "b"], "rank": [1, 4, 30]})
        table = sm.exact_ranks(ranks, candidates=50)
        found = values_of(table, table.user_numbers, METRICS, None, 0.05)
        assert found.low[0].tolist() == [1, 0.5]
        assert [(one.kind, one.values) for one in found.findings] == [("several-rows", {}), ("few-users", {"users": 2})]

    def test_lists_have_the_metric_of_the_list(self):
        run, judged = {"a": {"i": 2, "j": 1}, "b": {"k": 1}}, {"a": {"i": 1, "j": 1}, "b": {"i": 1}}
        table = sm.ranked_lists(run, relevance=judged)
        assert values_of(table, table.user_numbers, METRICS, None, 0.05).low.tolist() == [[1, 0], [1, 0]]

    def test_staged_ranks_have_phi_whose_mean_is_the_value(self):
        table, found = table_of("staged"), values("staged")
        np.testing.assert_array_equal(found.low, table.outcome_values(METRICS).values)
        assert found.low.max() > 1  # a completed user stands for those who did not go on
        assert found.bounds[:, 0, 1].min() >= found.low.max()
        assert found.limits.tolist() == [[0, 1]] * 2

    def test_of_too_few_completed_users_have_no_interval(self):
        scores, given = np.random.default_rng(1).random((40, 500)), (np.zeros((40, 500)), np.full(40, 7))
        table = sm.staged_ranks(lambda users, items: scores[users, items], *given, k=5, depth=5)
        found = values_of(table, table.user_numbers, METRICS, None, 0.05)
        assert not found.has_interval
        (few,) = (finding.values for finding in found.findings if finding.kind == "few-completed")
        first = np.delete(scores, 7, axis=1)[:, : few["boundary"]]  # without training, the order is that of the items
        is_open = (first > scores[:, [7]]).sum(axis=1) < 5
        assert 0 < few["open"] == is_open.sum() < few["users"] == 40
        exact = stats.binomtest(few["open"], 40).proportion_ci(0.95, method="exact")  # of Clopper and Pearson
        assert few["most"] == pytest.approx(exact.high)
        ends = found.interval(0.05, test=True)
        assert np.isnan([ends.low, ends.high, ends.p_value]).all()
        assert np.isfinite(ends.standard_error).all()

    def test_of_a_linear_estimator_are_its_weights(self):
        table, found = table_of("bv-0.1"), values("bv-0.1")
        sample = Sample.from_ranks(table, table.user_numbers)
        estimate = sm.estimator("bv-0.1").fit(sample.outcomes, METRICS)
        np.testing.assert_allclose(found.low, estimate.weights[:, np.searchsorted(sample.outcomes.x, table.x)])
        np.testing.assert_array_equal(found.bounds[:, 0], np.stack(estimate.bounds, axis=1))
        assert (found.bounds[:, :, 0] < 0).any()  # beyond the metric, and so may the mean be
        np.testing.assert_array_equal(found.limits, found.bounds[:, 0])

    @pytest.mark.parametrize("kind", KINDS)
    def test_have_the_point_as_mean_and_are_within_their_bounds(self, kind):
        found = values(kind)
        assert found.have_one_value == (kind not in ("free", "decreasing"))
        if found.have_one_value:
            assert found.low.mean(axis=1) == pytest.approx(found.point)
        biased = {"bv-0.1", "uncorrected", "mle"}
        assert found.assumes == ("bias is zero" if kind in biased else kind if kind == "decreasing" else "none")
        assert np.isinf(found.bounds).all() == (kind == "mle")
        for side, of_side in enumerate((found.low, found.high)):
            assert (of_side >= found.bounds[:, side, :1] - 1e-12).all()
            assert (of_side <= found.bounds[:, side, 1:] + 1e-12).all()

    @pytest.mark.parametrize("kind", ["bv-0.1", "mle", "decreasing"])
    def test_of_a_sample_that_no_ranks_explain_have_no_interval(self, kind):
        table = sm.sampled_ranks([7] * 300, candidates=N, negatives=M)
        found = values_of(table, table.user_numbers, METRICS, sm.estimator(kind), 0.05)
        assert [finding.kind for finding in found.findings][-1] == "unexplained"
        assert not found.has_interval


class TestMinus:
    PAIRS = (*((kind, kind) for kind in KINDS), ("exact", "staged"))

    @pytest.mark.parametrize(("kind", "other"), PAIRS)
    @pytest.mark.parametrize("ratio", [1.0, 1.2])
    def test_is_the_difference_of_each_user_with_bounds_of_every_difference(self, kind, other, ratio):
        one, two = values(kind), values(other, 1)
        gap = one.minus(two, ratio)
        np.testing.assert_allclose(gap.low, one.low - ratio * two.high)
        np.testing.assert_allclose(gap.high, one.high - ratio * two.low)
        np.testing.assert_allclose(gap.point, one.point - ratio * two.point)
        assert gap.have_one_value == (one.have_one_value and two.have_one_value)
        assert gap.findings == (*one.findings, *two.findings)
        for side in (0, 1):
            of_one, of_two = one.bounds[:, side], two.bounds[:, 1 - side, ::-1]
            assert gap.bounds[:, side] == pytest.approx(of_one - ratio * of_two)
        assert gap.limits == pytest.approx(one.limits - ratio * two.limits[:, ::-1])

    def test_scales_the_spread_of_the_seeds_of_the_second_one(self):
        one, two = (mean_of_seeds([values("exact", seed) for seed in seeds]) for seeds in ((0, 1), (2, 3, 4)))
        first, second = one.minus(two, 1.2).spreads
        np.testing.assert_array_equal(first.variance, one.spreads[0].variance)
        np.testing.assert_allclose(second.variance, 1.44 * two.spreads[0].variance)
        assert (first.freedom, second.freedom) == (1, 2)


class TestMeanOfSeeds:
    def test_of_one_is_itself(self):
        assert mean_of_seeds([values("free")]) is values("free")

    @pytest.mark.parametrize("kind", ["exact", "bv-0.1", "mle"])
    def test_is_the_mean_of_each_user_with_the_spread(self, kind):
        seeds = [values(kind, seed) for seed in range(3)]
        found = mean_of_seeds(seeds)
        np.testing.assert_allclose(found.low, np.mean([one.low for one in seeds], axis=0))
        np.testing.assert_allclose(found.point, np.mean([one.point for one in seeds], axis=0))
        assert found.assumes == seeds[0].assumes
        [spread] = found.spreads
        expected = SeedSpread.from_seeds(np.stack([one.point for one in seeds]), np.stack([one.low for one in seeds]))
        np.testing.assert_array_equal(spread.variance, expected.variance)
        ends = found.interval(0.05, test=True)
        of_users = intervals(found.low, found.low, found.bounds, found.limits, 0.05, test=True)
        np.testing.assert_array_equal(ends.low, with_seeds(of_users, found.point, [spread], found.limits, 0.05).low)
        assert (ends.low <= of_users.low).all()
        assert (ends.p_value >= of_users.p_value).all()

    @pytest.mark.parametrize("kind", ["free", "decreasing"])
    def test_of_strict_bounds_is_refused(self, kind):
        with pytest.raises(DataError, match="strict bounds do not count the spread between seeds"):
            mean_of_seeds([values(kind, seed) for seed in (0, 1)])


class TestInterval:
    @pytest.mark.parametrize("kind", KINDS)
    def test_is_that_of_the_values(self, kind):
        found, rates = values(kind), np.array([0.05, 0.2])
        ends = found.interval(rates, test=True)
        of_values = intervals(found.low, found.high, found.bounds, found.limits, rates, test=True)
        np.testing.assert_array_equal(astuple(ends), astuple(of_values))
        assert np.isfinite(ends.p_value).all()

    @pytest.mark.parametrize(
        ("kind", "is_trusted"), [("unexplained", False), ("few-completed", False), ("narrow", True)]
    )
    def test_is_missing_if_it_cannot_be_trusted(self, kind, is_trusted):
        low = np.array([[0.0, 1.0, 1.0]])
        bounds = np.array([[(0.0, 1.0)] * 2])
        found = UserValues(low, low, bounds, bounds[:, 0], low.mean(axis=1), findings=(Finding(kind),))
        assert found.has_interval == is_trusted
        assert np.isfinite(found.interval(0.05).low).all() == is_trusted


class TestPlaces:
    def test_are_ranks_or_the_values_of_lists_or_not_known(self):
        assert place_of_users(table_of("exact"), np.arange(USERS), values("exact")).shape == (1, USERS)
        table = table_of("bv-0.1")
        np.testing.assert_array_equal(place_of_users(table, np.arange(USERS), values("bv-0.1")), [table.x])
        lists = values("lists")
        np.testing.assert_array_equal(place_of_users(table_of("lists"), np.arange(USERS), lists), -lists.low)
        assert np.isnan(place_of_users(table_of("staged"), np.arange(USERS), values("staged"))).all()

    def test_are_means_over_the_rows_of_a_user(self):
        table = sm.exact_ranks({"user": [1, 1, 2], "above": [0, 4, 9], "tied": [2, 0, 0]}, candidates=50)
        one, other = place_of_users(table, table.user_numbers, values("exact"))[0]
        assert other - one == pytest.approx(9 - (1 + 4) / 2)
