"""Comparisons: differences by hand, chances by enumeration, pairing by user, and how often they raise a false alarm."""

import numpy as np
import pandas as pd
import pytest
from read_and import compare, evaluate
from scipy import stats

from sampled_metrics import exact_ranks, sampled_ranks
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.evaluation.comparison import Standings
from sampled_metrics.inference.bounded_means import mean_interval

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


class TestIntervals:
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_of_many_users_is_about_the_paired_t_interval_of_textbooks(self, confidence):
        one, other = np.random.default_rng(6).integers(1, 51, size=(2, 4000))
        table = compare(one, other, metrics=["auc"], candidates=50, confidence_level=confidence)
        by_user = (one - other) / 49
        test = stats.ttest_1samp(by_user, 0)
        ends = test.confidence_interval(confidence)
        near = 0.01 * (ends.high - ends.low)
        assert (table["low"][0], table["high"][0]) == pytest.approx((ends.low, ends.high), abs=near)
        assert table["p_value"][0] == pytest.approx(test.pvalue, abs=0.01)

    @pytest.mark.parametrize(("estimator", "same_as"), [("bv-0.1", "delta"), ("mle", "bootstrap"), (None, "delta")])
    def test_is_delta_for_what_is_linear_unless_asked_for(self, estimator, same_as):
        arguments = {"candidates": 50, "metrics": ["ap"]}
        if estimator:
            arguments |= {"negatives": 49, "estimator": estimator}
        plain, delta, bootstrap = (compare(A, B, **arguments, **how) for how in ({}, *METHODS))
        other = delta if same_as == "delta" else bootstrap
        pd.testing.assert_frame_equal(pd.DataFrame(plain), pd.DataFrame(other))
        if same_as == "delta":
            assert bootstrap["low"][0] <= delta["low"][0]
            assert bootstrap["high"][0] >= delta["high"][0]
        else:
            assert not np.allclose(delta["low"], bootstrap["low"])

    @pytest.mark.parametrize(
        "how", [{"method": "delta"}, {"method": "bootstrap"}, {"negatives": 49, "estimator": "mle"}]
    )
    def test_the_p_value_is_below_alpha_where_the_interval_excludes_0(self, how):
        """Intervals at levels to both sides of 1 - p, for 12 users with gains of different sizes."""
        rng = np.random.default_rng(8)
        checked = 0
        for shift in range(4):
            one = rng.integers(1, 51, size=12)
            other = np.maximum(1, one - rng.integers(-10, 10 + 10 * shift, size=12)).clip(max=50)
            arguments = {"candidates": 50, "metrics": ["auc", "ap"], "n_resamples": 200, **how}
            p_values = compare(one, other, **arguments)["p_value"].to_numpy()
            for at, p_value in enumerate(p_values):
                if not 0.01 < p_value < 0.99:
                    continue
                checked += 1
                for factor, excludes in ((0.999, False), (1.001, True)):
                    row = compare(one, other, **arguments, confidence_level=1 - factor * p_value).iloc[at]
                    assert (row["low"] > 0 or row["high"] < 0) == excludes
        assert checked >= 3

    @pytest.mark.parametrize(("m", "users"), [(1, 30), (2, 8), (9, 3), (9, 30)])
    def test_the_other_way_round_is_mirrored(self, m, users):
        one, other = np.random.default_rng(m).integers(1, m + 2, size=(2, users))
        there, back = (compare(*each, candidates=11, negatives=m) for each in ((one, other), (other, one)))
        assert back["low"].to_numpy() == pytest.approx(-there["high"].to_numpy(), abs=1e-9)
        assert back["high"].to_numpy() == pytest.approx(-there["low"].to_numpy(), abs=1e-9)
        assert back["difference"].to_numpy() == pytest.approx(-there["difference"].to_numpy(), abs=1e-9)


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
        ends = mean_interval((one - other) / 49, np.ones(30, dtype=int), (-1, 1), 0.05)
        for pair in (
            (one, other),
            (pd.Series(one, index=numbers), other),
            (one, pd.Series(other, index=numbers)),
            (frame(one, numbers), pd.DataFrame({"rank": other})),
            (frame(one, numbers), np.array(other)),
            (list(one), frame(other, numbers)),
        ):
            table = compare(*pair, metrics=["auc"], candidates=50)
            assert (table["low"][0], table["high"][0]) == pytest.approx(ends, rel=1e-9)


class TestSeveralRows:
    """Users with several held-out items count once, with the mean over them."""

    USERS = np.repeat(np.arange(20), np.arange(20) % 3 + 1)

    @pytest.fixture
    def ranks(self):
        return np.random.default_rng(3).integers(1, 51, size=(2, len(self.USERS)))

    def test_differences_are_those_of_means(self, ranks):
        one, other = ranks
        by_user = np.array([((one - other) / 49)[user == self.USERS].mean() for user in range(20)])
        ends = mean_interval(by_user, np.ones(20, dtype=int), (-1, 1), 0.05)
        order = np.random.default_rng(1).permutation(len(self.USERS))
        for second in (frame(other, self.USERS), frame(other[order], self.USERS[order]), other):
            row = compare(frame(one, self.USERS), second, candidates=50, metrics=["auc"]).iloc[0]
            assert row["difference"] == pytest.approx(by_user.mean())
            assert (row["low"], row["high"]) == pytest.approx(ends)
            assert row["users"] == 20

    @pytest.mark.parametrize(
        ("how", "more"),
        [
            ({}, ["low", "high", "users_needed"]),
            ({"estimator": "bv-0.1"}, ["low", "high", "p_value"]),
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
        table = compare(bad, good, candidates=50, exact=True, names=("old", "new"), method="bootstrap")
        assert table["conclusion"].eq("new").all()
        assert table["p_value"].to_numpy() == pytest.approx(1 / 1001)
        assert table.remarks[0].startswith(
            "Recall@10: new is better than old. The difference (new - old) is +0.5000, with a 95 % "
        )
        table = compare(good, bad, candidates=50, exact=True, names=("new", "old"), method="bootstrap")
        assert table["conclusion"].eq("new").all()
        assert table["p_value"].to_numpy() == pytest.approx(1 / 1001)
        assert table.remarks[0].startswith("Recall@10: new is better than old. The difference (old - new) is -0.5000")

    def test_are_undecided_where_nothing_differs(self):
        for how in ("delta", "bootstrap"):
            table = compare(A, A, candidates=50, method=how)
            assert table["conclusion"].eq("undecided").all()
            assert table["p_value"].eq(1).all()
            assert table["difference"].eq(0).all()
            assert table["low"].to_numpy() == pytest.approx(-table["high"].to_numpy())
            assert (table["high"] > 0.1).all()
            assert "undecided" in table.remarks[0]
            assert "includes 0 (p = 1)." in table.remarks[0]

    def test_there_is_a_sentence_for_each_metric_and_one_on_bias(self):
        assert len(compare(A * 20, B * 20, candidates=50).remarks) == 5
        exact = compare(A, B, candidates=50)
        assert len(exact.remarks) == 6
        assert exact.remarks[-2].startswith("There are only 6 users. With fewer than 100, intervals are rough")
        sampled = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5)
        assert len(sampled.remarks) == 8
        assert sampled.remarks[-3].startswith("The samples do not contradict decreasing (p = ")
        assert sampled.remarks[-4] == (
            "The intervals are of the true difference, if better ranks are more frequent than worse ones in the better "
            "half of the ranks."
        )
        by_bv = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator="bv-0.1")
        assert len(by_bv.remarks) == 7
        assert by_bv.remarks[-3].startswith(
            "The comparison is between the means of BV 0.1, and assumes that its bias is equal for both. If its bias"
        )
        uncorrected = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator="uncorrected")
        assert "may be the worse by the true metric" in uncorrected.cautions[0]
        assert all(f"Sampled {name}: " in " ".join(uncorrected.remarks) for name in ("Recall@10", "NDCG@10"))
        auc = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator="uncorrected", metrics="auc")
        assert any(remark.startswith("AUC: ") for remark in auc.remarks)  # whose sampled value has no bias


class TestRefusals:
    @pytest.mark.parametrize(
        ("a", "b", "arguments", "error", "says"),
        [
            (A, B[:-1], {}, DataError, "A has 6 users and B 5; to be compared they must have the same users"),
            (frame(A, range(6)), frame(B[:-1], range(5)), {}, DataError, "1 are in one of them only, for instance 5"),
            (
                A,
                B,
                {"negatives": 49, "estimator": 3},
                ConfigError,
                "estimator: give one label or a list of them, not 3",
            ),
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


class TestMany:
    @pytest.fixture
    def ranks(self):
        rng = np.random.default_rng(12)
        base = rng.integers(1, 100, size=300)
        return {
            "good": np.maximum(1, base - rng.integers(0, 30, 300)),
            "fair": np.maximum(1, base - rng.integers(0, 30, 300)),
            "poor": base,
        }

    def test_are_adjusted_by_holm(self, ranks):
        table = compare(ranks, candidates=100, metrics="auc")
        names = zip(table["a"], table["b"], strict=True)
        alone = [compare(ranks[a], ranks[b], candidates=100, metrics="auc")["p_value"][0] for a, b in names]
        first, second, third = sorted(alone)
        wanted = [3 * first, max(3 * first, 2 * second), max(3 * first, 2 * second, third)]
        assert sorted(table["p_value"]) == pytest.approx(wanted)

    def test_of_strict_bounds_are_those_at_the_level_of_bonferroni(self, ranks):
        rng = np.random.default_rng(3)
        few = {name: 1 + rng.hypergeometric(each[:100] - 1, 100 - each[:100], 9) for name, each in ranks.items()}
        sampled = {"candidates": 100, "negatives": 9, "metrics": "auc"}
        table = compare(few, **sampled)
        assert table["p_value"].isna().all()
        assert (
            "The intervals of a metric hold together at 95 % for its 3 pairs (Bonferroni, each at 98.33 %). "
            "Metrics are not adjusted for one another."
        ) in table.remarks
        for row in table.itertuples():
            pair = compare(few[row.a], few[row.b], **sampled, confidence_level=1 - 0.05 / 3).iloc[0]
            assert (row.low, row.high) == pytest.approx((pair["low"], pair["high"]))

    def test_are_in_groups(self, ranks):
        table = compare(ranks, candidates=100, metrics=["auc", "recall@1"])
        assert table.remarks[0] == "AUC: good and fair are better than poor. good and fair cannot be told apart."
        standings = table.standings()
        assert standings["recommender"][:3].tolist() == ["good", "fair", "poor"]
        assert standings["group"][:3].tolist() == ["a", "a", "b"]
        assert standings["value"][0] == table["value_a"][0]
        assert set(table[table["metric"] == "auc"].standings()["metric"]) == {"auc"}

    @pytest.mark.parametrize(
        ("decided", "said"),
        [
            ([(0, 2)], "a is better than c. a and b, and b and c, cannot be told apart."),
            ([(2, 0), (1, 0)], "b and c are better than a. b and c cannot be told apart."),
            ([], "a, b and c cannot be told apart."),
            ([(0, 1), (0, 2), (1, 2)], "a is better than b and c. b is better than c."),
        ],
    )
    def test_state_the_decided_pairs_first(self, decided, said):
        values = (3.0, 2.0, 1.0) if (2, 0) not in decided else (1.0, 3.0, 2.0)
        assert Standings.from_values("abc", values, decided).sentence == said

    def test_as_latex(self, ranks):
        named = {"good_1": ranks["good"], "50 %": ranks["poor"]}
        lines = compare(named, candidates=100, metrics="auc").latex().splitlines()
        value, other = (evaluate(each, candidates=100, metrics="auc")["value"][0] for each in named.values())
        assert [line for line in lines if not line.startswith("%")] == [
            r"\begin{tabular}{lr}", r"\toprule", r" & AUC \\", r"\midrule",
            rf"good\_1 & {value:.4f}\textsuperscript{{a}} \\",
            rf"50 \% & {other:.4f}\textsuperscript{{b}} \\",
            r"\bottomrule", r"\end{tabular}",
        ]  # fmt: skip
        assert lines[0].startswith("% AUC: good_1 is better than 50 %.")

    @pytest.mark.parametrize(
        ("given", "more", "says"),
        [
            ({"A": A}, {}, r"two recommenders or more, not \['A'\]"),
            ({1: A, "1": B}, {}, "two recommenders are called '1'"),
            (A, {}, r"takes a mapping from the names of recommenders to their tables, not an ExactRanks: sm.compare\("),
            ({"A": A, "B": B, "C": B[:-1]}, {}, "A has 6 users and C 5"),
            ({"A": [A, B[:-1]], "B": B}, {}, "A, seed 1 has 6 users and A, seed 2 5"),
            (
                {"A": [A, B], "B": B},
                {"negatives": 49},
                "several seeds need exact ranks, or an estimator such as bv-0.1",
            ),
        ],
    )
    def test_refusals(self, given, more, says):
        with pytest.raises(DataError, match=says):
            compare(given, candidates=50, **more)


class TestSeveralSeeds:
    def test_values_are_means_over_seeds(self):
        table = compare({"X": [A, B], "Y": [B, B]}, candidates=50, metrics="ap")
        ap = [evaluate(each, candidates=50, metrics="ap")["value"][0] for each in (A, B)]
        assert table["value_a"][0] == pytest.approx(np.mean(ap))
        assert table["value_b"][0] == pytest.approx(ap[1])
        assert "The intervals include the spread between the seeds of X (2 seeds) and Y (2 seeds)." in table.remarks

    def test_ends_are_differences_that_can_be(self):
        table = compare({"X": [[1, 2], [50, 49]], "Y": [[2, 3], [49, 47]]}, candidates=50, metrics=["auc", "ap"])
        assert table["low"].tolist() == [-1, -1]
        assert table["high"].tolist() == [1, 1]

    def test_interval_is_by_the_two_way_model(self):
        """Computed here from the values of AUC, users by seeds, for different numbers of seeds."""
        rng = np.random.default_rng(9)
        x = [rng.integers(1, 51 - 4 * seed, size=60) for seed in range(4)]
        y = [rng.integers(1, 40 + 5 * seed, size=60) for seed in range(2)]
        row = compare({"X": x, "Y": y}, candidates=50, metrics="auc").iloc[0]
        values = [(50 - np.array(each)) / 49 for each in (x, y)]
        gap = values[1].mean(axis=0) - values[0].mean(axis=0)
        users = gap.var(ddof=1) / 60
        drawn = np.sqrt(users) * rng.standard_normal(10**6)
        for each in values:
            seeds = len(each)
            between = each.mean(axis=1).var(ddof=1) / seeds
            rest = each - each.mean(axis=0) - each.mean(axis=1, keepdims=True) + each.mean()
            interaction = (rest**2).sum() / (59 * (seeds - 1)) / (60 * seeds)
            assert between > interaction
            drawn = drawn + np.sqrt(between - interaction) * rng.standard_t(seeds - 1, 10**6)
        reach = np.quantile(np.abs(drawn), 0.95)
        low, high = max(-1, gap.mean() - reach), min(1, gap.mean() + reach)
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.02 * reach)

    def test_of_one_recommender_and_of_an_estimator_that_is_not_linear(self):
        rng = np.random.default_rng(10)
        ranks = {"X": [rng.binomial(5, 0.3, size=50) + 1, rng.binomial(5, 0.5, size=50) + 1]}
        ranks["Y"] = rng.binomial(5, 0.5, size=50) + 1
        for estimator in ("bv-0.1", "mle"):
            options = {"candidates": 30, "negatives": 5, "estimator": estimator, "metrics": "auc", "n_resamples": 100}
            table = compare(ranks, **options)
            assert any("that of Y, of one seed, is taken to be 0" in remark for remark in table.remarks)
            ends = [compare(seed, ranks["Y"], **options).iloc[0] for seed in ranks["X"]]
            assert table["low"][0] < min(each["difference"] for each in ends)
            assert table["high"][0] > max(each["difference"] for each in ends)


def test_exact_and_sampled_ranks_are_not_compared():
    exact = exact_ranks({"candidates": [50, 60], "above": [3, 4], "tied": [0, 0]})
    sampled = sampled_ranks({"candidates": [50, 60], "negatives": [9, 9], "rank": [1, 2]})
    with pytest.raises(DataError, match="A has sampled ranks and B exact ranks; compare takes one kind of them"):
        compare({"A": sampled, "B": exact})
