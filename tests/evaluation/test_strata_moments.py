"""Expectation, plan, correction and comparison of samples from strata."""

from importlib import import_module
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from sampled_metrics import ConfigError, DataError, compare, correct, expect, metric, plan_strata
from sampled_metrics.estimators import stratified
from sampled_metrics.evaluation.plan_strata import joined_label
from sampled_metrics.sampling.strata import StratifiedOutcomes


def table(above, sizes, drawn=None, names=("top", "rest"), **more):
    columns = {f"above_{name}": above[:, at] for at, name in enumerate(names)}
    columns |= {f"size_{name}": np.broadcast_to(sizes, above.shape)[:, at] for at, name in enumerate(names)}
    if drawn is not None:
        columns |= {f"negatives_{name}": np.broadcast_to(drawn, above.shape)[:, at] for at, name in enumerate(names)}
    return pd.DataFrame({"user": np.arange(len(above)), **columns, **more})


def lists(rng, users, sizes, share=0.7, exponent=0.9):
    """Numbers above of ranks near a power law, with a share in the first stratum."""
    law = np.arange(1.0, sum(sizes) + 2) ** -exponent
    above = rng.choice(len(law), users, p=law / law.sum())
    first = np.maximum(np.minimum(rng.binomial(above, share), sizes[0]), above - sizes[1])
    return np.stack((first, above - first), axis=1)


class TestExpect:
    def test_expectation_is_that_of_all_samples(self):
        sizes, drawn, above = np.array([5, 9]), (2, 3), np.array([[1, 2], [4, 0], [0, 7]])
        found = expect(
            table(above, sizes),
            negatives={"top": 2, "rest": 3},
            estimators=["uncorrected", "rank-estimate"],
            metrics=["recall@3", "ap"],
        ).set_index(["estimator", "metric"])
        moments = np.zeros((2, 4))
        for a in above:
            mean, square = np.zeros(4), np.zeros(4)
            for x in product(range(3), range(4)):
                chance = np.prod(hypergeom.pmf(x, sizes, a, drawn))
                ranks = 1 + sum(x), int(1 + x[0] * 5 / 2 + x[1] * 9 / 3)
                values = np.array([value for rank in ranks for value in (rank <= 3, 1 / rank)], dtype=float)
                mean, square = mean + chance * values, square + chance * values**2
            moments += mean, square - mean**2
        assert found["expected"].to_numpy() == pytest.approx(moments[0] / 3)
        assert found["deviation"].to_numpy() == pytest.approx(np.sqrt(moments[1]) / 3)
        exact = [np.mean([1 + sum(a) <= 3 for a in above]), np.mean([1 / (1 + sum(a)) for a in above])]
        assert found["exact"].to_numpy() == pytest.approx(exact * 2)

    def test_mean_of_20_000_samples_is_the_expectation(self):
        rng, sizes, drawn = np.random.default_rng(0), np.array([30, 300]), np.array([10, 15])
        above = lists(rng, 40, sizes)
        found = expect(
            table(above, sizes), negatives={"top": 10, "rest": 15}, estimators=["uncorrected", "rank-estimate"]
        )
        metrics = [metric(label) for label in ("recall@10", "ndcg@10", "ap", "auc")]
        x = rng.hypergeometric(above, sizes - above, drawn, size=(20_000, 40, 2)).reshape(-1, 2)
        ones = np.ones_like(x)
        outcomes = StratifiedOutcomes(x, ones * drawn, ones * sizes, ones[:, 0])
        both = [stratified.LINEAR[label](outcomes, metrics).weights for label in ("uncorrected", "rank-estimate")]
        of_samples = np.vstack(both).reshape(8, 20_000, 40).mean(axis=2)
        error = of_samples.std(axis=1) / np.sqrt(20_000)
        assert (np.abs(of_samples.mean(axis=1) - found["expected"]) < 4.5 * error).all()
        assert of_samples.std(axis=1) == pytest.approx(found["deviation"].to_numpy(), rel=0.03)

    def test_everything_scored_gives_the_exact_metric(self):
        sizes = np.array([5, 9])
        above = lists(np.random.default_rng(1), 20, sizes)
        found = expect(table(above, sizes), negatives={"rest": "all", "top": "all"}, estimators="rank-estimate")
        assert found["expected"].to_numpy() == pytest.approx(found["exact"].to_numpy())
        assert found["deviation"].to_numpy() == pytest.approx(0, abs=1e-7)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"negatives": {"top": 2}}, ConfigError, "give the stratum 'rest' once"),
            ({"negatives": {"top": 2, "rset": 2}}, ConfigError, "'rset' is no stratum .did you mean rest"),
            ({"negatives": {"top": 2, "rest": 2}, "estimators": "smooth"}, ConfigError, "take uncorrected or rank-est"),
            ({"negatives": {"top": 2, "rest": 2}, "replacement": True}, ConfigError, "have no replacement"),
        ],
    )
    def test_refuses(self, options, error, message):
        with pytest.raises(error, match=message):
            expect(table(np.array([[1, 2]]), [5, 9]), **options)

    def test_exact_metrics_are_means_over_ties(self):
        counts = table(np.array([[0, 9]]), [5, 20], tied_top=2, tied_rest=3)
        [row] = expect(counts, negatives={"top": 3, "rest": 4}, metrics="recall@10").itertuples()
        assert row.exact == pytest.approx(1 / 6)

    def test_refuses_too_many_outcomes(self):
        counts = table(np.array([[1, 2]]), [50_000, 90_000])
        with pytest.raises(DataError, match="too many to sum over; take fewer strata or negatives"):
            expect(counts, negatives={"top": 20_000, "rest": 20_000})

    def test_refuses_samples_and_ranks(self):
        with pytest.raises(DataError, match="must have exact counts by stratum"):
            expect(table(np.array([[1, 2]]), [5, 9], [2, 2]), negatives={"top": 2, "rest": 2})
        with pytest.raises(DataError, match="must have exact counts by stratum"):
            expect([1, 2], negatives={"top": 2, "rest": 2})


@pytest.fixture(scope="module")
def pilot():
    above = lists(np.random.default_rng(2), 1500, [100, 1400], share=0.8)
    first = np.random.default_rng(3).binomial(above[:, 0], 0.5).clip(max=40)
    first = np.maximum(first, above[:, 0] - 60)
    parts = np.column_stack((first, above[:, 0] - first, above[:, 1]))
    return table(parts, [40, 60, 1400], names=("top40", "top41-100", "rest"))


class TestPlan:
    def test_error_is_that_of_repeated_samples(self, pilot):
        planned = plan_strata(pilot, negatives=60).set_index("negatives")["error"]
        names = ["above_top40", "above_top41-100", "above_rest"]
        parts, sizes = pilot[names].to_numpy(), np.array([100, 1400])
        above = np.column_stack((parts[:, :2].sum(axis=1), parts[:, 2]))
        rng, recall = np.random.default_rng(4), [metric("recall@10")]
        for plan, drawn in (("top100=30,rest=30", [30, 30]), ("top100=12,rest=48", [12, 48])):
            found = []
            for _ in range(30):
                ones = np.ones_like(above)
                x = rng.hypergeometric(above, sizes - above, drawn)
                outcomes = StratifiedOutcomes(x, ones * drawn, ones * sizes, ones[:, 0])
                found.append(stratified.smooth(outcomes, recall).estimate(outcomes.events))
            # the standard deviation of 30 estimates has a relative standard error of 0.13; that of λ adds to it
            assert np.std(found, ddof=1) == pytest.approx(planned[plan], rel=0.5)

    def test_the_best_plan_comes_first(self, pilot):
        found = plan_strata({"A": pilot, "B": pilot.sample(frac=1, random_state=0)})
        assert found["error"].is_monotonic_increasing
        assert found["conclusive"].to_numpy() == pytest.approx(0.025, abs=1e-3)  # they are equal
        assert "Draw top" in found.remarks[0]

    def test_fewest_negatives_for_an_error(self, pilot, monkeypatch):
        [row] = plan_strata(pilot, error=0.01).itertuples()
        assert row.error <= 0.01
        monkeypatch.setattr(import_module("sampled_metrics.evaluation.plan_strata"), "_MOST", 20)
        with pytest.raises(DataError, match="an error of 1e-09 takes more than 20 negatives"):
            plan_strata(pilot, error=1e-9)

    def test_no_more_is_drawn_than_there_is(self, pilot):
        few = pilot.assign(**{"size_rest": 200, "above_rest": pilot["above_rest"].clip(upper=200)})
        found = plan_strata(few, negatives=500)
        assert set(found["total"]) == {300}

    def test_several_pilots_may_have_another_order_and_many_users(self, pilot):
        many = pd.concat([pilot] * 3).assign(user=np.arange(4500))
        found = plan_strata({"A": many, "B": many.sample(frac=1, random_state=0)}, negatives=20)
        assert np.isfinite(found["error"]).all()

    def test_labels_of_joined_strata(self):
        assert joined_label(["top40", "top41-100"]) == "top100"
        assert joined_label(["top41-100", "rest"]) == "rest"
        assert joined_label(["a", "top41-100"]) == "a+top41-100"

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"negatives": 1}, ConfigError, "negatives must be a whole number, 2 or more, not 1"),
            ({"error": 0.1, "negatives": 10}, ConfigError, "give negatives or a wanted error, not both"),
            ({"error": 0}, ConfigError, "error must be a number above 0, not 0"),
            ({"metric": "recal@10"}, ConfigError, "recall@10"),
        ],
    )
    def test_refuses_options(self, pilot, options, error, message):
        with pytest.raises(error, match=message):
            plan_strata(pilot, **options)

    def test_refuses_one_stratum_and_other_strata(self, pilot):
        with pytest.raises(DataError, match="ranks: has one stratum"):
            plan_strata(pd.DataFrame({"above_a": [1], "size_a": [2]}))
        with pytest.raises(DataError, match="b has the strata top, rest, not top40"):
            plan_strata({"a": pilot, "b": table(np.array([[1, 2], [2, 2]]), [5, 9])})
        with pytest.raises(DataError, match="b has 1000 users, and a has 1500"):
            plan_strata({"a": pilot, "b": pilot[:1000]})
        with pytest.raises(DataError, match="a plan takes two users or more, with one row each"):
            plan_strata(pilot.assign(user=np.arange(1500) // 2))


class TestCorrect:
    def test_one_stratum_is_uniform_sampling(self):
        rng = np.random.default_rng(5)
        x = rng.hypergeometric(rng.integers(0, 200, 300), 200, 20)
        options = {"metrics": ["recall@10", "auc"], "estimators": ["decreasing", "smooth", "bv-0.1"]}
        by_stratum = correct({"above_all": x, "negatives_all": 20, "size_all": 400} | {"user": range(300)}, **options)
        uniform = correct({"rank": x + 1, "user": range(300)}, candidates=401, negatives=20, **options)
        pd.testing.assert_frame_equal(by_stratum, uniform)

    def test_intervals_of_the_default_hold_the_truth(self):
        rng, sizes, drawn = np.random.default_rng(6), np.array([60, 500]), np.array([20, 20])
        above = lists(rng, 500, sizes)
        sample = table(rng.hypergeometric(above, sizes - above, drawn), sizes, drawn)
        found = correct(sample, metrics=["recall@10", "ap"]).set_index(["estimator", "metric"])
        rank = 1 + above.sum(axis=1)
        for label, truth in (("recall@10", (rank <= 10).mean()), ("ap", (1 / rank).mean())):
            for estimator in ("decreasing", "free"):
                assert found.loc[(estimator, label), "low"] < truth < found.loc[(estimator, label), "high"]
            width = found["high"] - found["low"]
            assert width["decreasing", label] < width["free", label]

    def test_uncorrected_is_the_rank_among_all_sampled_negatives(self):
        sample = table(np.array([[1, 2], [0, 0]]), [5, 9], [2, 3])
        found = correct(sample, metrics=["recall@3", "ap"], estimators="uncorrected")
        assert found["value"].tolist() == [0.5, (1 / 4 + 1) / 2]
        assert any("Uncorrected" in str(remark) for remark in found.remarks)


class TestCompare:
    def test_finds_the_better_one_and_no_difference_of_equals(self):
        rng, sizes, drawn = np.random.default_rng(7), np.array([60, 500]), np.array([20, 20])
        samples = []
        for exponent in (0.4, 1.6):
            above = lists(rng, 800, sizes, exponent=exponent)
            samples.append(table(rng.hypergeometric(above, sizes - above, drawn), sizes, drawn))
        [row] = compare(*samples, names=("bad", "good"), metrics=["recall@10"]).itertuples()
        assert row.conclusion == "good"
        assert row.low > 0
        [row] = compare(samples[0], samples[0], names=("one", "other"), metrics=["recall@10"]).itertuples()
        assert row.low <= 0 <= row.high
