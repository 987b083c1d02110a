"""Several seeds of a recommender: of new runs and of these runs, by every verb and kind of
ranks.
"""

import numpy as np
import pytest
from scipy import stats

import sampled_metrics as sm
from sampled_metrics.core.inference.means import intervals
from sampled_metrics.core.inference.seeds import SeedSpread, pooled, with_seeds

USERS = 400
CANDIDATES = 500


def ranks_of(seed, quality):
    """Ranks of users whose items are as easy for each seed, with a quality of the model that varies
    by seed.
    """
    easy = np.random.default_rng(0).normal(size=USERS)
    rng = np.random.default_rng(seed)
    share = 1 / (1 + np.exp(-(easy + quality + rng.normal(size=USERS))))
    return 1 + np.floor((1 - share) ** 3 * CANDIDATES).astype(int).clip(max=CANDIDATES - 1)


RANKS = {
    "A": [ranks_of(75, 0.0), ranks_of(82, 0.06)],
    "B": [ranks_of(76, 0.3), ranks_of(83, 0.36)],
}


def exact(ranks):
    columns = {"user": np.arange(USERS), "rank": ranks}
    return sm.exact_ranks(columns, candidates=CANDIDATES, exact=True)


def sampled(ranks):
    x = np.random.default_rng(ranks[:9]).hypergeometric(ranks - 1, CANDIDATES - ranks, 40)
    columns = {"user": np.arange(USERS), "rank": 1 + x}
    return sm.sampled_ranks(columns, negatives=40, candidates=CANDIDATES)


def rows_of(result, of):
    return result[result["inference"] == of].reset_index(drop=True)


TABLES = {name: [exact(ranks) for ranks in seeds] for name, seeds in RANKS.items()}
SAMPLED = {name: [sampled(ranks) for ranks in seeds] for name, seeds in RANKS.items()}


def test_these_runs_have_the_interval_of_the_means_of_users_and_new_runs_a_wider_one():
    result = sm.compare(TABLES, metrics="ap")
    [new] = rows_of(result, "new_runs").to_dict("records")
    [these] = rows_of(result, "these_runs").to_dict("records")
    values = {name: np.mean([1 / ranks for ranks in RANKS[name]], axis=0) for name in "AB"}
    gap = values["B"] - values["A"]
    assert new["difference"] == these["difference"] == pytest.approx(gap.mean())
    half_width = stats.sem(gap) * stats.norm.ppf(0.975)
    assert these["high"] - these["low"] == pytest.approx(2 * half_width, rel=0.05)
    assert new["low"] < these["low"]
    assert new["high"] > these["high"]
    assert [verdict.inference for verdict in result.verdicts] == ["new_runs"]
    means = result.by_user.groupby("recommender")["ap"].mean()
    assert means.to_dict() == pytest.approx({name: values[name].mean() for name in "AB"})


def test_one_seed_of_a_recommender_allows_these_runs_alone():
    result = sm.compare({"A": TABLES["A"], "B": TABLES["B"][0]}, metrics="ap")
    assert result["inference"].tolist() == ["these_runs"]
    [one_seed] = [finding for finding in result.findings if finding.kind == "one-seed"]
    assert one_seed.values == {"recommenders": ["B"]}
    single_seeds = {name: seeds[0] for name, seeds in TABLES.items()}
    assert "inference" not in sm.compare(single_seeds, metrics="ap")


def test_strict_bounds_hold_the_mean_of_these_seeds():
    result = sm.compare(SAMPLED, estimator="decreasing", metrics="ap")
    [row] = result.to_dict("records")
    truth = sm.compare(TABLES, metrics="ap")["difference"].iloc[0]
    assert row["inference"] == "these_runs"
    assert row["low"] <= truth <= row["high"]
    assert "bounds-of-seeds" in {finding.kind for finding in result.findings}


def test_evaluate_and_correct_have_a_row_for_each_question():
    result = sm.evaluate({"B": TABLES["B"][0], "A": TABLES["A"]}, metrics="ap")
    assert result[["recommender", "inference"]].to_numpy().tolist() == [
        ["B", "these_runs"],
        ["A", "new_runs"],
        ["A", "these_runs"],
    ]
    mean = np.mean([1 / ranks for ranks in RANKS["A"]])
    assert result["value"].tolist() == pytest.approx([(1 / RANKS["B"][0]).mean(), mean, mean])
    corrected = sm.correct(SAMPLED["A"], estimators=["free", "bv-0.1"], metrics="ap")
    assert corrected[["estimator", "inference"]].to_numpy().tolist() == [
        ["free", "these_runs"],
        ["bv-0.1", "new_runs"],
        ["bv-0.1", "these_runs"],
    ]


def test_groups_have_both_questions():
    groups = {user: "even" if user % 2 == 0 else "odd" for user in range(USERS)}
    result = sm.compare(TABLES, metrics="ap", groups=groups)
    assert result[["group", "inference"]].to_numpy().tolist() == [
        ["all", "new_runs"],
        ["all", "these_runs"],
        ["even", "new_runs"],
        ["even", "these_runs"],
        ["odd", "new_runs"],
        ["odd", "these_runs"],
    ]


def hit_table(rng, rate, easy):
    """Ranks 1 of the users whose items are easy enough for a model, else 50; with some noise."""
    return sm.exact_ranks(
        np.where(easy + rng.normal(0, 0.1, len(easy)) < rate, 1, 50), candidates=100, exact=True
    )


def test_a_recommender_without_a_random_start_may_be_given_as_equal_seeds():
    """The seeds of B decide how wide the interval of new runs is: A adds nothing to it."""
    rng = np.random.default_rng(4)
    easy = rng.random(2000)
    seeds_of_b = [hit_table(rng, rate, easy) for rate in (0.34, 0.36, 0.38)]
    deterministic = hit_table(rng, 0.30, easy)
    alone = sm.compare({"A": deterministic, "B": seeds_of_b}, metrics="recall@10")
    assert alone["inference"].tolist() == ["these_runs"]
    repeated = {"A": [deterministic] * 3, "B": seeds_of_b}
    result = sm.compare(repeated, metrics="recall@10")
    [new, these] = result.to_dict("records")
    points = [np.mean([table.above < 10]) for table in seeds_of_b]
    # half widths in quadrature, that of the seeds by Student's t with two degrees of freedom
    width_of_seeds = stats.t.ppf(0.975, 2) * stats.sem(points)
    expected = np.hypot((these["high"] - these["low"]) / 2, width_of_seeds)
    assert (new["high"] - new["low"]) / 2 == pytest.approx(expected, rel=0.1)


def test_pairs_of_a_family_have_the_spread_of_all_seeds_together():
    """All pairs hold together at the level of 95 %; tests/core/inference has the equation."""
    rng = np.random.default_rng(6)
    rates = {"A": (0.2, 0.3, 0.4), "B": (0.3, 0.32, 0.34), "C": (0.25, 0.3, 0.35)}
    tables = {}
    for name, rates_of_seeds in rates.items():
        easy = rng.random(1000)  # for this recommender
        tables[name] = [hit_table(rng, rate, easy) for rate in rates_of_seeds]
    result = sm.compare(tables, metrics="recall@10")
    [family, _] = [finding.values for finding in result.findings if finding.kind == "family"]
    assert (family["method"], family["inference"]) == ("Bonferroni", "new_runs")

    hits = {
        name: np.array([[table.above < 10] for table in seeds]) for name, seeds in tables.items()
    }
    own = [SeedSpread.from_seeds(values.mean(axis=2), values) for values in hits.values()]
    spreads = dict(zip(hits, pooled(own), strict=True))
    limits = np.array([[-1.0, 1.0]])
    for row in rows_of(result, "new_runs").itertuples():
        gap = hits[row.b].mean(axis=0) - hits[row.a].mean(axis=0)
        over_users = intervals(gap, gap, np.array([[(-1.0, 1.0)] * 2]), limits, 0.05 / 3, test=True)
        pair = [spreads[row.a], spreads[row.b]]
        expected = with_seeds(over_users, gap.mean(axis=1), pair, limits, 0.05 / 3)
        assert (row.low, row.high) == pytest.approx((expected.low[0], expected.high[0]))


def test_standings_and_verdicts_are_those_of_the_rows():
    result = sm.compare(TABLES, metrics="ap")
    these = result[result["inference"] == "these_runs"]
    assert [verdict.inference for verdict in these.verdicts] == ["these_runs"]
    assert these.standings()["group"].tolist() == ["a", "b"]
    assert these.sentence().startswith("AP of these runs: B is better than A; ")
