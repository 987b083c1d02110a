"""What a number of scores buys: the rows against evaluations that are simulated on other users."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm

RNG = np.random.default_rng(3)
USERS, ITEMS = 1500, 300
TRAINING = RNG.random((USERS, ITEMS)) < 0.05
TASTE = RNG.normal(size=(USERS, ITEMS)) + 0.01 * np.arange(ITEMS)
HELD_OUT = np.where(TRAINING, -np.inf, TASTE + RNG.gumbel(size=TASTE.shape)).argmax(axis=1)
SCORES = {name: TASTE + noise * RNG.normal(size=TASTE.shape) for name, noise in {"A": 0.8, "B": 0.5}.items()}


def staged(name, **options):
    scores = SCORES[name]
    return sm.staged_ranks(lambda u, i: scores[u, i], TRAINING, HELD_OUT, pairs_per_call=10**5, **options)


@cache
def pilot(name, users=1000):
    return staged(name, depth=None, users=slice(0, users))


@cache
def exact(name):
    return sm.rank(SCORES[name], TRAINING, HELD_OUT, users=slice(0, 1000))


@cache
def both_planned():
    return sm.plan_stages({name: pilot(name) for name in SCORES}, depths=[25, 60], users=500)


def row(result, method, depth=None):
    rows = result[(result["method"] == method) & ((result["depth"] == depth) if depth else True)]
    return rows.iloc[0]


class TestAgainstEvaluations:
    @pytest.mark.parametrize("depth", [25, 60])
    def test_stages(self, depth):
        """Ten evaluations of 500 other users, by other seeds."""
        runs = [staged("A", depth=depth, seed=seed, users=slice(1000, 1500)) for seed in range(10)]
        planned = row(both_planned(), "stages", depth)
        assert planned["scores"] == pytest.approx(np.mean([run.scores_per_user for run in runs]), rel=0.1)
        assert planned["completed"] == pytest.approx(np.mean([run.completed_users for run in runs]), rel=0.1)
        widths = [np.ptp(sm.evaluate(run, metrics="recall@10")[["low", "high"]].to_numpy()) for run in runs]
        assert planned["width"] == pytest.approx(np.mean(widths), rel=0.1)

    def test_exact_ways(self):
        table = sm.rank(SCORES["A"], TRAINING, HELD_OUT, users=slice(1000, 1500))
        width = np.ptp(sm.evaluate(table, metrics="recall@10")[["low", "high"]].to_numpy())
        for method in ("all candidates", "stop at k"):
            assert row(both_planned(), method)["width"] == pytest.approx(width, rel=0.1)
        assert row(both_planned(), "all candidates")["scores"] == exact("A").candidates.mean()
        assert row(both_planned(), "stop at k")["scores"] == pytest.approx(pilot("A").scores_per_user, rel=0.03)

    def test_a_part_of_the_users_takes_as_many_scores(self):
        result = both_planned()
        stages = result[result["method"] == "stages"]
        for method in ("stop at k", "all candidates"):
            parts = result[result["method"] == f"{method}, part of users"]
            np.testing.assert_allclose(parts["scores"], stages["scores"], rtol=0.05)

    def test_the_chance_of_a_verdict(self):
        """Simulated with users drawn from all, 100 times; the pilot's gap is within its error of that of all."""
        rng, full = np.random.default_rng(1), {name: pilot(name, USERS) for name in SCORES}
        better = 0
        for _ in range(100):
            drawn, coins = rng.integers(0, USERS, 500), (rng.random(500), rng.integers(0, 5, 500))
            tables = {name: ranks.redrawn(drawn, np.arange(500), *coins, 60) for name, ranks in full.items()}
            better += sm.compare(tables, metrics="recall@10")["conclusion"].item() == "B"
        assert row(both_planned(), "stages", 60)["conclusive"] == pytest.approx(better / 100, abs=0.2)


def test_beside_a_model_that_is_ranked_in_full():
    """The difference from exact ranks varies less than that from staged ones, whichever comes first."""
    both = row(both_planned(), "stages", 25)
    beside = sm.plan_stages({"A": pilot("A"), "B": exact("B")}, depths=[25], users=500)
    reverse = sm.plan_stages({"B": exact("B"), "A": pilot("A")}, depths=[25], users=500)
    assert row(beside, "stages")["width"] == both["width"]
    assert row(beside, "stages")["conclusive"] == pytest.approx(row(reverse, "stages")["conclusive"], abs=1e-9)
    assert 0 < both["conclusive"] < row(beside, "stages")["conclusive"] < row(beside, "all candidates")["conclusive"]


def test_sampled_negatives_are_those_of_correct():
    result = sm.plan_stages(pilot("A"), depths=[60], users=100, exact=exact("A"), negatives=[50])
    assert result["method"].tolist()[-2:] == ["decreasing", "free"]
    rng, widths = np.random.default_rng(1), []
    for _ in range(5):
        drawn = rng.integers(0, 1000, 100)
        above, n = exact("A").above[drawn], exact("A").candidates[drawn]
        columns = {"rank": 1 + rng.hypergeometric(above, n - 1 - above, 50), "candidates": n, "negatives": 50}
        table = sm.correct(sm.sampled_ranks(pd.DataFrame(columns)), metrics="recall@10", estimators="free")
        widths.append((table["high"] - table["low"]).item())
    assert row(result, "free")["width"] == pytest.approx(np.mean(widths), rel=0.15)


def test_redrawn_ranks_are_those_of_a_run():
    """Every user once, with the numbers and folds of a run by the depth."""
    for depth in (5, 30, 200):
        run = staged("A", depth=depth, batch_size=1)
        full = staged("A", depth=None, batch_size=1)
        again = full.redrawn(np.arange(USERS), np.arange(USERS), run.uniform, run.fold, depth)
        for name in ("above_at", "complete", "scored", "is_beaten"):
            np.testing.assert_array_equal(getattr(again, name), getattr(run, name), name)
        metrics = [sm.metric(label) for label in ("recall@10", "ndcg@10")]
        np.testing.assert_array_equal(again.outcome_values(metrics).values, run.outcome_values(metrics).values)


def test_few_completed_users_are_told():
    result = sm.plan_stages(pilot("A"), depths=[3], users=200)
    assert "conclusive" not in result
    assert "With depth 3, fewer than 30 users are completed" in str(result)


def test_the_chance_of_too_few_completed_users_is_told():
    result = sm.plan_stages(pilot("A"), depths=[80, 1000], users=200)
    [sentence] = [remark for remark in result.remarks if "they are fewer than 30" in remark]
    assert sentence.startswith("With depth 80, 39 users are completed on average.")
    rng, full = np.random.default_rng(5), pilot("A")
    completed = [
        full.redrawn(rng.integers(0, 1000, 200), np.arange(200), rng.random(200), rng.integers(0, 10, 200), 80)
        for _ in range(400)
    ]
    share = np.mean([ranks.completed_users < 30 for ranks in completed])
    [chance] = re.findall(r"a chance of about (\d+) %", sentence)
    assert int(chance) / 100 == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"pilot": lambda: exact("A")}, sm.DataError, "plan_stages takes staged ranks of one"),
        ({"pilot": lambda: staged("A", depth=5)}, sm.DataError, "some ranks are not known; a pilot takes depth=None"),
        ({"pilot": lambda: {"A": pilot("A"), "B": pilot("A")}}, sm.DataError, "A and B have the same Recall@10"),
        (
            {"pilot": lambda: dict.fromkeys("ABC", pilot("A"))},
            sm.DataError,
            "plan_stages takes staged ranks of one recommender",
        ),
        (
            {"pilot": lambda: {"A": pilot("A"), "B": pilot("B", USERS)}},
            sm.DataError,
            "A and B must have the same users",
        ),
        ({"metric": "auc"}, sm.ConfigError, "auc has no cut-off"),
        ({"metric": ["recall@10", "recall@5"]}, sm.ConfigError, "metric: give one"),
        ({"depths": [0]}, sm.ConfigError, "depths must be numbers of 1 or more, not 0"),
        ({"users": 0}, sm.ConfigError, "must be whole numbers of 1 or more, not 0"),
        ({"confidence_level": 2}, sm.ConfigError, "confidence_level must be above 0 and below 1, not 2"),
        ({"exact": lambda: exact("B")}, sm.DataError, "exact: has other ranks than the pilot"),
        ({"exact": lambda: {name: exact(name) for name in SCORES}}, sm.DataError, "exact: must be of one recommender"),
    ],
)
def test_refuses(options, error, says):
    given = {"pilot": pilot("A")} | {name: each() if callable(each) else each for name, each in options.items()}
    with pytest.raises(error, match=says):
        sm.plan_stages(**given)
