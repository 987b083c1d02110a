"""A plan against evaluations that are made: of users of the pilot, and of other users."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.core.inference.means import mean_interval
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.planning.forecast import forecast
from sampled_metrics.planning.pilot import Pilot
from sampled_metrics.planning.samples import Samples

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
GRID = {"negatives": [], "depths": []}
COLUMNS = ("candidates", "above", "tied")
Z = 1.959964  # quantile of the normal distribution of an interval at 95 %


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
def planned():
    """The plan of A and B by all ways, with stages."""
    pilot = {name: [exact(name), staged(name)] for name in "AB"}
    return sm.plan(pilot, negatives=[], depths=[25])


def row(result, way):
    return result[result["way"] == way].iloc[0]


def drawn(table, rows, users=None):
    return sm.ExactRanks(users, *(getattr(table, column)[rows] for column in COLUMNS))


def sampled(table, m, rng):
    x = rng.hypergeometric(table.above, table.candidates - 1 - table.above, m)
    ranks = {"user": table.user, "rank": x + 1}
    return sm.sampled_ranks(ranks, candidates=table.candidates, negatives=m)


def kinds(result):
    return {finding.kind for finding in result.findings}


def widths(result):
    return (result["high"] - result["low"]).to_numpy()


# --- laws whose metrics are known ---------------------------------------------------------------


def of_usual_law(rng, users, n=3706):
    """Ranks of two recommenders like those of MovieLens 1M, with a correlation of .5."""
    shared = rng.normal(size=users)
    ranks = {}
    for name, power in (("X", 2.6), ("Z", 3.0)):
        uniform = ndtr(0.7 * shared + np.sqrt(1 - 0.7**2) * rng.normal(size=users))
        ranks[name] = np.ceil(n * uniform**power).astype(np.int64).clip(1, n)
    return sm.exact_ranks(ranks, candidates=n, exact=True)


def of_rare_hits(rng, users):
    """Ranks of two recommenders, with 2 and 3.5 % of hits."""
    ranks = {name: np.where(rng.random(users) < p, 1, 300) for name, p in HITS.items()}
    return sm.exact_ranks(ranks, candidates=300, exact=True)


HITS = {"X": 0.02, "Z": 0.035}
LAWS = {"usual": (of_usual_law, "recall@10", 600), "rare": (of_rare_hits, "recall@1", 200)}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("plans", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_promises_hold_for_other_users(law, plans):
    """At most 7 % of the plans miss, and two standard errors.

    The width of an evaluation of as many other users is in the interval of the plan. With
    users_high users, the interval of other users is at most as wide as is wanted, and the
    difference of the law is decided in 80 % of evaluations.
    """
    draw, label, users = LAWS[law]
    metric = sm.metric(label)
    population = draw(np.random.default_rng(99), 100_000)
    differences = population["Z"].values(metric) - population["X"].values(metric)
    difference = differences.mean()
    options = {"metric": label, "negatives": []}
    rng = np.random.default_rng(1)
    missed = []
    for _ in range(plans):
        pilot = draw(rng, users)
        plan = sm.plan(pilot["X"], **options).iloc[0]
        [width] = widths(sm.evaluate(draw(rng, users)["X"], metrics=label))
        narrow = sm.plan(pilot["X"], width=0.03, **options).iloc[0]
        others = draw(rng, int(narrow["users_high"]))
        [other_width] = widths(sm.evaluate(others["X"], metrics=label))
        power = sm.plan(pilot, difference=difference, **options).iloc[0]
        distance = np.sqrt(power["users_high"]) * difference / differences.std()
        missed.append(
            [
                not plan["width_low"] <= width <= plan["width_high"],
                other_width > 0.03,
                ndtr(distance - Z) < 0.8,
            ]
        )
    largest = 0.07 + 2 * np.sqrt(0.07 * 0.93 / plans)
    assert (np.mean(missed, axis=0) <= largest).all(), np.mean(missed, axis=0)


def test_users_for_a_width_are_those_of_the_normal_interval():
    """Of hits with a share of .25, (2 z √(.25 × .75) / w)² users give a width of w."""
    ranks = sm.exact_ranks([1, 50, 60, 70] * 300, candidates=100, exact=True)
    row = sm.plan(ranks, width=0.01, **GRID).iloc[0]
    assert row["users"] == pytest.approx((2 * Z * np.sqrt(0.25 * 0.75) / 0.01) ** 2, rel=0.01)
    assert row["users_low"] < row["users"] < row["users_high"]
    assert row["limit"] == 0
    assert "plan-width-none" in kinds(sm.plan(ranks, width=1e-6, **GRID))


def test_users_for_a_difference_are_those_of_the_normal_test():
    """Of paired hits with a standard deviation s, ((z + .8416) s / δ)² users decide δ.

    .8416 is the quantile of the normal distribution at 80 %.
    """
    ranks = {"A": [1, 50, 60, 70] * 300, "B": [1, 50, 60, 1] * 300}
    tables = sm.exact_ranks(ranks, candidates=100, exact=True)
    row = sm.plan(tables, difference=0.01, **GRID).iloc[0]
    deviation = np.sqrt(0.25 * 0.75)
    # the differences are skewed, which the normal test does not count
    assert row["users"] == pytest.approx(((Z + 0.8416) * deviation / 0.01) ** 2, rel=0.02)
    assert row["users_low"] < row["users"] < row["users_high"]
    assert row["limit"] == pytest.approx(0, abs=1e-4)


def test_a_way_that_leaves_a_wider_interval_has_no_number_of_users():
    """Of 20 among 300 items, a sample says too little of Recall@10, whatever the users are."""
    result = sm.plan(exact("A"), width=0.005, negatives=[20], depths=[])
    sampled_row = row(result, "negatives")
    assert np.isinf(sampled_row["users"])
    assert sampled_row["limit"] > 0.005
    assert sampled_row["scores"] == 21
    [answer] = [finding for finding in result.findings if finding.kind == "plan-width"]
    assert answer.values["way"] == "all candidates"


def test_no_way_takes_fewer_users_than_all_candidates():
    rng = np.random.default_rng(2)
    ranks = np.minimum(rng.geometric(0.02 + 0.1 * rng.random(60)), 100)
    pilot = sm.exact_ranks(ranks, candidates=100, exact=True)
    result = sm.plan(pilot, width=0.05, metric="hr@10", negatives=[50])
    for column in ("users", "users_low", "users_high"):
        exact, sampled = result[column]
        assert sampled >= exact


def test_the_share_of_a_normal_end():
    """The lower end of hits moves by y - ȳ less the half of z s / √U ((y - ȳ)² / s² - 1)."""
    hits = np.array([[0.0, 1.0]])
    limits = np.array([[0.0, 1.0]])
    values = UserValues(hits, hits, True, np.full((1, 2, 2), (0.0, 1.0)), limits, np.zeros(1))
    expected = forecast(values, np.array([0.8, 0.2]), 4000, 0.05)
    ends = [
        mean_interval(hits[0], np.array([4000 - hit, hit]), (0.0, 1.0), 0.05)
        for hit in np.random.default_rng(5).binomial(4000, 0.2, 300)
    ]
    low, high = np.array(ends).T
    assert expected.low == pytest.approx(low.mean(), abs=3 * low.std() / np.sqrt(300))
    errors = (expected.low_error, expected.high_error, expected.width_error)
    assert errors == pytest.approx((low.std(), high.std(), (high - low).std()), rel=0.15)


def test_of_stages():
    """The costs are those of other users, and the width is the mean one of runs."""
    costs = [
        max(staged(name, 25, seed, *OTHERS).scores_per_user for name in "AB") for seed in range(4)
    ]
    plan = row(planned(), "stages")
    assert plan["scores"] == pytest.approx(np.mean(costs), rel=0.1)
    part = row(planned(), "all candidates, part of users")
    assert part["scores"] == pytest.approx(plan["scores"], rel=0.02)
    assert part["users"] < USERS
    widths_of_runs = [
        [widths(sm.evaluate(staged(name, 25, seed), metrics="recall@10")) for name in "AB"]
        for seed in range(3)
    ]
    assert plan["width"] == pytest.approx(np.mean(widths_of_runs, axis=0).max(), rel=0.03)
    everyone = sm.evaluate({name: exact(name) for name in "AB"}, metrics="recall@10")
    for way in ("all candidates", "stop at k"):
        assert row(planned(), way)["width"] == pytest.approx(widths(everyone).max(), rel=0.002)


def redrawn(pilot, rng, negatives=None):
    """The ranks of users drawn from a pilot, or ranks of samples of them."""
    users = len(pilot["A"])
    rows = rng.integers(0, users, users)
    tables = {name: drawn(pilot[name], rows, np.arange(users)) for name in "AB"}
    if negatives is None:
        return tables
    return {name: sampled(table, negatives, rng) for name, table in tables.items()}


@pytest.mark.parametrize(
    ("estimator", "negatives"),
    [
        (None, None),
        pytest.param("decreasing", 50, marks=pytest.mark.slow),
        pytest.param("bv-0.1", 50, marks=pytest.mark.slow),
    ],
)
def test_of_the_users_of_the_pilot(estimator, negatives):
    """Shares of conclusions, within three standard errors, and the mean width."""
    pilot = {name: exact(name, 0, 300) for name in "AB"}
    options = {"estimators": estimator} if estimator else {}
    result = sm.plan(pilot, negatives=[negatives] if negatives else [], depths=[], **options)
    plan = row(result, "negatives" if negatives else "all candidates")
    rng = np.random.default_rng(7)
    evaluations = 30
    conclusions = []
    widths_of_evaluations = []
    for _ in range(evaluations):
        tables = redrawn(pilot, rng, negatives)
        compared = sm.compare(tables, metrics="recall@10", estimator=estimator)
        conclusions += compared["conclusion"].tolist()
        function = sm.correct if estimator else sm.evaluate
        widths_of_evaluations.append(widths(function(tables, metrics="recall@10", **options)))
    for name, conclusion in (("decided", "B"), ("wrong", "A")):
        if np.isfinite(plan[name]):
            error = np.sqrt(plan[name] * (1 - plan[name]) / evaluations) + 0.02
            assert abs(plan[name] - conclusions.count(conclusion) / evaluations) <= 3 * error
    by_recommender = np.array(widths_of_evaluations)
    widest = by_recommender[:, by_recommender.mean(axis=0).argmax()]
    error = widest.std() / np.sqrt(evaluations)
    assert abs(plan["width"] - widest.mean()) <= 3 * error + 0.02 * plan["width"]


def test_a_small_pilot_promises_less():
    few = sm.plan(exact("A", 0, 100), **GRID)
    many = sm.plan(exact("A"), **GRID)
    ratio = np.log(few["width_high"] / few["width_low"])[0]
    # by the square root of the users, √10 times as much
    assert 2 < ratio / np.log(many["width_high"] / many["width_low"])[0] < 4.5


def test_a_chance_that_the_pilot_does_not_know_is_a_dash():
    user = np.arange(200)
    ranks = {"A": np.where(user < 9, 1, 50), "B": np.where(user >= 180, 1, 50)}
    result = sm.plan(sm.exact_ranks(ranks, candidates=100, exact=True), **GRID)
    assert result["decided"].isna().all()
    assert str(result).splitlines()[1].split().count("-") == 1


@pytest.mark.parametrize("pilots", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_no_way_is_advised_if_two_recommenders_are_equal(pilots):
    """At most 5 % of the answers advise a way if the law of both is the same."""
    rng = np.random.default_rng(12)
    advised = 0
    for _ in range(pilots):
        ranks = {name: 1 + rng.integers(0, 40, 200) for name in "AB"}
        pilot = sm.exact_ranks(ranks, candidates=100, exact=True)
        kinds_of_plan = kinds(sm.plan(pilot, metric="ap", **GRID))
        advised += "plan-first" in kinds_of_plan
        assert {"plan-first", "plan-unsure", "plan-none-decides"} & kinds_of_plan
    assert advised <= pilots * 0.05 + 2 * np.sqrt(pilots * 0.05 * 0.95)


def test_ways_that_decide_wrongly_are_named():
    ranks = {"X": [30, 25, 40, 12, 60, 33] * 50, "Y": [1, 300, 2, 500, 9, 700] * 50}
    tables = sm.exact_ranks(ranks, candidates=1000, exact=True)
    result = sm.plan(tables, negatives=[100], estimators="uncorrected")
    [wrong] = [finding for finding in result.findings if finding.kind == "plan-wrong"]
    assert wrong.values["wrong"] == row(result, "negatives")["wrong"] > 0.9


def test_a_way_is_advised_by_the_lower_end_of_its_chance():
    ranks = {"A": np.arange(300) % 60 + 1, "B": np.arange(300) % 12 + 1}
    result = sm.plan(
        sm.exact_ranks(ranks, candidates=100, exact=True),
        negatives=[50],
        estimators="free",
    )
    [advice] = [finding for finding in result.findings if finding.kind == "plan-first"]
    assert advice.values["scores"] == result["scores"][result["decided_low"] >= 0.8].min()


def test_an_assumption_that_the_evaluations_leave_is_not_claimed():
    """Ranks that are all 15 contradict that better ranks are more frequent.

    So the intervals are those of `free`.
    """
    table = sm.exact_ranks(np.full(100, 15), candidates=60, exact=True)
    options = {"metric": "ap", "negatives": [30], "estimators": ["decreasing", "free"]}
    result = sm.plan(table, **options)
    rows = result[result["way"] == "negatives"]
    assert rows["assumes"].tolist() == ["uniform negatives", "uniform negatives"]
    assert rows["width"].nunique() == 1
    for_width = sm.plan(table, width=0.3, **options)["assumes"]
    assert for_width.tolist() == ["none", "uniform negatives", "uniform negatives"]
    [left] = [finding.values for finding in result.findings if finding.kind == "plan-left"]
    assert (left["estimator"], left["negatives"], left["left"]) == ("decreasing", 30, 1.0)


@pytest.mark.slow
def test_the_share_that_leaves_an_assumption_is_that_of_correct():
    rng = np.random.default_rng(13)
    ranks = np.where(rng.random(200) < 0.13, 15, 1 + rng.integers(0, 99, 200))
    table = sm.exact_ranks(ranks, candidates=100)
    options = {"estimators": "decreasing"}
    result = sm.plan(table, metric="ap", negatives=[20], **options)
    left = []
    for _ in range(60):
        sample = sampled(drawn(table, rng.integers(0, 200, 200), np.arange(200)), 20, rng)
        [assumes] = sm.correct(sample, metrics="ap", **options)["assumes"]
        left.append(assumes == "uniform negatives")
    [finding] = [finding for finding in result.findings if finding.kind == "plan-left"]
    assert 0.1 < np.mean(left) < 0.9
    assert abs(finding.values["left"] - np.mean(left)) <= 2 * np.sqrt(2 * np.var(left) / 60)
    assert row(result, "negatives")["assumes"] == "decreasing or uniform negatives"


def test_of_three_is_as_hard_as_the_hardest_pair():
    result = sm.plan({name: exact(name) for name in "ABC"}, **GRID)
    hardest = sm.plan({name: exact(name) for name in "AB"}, **GRID, confidence_level=1 - 0.05 / 3)
    assert result["pair"].item() == "B and A"
    assert result["decided"].item() == pytest.approx(hardest["decided"].item(), abs=1e-12)


@pytest.mark.parametrize("has_users", [True, False])
def test_rows_of_a_pilot_without_users_are_said_to_count_as_users(has_users):
    pilot = drawn(exact("A"), slice(50), np.arange(50) if has_users else None)
    assert ("rows-as-users" in kinds(sm.plan(pilot, **GRID))) != has_users


def test_of_one_recommender_has_no_chances_and_of_staged_ranks_no_negatives():
    result = sm.plan(staged("A"), depths=[60])
    assert not {"decided", "wrong", "pair"} & {*result}
    assert {"plan-again", "plan-no-negatives"} <= kinds(result)
    assert not result["way"].str.contains("negatives").any()


@pytest.mark.parametrize(
    ("pilot", "says"),
    [
        (lambda: [1, 2], "plan takes"),
        (lambda: staged("A", 60), "depth=None"),
        (lambda: {"A": exact("A"), "B": exact("A")}, "same Recall@10"),
        (lambda: {"A": [exact("A"), exact("B")]}, "one of"),
        (lambda: {"A": exact("A"), "B": staged("B")}, "all recommenders"),
        (lambda: [exact("A", 0, 999), staged("A")], "different rows"),
        (lambda: sm.sampled_ranks([1, 2], candidates=9, negatives=3), "sampled ranks"),
        (lambda: sm.exact_ranks({"A": [5], "B": [50]}, candidates=100, exact=True), "one user"),
    ],
)
def test_refuses_pilots(pilot, says):
    with pytest.raises(sm.DataError, match=says):
        sm.plan(pilot(), **GRID)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metric": ["ap", "auc"]}, "metric"),
        ({"negatives": 9}, "negatives"),
        ({"depths": [10**400]}, "depths"),
        ({"width": -1}, "width"),
        ({"difference": 0}, "difference"),
        ({"width": 1, "difference": 2}, "width"),
        ({"difference": 0.1}, "two recommenders"),
        ({"width": 0.1, "negatives": [5], "estimators": "cls"}, "decreasing or free"),
        ({"replacement": "no"}, "replacement"),
    ],
)
def test_refuses_options(options, says):
    with pytest.raises(sm.ConfigError, match=says):
        sm.plan(exact("A"), **{"negatives": [5], "depths": []} | options)


def test_a_pilot_of_few_users_promises_no_verdict():
    """All users of the pilot prefer A, which shows little."""
    ranks = sm.exact_ranks({"A": [5] * 3, "B": [50] * 3}, candidates=100, exact=True)
    table = sm.plan(ranks, negatives=[])
    assert not (table["decided_low"] >= 0.8).any()
    assert (table["width_high"] > 0.3).all()


@pytest.mark.parametrize("replacement", [False, True])
def test_simulated_samples_are_distributed_as_samples(replacement):
    """The mean and the variance of x are those of the binomial or hypergeometric law."""
    n = np.arange(50, 54)
    above = np.array([0, 3, 25, 52])
    table = sm.ExactRanks(None, n, above, np.zeros(4, dtype=np.int64))
    pilot = Pilot({"": table}, {}, {"": np.arange(4)}, sm.metric("ap"))
    sample = Samples(pilot, SamplingDesign(10, replacement)).samples[""]
    users = np.repeat(np.arange(6), pilot.repeats)
    x = pd.Series(sample.outcomes.x[sample.shares.indices]).groupby(users)
    share = above / (n - 1)
    variance = 10 * share * (1 - share) * (1 if replacement else (n - 1 - 10) / (n - 2))
    # the quantiles are spread evenly, so that the mean varies little
    np.testing.assert_allclose(x.mean()[:4], 10 * share, atol=0.01)
    np.testing.assert_allclose(x.var()[:4], variance, rtol=0.02, atol=1e-12)
    np.testing.assert_allclose(x.mean()[4:], [10, 0], atol=1e-12)


def test_intervals_without_width():
    """Among 3 negatives, every user has a Recall@10 of 1.

    So the uncorrected interval has no width.
    """
    ranks = sm.exact_ranks([1, 2, 3] * 20, candidates=100, exact=True)
    result = sm.plan(ranks, negatives=(3,), estimators="uncorrected")
    row = result.set_index("estimator").loc["uncorrected"]
    assert row[["width", "width_low", "width_high"]].tolist() == pytest.approx([0, 0, 0], abs=1e-12)
