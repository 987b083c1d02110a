"""Comparisons: differences by hand, chances by enumeration, pairing by user, and how often they raise a false alarm."""

import numpy as np
import pandas as pd
import pytest
from read_and import compare, evaluate

from sampled_metrics import compare as sm_compare
from sampled_metrics import exact_ranks
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


def test_values_are_those_of_evaluate_and_their_difference():
    table = compare(A, B, candidates=50, names=("old", "new"))
    for column, ranks in (("value_a", A), ("value_b", B)):
        assert table[column].to_numpy() == pytest.approx(evaluate(ranks, candidates=50)["value"].to_numpy())
    assert table["difference"].to_numpy() == pytest.approx((table["value_b"] - table["value_a"]).to_numpy())
    assert table["difference"][0] == pytest.approx(5 / 6 - 3 / 6)


class TestIntervals:
    @pytest.mark.parametrize("estimator", ["free", "decreasing"])
    def test_the_p_value_is_below_alpha_where_the_interval_excludes_0(self, estimator):
        """The weights of strict bounds are those for the level, so the level is the same."""
        found = []
        for shift in (0.0, 0.3, 0.9):
            one, other = np.random.default_rng(1).geometric([[0.1], [0.1 + shift]], size=(2, 300)).clip(max=21)
            table = compare(one, other, candidates=60, negatives=20, metrics=["recall@5", "auc"], estimator=estimator)
            excludes = (table["low"] > 0) | (table["high"] < 0)
            assert ((table["p_value"] < 0.05) == excludes).all()
            found += excludes.tolist()
        assert {True, False} == set(found)

    @pytest.mark.parametrize(("m", "users"), [(1, 30), (9, 3)])
    def test_the_other_way_round_is_mirrored(self, m, users):
        one, other = np.random.default_rng(m).integers(1, m + 2, size=(2, users))
        there, back = (compare(*each, candidates=11, negatives=m) for each in ((one, other), (other, one)))
        assert back["low"].to_numpy() == pytest.approx(-there["high"].to_numpy(), abs=1e-9)
        assert back["high"].to_numpy() == pytest.approx(-there["low"].to_numpy(), abs=1e-9)


class TestPairing:
    def test_by_user_wherever_both_say_theirs(self):
        plain = compare(A, B, candidates=50)
        shuffled = [4, 2, 0, 5, 1, 3]
        users = np.array([10, 11, 12, 13, 14, 15])
        mixed = np.array(B)[shuffled], users[shuffled]
        for name in (users, [str(user) for user in users]):
            table = compare(frame(A, name), frame(*mixed), candidates=50)
            pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(plain))
            assert len(of_kind(table, "note")) == len(of_kind(plain, "note")) == 1
            assert of_kind(table, "note") != of_kind(plain, "note")

    def test_by_position_where_one_does_not_name_its_users(self):
        """Ranks i of both are those of one user, in any numbering."""
        one, other, numbers = np.random.default_rng(5).permuted(np.tile(np.arange(1, 31), (3, 1)), axis=1)
        ends = mean_interval((one - other) / 49, np.ones(30, dtype=int), (-1, 1), 0.05)
        for pair in (
            (one, other),
            (pd.Series(one, index=numbers), other),
            (one, pd.Series(other, index=numbers)),
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
        verdict, row = table.verdicts[0], table.iloc[0]
        assert (verdict.kind, verdict.metric, verdict.names) == ("better", "recall@10", ("new", "old"))
        assert row["difference"] == pytest.approx(0.5 * sign)
        for name in ("difference", "low", "high", "p_value"):
            assert verdict.values[name] == row[name]

    def test_are_undecided_where_nothing_differs(self):
        table = compare(A, A, candidates=50)
        assert table["conclusion"].eq("undecided").all()
        assert table["p_value"].eq(1).all()
        assert table["difference"].eq(0).all()
        assert table["low"].to_numpy() == pytest.approx(-table["high"].to_numpy())
        assert (table["high"] > 0.1).all()
        assert [verdict.kind for verdict in table.verdicts] == ["undecided"] * 4

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


@pytest.mark.parametrize(
    ("given", "more", "error", "says"),
    [
        ({"A": A}, {}, DataError, r"two recommenders or more, not \['A'\]"),
        ({"A": A, "B": B}, {"estimator": "mle"}, DataError, "an estimator corrects sampled ranks"),
        ({"A": A, "B": B}, {"negatives": 49, "estimator": ["mle", "cls"]}, ConfigError, "give one, not mle, cls"),
        ({"A": A, "B": B}, {"metrics": ["x"]}, ConfigError, "unknown metric"),
        ({"A": [A, B[:-1]], "B": B}, {}, DataError, "A, seed 1 has 6 users and A, seed 2 5"),
    ],
)
def test_refuses(given, more, error, says):
    with pytest.raises(error, match=says):
        compare(given, candidates=50, **more)


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
        options = {"candidates": 100, "metrics": "auc"}
        table = compare(ranks, **options)
        assert of_kind(table, "family") == [{"pairs": 3, "method": LARGEST_T, "rate": 0.0}]
        for row in table.itertuples():
            least, most = (
                np.ptp(compare(ranks[row.a], ranks[row.b], **options, confidence_level=level)[["low", "high"]])
                for level in (0.95, 1 - 0.05 / 3)
            )
            assert least < row.high - row.low < most

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


class TestSeveralSeeds:
    def test_values_are_means_over_seeds(self):
        table = compare({"X": [A, B], "Y": [B, B]}, candidates=50, metrics="ap")
        ap = [evaluate(each, candidates=50, metrics="ap")["value"][0] for each in (A, B)]
        assert table["value_a"][0] == pytest.approx(np.mean(ap))
        assert table["value_b"][0] == pytest.approx(ap[1])
        assert of_kind(table, "seeds") == [{"seeds": {"X": 2, "Y": 2}}]

    def test_of_three_recommenders_are_those_at_the_level_of_bonferroni(self):
        draws = np.random.default_rng(11).integers(1, [[[50]], [[40]], [[30]]], size=(3, 2, 60))
        ranks = {name: [*of_one] for name, of_one in zip("XYZ", draws, strict=True)}
        table = compare(ranks, candidates=50, metrics="ap")
        assert of_kind(table, "family")[0]["method"] == BONFERRONI
        alone = {name: ranks[name] for name in "XZ"}
        row = compare(alone, candidates=50, metrics="ap", confidence_level=1 - 0.05 / 3).iloc[0]
        [of_family] = table[(table["a"] == "X") & (table["b"] == "Z")].to_dict("records")
        assert (of_family["low"], of_family["high"]) == pytest.approx((row["low"], row["high"]))

    @pytest.mark.parametrize("estimator", ["bv-0.1", "mle"])
    def test_of_one_recommender_reach_beyond_those_of_each_seed(self, estimator):
        x = np.random.default_rng(10).binomial(5, [[0.3], [0.5], [0.5]], size=(3, 50)) + 1
        options = {"candidates": 30, "negatives": 5, "estimator": estimator, "metrics": "auc"}
        table = compare({"X": [*x[:2]], "Y": x[2]}, **options)
        assert of_kind(table, "seeds") == [{"seeds": {"X": 2, "Y": 1}}]
        differences = [compare(seed, x[2], **options)["difference"][0] for seed in x[:2]]
        assert table["low"][0] < min(differences) < max(differences) < table["high"][0]
