"""Comparisons: differences by hand, chances by enumeration, pairing by user, and how often they raise a false alarm."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sampled_metrics import compare, correct, evaluate
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import linear_estimator
from sampled_metrics.evaluation.intervals import IntervalOptions, linear, uncertainty
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign

A = [1, 12, 3, 40, 2, 11]
B = [1, 2, 5, 9, 30, 4]
METHODS = {"method": "delta"}, {"method": "bootstrap"}


def frame(ranks, users, **more):
    return pd.DataFrame({"user": users, "rank": ranks, **more})


class TestValues:
    def test_are_those_of_evaluate_and_their_difference(self):
        table = compare(A, B, candidates=50, names=("old", "new"))
        assert table["value_a"].to_numpy() == pytest.approx(evaluate(A, candidates=50)["value"].to_numpy())
        assert table["value_b"].to_numpy() == pytest.approx(evaluate(B, candidates=50)["value"].to_numpy())
        assert table["difference"].to_numpy() == pytest.approx((table["value_b"] - table["value_a"]).to_numpy())
        assert table["difference"][0] == pytest.approx(5 / 6 - 3 / 6)

    def test_columns_are_those_that_are_promised(self):
        for sampled in ({}, {"negatives": 49}, {"negatives": 49, "estimator": "bv-0.1"}):
            table = compare(A, B, candidates=50, **sampled)
            assert list(table.columns) == [
                "metric", "value_a", "value_b", "difference", "low", "high", "probability",
                "conclusion", "users_needed", "negatives_needed", "users"
            ]  # fmt: skip
            assert table["users"].eq(6).all()

    @pytest.mark.parametrize("sampled", [{}, {"estimator": "convex"}, {"estimator": "free"}, {"estimator": "bv-0.1"}])
    def test_strict_bounds_have_no_probability(self, sampled):
        table = compare(A, B, candidates=50, negatives=49, **sampled)
        assert table["probability"].isna().all() == (sampled.get("estimator") != "bv-0.1")

    def test_sampled_ones_are_those_of_correct(self):
        table = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator="bv-0.1")
        for name, ranks in (("value_a", [1, 4, 2]), ("value_b", [1, 1, 3])):
            expected = correct(ranks, candidates=50, negatives=5, estimators=["bv-0.1"])["value"].to_numpy()
            assert table[name].to_numpy() == pytest.approx(expected)

    @pytest.mark.parametrize("estimator", ["mle", "uncorrected", "bv-0.01"])
    def test_by_the_estimator_that_is_asked_for(self, estimator):
        table = compare([1, 4, 2, 2], [1, 1, 3, 6], candidates=50, negatives=5, estimator=estimator, n_resamples=100)
        expected = correct([1, 1, 3, 6], candidates=50, negatives=5, estimators=[estimator], n_resamples=100)[
            "value"
        ].to_numpy()
        assert table["value_b"].to_numpy() == pytest.approx(expected)


class TestIntervals:
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_delta_is_the_paired_t_interval_of_textbooks(self, confidence):
        one, other = np.random.default_rng(6).integers(1, 51, size=(2, 40))
        table = compare(one, other, metrics=["auc"], candidates=50, confidence_level=confidence)
        by_user = (one - other) / 49
        ends = stats.ttest_1samp(by_user, 0).confidence_interval(confidence)
        assert (table["low"][0], table["high"][0]) == pytest.approx((ends.low, ends.high), rel=1e-9)
        statistic = by_user.sum() / np.sqrt((by_user**2).sum())  # under the hypothesis, the mean is 0
        assert table["probability"][0] == pytest.approx(stats.t.cdf(statistic, 39))

    def test_delta_of_mle_is_the_jackknife_over_pairs(self):
        one, other = [1, 4, 2, 1, 1, 3], [1, 1, 3, 6, 2, 1]
        options = {"candidates": 30, "negatives": 5, "estimator": "mle", "method": "delta"}
        table = compare(one, other, **options)
        left_out = np.array(
            [compare(np.delete(one, at), np.delete(other, at), **options)["difference"] for at in range(6)]
        )
        error = np.sqrt(5 / 6 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
        low, high = stats.t.interval(0.95, 5, table["difference"], error)
        assert table["low"].to_numpy() == pytest.approx(low.clip(-1, 1))
        assert table["high"].to_numpy() == pytest.approx(high.clip(-1, 1))

    @pytest.mark.parametrize(("estimator", "same_as"), [("bv-0.1", "delta"), ("mle", "bootstrap"), (None, "delta")])
    def test_is_delta_for_what_is_linear_unless_asked_for(self, estimator, same_as):
        arguments = {"candidates": 50, "metrics": ["ap"]}
        if estimator:
            arguments |= {"negatives": 49, "estimator": estimator}
        plain, delta, bootstrap = (compare(A, B, **arguments, **how) for how in ({}, *METHODS))
        other = delta if same_as == "delta" else bootstrap
        pd.testing.assert_frame_equal(pd.DataFrame(plain), pd.DataFrame(other))
        assert not np.allclose(delta["low"], bootstrap["low"])

    def test_bootstrap_is_scipys_paired_bootstrap(self):
        rng = np.random.default_rng(6)
        one = rng.geometric(0.05, size=200).clip(max=100)
        other = np.where(rng.random(200) < 0.5, one, rng.geometric(0.05, size=200).clip(max=100))
        table = compare(one, other, metrics=["ndcg@10"], candidates=100, method="bootstrap", n_resamples=20_000)

        def ndcg(rank):
            return np.where(rank <= 10, 1 / np.log2(rank + 1), 0)

        interval = stats.bootstrap(
            (ndcg(other) - ndcg(one),), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(5)
        ).confidence_interval
        width = interval.high - interval.low
        wider = stats.t.ppf(0.975, 199) / stats.norm.ppf(0.975) * np.sqrt(200 / 199)
        low, high = (
            table["difference"][0] + wider * (end - table["difference"][0]) for end in (interval.low, interval.high)
        )
        assert table["low"][0] == pytest.approx(low, abs=0.03 * width)
        assert table["high"][0] == pytest.approx(high, abs=0.03 * width)

    def test_probability_is_that_of_enumeration(self):
        """Differences in AP of -1/2, +1/2, +1/4 and 0: 4⁴ resamples of users, sums of 0 half a chance."""
        one, other = [1, 2, 4, 3], [2, 1, 2, 3]
        sums = [sum(each) for each in product([-2, 2, 1, 0], repeat=4)]
        chance = (np.greater(sums, 0).mean() + np.greater_equal(sums, 0).mean()) / 2
        table = compare(one, other, metrics=["ap"], candidates=9, method="bootstrap", n_resamples=100_000)
        assert table["probability"][0] == pytest.approx(chance, abs=0.007)

    def test_pairing_narrows_the_interval(self):
        ranks = np.random.default_rng(1).integers(1, 100, size=200)
        better = np.maximum(1, ranks - 1)
        paired, unpaired = (
            compare(ranks, other, metrics=["auc"], candidates=100) for other in (better, better[::-1].copy())
        )
        assert paired["difference"].to_numpy() == pytest.approx(unpaired["difference"].to_numpy())
        assert (paired["high"] - paired["low"])[0] < 0.1 * (unpaired["high"] - unpaired["low"])[0]


class TestPairing:
    def test_by_user_wherever_both_say_theirs(self):
        plain = compare(A, B, candidates=50, method="delta")
        shuffled = [4, 2, 0, 5, 1, 3]
        users = np.array([10, 11, 12, 13, 14, 15])
        mixed = np.array(B)[shuffled], users[shuffled]
        for one, other in (
            (frame(A, users), frame(*mixed)),
            (frame(A, [str(user) for user in users]), frame(*mixed)),
        ):
            table = compare(one, other, candidates=50, method="delta")
            pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(plain))
            assert table.remarks[-1] == "Users are paired by the column user."
        assert plain.remarks[-1].startswith("Users are paired by position")

    def test_by_position_where_one_does_not_name_its_users(self):
        """Ranks i of both are those of one user, in any numbering."""
        rng = np.random.default_rng(5)
        one, other = rng.integers(1, 51, size=(2, 30))
        numbers = rng.permutation(30)
        ends = stats.ttest_1samp((one - other) / 49, 0).confidence_interval(0.95)
        for pair in (
            (one, other),
            (pd.Series(one, index=numbers), other),
            (one, pd.Series(other, index=numbers)),
            (frame(one, numbers), pd.DataFrame({"rank": other})),
            (frame(one, numbers), np.array(other)),
            (list(one), frame(other, numbers)),
        ):
            table = compare(*pair, metrics=["auc"], candidates=50)
            assert (table["low"][0], table["high"][0]) == pytest.approx((ends.low, ends.high), rel=1e-9)

    @pytest.mark.parametrize("name", ["user_id", "UserID", "uid", "userId"])
    @pytest.mark.parametrize("negatives", [None, 49])
    def test_of_shuffled_files_by_other_names_of_the_column(self, tmp_path, name, negatives):
        """By position the difference would be the same, and its interval another."""
        rng = np.random.default_rng(9)
        one = rng.integers(1, 51, size=60)
        other = np.maximum(1, one - rng.integers(0, 3, size=60))
        plain = compare(one, other, candidates=50, negatives=negatives)
        order = rng.permutation(60)
        for file, ranks, users in (("a", one, np.arange(60)), ("b", other[order], order)):
            pd.DataFrame({name: users, "rank": ranks}).to_csv(tmp_path / f"{file}.csv", index=False)
        files = (pd.read_csv(tmp_path / f"{file}.csv") for file in "ab")
        table = compare(*files, candidates=50, negatives=negatives)
        pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(plain))
        assert table.remarks[-1] == "Users are paired by the column user."
        assert compare(one, other[order], candidates=50, negatives=negatives)["high"][0] != table["high"][0]

    def test_of_sampled_ranks_by_user(self):
        one, other = [1, 4, 2, 1], [3, 1, 1, 2]
        plain = compare(one, other, candidates=50, negatives=5, method="delta")
        order = [2, 0, 3, 1]
        table = compare(
            frame(one, list("abcd"), negatives=5, candidates=50),
            frame(np.array(other)[order], np.array(list("abcd"))[order], negatives=5, candidates=50),
            method="delta",
        )
        pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(plain))

    def test_each_user_has_candidates_and_negatives_of_their_own(self):
        table = compare(
            frame([1, 4], [1, 2], negatives=[5, 6], candidates=[20, 30]),
            frame([2, 1], [2, 1], negatives=[6, 5], candidates=[30, 20]),
            estimator="uncorrected",
            metrics=["auc"],
        )
        assert table["value_a"][0] == pytest.approx((1 + 3 / 6) / 2)
        assert table["value_b"][0] == pytest.approx((1 + 5 / 6) / 2)


class TestSeveralRows:
    """Users with several held-out items count once, with the mean over them."""

    USERS = np.repeat(np.arange(20), np.arange(20) % 3 + 1)

    @pytest.fixture
    def ranks(self):
        return np.random.default_rng(3).integers(1, 51, size=(2, len(self.USERS)))

    def test_differences_are_those_of_means(self, ranks):
        one, other = ranks
        by_user = np.array([((one - other) / 49)[user == self.USERS].mean() for user in range(20)])
        ends = stats.ttest_1samp(by_user, 0).confidence_interval(0.95)
        order = np.random.default_rng(1).permutation(len(self.USERS))
        for second in (frame(other, self.USERS), frame(other[order], self.USERS[order]), other):
            row = compare(frame(one, self.USERS), second, candidates=50, metrics=["auc"]).iloc[0]
            assert row["difference"] == pytest.approx(by_user.mean())
            assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
            assert row["users"] == 20

    @pytest.mark.parametrize(
        ("how", "more"),
        [
            ({}, ["low", "high", "users_needed", "negatives_needed"]),
            ({"estimator": "bv-0.1"}, ["low", "high", "probability"]),
            ({"estimator": "bv-0.1", "method": "bootstrap"}, []),
            ({"method": "bootstrap"}, []),
            ({"estimator": "mle"}, []),
        ],
    )
    def test_of_sampled_ranks_by_a_user_twice_are_those_of_once(self, ranks, how, more):
        one, other = (1 + each // 5 for each in ranks[:, :20])
        once = compare(one, other, candidates=50, negatives=12, **how)
        users = np.tile(np.arange(20), 2)
        twice = compare(
            frame(np.tile(one, 2), users), frame(np.tile(other, 2), users), candidates=50, negatives=12, **how
        )
        columns = ["value_a", "value_b", "difference", *more]
        assert twice[columns].to_numpy() == pytest.approx(once[columns].to_numpy(), abs=1e-7, nan_ok=True)
        assert once[columns[:5]].notna().all(axis=None)
        assert twice["users"].eq(20).all()


class TestConclusions:
    def test_name_the_better_one_either_way_round(self):
        bad, good = np.full(100, 30), np.arange(1, 101) % 20 + 1
        table = compare(bad, good, candidates=50, names=("old", "new"), method="bootstrap")
        assert table["conclusion"].eq("new").all()
        assert table["probability"].eq(1).all()
        assert table.remarks[0].startswith(
            "Recall@10: new is better than old. The difference (new - old) is +0.5000, with a 95 % "
        )
        table = compare(good, bad, candidates=50, names=("new", "old"), method="bootstrap")
        assert table["conclusion"].eq("new").all()
        assert table["probability"].eq(0).all()
        assert table.remarks[0].startswith("Recall@10: new is better than old. The difference (old - new) is -0.5000")

    def test_are_undecided_where_nothing_differs(self):
        for how in ("delta", "bootstrap"):
            table = compare(A, A, candidates=50, method=how)
            assert table["conclusion"].eq("undecided").all()
            assert table["probability"].eq(0.5).all()
            assert table["difference"].eq(0).all()
            assert table["low"].to_numpy() == pytest.approx(-table["high"].to_numpy())
            assert (table["high"] > 0.1).all()
            assert "undecided" in table.remarks[0]
            assert "includes 0; the chance that B is better is 0.50." in table.remarks[0]

    def test_there_is_a_sentence_for_each_metric_and_one_on_bias(self):
        assert len(compare(A * 20, B * 20, candidates=50).remarks) == 5
        exact = compare(A, B, candidates=50)
        assert len(exact.remarks) == 6
        assert exact.remarks[-2].startswith("There are only 6 users. With fewer than 100, intervals are rough")
        sampled = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5)
        assert len(sampled.remarks) == 7
        assert sampled.remarks[-3] == (
            "The intervals are of the true difference, if better ranks are more frequent than worse ones."
        )
        by_bv = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator="bv-0.1")
        assert len(by_bv.remarks) == 7
        assert by_bv.remarks[-3].startswith(
            "The comparison is between the means of BV 0.1, and assumes that its bias is equal for both. If its bias"
        )
        uncorrected = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator="uncorrected")
        assert "may be the worse by the true metric" in uncorrected.remarks[-3]

    def test_sentences_go_with_their_rows(self):
        table = compare(A, B, candidates=50)
        some = table[table["metric"].isin(["ap", "auc"])]
        assert [remark.split(":")[0] for remark in some.remarks[:2]] == ["AP", "AUC"]
        assert len(some.remarks) == 4

    @pytest.mark.parametrize("method", ["delta", "bootstrap"])
    @pytest.mark.parametrize("users", [2, 3, 5])
    @pytest.mark.parametrize("negatives", [None, 49])
    def test_need_six_users(self, method, users, negatives):
        table = compare([50] * users, [1] * users, candidates=50, negatives=negatives, method=method)
        if method == "delta" or users == 2:
            assert table["conclusion"].eq("undecided").all()

    def test_of_users_who_all_gain_need_six_who_differ(self):
        for users, conclusion in ((5, "undecided"), (6, "B")):
            one, other = [50] * users + [7] * 100, [1] * users + [7] * 100
            assert compare(one, other, candidates=50)["conclusion"].eq(conclusion).all()


class TestRefusals:
    @pytest.mark.parametrize(
        ("a", "b", "arguments", "error", "says"),
        [
            (A, B[:-1], {}, DataError, "A has 6 users and B 5; to be compared they must have the same users"),
            (frame(A, range(6)), frame(B[:-1], range(5)), {}, DataError, "1 are in one of them only, for instance 5"),
            (A, B, {"names": ("x",)}, DataError, "names must be two texts"),
            (A, B, {"negatives": 49, "estimator": 3}, ConfigError, "estimator: a label is text, not 3"),
            (A, B, {"negatives": 49, "estimator": ""}, ConfigError, "unknown estimator ''"),
            (A, B, {"method": ""}, ConfigError, "unknown method ''"),
            (A, B, {"metrics": ["ap", "ap"]}, ConfigError, "metrics: 'ap' is there twice"),
            (
                frame(A, range(6), negatives=49),
                frame(B, range(6)),
                {},
                DataError,
                "B: lacks the column negatives, how many",
            ),
            ([1, 2], [1], {"negatives": 5}, DataError, "A has 2 users and B 1"),
            (frame(A, range(6)), frame(B, range(1, 7)), {}, DataError, "2 are in one of them only, for instance 0"),
            (
                frame(A, [1, 1, 2, 3, 4, 5]),
                frame(B, [1, 2, 2, 3, 4, 5]),
                {},
                DataError,
                "user 1 has 2 rows in A and 1 in B; to be compared they must have the same rows",
            ),
            (A, B, {"names": ("x", "x")}, DataError, "must have different names"),
            (A, B, {"estimator": "mle"}, DataError, "an estimator corrects sampled ranks"),
            (A, B, {"candidates": None}, DataError, "A: lacks the column candidates"),
            (A, [0, *B[1:]], {}, DataError, "B, row 1: rank must be"),
            ([1], [1], {}, DataError, "two users or more"),
            (A, B, {"metrics": ["x"]}, ConfigError, "unknown metric"),
            ([1, 2], [2, 1], {"negatives": 5, "estimator": "x"}, ConfigError, "x"),
        ],
    )
    def test_say_why(self, a, b, arguments, error, says):
        with pytest.raises(error, match=says):
            compare(a, b, **{"candidates": 50, **arguments})


class TestFalseAlarms:
    """Recommenders that are equal, on 150 users: 5 % of comparisons are not undecided.

    benchmarks/coverage.py counts them in more comparisons, of more users.
    """

    N, USERS = 200, 150
    CHANCES = 1 / (np.arange(1, N + 1) + 10)

    def draw(self, rng, same, shape, negatives):
        one, fresh = rng.choice(self.N, size=(2, *shape), p=self.CHANCES / self.CHANCES.sum()) + 1
        other = np.where(rng.random(shape) < same, one, fresh)
        if negatives:
            one, other = (1 + rng.hypergeometric(each - 1, self.N - each, negatives) for each in (one, other))
        return one, other

    @pytest.mark.parametrize("same", [0.0, 0.7], ids=["independent", "correlated"])
    @pytest.mark.parametrize("negatives", [None, 20], ids=["exact", "sampled"])
    def test_are_five_in_a_hundred(self, same, negatives):
        """1000 comparisons at once (± 0.7 %), with the weights of `compare`, a metric for each comparison."""
        estimator = "bv-0.1" if negatives else None
        rng = np.random.default_rng([4, int(10 * same), negatives or 0])
        one, other = self.draw(rng, same, (1000, self.USERS), negatives)
        ndcg = metric("ndcg@10")
        if negatives:
            design = SamplingDesign(negatives)
            of_rank = linear_estimator(estimator).checked_weights(design, np.array([self.N]), (ndcg,))[0, 0]
        else:
            of_rank = ndcg.of_rank(np.arange(1, self.N + 1), self.N)
        weights, most = of_rank[other - 1] - of_rank[one - 1], np.ptp(of_rank)
        ones = np.ones(self.USERS, dtype=np.int64)
        found = uncertainty(linear(weights), ones, IntervalOptions(), bounds=(-most, most), weights=weights)
        for at in range(3):  # these are what `compare` says
            table = compare(
                one[at], other[at], metrics=["ndcg@10"], candidates=self.N, negatives=negatives, estimator=estimator
            )
            row = table.iloc[0]
            assert (row["low"], row["high"]) == pytest.approx((found.low[at], found.high[at]), abs=1e-9)
        alarms = ((found.low > 0) | (found.high < 0)).mean()
        assert 0.03 < alarms < 0.07

    @pytest.mark.slow
    @pytest.mark.parametrize("same", [0.0, 0.7], ids=["independent", "correlated"])
    @pytest.mark.parametrize("negatives", [None, 20], ids=["exact", "sampled"])
    def test_are_five_in_a_hundred_of_compare_itself(self, same, negatives):
        rng = np.random.default_rng([4, int(10 * same), negatives or 0])
        how = {"candidates": self.N, "negatives": negatives, "estimator": "bv-0.1" if negatives else None}
        alarms = []
        for _ in range(300):
            one, other = self.draw(rng, same, (self.USERS,), negatives)
            table = compare(one, other, metrics=["ndcg@10"], method="delta", **how)
            alarms.append(table["conclusion"][0] != "undecided")
        assert 0.015 < np.mean(alarms) < 0.085
