"""How many negatives and users it takes: each m against all others, and the number of users by simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sampled_metrics import expect, plan
from sampled_metrics.errors import ConfigError, DataError

N = 300


def ranks(rng, users, shift):
    return (1 + rng.geometric(1 / 40, size=users) + shift).clip(1, N)


RNG = np.random.default_rng(12)
A = ranks(RNG, 400, 2)
B = np.where(RNG.random(400) < 0.8, ranks(RNG, 400, -2), N)  # better at the top, and sometimes hopeless


def chance(negatives, label, a=A, b=B, metric="recall@10", replacement=False):
    """Of the right order, from the two moments of each recommender, which `expect` gives."""
    found = expect(
        {"A": a, "B": b},
        negatives=negatives,
        metrics=[metric],
        candidates=N,
        estimators=[label],
        replacement=replacement,
    ).set_index("recommender")
    sign = np.sign(found["exact"]["B"] - found["exact"]["A"])
    gap = sign * (found["expected"]["B"] - found["expected"]["A"])
    deviation = np.hypot(*found["deviation"])
    return stats.norm.cdf(gap / deviation) if deviation > 0 else float(gap > 0)


class TestNegatives:
    @pytest.mark.parametrize("label", ["uncorrected", "rank-estimate", "bv-0.1", "bv-0.01"])
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_are_the_fewest_that_are_enough(self, label, confidence):
        row = plan(A, B, estimators=[label], candidates=N, probability=confidence).iloc[0]
        m = row["negatives"]
        assert row["probability"] == pytest.approx(chance(m, label), abs=1e-9)
        assert row["probability"] >= confidence
        assert m > 1
        assert chance(m - 1, label) < confidence
        tried = {round(10 ** (tenth / 10)) for tenth in range(25)} | {N - 1}
        assert all(chance(more, label) >= confidence for more in tried if m < more < N)

    def test_are_missing_where_no_sample_is_enough(self):
        table = plan(A, B, estimators=["uncorrected"], candidates=N, replacement=True, probability=0.9999999)
        assert table["negatives"].isna().all()
        assert table["negatives"].iloc[0] is pd.NA
        assert "no sample of up to 299 negatives is enough" in table.remarks[1]

    def test_of_an_order_that_is_always_wrong(self):
        """Exactly B has 30 hits of 100 and A none; among so few negatives A's 14th places are hits, too."""
        a, b = np.full(100, 11), np.where(np.arange(100) < 30, 1, 20)
        table = plan(a, b, estimators=["uncorrected"], candidates=20, replacement=True)
        row = table.iloc[0]
        assert row["gap"] < 0
        assert row["negatives"] is pd.NA
        assert row["users"] is pd.NA
        assert "orders the two wrongly on average even with 19 negatives; more users do not help" in table.remarks[1]

    def test_exact_is_the_last_row_and_needs_no_sample(self):
        table = plan(A, B, candidates=N)
        last = table.iloc[-1]
        assert last["estimator"] == "exact"
        assert last["probability"] == 1
        assert last["gap"] == pytest.approx(abs((B <= 10).mean() - (A <= 10).mean()))
        assert last["negatives"] is pd.NA

    def test_do_not_depend_on_which_comes_first(self):
        one, other = plan(A, B, candidates=N), plan(B, A, candidates=N)
        pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(other))
        assert one.remarks[0] == f"By the exact Recall@10, B is better than A, by {one['gap'].iloc[-1]:.4f}."
        assert other.remarks[0].startswith("By the exact Recall@10, A is better than B")


class TestUsers:
    def test_of_exact_ranks_are_those_of_the_textbook(self):
        of_user = (B <= 10).astype(float) - (A <= 10)
        needed = (stats.norm.ppf(0.95) * of_user.std(ddof=1) / of_user.mean()) ** 2
        assert plan(A, B, candidates=N)["users"].iloc[-1] == np.ceil(needed)

    def test_so_many_give_the_right_order_as_often_as_is_wanted(self):
        """Draw that many users and their negatives, 4000 times."""
        rng = np.random.default_rng(3)
        confidence = 0.9
        row = plan(A, B, estimators=["uncorrected"], candidates=N, probability=confidence).iloc[0]
        m, users = row["negatives"], row["users"]
        of_a, of_b = (stats.hypergeom.cdf(9, N - 1, each - 1, m) for each in (A, B))  # chance of a hit, by user
        right = []
        for _ in range(4000):
            drawn = rng.integers(len(A), size=users)
            gap = (rng.random(users) < of_b[drawn]).sum() - (rng.random(users) < of_a[drawn]).sum()
            right.append((gap > 0) + (gap == 0) / 2)
        assert np.mean(right) == pytest.approx(confidence, abs=0.02)

    def test_pairs_users(self):
        users = np.random.default_rng(1).permutation(400)
        frames = [
            pd.DataFrame({"user": np.arange(400), "rank": A, "candidates": N}),
            pd.DataFrame({"user": users, "rank": B[users], "candidates": N}),
        ]
        pd.testing.assert_frame_equal(pd.DataFrame(plan(*frames)), pd.DataFrame(plan(A, B, candidates=N)))

    def test_pairs_by_order_where_one_does_not_say_its_users(self):
        users = np.random.default_rng(1).permutation(400) + 1
        one = plan(pd.Series(A, index=users), B, candidates=N, estimators=["uncorrected"])
        plain = plan(A, B, candidates=N, estimators="uncorrected")
        pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(plain))


class TestForms:
    def test_columns_are_those_that_are_promised(self):
        table = plan(A, B, candidates=N, estimators=["cls", "bv-1"], names=("old", "new"))
        assert list(table.columns) == ["estimator", "negatives", "probability", "gap", "users"]
        assert table["estimator"].tolist() == ["cls", "bv-1", "exact"]
        assert len(table.remarks) == 4
        assert "paired by position" in table.remarks[-1]
        assert "new is better than old" in table.remarks[0]

    def test_a_progress_bar_may_watch(self):
        seen = []
        plan(
            A[:50], B[:50], candidates=N, estimators=["uncorrected"], progress=lambda sizes: seen.extend(sizes) or sizes
        )
        assert seen[0] == 1
        assert seen[-1] == N - 1
        assert seen == sorted(set(seen))

    def test_of_two_candidates(self):
        table = plan([1, 1, 2], [1, 1, 1], metric="auc", candidates=2, estimators=["uncorrected"])
        assert table["negatives"].iloc[0] == 1

    @pytest.mark.parametrize(
        ("arguments", "error", "says"),
        [
            ({"probability": 0.5}, ConfigError, "above 0.5 and below 1"),
            ({"probability": 1}, ConfigError, "above 0.5 and below 1"),
            ({"probability": float("nan")}, ConfigError, "above 0.5 and below 1"),
            ({"b": A}, DataError, "A and B have the same exact Recall@10: no order is the right one"),
            ({"b": B[:-1]}, DataError, "must have the same users"),
            ({"a": pd.DataFrame({"rank": A, "negatives": 9})}, DataError, "A: has a column negatives"),
            ({"names": ("A", "A")}, DataError, "must have different names"),
            ({"probability": "a"}, ConfigError, "probability must be a number above 0.5 and below 1, not 'a'"),
            ({"metric": None}, ConfigError, "metric: a label is text, not None"),
            ({"estimators": []}, ConfigError, "estimators: give one label or more"),
            ({"estimators": ["bv-0.1", "bv-0.10"]}, ConfigError, "'bv-0.1' and 'bv-0.10' are the same one"),
            ({"metric": "recall"}, ConfigError, "unknown metric"),
            ({"estimators": ["mle"]}, ConfigError, "mle"),
            ({"candidates": None}, DataError, "candidates"),
        ],
    )
    def test_refusals_say_why(self, arguments, error, says):
        with pytest.raises(error, match=says):
            plan(**{"a": A, "b": B, "candidates": N, **arguments})

    def test_no_candidates_but_the_item(self):
        with pytest.raises(DataError):
            plan([1, 1], [1, 1], metric="auc", candidates=1)
