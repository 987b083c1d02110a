"""What it takes to decide: verdicts in sentences, and whether so many users decide indeed."""

import numpy as np
import pytest
from read_and import compare, plan

from sampled_metrics.estimators import strict_bounds

N = 60


def power(exponent):
    law = np.arange(1.0, N + 1) ** -exponent
    return law / law.sum()


def draw(rng, exponent, users, m):
    """Return ranks among m sampled negatives, of users whose true ranks have a power law."""
    return sample(rng, rng.choice(N, size=users, p=power(exponent)) + 1, m)


def sample(rng, ranks, m):
    return 1 + rng.hypergeometric(ranks - 1, N - ranks, m)


def compared(one, other, m, **more):
    table = compare(one, other, **{"candidates": N, "negatives": m, "metrics": "recall@5", **more})
    return table, table.iloc[0]


def pair(exponents, users, m, seed=0):
    rng = np.random.default_rng(seed)
    return [draw(rng, exponent, users, m) for exponent in exponents]


@pytest.fixture
def any_shape(monkeypatch):
    """No sample contradicts its shape: for samples that are made of copies."""
    monkeypatch.setattr(strict_bounds, "p_value_of", lambda *given: 1.0)


class TestSentences:
    @pytest.mark.parametrize(("exponents", "better", "worse"), [((0.4, 1.2), "B", "A"), ((1.2, 0.4), "A", "B")])
    def test_of_a_decision(self, exponents, better, worse):
        table, row = compared(*pair(exponents, 500, 15), 15)
        assert table.remarks[0].startswith(f"Recall@5: {better} is better than {worse}. The difference (B - A) is ")
        assert table.remarks[0].endswith(f" with a 95 % interval of {row['low']:+.4f} to {row['high']:+.4f}.")
        assert (row["low"] > 0) == (better == "B")
        assert row["conclusion"] == better
        assert np.isnan([row["users_needed"], row["p_value"]]).all()

    def test_of_more_users(self):
        table, row = compared(*pair((0.7, 0.9), 500, 8), 8)
        assert table.remarks[0].startswith(f"Recall@5: undecided; about {row['users_needed']:.0f} users would decide")
        assert 500 < row["users_needed"] <= 500_000
        assert row["low"] < 0 < row["high"]

    def test_of_more_negatives(self):
        table, row = compared(*pair((0.8, 0.85), 3000, 3), 3)
        assert table.remarks[0].startswith(
            "Recall@5: undecided; more users would hardly help, but more negatives for each user would. The difference"
        )
        assert np.isnan(row["users_needed"])

    @pytest.mark.parametrize("shape", ["free", "decreasing", "convex"])
    def test_of_what_nothing_decides(self, shape):
        (one, _) = pair((0.8, 0.8), 200, 5)
        table, row = compared(one, one, 5, estimator=shape)
        assert table.remarks[0].startswith(
            "Recall@5: undecided; more users would hardly help, but more negatives for each user would."
        )
        assert row["difference"] == 0
        assert row["low"] == pytest.approx(-row["high"])
        assert np.isnan(row["users_needed"])


class TestThreeRecommenders:
    def test_name_the_pairs_that_no_number_of_users_would_decide(self):
        """A dash stands for these and for decided pairs; A and C are equal, and more users decide A and B."""
        one, other = pair((0.7, 0.9), 500, 8)
        ranks = {"A": one, "B": other, "C": one}
        table = compare(ranks, negatives=8, candidates=N, metrics="recall@5")
        assert table.set_index(["a", "b"])["users_needed"].notna().to_dict() == {
            ("A", "B"): True,
            ("A", "C"): False,
            ("B", "C"): True,
        }
        said = "No number of users would decide A and C by Recall@5; more negatives for each user would."
        assert said in table.remarks

    def test_have_the_same_weights_in_all_pairs(self, monkeypatch):
        made, weights = [], strict_bounds.Fit.weights
        monkeypatch.setattr(strict_bounds.Fit, "weights", lambda *given: made.append(given) or weights(*given))
        names = dict(zip("ABC", pair((0.7, 0.8, 0.9), 500, 8), strict=True))
        table = compare(names, negatives=8, candidates=N, metrics="recall@5")
        assert (table["conclusion"] == "undecided").all()
        best = {(id(fit), *which) for fit, *which in made}
        assert len(best) == len(made)


class TestDifference:
    def test_outside_its_interval_is_no_verdict(self):
        """Many ranks of the second recommender are the last, where the value of AUC is too high."""
        rng = np.random.default_rng(0)
        ranks = rng.choice(N, size=600, p=power(1.0)) + 1
        one, other = sample(rng, ranks, 8), sample(rng, np.minimum(N, 12 * ranks), 8)
        table, row = compared(one, other, 8, metrics="auc")
        assert row["high"] < 0
        assert not row["low"] <= row["difference"] <= row["high"]
        assert row["difference"] == pytest.approx(row["value_b"] - row["value_a"])
        assert row["conclusion"] == "no verdict"
        [verdict] = [remark for remark in table.remarks if remark.startswith("AUC: ")]
        assert verdict.startswith("AUC: no verdict. The difference (B - A) is ")
        assert verdict.endswith(", which excludes the difference itself.")


class TestUsersNeeded:
    @pytest.mark.parametrize("shape", ["decreasing", "convex"])
    @pytest.mark.parametrize("seed", [0, 5, 15])
    def test_so_many_like_these_decide_and_far_fewer_do_not(self, seed, shape, any_shape):
        """The same users several times over, in samples that show a clear difference."""
        one, other = pair((0.7, 0.9), 200, 8, seed)
        _, row = compared(one, other, 8, estimator=shape)

        def decides(copies):
            tiled = np.tile(one, copies), np.tile(other, copies)
            return compared(*tiled, 8, estimator=shape)[1]["conclusion"] != "undecided"

        assert row["conclusion"] == "undecided"
        first = next(copies for copies in range(2, 60) if decides(copies))
        assert first - 1 <= 1.5 * row["users_needed"] / 200
        assert row["users_needed"] / 200 <= 2 * first


class TestIntervals:
    @pytest.mark.slow
    def test_hold_the_true_difference(self, any_shape):
        """40 comparisons of recommenders whose Recall@5 differs by a known number."""
        truth = power(0.9)[:5].sum() - power(0.7)[:5].sum()
        for shape, m in (("decreasing", 8), ("convex", 8)):
            rows = [compared(*pair((0.7, 0.9), 200, m, seed), m, estimator=shape)[1] for seed in range(40)]
            assert np.mean([row["low"] <= truth <= row["high"] for row in rows]) >= 0.9
            assert not any(row["conclusion"] == "A" for row in rows)


class TestPlan:
    @pytest.mark.slow
    def test_the_chance_of_a_verdict_is_the_share_of_comparisons_that_decide(self, any_shape):
        rng = np.random.default_rng(1)
        one, other = (rng.choice(N, size=250, p=power(exponent)) + 1 for exponent in (0.6, 1.0))
        table = plan(one, other, candidates=N, metric="recall@5", estimators="decreasing", probability=0.7)
        row = table.iloc[0]
        m, chance = int(row["negatives"]), row["conclusive"]
        assert 0.7 <= chance < 0.95
        assert row["probability"] == pytest.approx(chance)
        decided = []
        for _ in range(100):
            users = rng.integers(0, 250, 250)
            each = [sample(rng, ranks[users], m) for ranks in (one, other)]
            decided.append(compared(*each, m)[1]["conclusion"] == "B")
        assert np.mean(decided) == pytest.approx(chance, abs=0.1)
        assert table.remarks[1] == (f"Decreasing: with {m} negatives, compare decides with a chance of about 0.7.")

    def test_stronger_assumptions_and_a_smaller_chance_need_fewer_negatives(self):
        rng = np.random.default_rng(1)
        one, other = (rng.choice(N, size=250, p=power(exponent)) + 1 for exponent in (0.6, 1.0))
        needed = {}
        for probability in (0.6, 0.95):
            table = plan(
                one, other, candidates=N, metric="recall@5", probability=probability,
                estimators=["free", "decreasing", "convex"],
            )  # fmt: skip
            needed[probability] = table["negatives"][:3].tolist()
            assert (table["gap"] > 0).all()
        for free, decreasing, convex in needed.values():
            assert free >= decreasing >= convex
        assert all(few <= many for few, many in zip(*needed.values(), strict=True))

    def test_where_no_number_of_negatives_is_enough_it_says_how_many_users_are(self):
        rng = np.random.default_rng(2)
        one, other = (rng.choice(N, size=40, p=power(exponent)) + 1 for exponent in (0.6, 0.9))
        table = plan(one, other, candidates=N, metric="recall@5", estimators="decreasing")
        assert table["negatives"].isna()[0]
        assert table["users"][0] > 40
        assert table.remarks[1].startswith("Decreasing: with up to 59 negatives, compare decides with a chance of 0.")
        assert table.remarks[1].endswith(f"; for 0.95 it needs {table['users'][0]} users.")


def test_the_users_of_many_pairs_are_those_of_each():
    rng = np.random.default_rng(4)
    ranks = {name: draw(rng, exponent, 400, 8) for name, exponent in zip("WXYZ", (0.6, 0.8, 1.0, 1.0), strict=True)}
    options = {"candidates": N, "negatives": 8, "metrics": "recall@5"}
    together = compare(ranks, **options)
    assert together["users_needed"].nunique() > 1
    for row in together.to_dict("records"):
        level = 1 - 0.05 / 6
        alone = compare(ranks[row["a"]], ranks[row["b"]], confidence_level=level, **options).iloc[0]
        assert row["users_needed"] == pytest.approx(alone["users_needed"], nan_ok=True)
