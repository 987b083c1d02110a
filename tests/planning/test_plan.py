"""A plan against evaluations that are made: of users of the pilot, and of other users."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.planning.pilot import Draw, Pilot, SampledPilot

RNG = np.random.default_rng(3)
USERS = 1000
ITEMS = 300
OTHERS = USERS, USERS + 500
"""Users who are not in the pilot."""
TRAINING = RNG.random((OTHERS[1], ITEMS)) < 0.05
TASTE = RNG.normal(size=TRAINING.shape) + 0.01 * np.arange(ITEMS)
HELD_OUT = np.where(TRAINING, -np.inf, TASTE + RNG.gumbel(size=TASTE.shape)).argmax(axis=1)
SCORES = {
    name: TASTE + noise * RNG.normal(size=TASTE.shape)
    for name, noise in {"A": 0.8, "B": 0.5, "C": 0.2}.items()
}
GRID = {"negatives": [], "depths": [], "draws": 40}
COLUMNS = ("candidates", "above", "tied")


@cache
def staged(name, depth=None, seed=0, start=0, end=USERS):
    scores = SCORES[name]
    ranker = sm.Ranker(lambda u, i: scores[u, i], pairs_per_call=10**5)
    return sm.staged_ranks(
        ranker, TRAINING, HELD_OUT, depth=depth, seed=seed, users=slice(start, end)
    )


@cache
def exact(name, start=0, end=USERS):
    return sm.rank(SCORES[name], TRAINING, HELD_OUT, users=slice(start, end))


@cache
def planned(*estimators):
    """The plan of A and B by all ways, with stages, or with some estimators."""
    if estimators:
        pilot = {name: exact(name) for name in "AB"}
        grid = {"negatives": [50], "depths": []}
    else:
        pilot = {name: [exact(name), staged(name)] for name in "AB"}
        grid = {"negatives": [], "depths": [25]}
    return sm.plan(
        pilot, **grid, estimators=estimators or "bv-0.1", users=500, draws=200 if estimators else 60
    )


def row(result, way):
    return result[result["way"] == way].iloc[0]


def drawn(table, rows, users=None):
    return sm.ExactRanks(users, *(getattr(table, column)[rows] for column in COLUMNS))


def sampled(table, m, rng):
    x = rng.hypergeometric(table.above, table.candidates - 1 - table.above, m)
    columns = {
        "user": table.user,
        "rank": x + 1,
        "candidates": table.candidates,
        "negatives": np.full(len(x), m),
    }
    return sm.sampled_ranks(columns)


def kinds(result):
    return {finding.kind for finding in result.findings}


def test_of_stages_of_other_users():
    runs = [staged("A", 25, seed, *OTHERS) for seed in range(10)]
    runs_of_b = [staged("B", 25, seed, *OTHERS) for seed in range(10)]
    plan = row(planned(), "stages")
    assert plan["completed"] == pytest.approx(
        np.mean([run.completed_users for run in runs]), rel=0.15
    )
    widths = [
        np.ptp(sm.evaluate(run, metrics="recall@10")[["low", "high"]].to_numpy()) for run in runs
    ]
    assert plan["width_low"] <= np.mean(widths) <= plan["width_high"]
    costs = [
        max(run.scores_per_user, run_of_b.scores_per_user)
        for run, run_of_b in zip(runs, runs_of_b, strict=True)
    ]
    assert plan["scores"] == pytest.approx(np.mean(costs), rel=0.1)
    part = row(planned(), "all candidates, part of users")
    assert part["scores"] == pytest.approx(plan["scores"], rel=0.02)
    assert part["users"] < 500
    ends = sm.evaluate({name: exact(name, *OTHERS) for name in "AB"}, metrics="recall@10")[
        ["low", "high"]
    ]
    for way in ("all candidates", "stop at k"):
        plan = row(planned(), way)
        assert plan["width_low"] <= np.ptp(ends.to_numpy(), axis=1).max() <= plan["width_high"]


@pytest.mark.parametrize(
    "estimator",
    [
        "",
        *(
            pytest.param(estimator, marks=pytest.mark.slow)
            for estimator in ("decreasing", "bv-0.1", "uncorrected")
        ),
    ],
)
def test_of_the_users_of_the_pilot(estimator):
    """Shares are those of `compare`, and the width is that of `correct`.

    Shares agree within three standard errors of both.
    """
    plan = row(planned(estimator), "negatives") if estimator else row(planned(), "all candidates")
    rng = np.random.default_rng(7)
    evaluations = 40
    decided = []
    wrong = []
    widths = []
    for _ in range(evaluations):
        users = rng.integers(0, USERS, 500)
        tables = {name: drawn(exact(name), users, np.arange(500)) for name in "AB"}
        if estimator:
            tables = {name: sampled(table, 50, rng) for name, table in tables.items()}
        [conclusion] = sm.compare(tables, metrics="recall@10", estimator=estimator or None)[
            "conclusion"
        ]
        decided.append(conclusion == "B")
        wrong.append(conclusion == "A")
        ends = (
            sm.correct(tables, metrics="recall@10", estimators=estimator)
            if estimator
            else sm.evaluate(tables, metrics="recall@10")
        )
        widths.append((ends["high"] - ends["low"]).to_numpy())
    for name, seen in (("decided", decided), ("wrong", wrong)):
        error = np.sqrt(np.var(seen) / evaluations + plan["error"] ** 2) + 0.01
        assert abs(plan[name] - np.mean(seen)) <= 3 * error
    widest = np.array(widths)[:, np.mean(widths, axis=0).argmax()]
    assert (
        abs(plan["width"] - widest.mean())
        <= 3 * widest.std() * np.sqrt(2 / evaluations) + 0.01 * plan["width"]
    )


def test_a_small_pilot_promises_less():
    options = GRID | {"users": 500, "draws": 200}
    plans = {users: sm.plan(exact("A", 0, users), **options).iloc[0] for users in (100, 1000)}
    logs = {users: np.log(plan["width_high"] / plan["width_low"]) for users, plan in plans.items()}
    # by the formula, √(6 / 1.5) times as much
    assert 1.5 * logs[1000] < logs[100] < 2.7 * logs[1000]


def test_promises_hold_the_chance_of_the_law():
    """Of 12 intervals, 11 are to hold the chance of 500 users of all 1,500.

    The plans are from pilots of 300 users.
    """
    every = {name: exact(name, 0, OTHERS[1]) for name in "AB"}
    truth = sm.plan(every, users=500, **GRID | {"draws": 200}).iloc[0]
    held = []
    for seed in range(12):
        users = np.random.default_rng(seed).integers(0, OTHERS[1], 300)
        result = sm.plan(
            {name: drawn(table, users) for name, table in every.items()}, users=500, **GRID
        )
        [pair] = [finding for finding in result.findings if finding.kind.startswith("plan-pair")]
        column = "decided" if pair.names[0] == "B" else "wrong"  # B is better by the law
        held.append(result[f"{column}_low"][0] <= truth["decided"] <= result[f"{column}_high"][0])
    assert np.mean(held) >= 0.8


@pytest.mark.parametrize(
    ("share", "pilot", "users", "plans"),
    [
        (0.02, 60, 500, 20),
        *(
            pytest.param(*law, 80, marks=pytest.mark.slow)
            for law in ((0.02, 60, 500), (0.01, 150, 2000), (0.2, 60, 2000))
        ),
    ],
)
def test_the_width_of_other_users_is_in_the_interval_where_hits_are_rare(
    share, pilot, users, plans
):
    """The intervals of plans miss the width of an evaluation of other users in 7 % at most.

    Two standard errors are included.
    """
    rng = np.random.default_rng(11)
    missed = []
    for _ in range(plans):
        ranks = np.where(rng.random(pilot) < share, 1, 300)
        other_ranks = np.where(rng.random(users) < share, 1, 300)
        plan = sm.plan(
            sm.exact_ranks(ranks, candidates=300), metric="recall@1", users=users, **GRID
        ).iloc[0]
        [row] = sm.evaluate(
            sm.exact_ranks(other_ranks, candidates=300), metrics="recall@1"
        ).to_dict("records")
        width = row["high"] - row["low"]
        missed.append(not plan["width_low"] <= width <= plan["width_high"])
    assert np.mean(missed) <= 0.07 + 2 * np.sqrt(0.07 * 0.93 / plans)


def test_a_pilot_without_hits_has_no_star_for_a_width_that_it_cannot_promise():
    """Of 60 users without a hit, 6 % of the users may have one, by (1 - p)^60 = 2.5 %."""
    result = sm.plan(
        sm.exact_ranks(np.arange(700, 760), candidates=1000),
        metric="recall@1",
        users=2000,
        width=0.006,
        **GRID,
    )
    hits = np.arange(2000) < 2000 * (1 - 0.025 ** (1 / 60))
    widest = sm.evaluate(
        sm.exact_ranks(np.where(hits, 1, 1000), candidates=1000), metrics="recall@1"
    )
    assert result["width_high"][0] == pytest.approx((widest["high"] - widest["low"])[0], rel=0.05)
    assert (
        result["chosen"].any(),
        bool({"plan-no-width", "plan-no-scores"} & set(kinds(result))),
    ) == (False, True)


@pytest.mark.parametrize("pilots", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_no_way_is_advised_if_two_recommenders_are_equal(pilots):
    """At most 5 % of the first sentences advise a way if the law of both is the same."""
    rng = np.random.default_rng(12)
    advised = 0
    unsure = 0
    for _ in range(pilots):
        ranks = {name: 1 + rng.integers(0, 40, 200) for name in "AB"}
        pilot = sm.exact_ranks(ranks, candidates=100, exact=True)
        kinds_of_plan = kinds(sm.plan(pilot, metric="ap", users=2000, **GRID))
        advised += "plan-first" in kinds_of_plan
        unsure += bool({"plan-unsure", "plan-none-decides"} & set(kinds_of_plan))
    assert advised + unsure == pilots
    assert advised <= pilots * 0.05 + 2 * np.sqrt(pilots * 0.05 * 0.95)


def test_a_way_is_advised_by_the_lower_end_of_its_chance():
    ranks = {"A": np.arange(300) % 60 + 1, "B": np.arange(300) % 12 + 1}
    result = sm.plan(
        sm.exact_ranks(ranks, candidates=100, exact=True),
        **GRID | {"negatives": [50]},
        estimators="bv-0.1",
    )
    [advice] = [finding for finding in result.findings if finding.kind == "plan-first"]
    assert advice.values["scores"] == result["scores"][result["decided_low"] >= 0.9].min()


def test_an_assumption_that_the_evaluations_leave_is_not_claimed():
    """Ranks that are all 15 contradict that better ranks are more frequent.

    So the intervals are those of `free`.
    """
    table = sm.exact_ranks(np.full(200, 15), candidates=100, exact=True)
    result = sm.plan(
        table, metric="ap", **GRID | {"negatives": [30]}, estimators=["decreasing", "free"]
    )
    rows = result[result["way"] == "negatives"]
    assert rows["assumes"].tolist() == ["uniform negatives", "uniform negatives"]
    assert rows["width"].nunique() == 1
    [left] = [finding.values for finding in result.findings if finding.kind == "plan-left"]
    assert (left["estimator"], left["negatives"], left["left"]) == ("decreasing", 30, 1.0)


@pytest.mark.slow
def test_the_share_that_leaves_an_assumption_is_that_of_correct():
    rng = np.random.default_rng(13)
    left = []
    table = sm.exact_ranks(
        np.where(rng.random(300) < 0.13, 15, 1 + rng.integers(0, 99, 300)), candidates=100
    )
    result = sm.plan(
        table, metric="ap", **GRID | {"negatives": [20]}, estimators="decreasing", users=200
    )
    for _ in range(40):
        sample = sampled(drawn(table, rng.integers(0, 300, 200), np.arange(200)), 20, rng)
        left.append(
            sm.correct(sample, metrics="ap", estimators="decreasing")["assumes"][0]
            == "uniform negatives"
        )
    [finding] = [finding for finding in result.findings if finding.kind == "plan-left"]
    assert 0.1 < np.mean(left) < 0.9
    assert abs(finding.values["left"] - np.mean(left)) <= 3 * np.sqrt(2 * np.var(left) / 40)
    assert row(result, "negatives")["assumes"] == "decreasing or none"


def test_of_three_is_as_hard_as_the_hardest_pair():
    result = sm.plan({name: exact(name) for name in "ABC"}, **GRID)
    hardest = sm.plan({name: exact(name) for name in "AB"}, **GRID, confidence_level=1 - 0.05 / 3)
    assert (result["decided"].item(), result["pair"].item()) == (
        hardest["decided"].item(),
        "B and A",
    )


@pytest.mark.parametrize("has_users", [True, False])
def test_rows_of_a_pilot_without_users_are_said_to_count_as_users(has_users):
    pilot = exact("A") if has_users else replace(exact("A"), user=None)
    result = sm.plan(pilot, negatives=[50], depths=[], estimators="bv-0.1", draws=40)
    assert ("rows-as-users" in kinds(result)) != has_users


def test_of_one_recommender_has_no_chances_and_of_staged_ranks_no_negatives():
    result = sm.plan(staged("A"), depths=[60], draws=40)
    assert not {"ordered", "decided", "wrong", "pair"} & {*result}
    assert "plan-no-negatives" in kinds(result)
    assert not result["way"].str.contains("negatives").any()


@pytest.mark.parametrize("replacement", [False, True])
def test_simulated_samples_are_distributed_as_samples(replacement):
    """The mean and the variance of x are those of the binomial or hypergeometric law.

    There are six sizes of candidates.
    """
    n = np.arange(50, 56)
    above = np.array([0, 3, 10, 25, 40, 55 - 1])
    table = sm.ExactRanks(None, n, np.minimum(above, n - 1), np.zeros(6, dtype=np.int64))
    pilot = Pilot({"": table}, {}, {"": np.arange(6)}, sm.metric("ap"))
    users = np.repeat(np.arange(6), 4000)
    sample = SampledPilot(pilot, SamplingDesign(10, replacement)).sample("", Draw(0, {"": users}))
    x = pd.Series(sample.outcomes.x[sample.shares.indices]).groupby(users)
    share = table.above / (n - 1)
    variance = 10 * share * (1 - share) * (1 if replacement else (n - 1 - 10) / (n - 2))
    np.testing.assert_allclose(x.mean(), 10 * share, atol=4 * np.sqrt(variance.max() / 4000))
    np.testing.assert_allclose(x.var(), variance, rtol=0.1, atol=1e-12)
    np.testing.assert_array_equal(sample.outcomes.candidates[sample.shares.indices], n[users])


@pytest.mark.parametrize("by", [{"width": 0.2}, {"scores": 10**5}])
def test_what_is_chosen_is_the_cheapest_of_a_width_or_decides_most_often_for_some_scores(by):
    pilot = {name: [exact(name), staged(name)] for name in "AB"}
    result = sm.plan(pilot, **GRID | {"depths": [25], "negatives": [20]}, estimators="bv-0.1", **by)
    chosen = result[result["chosen"]].iloc[0]
    without_bias = result[result["assumes"] != "bias is zero"]
    if "width" in by:
        assert (
            chosen["scores"]
            == without_bias["scores"][without_bias["width_high"] <= 0.2].min()
            < 300
        )
    else:
        assert (
            chosen["decided"]
            == without_bias["decided"][without_bias["scores"] * USERS <= 10**5].max()
        )
    [finding] = [
        finding
        for finding in result.findings
        if finding.kind in ("plan-width", "plan-scores", "plan-decides")
    ]
    assert finding.values["way"] == chosen["way"]
    assert sum(line.startswith("*") for line in str(result).splitlines()) == 1


@pytest.mark.parametrize("options", [{"width": 1e-4}, {"scores": 10}])
def test_what_cannot_be_had_is_not_chosen(options):
    result = sm.plan(exact("A"), **GRID, **options)
    assert (
        result["chosen"].any(),
        bool({"plan-no-width", "plan-no-scores"} & set(kinds(result))),
    ) == (False, True)


def test_ways_that_decide_wrongly_are_named():
    ranks = {"X": [30, 25, 40, 12, 60, 33] * 50, "Y": [1, 300, 2, 500, 9, 700] * 50}
    tables = sm.exact_ranks(ranks, candidates=1000, exact=True)
    result = sm.plan(
        tables, metric="recall@10", negatives=[20, 100], estimators="uncorrected", draws=40
    )
    [wrong] = [
        f for f in result.findings if f.kind == "plan-wrong" and f.values["negatives"] == 100
    ]
    assert wrong.values["wrong"] == result[result["negatives"] == 100]["wrong"].item() > 0.9


@pytest.mark.parametrize(
    ("pilot", "says"),
    [
        (lambda: [1, 2], "plan takes"),
        (lambda: staged("A", 60), "some ranks are not known; a pilot takes depth=None"),
        (lambda: {"A": exact("A"), "B": exact("A")}, "A and B have the same Recall@10"),
        (
            lambda: {"A": [exact("A"), exact("B")]},
            "A: a pilot is exact ranks, staged ranks, or one of",
        ),
        (lambda: {"A": exact("A"), "B": staged("B")}, "all recommenders have exact ranks, or all"),
        (lambda: [exact("A", 0, 999), staged("A")], "ranks are of different rows"),
        (
            lambda: sm.sampled_ranks([1, 2], candidates=9, negatives=3),
            "ranks: has sampled ranks, which plan does not take, as it takes exact ranks or staged "
            "ranks; use correct, compare or report instead",
        ),
    ],
)
def test_refuses_pilots(pilot, says):
    with pytest.raises(sm.DataError, match=says):
        sm.plan(pilot(), **GRID)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metric": ["ap", "auc"]}, "metric: give one, not ap, auc"),
        ({"users": 1}, "users must be a whole number from 2 to"),
        ({"users": 2**50}, "a value of each user would take"),
        ({"negatives": 9}, "negatives must be a list"),
        ({"draws": 39}, "draws must be a whole number from 40 to 100000, not 39"),
        ({"width": 1, "scores": 2}, "width and scores: give one of them"),
    ],
)
def test_refuses_options(options, says):
    with pytest.raises((sm.ConfigError, sm.DataError), match=says) as refused:
        sm.plan(exact("A"), **GRID | options)
    assert isinstance(refused.value, sm.DataError) == (options == {"users": 2**50})


@pytest.mark.parametrize("users", [2, 3, 5])
def test_a_pilot_of_few_users_promises_no_verdict(users):
    """All users of the pilot prefer A, which shows little.

    Of three users, the interval of the difference includes 0.
    """
    ranks = sm.exact_ranks({"A": [5] * users, "B": [50] * users}, candidates=100, exact=True)
    table = sm.plan(ranks, users=2000, negatives=[])
    assert (table["decided_low"] < 0.9).all()
    assert (table["width_high"] > 0.03).all()
    assert "plan-first" not in {finding.kind for finding in table.findings}


def test_a_pilot_of_one_user_is_refused():
    with pytest.raises(sm.DataError, match="pilot: has one user"):
        sm.plan(sm.exact_ranks({"A": [5], "B": [50]}, candidates=100, exact=True), users=2000)


@pytest.mark.parametrize("no_flag", ["no", 0, None, np.array(True)], ids=repr)
def test_replacement_is_true_or_false(no_flag):
    with pytest.raises(sm.ConfigError, match=r"^replacement must be True or False, not "):
        sm.plan(
            sm.exact_ranks({"x": [1, 3, 40], "y": [2, 5, 6]}, candidates=100), replacement=no_flag
        )


def test_intervals_without_width():
    """Among 3 negatives, every user has a Recall@10 of 1.

    So the uncorrected interval has no width.
    """
    ranks = sm.exact_ranks([1, 2, 3] * 20, candidates=100, exact=True)
    result = sm.plan(ranks, metric="recall@10", negatives=(3,), estimators="uncorrected", draws=40)
    row = result.set_index("estimator").loc["uncorrected"]
    assert (row["width"], row["width_low"], row["width_high"]) == (0, 0, 0)
