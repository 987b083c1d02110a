"""Comparisons: differences by hand, chances by enumeration, pairing by user, and how often they raise a false alarm."""

import numpy as np
import pandas as pd
import pytest
from read_and import compare, evaluate
from scipy import stats

from sampled_metrics import compare as sm_compare
from sampled_metrics import exact_ranks, sampled_ranks
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.evaluation.compare import BONFERRONI, LARGEST_T, compare_best
from sampled_metrics.inference.means import mean_interval

A = [1, 12, 3, 40, 2, 11]
B = [1, 2, 5, 9, 30, 4]


def frame(ranks, users, **more):
    return pd.DataFrame({"user": users, "rank": ranks, **more})


def of_kind(table, *kinds):
    """The values of the findings of some kinds."""
    return [finding.values for finding in table.findings if finding.kind in kinds]


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

    @pytest.mark.parametrize(
        "how", [{}, {"negatives": 49, "estimator": "mle"}, {"negatives": 20, "estimator": "bv-0.1"}]
    )
    def test_the_p_value_is_below_alpha_where_the_interval_excludes_0(self, how):
        """Intervals at levels to both sides of 1 - p, for 12 users with gains of different sizes."""
        rng = np.random.default_rng(8)
        checked = 0
        for shift in range(4):
            one = rng.integers(1, how.get("negatives", 49) + 2, size=12)
            other = np.maximum(1, one - rng.integers(-10, 10 + 10 * shift, size=12)).clip(max=one.max())
            arguments = {"candidates": 50, "metrics": ["auc", "ap"], **how}
            p_values = compare(one, other, **arguments)["p_value"].to_numpy()
            for at, p_value in enumerate(p_values):
                if not 0.01 < p_value < 0.99:
                    continue
                checked += 1
                for factor, excludes in ((0.999, False), (1.001, True)):
                    row = compare(one, other, **arguments, confidence_level=1 - factor * p_value).iloc[at]
                    assert (row["low"] > 0 or row["high"] < 0) == excludes
        assert checked >= 3

    @pytest.mark.parametrize("estimator", ["free", "decreasing"])
    def test_of_strict_bounds_the_p_value_is_below_alpha_where_the_interval_excludes_0(self, estimator):
        """Their weights are those for the level, so the level is the same."""
        found = []
        for shift in (0.0, 0.3, 0.6, 0.9):
            rng = np.random.default_rng(int(10 * shift))
            one, other = rng.geometric([[0.1], [0.1 + shift]], size=(2, 300)).clip(max=21)
            table = compare(one, other, candidates=60, negatives=20, metrics=["recall@5", "auc"], estimator=estimator)
            excludes = (table["low"] > 0) | (table["high"] < 0)
            assert ((table["p_value"] < 0.05) == excludes).all()
            assert (table["p_value"] > 0).all()
            found += excludes.tolist()
        assert {True, False} == set(found)

    @pytest.mark.parametrize(("m", "users"), [(1, 30), (2, 8), (9, 3), (9, 30)])
    def test_the_other_way_round_is_mirrored(self, m, users):
        one, other = np.random.default_rng(m).integers(1, m + 2, size=(2, users))
        there, back = (compare(*each, candidates=11, negatives=m) for each in ((one, other), (other, one)))
        assert back["low"].to_numpy() == pytest.approx(-there["high"].to_numpy(), abs=1e-9)
        assert back["high"].to_numpy() == pytest.approx(-there["low"].to_numpy(), abs=1e-9)
        assert back["difference"].to_numpy() == pytest.approx(-there["difference"].to_numpy(), abs=1e-9)


class TestPairing:
    def test_by_user_wherever_both_say_theirs(self):
        plain = compare(A, B, candidates=50)
        shuffled = [4, 2, 0, 5, 1, 3]
        users = np.array([10, 11, 12, 13, 14, 15])
        mixed = np.array(B)[shuffled], users[shuffled]
        for one, other in (
            (frame(A, users), frame(*mixed)),
            (frame(A, [str(user) for user in users]), frame(*mixed)),
        ):
            table = compare(one, other, candidates=50)
            pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(plain))
            assert of_kind(table, "note") == [{"text": "Users are paired by the column user."}]
        assert of_kind(plain, "note")[0]["text"].startswith("Users are paired by position")

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

    @pytest.mark.parametrize("estimator", ["decreasing", "bv-0.1", "mle"])
    def test_of_sampled_ranks_by_a_user_twice_are_those_of_once(self, ranks, estimator):
        one, other = (1 + each // 5 for each in ranks[:, :20])
        users, options = np.tile(np.arange(20), 2), {"candidates": 50, "negatives": 12, "estimator": estimator}
        once = compare(one, other, **options)
        twice = compare(frame(np.tile(one, 2), users), frame(np.tile(other, 2), users), **options)
        columns = ["value_a", "value_b", "difference", "low", "high", "p_value"]
        assert twice[columns].to_numpy() == pytest.approx(once[columns].to_numpy(), abs=1e-6)
        assert twice["users"].eq(20).all()


class TestConclusions:
    @pytest.mark.parametrize(("names", "sign"), [(("old", "new"), 1), (("new", "old"), -1)])
    def test_name_the_better_one_either_way_round(self, names, sign):
        ranks = {"old": np.full(100, 30), "new": np.arange(1, 101) % 20 + 1}
        table = compare({name: ranks[name] for name in names}, candidates=50, exact=True)
        assert table["conclusion"].eq("new").all()
        assert (table["p_value"] < 1e-5).all()
        verdict = table.verdicts[0]
        assert (verdict.kind, verdict.metric, verdict.names) == ("better", "recall@10", ("new", "old"))
        row = table.iloc[0]
        assert row["difference"] == pytest.approx(0.5 * sign)
        assert {name: verdict.values[name] for name in ("difference", "low", "high", "p_value")} == {
            name: row[name] for name in ("difference", "low", "high", "p_value")
        }

    def test_are_undecided_where_nothing_differs(self):
        table = compare(A, A, candidates=50)
        assert table["conclusion"].eq("undecided").all()
        assert table["p_value"].eq(1).all()
        assert table["difference"].eq(0).all()
        assert table["low"].to_numpy() == pytest.approx(-table["high"].to_numpy())
        assert (table["high"] > 0.1).all()
        assert [verdict.kind for verdict in table.verdicts] == ["undecided"] * 4

    def test_outside_the_interval_are_no_verdict(self):
        """Many ranks of the second recommender are the last, where the value of AUC is too high."""
        rng = np.random.default_rng(0)
        law = np.arange(1, 61) ** -1.0
        ranks = rng.choice(60, size=600, p=law / law.sum()) + 1
        sides = [1 + rng.hypergeometric(each - 1, 60 - each, 8) for each in (ranks, np.minimum(60, 12 * ranks))]
        table = compare(*sides, candidates=60, negatives=8, metrics="auc")
        row = table.iloc[0]
        assert row["high"] < 0
        assert not row["low"] <= row["difference"] <= row["high"]
        assert row["difference"] == pytest.approx(row["value_b"] - row["value_a"])
        assert row["conclusion"] == "no verdict"
        assert [verdict.kind for verdict in table.verdicts] == ["no-verdict"]

    @pytest.mark.parametrize(
        ("estimator", "kinds"),
        [
            (None, ["assumes", *["drawn-by-user", "supported", "few-users"] * 2]),
            ("free", ["assumes", *["drawn-by-user", "few-users"] * 2]),
            ("bv-0.1", ["equal-bias", *["drawn-by-user", "few-users"] * 2]),
            ("mle", ["equal-bias", "approximate", *["drawn-by-user", "few-users"] * 2]),
            ("uncorrected", ["uncorrected-verdicts", *["drawn-by-user", "few-users"] * 2]),
        ],
    )
    def test_stand_beside_what_they_assume(self, estimator, kinds):
        table = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator=estimator)
        assert len(table.verdicts) == 4
        assert [one.kind for one in table.findings[4:] if one.kind != "note"] == kinds
        assert [one.names for one in table.findings if one.kind == "few-users"] == [("A",), ("B",)]
        assert (table.setting.estimator, table.setting.is_uncorrected) == (
            estimator or "decreasing",
            estimator == "uncorrected",
        )
        assert of_kind(table, "assumes") == [{"assumption": estimator or "decreasing"}] * ("assumes" in kinds)

    def test_of_exact_ranks_assume_nothing(self):
        assert [one.kind for one in compare(A * 20, B * 20, candidates=50).findings[4:]] == ["note"]


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
        assert of_kind(table, "family") == [{"pairs": 3, "method": BONFERRONI, "rate": pytest.approx(0.05 / 3)}]
        for row in table.itertuples():
            pair = compare(few[row.a], few[row.b], **sampled, confidence_level=1 - 0.05 / 3).iloc[0]
            assert (row.low, row.high) == pytest.approx((pair["low"], pair["high"]))

    def test_of_exact_ranks_are_narrower_than_those_of_bonferroni(self, ranks):
        table = compare(ranks, candidates=100, metrics="auc")
        assert of_kind(table, "family") == [{"pairs": 3, "method": LARGEST_T, "rate": 0.0}]
        for row in table.itertuples():
            widths = [
                compare(ranks[row.a], ranks[row.b], candidates=100, metrics="auc", confidence_level=level).eval(
                    "high - low"
                )[0]
                for level in (0.95, 1 - 0.05 / 3)
            ]
            assert widths[0] < row.high - row.low < widths[1]

    def test_of_the_best_alone_hold_for_all_pairs(self, ranks):
        tables, options = exact_ranks(ranks, candidates=100), {"metrics": ["auc", "recall@10"]}
        every, best = compare_best(tables, 3, **options), compare_best(tables, 2, **options)
        pd.testing.assert_frame_equal(every, sm_compare(tables, **options))
        assert list(zip(best["metric"], best["a"], best["b"], strict=True)) == [
            ("auc", "good", "fair"), ("recall@10", "good", "fair")
        ]  # fmt: skip
        of_pair = every[(every["a"] == "good") & (every["b"] == "fair")]
        assert best["low"].tolist() == pytest.approx(of_pair["low"].tolist(), rel=1e-12)
        assert "p_value" not in best
        numbers = {"most": 2, "recommenders": 3, "pairs": 3, "method": LARGEST_T}
        assert of_kind(best, "best-pairs") == [numbers]
        assert of_kind(best, "family") == []

    def test_are_in_groups(self, ranks):
        table = compare(ranks, candidates=100, metrics=["auc", "recall@1"])
        of_auc = [(verdict.kind, verdict.names) for verdict in table.verdicts if verdict.metric == "auc"]
        assert of_auc == [
            ("undecided", ("good", "fair")), ("better", ("good", "poor")), ("better", ("fair", "poor"))
        ]  # fmt: skip
        standings = table.standings()
        assert standings["recommender"][:3].tolist() == ["good", "fair", "poor"]
        assert standings["group"][:3].tolist() == ["a", "a", "b"]
        assert standings["value"][0] == table["value_a"][0]
        assert set(table[table["metric"] == "auc"].standings()["metric"]) == {"auc"}

    def test_as_latex(self, ranks):
        named = {"good_1": ranks["good"], "50 %": ranks["poor"]}
        lines = compare(named, candidates=100, metrics="auc").to_latex().splitlines()
        value, other = (evaluate(each, candidates=100, metrics="auc")["value"][0] for each in named.values())
        assert [line for line in lines if not line.startswith("%")] == [
            r"\begin{tabular}{lr}", r"\toprule", r" & AUC \\", r"\midrule",
            rf"good\_1 & {value:.4f}\textsuperscript{{a}} \\",
            rf"50 \% & {other:.4f}\textsuperscript{{b}} \\",
            r"\bottomrule", r"\end{tabular}",
        ]  # fmt: skip
        assert lines[0].startswith("% AUC: ")

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
                {"negatives": 48},
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
        assert of_kind(table, "seeds") == [{"seeds": {"X": 2, "Y": 2}}]

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
        drawn = np.zeros(10**6)
        for each in values:
            seeds = len(each)
            between = each.mean(axis=1).var(ddof=1) / seeds
            rest = each - each.mean(axis=0) - each.mean(axis=1, keepdims=True) + each.mean()
            interaction = (rest**2).sum() / (59 * (seeds - 1)) / (60 * seeds)
            users -= interaction
            drawn = drawn + np.sqrt(between) * rng.standard_t(seeds - 1, 10**6)
        drawn = drawn + np.sqrt(users) * rng.standard_normal(10**6)
        reach = np.quantile(np.abs(drawn), 0.95)
        low, high = max(-1, gap.mean() - reach), min(1, gap.mean() + reach)
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.02 * reach)

    def test_of_three_recommenders_are_those_at_the_level_of_bonferroni(self):
        rng = np.random.default_rng(11)
        ranks = {
            name: [rng.integers(1, last, 60) for _ in range(2)] for name, last in zip("XYZ", (50, 40, 30), strict=True)
        }
        table = compare(ranks, candidates=50, metrics="ap")
        assert of_kind(table, "family")[0]["method"] == BONFERRONI
        alone = {name: ranks[name] for name in "XZ"}
        row = compare(alone, candidates=50, metrics="ap", confidence_level=1 - 0.05 / 3).iloc[0]
        [of_family] = table[(table["a"] == "X") & (table["b"] == "Z")].to_dict("records")
        assert (of_family["low"], of_family["high"]) == pytest.approx((row["low"], row["high"]))

    def test_of_one_recommender_and_of_an_estimator_that_is_not_linear(self):
        rng = np.random.default_rng(10)
        ranks = {"X": [rng.binomial(5, 0.3, size=50) + 1, rng.binomial(5, 0.5, size=50) + 1]}
        ranks["Y"] = rng.binomial(5, 0.5, size=50) + 1
        for estimator in ("bv-0.1", "mle"):
            options = {"candidates": 30, "negatives": 5, "estimator": estimator, "metrics": "auc"}
            table = compare(ranks, **options)
            assert of_kind(table, "seeds") == [{"seeds": {"X": 2, "Y": 1}}]
            ends = [compare(seed, ranks["Y"], **options).iloc[0] for seed in ranks["X"]]
            assert table["low"][0] < min(each["difference"] for each in ends)
            assert table["high"][0] > max(each["difference"] for each in ends)


def test_exact_and_sampled_ranks_are_not_compared():
    exact = exact_ranks({"candidates": [50, 60], "above": [3, 4], "tied": [0, 0]})
    sampled = sampled_ranks({"candidates": [50, 60], "negatives": [9, 9], "rank": [1, 2]})
    with pytest.raises(DataError, match="A has sampled ranks and B exact ranks; compare takes one kind of them"):
        compare({"A": sampled, "B": exact})
